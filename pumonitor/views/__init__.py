"""What people see: one model, one builder and one text for each thing, for every face."""
