"""Audits of a monitor: which windows, which cases, what verdicts say, what is still to do."""
