"""What estimators of a class prior read: labeled and unlabeled scores, features, references."""
