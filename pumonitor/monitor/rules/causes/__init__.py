"""Causes: hypotheses about what changed between two periods, fitted to the counts and compared."""
