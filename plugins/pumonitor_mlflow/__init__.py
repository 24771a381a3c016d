"""MLflow plugins of pumonitor.

Nothing is imported here: MLflow loads its plugins for every user of the machine, whether or not
they evaluate positive-unlabeled data.
"""
