"""The demonstration on real e-mails: data, model, evaluation in MLflow, and the truth."""
