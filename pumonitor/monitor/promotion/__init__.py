"""Promotion of a challenger: the registry's aliases are moved, and the ledger says why."""
