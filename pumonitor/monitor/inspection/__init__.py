"""What is said of a monitor on request: insights, check, doctor, label plans, metrics."""
