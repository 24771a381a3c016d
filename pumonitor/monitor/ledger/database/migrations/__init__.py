"""Steps from an empty state database to the newest tables, in `versions`, and how to take them."""
