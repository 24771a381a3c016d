"""Class priors of a window of many segments, followed from the states that were kept.

`python -m benchmarks.monitoring.segments [--segments 1000]`. Windows of so many segments, 15
confirmed in each, are stored as if they had been collected. The first ten found every segment; then
the class priors of the newest window are asked for, as a daily run asks for them: from the states
that the window before it has left in the ledger. Printed are seconds and milliseconds a segment.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane, CollectedSeries
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries
from pumonitor.monitor.windows.class_prior.followed import FollowedPriors
from pumonitor.ports import Pane
from pumonitor.tables import ScoreTable

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_ROWS = 600
_POSITIVE = 0.06
_CONFIRMED = 0.42
_WINDOWS = 13
_MONITOR = """\
monitors:
  card-fraud:
    predictions: {source: predictions.parquet, id: id, time: made, score: score, segments: [shop]}
    positives: {source: confirmations.parquet, id: id, known_at: known}
    window: 1d
    maturity: 0d
    threshold: 0.5
"""


def _collected(claim: Claim, segments: int, rng: np.random.Generator) -> list[CollectedPane]:
    return [
        CollectedPane(
            number=one.pane.number,
            digest=str(one.pane.number),
            counts={"arrivals": [0]},
            series=list(_series(segments, rng)),
        )
        for one in claim.panes
    ]


def _series(segments: int, rng: np.random.Generator) -> Iterator[CollectedSeries]:
    for segment in range(segments):
        positive = rng.random(_ROWS) < _POSITIVE
        labeled = positive & (rng.random(_ROWS) < _CONFIRMED)
        labeled[:2] = True
        scores = 1 / (1 + np.exp(-rng.normal(2.0 * positive - 1)))
        found = int(labeled.sum())
        yield CollectedSeries(
            model_version="",
            segment=f"shop={segment}",
            table=ScoreTable.from_arrays(labeled.astype(int), scores, thresholds=[0.5]),
            class_prior=None,
            delays={
                "undefined_reason": None,
                "labeled": found,
                "unlabeled": _ROWS - found,
                "negative": 0,
                "flagged": 0,
                "digest": "",
            },
        )


def _asked(
    ledger: Ledger, monitor: Monitor, configuration: str, claim: Claim
) -> tuple[float, list[EvaluatedPane]]:
    """Seconds that the class priors of a claimed window take; only the ledger remembers."""
    [claimed] = claim.panes
    pane: Pane = claimed.pane
    started = time.process_time()
    priors = FollowedPriors(ledger).of_pane(monitor, configuration, pane)
    series = ledger.series(claim.window_key, pane.number)
    found = [priors.of(one) for one in series]
    seconds = time.process_time() - started
    assert all(one is not None for one in found)
    return seconds, [
        EvaluatedPane(
            number=pane.number,
            series=[
                EvaluatedSeries(model_version="", segment=one.segment, evaluation={}, results=())
                for one in series
            ],
            prior_states=priors.states,
        )
    ]


def main() -> None:
    """Time it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=1000)
    segments = parser.parse_args().segments
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "pumonitor.yaml"
        path.write_text(_MONITOR)
        monitor = read_configuration(path).configuration.monitors["card-fraud"]
        configuration = configuration_hash(monitor)
        windows = monitor.windows.between(_FIRST, _FIRST + timedelta(days=_WINDOWS))
        panes = [pane for window in windows for pane in monitor.pane_schedule.panes(window)]
        with Ledger.open(f"sqlite:///{name}/state.db") as ledger:
            ledger.register_monitor(monitor.name, configuration, meaning={})
            ledger.plan(monitor.name, configuration, panes)
            for number in range(_WINDOWS):
                claim = ledger.claim_collect("collector", now=panes[-1].as_of)
                assert claim is not None
                ledger.commit_collect(claim, _collected(claim, segments, rng))
                claim = ledger.claim_evaluate("evaluator")
                assert claim is not None
                if number < 9:
                    found = [EvaluatedPane(number=0)]
                    seconds = 0.0
                else:
                    seconds, found = _asked(ledger, monitor, configuration, claim)
                started = time.process_time()
                ledger.commit_evaluate(claim, found)
                stored = time.process_time() - started
                if seconds:
                    print(
                        f"window {number + 1}: {segments} segments in {seconds:.2f} s of CPU, "
                        f"{1000 * seconds / segments:.1f} ms each; kept in {stored:.2f} s"
                    )


if __name__ == "__main__":
    main()
