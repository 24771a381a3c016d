"""What MLflow is sent of a window and of a run."""
