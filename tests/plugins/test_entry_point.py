import mlflow


def test_mlflow_finds_the_evaluator() -> None:
    assert "pu" in mlflow.models.list_evaluators()
