"""Rules of monitoring, pure: windows, panes, label maturity, followed class priors, attribution."""
