"""Drawings of time series as SVG: made in milliseconds, readable without script."""
