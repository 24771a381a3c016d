"""What one process measures of the code that it imports; `benchmarks.home` starts it.

It is run as a script, with the code of this commit or of another one on the path.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Stopwatch:
    """CPU seconds of this process, all threads together, by the step that they led to."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = defaultdict(float)
        self._last = time.process_time()

    def __call__(self, step: str) -> None:
        now = time.process_time()
        self.steps[step] += now - self._last
        self._last = now


def windows(folder: Path) -> dict[str, float]:
    """CPU seconds a window with rows of a round in which all are due with all of their panes.

    The monitor `warm` has its windows first, so that all is loaded. The day after the last row is
    a window without rows: its time counts, it does not.
    """
    from pumonitor.monitor.app import open_jobs
    from pumonitor.monitor.config.file import read_configuration

    _as_a_command_does()
    for name in ("warm", "measured"):
        configuration = read_configuration(folder / f"{name}.yaml").configuration
        with open_jobs(configuration) as jobs:
            pass  # creates the state database
        watch = Stopwatch()
        with open_jobs(configuration, on_step=watch) as jobs:
            done = jobs.run()
        watch("sent, and the rest of the round")
        if done.failures or not done.evaluated:
            raise RuntimeError(f"{name}: {done}")
    with_rows = _days_with_rows(folder / "measured-predictions.parquet")
    each = {step: seconds / with_rows for step, seconds in watch.steps.items()}
    return {"": sum(each.values()), **each}


def _days_with_rows(path: Path) -> int:
    import duckdb

    with duckdb.connect() as connection:
        query = f"SELECT count(DISTINCT CAST(timezone('UTC', made) AS DATE)) FROM '{path}'"  # noqa: S608
        return int(connection.execute(query).fetchall()[0][0])


def _as_a_command_does() -> None:
    """Where a commit has settings of its own process, they hold here too."""
    with suppress(ImportError):
        from pumonitor.monitor.own_process import collect_garbage_seldom

        collect_garbage_seldom()


def plain_count(folder: Path, *, runs: int = 5) -> dict[str, float]:
    """DuckDB's own group-by of the rows of one day with the confirmations, by 4,096 scores."""
    import duckdb

    query = f"""
        SELECT floor(score * 4096) AS cell, known IS NOT NULL AS labeled, count(*)
        FROM (SELECT id, score FROM '{folder}/measured-predictions.parquet'
              WHERE made >= TIMESTAMPTZ '2026-01-01 00:00+00'
                AND made < TIMESTAMPTZ '2026-01-02 00:00+00')
        LEFT JOIN '{folder}/measured-confirmations.parquet' USING (id)
        GROUP BY ALL
    """  # noqa: S608
    used = []
    with duckdb.connect() as connection:
        for _ in range(runs):
            started = time.process_time()
            counted = connection.execute(query).fetchall()
            used.append(time.process_time() - started)
            if not counted:
                msg = "the day that is counted has no rows"
                raise RuntimeError(msg)
    return {"": statistics.median(used)}


def evaluator(folder: Path, *, name: str) -> dict[str, float]:
    """`mlflow.models.evaluate` from the start of the process: MLflow's import, and the rest."""
    import pandas as pd

    started = time.process_time()
    import mlflow
    from mlflow.models.evaluation.evaluator_registry import _model_evaluation_registry

    if name == "nothing":
        _register_nothing(_model_evaluation_registry)
    imported = time.process_time()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow-{time.time_ns()}.db")
    mlflow.create_experiment("home", artifact_location=str(folder / "artifacts"))
    mlflow.set_experiment("home")
    rows = pd.read_parquet(folder / "measured-labels.parquet")
    opened = time.process_time()
    mlflow.models.evaluate(
        data=rows,
        predictions="score",
        targets="label",
        model_type="pu",
        evaluators=[name],
        evaluator_config={name: {"threshold": 0.8}},
    )
    return {
        "": time.process_time() - opened,
        "import mlflow": imported - started,
        "a new MLflow database": opened - imported,
    }


def _register_nothing(registry: object) -> None:
    from mlflow.models import EvaluationResult
    from mlflow.models.evaluation.base import ModelEvaluator

    class Nothing(ModelEvaluator):
        @classmethod
        def can_evaluate(cls, **kwargs: object) -> bool:
            return True

        def evaluate(self, *, run_id: str, **kwargs: object) -> EvaluationResult:
            import tempfile

            from mlflow import MlflowClient

            with tempfile.TemporaryDirectory() as scratch:
                (Path(scratch) / "page.html").write_text("nothing")
                MlflowClient().log_artifacts(run_id, scratch, artifact_path="pu")
            return EvaluationResult(metrics={"one": 1.0}, artifacts={}, run_id=run_id)

    registry.register("nothing", Nothing)


PARTS: dict[str, Callable[[Path], dict[str, float]]] = {
    "plain count": plain_count,
    "windows": windows,
    "evaluator": lambda folder: evaluator(folder, name="pu"),
    "evaluator that does nothing": lambda folder: evaluator(folder, name="nothing"),
}


if __name__ == "__main__":
    part, place = sys.argv[1:]
    print(json.dumps(PARTS[part](Path(place))))
