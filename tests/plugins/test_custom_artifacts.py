"""The caller's own artifacts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow.models import make_metric
from pumonitor_mlflow.custom_artifacts import write_custom_artifacts
from pumonitor_mlflow.rows import Rows

ROWS = Rows(
    labels=np.array([1, 0, 0], dtype=np.int8),
    scores=np.array([0.9, 0.7, 0.2]),
    weights={},
    columns={},
)


def written(made: Any, folder: Path) -> dict[str, bytes]:
    def mine(eval_df: pd.DataFrame, builtin_metrics: dict[str, float], artifacts_dir: str) -> Any:
        assert list(eval_df.columns) == ["prediction", "target"]
        assert builtin_metrics == {"pu/f1": 0.5}
        return made(Path(artifacts_dir)) if callable(made) else made

    write_custom_artifacts([mine], ROWS, {"pu/f1": 0.5}, folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_data_are_written_in_the_form_of_their_kind(tmp_path: Path) -> None:
    files = written(
        {
            "frame": pd.DataFrame({"a": [1]}),
            "array": np.array([1.5]),
            "values": {"a": [1, None]},
            "text": '{"b": 2}',
        },
        tmp_path,
    )
    assert files["frame.csv"] == b"a\n1\n"
    assert files["values.json"] == b'{"a": [1, null]}'
    assert files["text.json"] == b'{"b": 2}'
    assert np.load(tmp_path / "array.npy").tolist() == [1.5]


def test_a_figure_becomes_a_picture(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    assert written({"plot": Figure()}, tmp_path)["plot.png"].startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", [Path, str])
def test_a_file_is_copied_under_the_name_given(tmp_path: Path, kind: type) -> None:
    def make(scratch: Path) -> dict[str, Any]:
        (scratch / "note.txt").write_text("seen")
        return {"mine": kind(scratch / "note.txt")}

    assert written(make, tmp_path) == {"mine.txt": b"seen"}


@pytest.mark.parametrize("name", ["../up", "a/b", "..", "a..b", "", "%2e", "x" * 101, 7])
def test_names_that_could_leave_the_folder_are_refused(tmp_path: Path, name: Any) -> None:
    with pytest.raises(ValueError, match=r"'mine' \(custom_artifacts\[0\]\) names an artifact"):
        written({name: [1]}, tmp_path)


def test_what_would_need_pickling_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        TypeError, match="gives 'thing' as a object: give a path to a file with one"
    ):
        written({"thing": object()}, tmp_path)
    (tmp_path / "model.pkl").write_bytes(b"")
    with pytest.raises(TypeError, match=r"gives 'thing' as a file with suffix '.pkl'"):
        written({"thing": tmp_path / "model.pkl"}, tmp_path)


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "evaluation.json").write_text("{}")
    for taking in ({}, np.array([1.0])):
        with pytest.raises(
            ValueError, match=r"there is an artifact evaluation.json already: rename"
        ):
            written({"evaluation": taking}, tmp_path)


def test_anything_but_a_dict_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="must return a dict of names to artifacts, got NoneType"):
        written(None, tmp_path)


def test_own_metrics_and_artifacts_are_logged_beside_the_evaluators(
    server: str, window: pd.DataFrame
) -> None:
    def biggest(eval_df: pd.DataFrame, builtin_metrics: Any, artifacts_dir: str) -> dict[str, Any]:
        return {"biggest": eval_df.nlargest(3, "prediction")}

    def mean_amount(predictions: pd.Series, amount: pd.Series) -> float:
        return float(amount[predictions > 1.0].mean())

    # An index in another order than the rows must not pair scores with others' amounts.
    window.index = window.index[::-1]
    with mlflow.start_run() as run:
        result = mlflow.models.evaluate(
            data=window,
            targets="confirmed",
            predictions="score",
            evaluators="pu",
            evaluator_config={"class_prior": 0.2, "report": False, "threshold": 1.0},
            extra_metrics=[make_metric(eval_fn=mean_amount, greater_is_better=True)],
            custom_artifacts=[biggest],
        )
    expected = float(window.loc[window["score"] > 1.0, "amount"].mean())
    assert mlflow.get_run(run.info.run_id).data.metrics["pu/mean_amount"] == expected
    stored = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path="pu/biggest.csv"
    )
    assert len(pd.read_csv(stored)) == 3
    assert result.artifacts["pu/biggest"].content["prediction"].iloc[0] == window["score"].max()
