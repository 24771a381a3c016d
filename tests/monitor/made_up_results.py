"""A monitored shop whose ledger holds made-up results: nothing is read and nothing evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from pumonitor.monitor.config.file import (
    configuration_hash,
    configuration_meaning,
    read_configuration,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries, MetricResult
from pumonitor.ports import Pane
from tests.monitor.monitored_shop import FIRST

METRICS = ("class_prior", "aul", "auc", "precision", "recall", "f1")
DAY = timedelta(days=1)

TEXT = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      score: score
      model_version: version
      segments: [country]
    positives: {source: confirmations.parquet, id: prediction_id, known_at: confirmed_at}
    window: 1d
    maturity: 2d
    panes: []
    threshold: 0.5
"""


def write_made_up(folder: Path, text: str = TEXT) -> Path:
    """The configuration alone."""
    path = folder / "pumonitor.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def record(
    path: Path,
    days: Sequence[int],
    *,
    series: Sequence[tuple[str, str]] = (("2", ""),),
    evaluation: Callable[[Pane], Mapping[str, Any]] = lambda pane: {},
    results: Sequence[MetricResult] | None = None,
) -> None:
    """What a run under the file's configuration would have recorded, mature and not final."""
    file = read_configuration(path, needs="ledger")
    (monitor,) = file.configuration.monitors.values()
    key = configuration_hash(monitor)
    with Ledger.open(file.configuration.state_address) as ledger:
        ledger.register_monitor(monitor.name, key, meaning=configuration_meaning(monitor))
        windows = [monitor.windows.containing(FIRST + number * DAY) for number in days]
        panes = [pane for one in windows for pane in monitor.pane_schedule.panes(one)[:1]]
        ledger.plan(monitor.name, key, panes)
        mature = {monitor.name: key}
        for one in windows:
            now = one.end + monitor.maturity
            claim = ledger.claim_collect("test", now=now, monitors=mature)
            assert claim is not None
            found = [
                CollectedPane(number=each.pane.number, digest="d", counts={"arrivals": [5]})
                for each in claim.panes
            ]
            ledger.commit_collect(claim, found)
            claim = ledger.claim_evaluate("test", monitors=mature)
            assert claim is not None
            judged = [
                _judged(each.pane, series, evaluation(each.pane), results) for each in claim.panes
            ]
            ledger.commit_evaluate(claim, judged)


def _judged(
    pane: Pane,
    series: Sequence[tuple[str, str]],
    evaluation: Mapping[str, Any],
    results: Sequence[MetricResult] | None,
) -> EvaluatedPane:
    return EvaluatedPane(
        number=pane.number,
        series=[
            EvaluatedSeries(
                model_version=version,
                segment=segment,
                evaluation=evaluation,
                results=results or [_result(name, place) for place, name in enumerate(METRICS)],
            )
            for version, segment in series
        ],
    )


def _result(name: str, place: int) -> MetricResult:
    if name == "precision":
        return MetricResult(metric=name, value=None, undefined_reason="nothing is flagged")
    middle = 0.31 + 0.1 * place
    return MetricResult(
        metric=name,
        value=middle,
        low=middle - 0.11,
        high=1.0 if name == "f1" else middle + 0.07,
        se=0.05,
        n_labeled=27,
        n_unlabeled=600,
    )
