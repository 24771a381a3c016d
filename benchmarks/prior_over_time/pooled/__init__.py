"""What the monitor did before it followed the class prior: the filter is measured against it."""
