"""What people see of a monitor: one model and one builder for each thing, for every face."""
