"""Pages: what people open in the morning, alone or inside MLflow's server."""
