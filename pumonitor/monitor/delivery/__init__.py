"""Delivery of outbox messages to MLflow and to notification services."""
