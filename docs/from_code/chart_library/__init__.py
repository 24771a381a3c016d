"""Vega, Vega-Lite and Vega's expression interpreter in one file, which the pages serve."""
