"""Challengers: models that score each mature window beside the deployed one, and the gate."""
