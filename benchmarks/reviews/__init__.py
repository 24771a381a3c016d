"""Reviews beside complaints: coverage, widths, what breaks them, and what it costs."""
