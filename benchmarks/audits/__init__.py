"""Audits of confirmed positives: coverage, widths, fairness, planning and reviewers."""
