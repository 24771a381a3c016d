"""The monitor: follows a model over windows of time, alerts when it has got worse, and says why."""
