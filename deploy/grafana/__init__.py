"""The Grafana dashboard, made and checked with Grafana's typed SDK."""
