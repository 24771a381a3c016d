"""MLflow as a destination: a run per model version and configuration, a step per window."""
