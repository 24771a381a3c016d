"""Which process works on which window: owners, leases, fencing tokens."""
