"""What `pumonitor.yaml` means."""
