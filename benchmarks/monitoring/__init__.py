"""Measurements of what the monitor infers over time."""
