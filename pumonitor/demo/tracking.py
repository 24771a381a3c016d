"""The scored mails through MLflow's own evaluation, into a run of a SQLite tracking store."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pumonitor.errors import PumonitorError

if TYPE_CHECKING:
    import pandas

EXPERIMENT = "pumonitor demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvaluation:
    """What one MLflow run holds.

    Attributes
    ----------
    run_id : str
    metrics : mapping of str to float
        As MLflow returned them: ``pu/f1``, ``pu/f1_low``, ``pu/f1_high`` and so on.
    """

    run_id: str
    metrics: Mapping[str, float]

    def estimate(self, name: str) -> tuple[float, float, float]:
        """Value, low and high of a metric."""
        return (
            self.metrics[f"pu/{name}"],
            self.metrics[f"pu/{name}_low"],
            self.metrics[f"pu/{name}_high"],
        )


def store_uri(directory: Path) -> str:
    """Address of the tracking store in a directory, as MLflow and its command line take it."""
    return f"sqlite:///{(directory / 'mlflow.db').as_posix()}"


def evaluate_in_mlflow(
    frame: pandas.DataFrame, *, directory: Path, run_name: str, report: str, config: dict[str, Any]
) -> LoggedEvaluation:
    """Evaluate ``score`` against ``reported`` with ``mlflow.models.evaluate``, logged as a run.

    Parameters
    ----------
    frame : pandas.DataFrame
        With columns ``score`` and ``reported``.
    directory : Path
        Holds the tracking store and its artifacts; a copy of the report is put there as well.
    run_name : str
    report : str
        File name of that copy.
    config : dict
        Keywords of `pumonitor.evaluate`.

    Raises
    ------
    PumonitorError
        If MLflow does not know the evaluator.
    """
    # The demo works offline: MLflow would try to send usage data of its own.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow

    # The reports hold the findings that the evaluator logs as well.
    for chatty in ("mlflow", "alembic"):
        logging.getLogger(chatty).setLevel(logging.ERROR)
    _refuse_unknown_evaluator()
    mlflow.set_tracking_uri(store_uri(directory))
    if mlflow.get_experiment_by_name(EXPERIMENT) is None:
        mlflow.create_experiment(
            EXPERIMENT, artifact_location=(directory / "artifacts").resolve().as_uri()
        )
    mlflow.set_experiment(EXPERIMENT)
    with mlflow.start_run(run_name=run_name) as run:
        result = mlflow.models.evaluate(  # type: ignore[no-untyped-call]  # MLflow's
            # As floats: MLflow warns of integer columns.
            data=frame[["score", "reported"]].astype(float),
            targets="reported",
            predictions="score",
            model_type="pu",
            evaluators=["pu"],
            evaluator_config={"pu": config},
        )
        page = mlflow.artifacts.download_artifacts(
            run_id=run.info.run_id, artifact_path="pu/report.html"
        )
    shutil.copyfile(page, directory / report)
    return LoggedEvaluation(run_id=run.info.run_id, metrics=dict(result.metrics))


def _refuse_unknown_evaluator() -> None:
    from importlib.metadata import entry_points

    if "pu" not in entry_points(group="mlflow.model_evaluator").names:
        msg = (
            "MLflow does not find the evaluator 'pu': pumonitor is imported but not installed; "
            "run pip install on it first"
        )
        raise PumonitorError(msg)
