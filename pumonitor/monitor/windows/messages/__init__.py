"""Messages to MLflow about windows and runs."""
