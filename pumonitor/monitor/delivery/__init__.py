"""From the outbox to MLflow and to people."""
