"""Requests to MLflow of a monitor with many segments, of which it gets the metrics that count."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.delivery.mlflow.mlflow_history import active_runs
from tests.monitor.monitored_shop import DAYS, SETTLED, write_shop

pytestmark = [
    pytest.mark.usefixtures("unsearched_labels"),
    *(pytest.mark.filterwarnings(accepted) for accepted in WARNINGS_OF_MLFLOW),
]

SEGMENTS = 20
COUNTS = {"labeled_positives", "predictions"}
HEADLINE = COUNTS | {"class_prior", "aul", "auc", "precision", "recall", "f1"}
NAME = re.compile(
    r"(?P<look>pu\w*)/(country\.\w+/)?(?P<metric>\w+?)(_low|_high|_undefined|_infeasible)?"
)

Logged = list[tuple[bool, str, str]]
"""Of each metric whether it is a segment's, the group of its look, and its name."""


@pytest.fixture
def requests(mlflow_client_class: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of points of the requests that log some."""
    numbers: list[int] = []
    log_batch = mlflow_client_class.log_batch

    def counted(self: Any, run_id: str, metrics: Sequence[Any] = (), **others: Any) -> Any:
        numbers.append(len(metrics))
        return log_batch(self, run_id, metrics=metrics, **others)

    monkeypatch.setattr(mlflow_client_class, "log_batch", counted)
    return numbers


@pytest.fixture
def logged(
    tmp_path: Path, mlflow_client_class: Any, mlflow_database: Path
) -> Callable[..., Logged]:
    """What MLflow holds of four days of a shop with so many countries."""
    address = f"sqlite:///{tmp_path / 'mlflow.db'}"
    shutil.copy(mlflow_database, tmp_path / "mlflow.db")

    def log(*, segments: int, tracking: str = "", rules: str = "") -> Logged:
        path = write_shop(tmp_path, with_segments=True, tracking=address, class_prior=0.1)
        text = path.read_text().replace(f"'{address}'", f"'{address}'{tracking}")
        path.write_text(text + (f"    rules: {rules}\n" if rules else ""))
        rows = pd.read_parquet(tmp_path / "predictions.parquet")
        rows["country"] = [f"C{number:02}" for number in np.arange(len(rows)) % segments]
        rows.to_parquet(tmp_path / "predictions.parquet")
        configuration = read_configuration(path).configuration
        with open_jobs(configuration, clock=lambda: SETTLED) as jobs:
            jobs.run(budget=timedelta())
            jobs.deliver(budget=timedelta(minutes=5), for_files=timedelta())
        (run,) = active_runs(mlflow_client_class(tracking_uri=address), "card-fraud")
        names = [NAME.fullmatch(name) for name in run.data.metrics]
        assert all(names)
        return [(bool(name[2]), name["look"], name["metric"]) for name in names if name]

    return log


def test_twenty_segments_take_two_requests_a_window(
    logged: Callable[..., Logged], requests: list[int]
) -> None:
    """All metrics of all segments at all looks took eleven."""
    names = logged(segments=SEGMENTS)
    assert len(requests) <= 2 * DAYS
    assert {metric for is_segment, _, metric in names if is_segment} == HEADLINE
    assert {look for is_segment, look, _ in names if is_segment} == {"pu_after_0d", "pu"}
    of_all_rows = {(look, metric) for is_segment, look, metric in names if not is_segment}
    assert {look for look, _ in of_all_rows} == {"pu_after_0d", "pu_after_1d", "pu", "pu_final"}
    assert {("pu", "mcc"), ("pu", "f1_change"), ("pu_after_1d", "f1_expected")} <= of_all_rows


def test_what_rules_name_is_logged_of_segments_as_well(logged: Callable[..., Logged]) -> None:
    names = logged(
        segments=2,
        tracking=", segment_metrics: [recall]",
        rules="[{metric: specificity, below: 0.5, per: country}, {health: no_data}]",
    )
    metrics = {metric for is_segment, _, metric in names if is_segment}
    assert metrics == {"recall", "specificity"}


def test_no_segment_is_logged_where_none_is_named(logged: Callable[..., Logged]) -> None:
    names = logged(segments=2, tracking=", segment_metrics: []")
    assert names
    assert not any(is_segment for is_segment, _, _ in names)


def test_all_of_segments_is_logged_where_that_is_configured(logged: Callable[..., Logged]) -> None:
    names = logged(segments=2, tracking=", segment_metrics: all")
    of_segments = {(look, metric) for is_segment, look, metric in names if is_segment}
    assert of_segments == {(look, metric) for is_segment, look, metric in names if not is_segment}
