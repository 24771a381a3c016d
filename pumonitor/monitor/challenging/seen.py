"""Windows of challengers: which are due, what was seen of them, and what is sent to MLflow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from pumonitor.errors import PumonitorError
from pumonitor.gate import (
    ERROR,
    GateMetric,
    PairedLabels,
    ReviewedPair,
    evidence_of,
    window_from_bytes,
)
from pumonitor.monitor.challenging.challengers import Challenger, NamedChallenger
from pumonitor.monitor.challenging.deployed import DeployedSpans, deployed_spans
from pumonitor.monitor.challenging.shadow import paired_labels
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery.mlflow.sink import DESTINATION, lane
from pumonitor.monitor.delivery.mlflow.window_message import WindowMessage
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.challengers import ChallengerSeries
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.ports import Pane, PredictionSource
from pumonitor.text import percent_text


def series_of(monitor: Monitor, challenger: NamedChallenger) -> ChallengerSeries:
    """Where the windows of a challenger are kept."""
    settings = monitor.challengers
    depends_on: dict[str, Any] = {}
    if settings is not None:
        features = settings.features
        depends_on = {
            "capacity": settings.gate.capacity,
            "entity": settings.entity,
            "features": None
            if features is None
            else [
                features.source.identity if features.source is not None else None,
                features.id,
                features.columns,
            ],
        }
        # Keys that came later are left out unless they are given: what is stored stays theirs.
        later = {
            "known_at": None if features is None else features.known_at,
            "output": settings.output,
        }
        depends_on |= {key: value for key, value in later.items() if value is not None}
    digest = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()[:32]
    return ChallengerSeries(
        monitor=monitor.name,
        configuration=configuration_hash(monitor),
        challenger=challenger.name,
        scored_by=challenger.scored_by,
        gate=digest,
    )


def mature_panes(ledger: Ledger, monitor: Monitor, *, configuration: str) -> list[Pane]:
    """Mature panes that were evaluated, in order of time."""
    return [
        Pane(window=record.window, number=pane.number, state=pane.state, as_of=pane.as_of)
        for record in ledger.windows(monitor.name, configuration=configuration)
        for pane in record.panes
        if pane.state == "mature" and pane.revision is not None
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSince:
    """Which windows say something of a challenger beside the deployed version.

    Attributes
    ----------
    trained_until : datetime or None
        End of its training rows: windows that began before say nothing.
    deployed : DeployedSpans
        Times of the deployed version: windows of another one say nothing.
    """

    trained_until: datetime | None
    deployed: DeployedSpans

    def counts(self, start: datetime, end: datetime) -> bool:
        """Whether a window says something."""
        is_new = self.trained_until is None or start >= self.trained_until
        return is_new and self.deployed.cover(start, end)

    @property
    def latest(self) -> tuple[datetime, str] | None:
        """The moment after which every window does, and why; None without one."""
        moments = [
            (self.trained_until, "its training rows end"),
            (self.deployed.since, "another version was deployed"),
        ]
        known = [(moment, why) for moment, why in moments if moment is not None]
        return max(known, default=None)


def judged_since(ledger: Ledger, monitor: Monitor, challenger: NamedChallenger) -> JudgedSince:
    """Which windows say something of a challenger."""
    return JudgedSince(
        trained_until=challenger.trained_until, deployed=deployed_spans(ledger, monitor)
    )


def score_due(
    ledger: Ledger,
    monitor: Monitor,
    challenger: Challenger,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    sends_results: bool,
    on_window: Callable[[datetime], None] = lambda start: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> tuple[int, list[tuple[datetime, Exception]]]:
    """Score the windows that are due; returns how many, and why others could not be scored.

    Those that began before the end of the challenger's training rows, or before the deployed
    version was, are left out.

    What could not be scored is tried again in a later round, after a wait that doubles.
    """
    series = series_of(monitor, challenger)
    known = ledger.challengers.scored(series)
    earlier: dict[datetime, PairedLabels | ReviewedPair] | None = None
    since = judged_since(ledger, monitor, challenger)
    scored, failures = 0, list[tuple[datetime, Exception]]()
    for pane in mature_panes(ledger, monitor, configuration=series.configuration):
        start = pane.window.start
        if is_stopped() or start in known or not since.counts(start, pane.window.end):
            continue
        if not ledger.challengers.begin(series, start=start, end=pane.window.end, as_of=pane.as_of):
            continue
        on_window(start)
        try:
            found = paired_labels(monitor, challenger, pane, open_source=open_source)
        except StateError:
            raise
        except Exception as error:  # noqa: BLE001 (whatever it is, it delays this challenger alone)
            is_ours = isinstance(error, PumonitorError)
            said = str(error) if is_ours else f"{type(error).__name__}: {error}"
            ledger.challengers.failed(series, start, said)
            failures.append((start, error))
            continue
        if earlier is None:
            # Read once, and not at all in a round that scores nothing.
            earlier = dict(judged_windows(ledger, monitor, series))
        seen = [earlier[one] for one in sorted(earlier) if one < start] + [found]
        differences = differences_of(seen)
        labels = sum(one.positives for one in seen)
        message = _message(monitor, challenger, series, pane, differences, labels=labels)
        earlier[start] = found
        scored += ledger.challengers.done(
            series,
            start,
            labels=found.positives,
            found=found.to_bytes(),
            differences=differences,
            messages=[message] if sends_results else [],
        )
    return scored, failures


def judged_windows(
    ledger: Ledger, monitor: Monitor, series: ChallengerSeries
) -> list[tuple[datetime, PairedLabels | ReviewedPair]]:
    """Windows with a result, in order of time, of the deployed version only."""
    deployed = deployed_spans(ledger, monitor)
    return [
        (one.start, window_from_bytes(one.found))
        for one in ledger.challengers.windows(series)
        if one.found is not None and deployed.cover(one.start, one.end)
    ]


def differences_of(
    windows: Sequence[PairedLabels | ReviewedPair],
) -> dict[str, dict[str, float | None]]:
    """Challenger less deployed model on windows together, with the bounds of this challenger alone.

    Of "recall" and "aul" the value, low and high; None without labels.
    """
    found: dict[str, dict[str, float | None]] = {}
    metrics: tuple[GateMetric, ...] = get_args(GateMetric)
    for metric in metrics:
        evidence = evidence_of(windows, metric)
        found[metric] = {
            "value": evidence.mean,
            "low": evidence.lower(error=ERROR) if evidence.units else None,
            "high": evidence.upper(error=ERROR) if evidence.units else None,
        }
    return found


def _message(
    monitor: Monitor,
    challenger: Challenger,
    series: ChallengerSeries,
    pane: Pane,
    differences: Mapping[str, Mapping[str, float | None]],
    *,
    labels: int,
) -> NewMessage:
    """Differences on all windows up to this one, as a step of the challenger's own run."""
    metrics: dict[str, Any] = {"n_labeled": labels}
    metrics |= {f"{metric}_difference": dict(one) for metric, one in differences.items()}
    run = f"{challenger.name} ({challenger.scored_by})"
    capacity = monitor.challengers.gate.capacity if monitor.challengers is not None else 0.05
    message = WindowMessage(
        monitor=monitor.name,
        model_version=run,
        segment="",
        window=pane.window,
        state="mature",
        revision=pane.number,
        as_of=pane.as_of,
        metrics=metrics,
        configuration=series.configuration,
        parameters={
            "monitor": monitor.name,
            "challenger": challenger.name,
            "scored_by": challenger.scored_by,
            "capacity": f"{capacity:g}",
        },
        description=(
            f"**{monitor.name}**: challenger {challenger.name} ({challenger.scored_by}) less the "
            "deployed model, on the labels of all windows up to each step. Intervals hold at all "
            f"steps together. `pu/recall_difference` is that of recall among the highest "
            f"{percent_text(capacity)} of rows of either model."
        ),
    )
    return NewMessage(
        destination=DESTINATION,
        lane=lane(monitor.name, run),
        key=f"challenger:{monitor.name}:{series.challenger}:{series.scored_by}:{series.gate}:"
        f"{series.configuration}:{pane.window.start.isoformat()}",
        payload=message.to_payload(),
    )
