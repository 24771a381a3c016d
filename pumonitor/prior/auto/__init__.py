"""`class_prior="auto"`: a trained network beside four estimators, with its interval."""
