"""Intervals, confidence draws and resampling; nothing here knows of positive-unlabeled data."""
