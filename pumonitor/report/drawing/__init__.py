"""Draws the charts of reports: the part of Vega-Lite that they use, as SVG."""
