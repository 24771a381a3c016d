"""Draws charts of reports, messages and pages: the part of Vega-Lite that they use, as SVG."""
