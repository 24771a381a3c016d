"""From results in the ledger to alerts: rules folded, incidents, causes, who is notified."""
