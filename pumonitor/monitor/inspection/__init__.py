"""Reports on a monitor that people ask for: insights, check, doctor, label plans, metrics."""
