"""Rules of monitoring, pure: windows, panes, label maturity, pooling, attribution."""
