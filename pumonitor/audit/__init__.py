"""Audits: a few hundred reviewed cases that make every number sure."""
