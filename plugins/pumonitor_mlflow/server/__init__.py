"""The pages inside MLflow's own server: `mlflow server --app-name pumonitor`."""
