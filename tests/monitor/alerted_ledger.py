"""A ledger of made-up results, committed in any order, and the alerts that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pumonitor.monitor.alerts.alert_inputs import AlertInputs
from pumonitor.monitor.alerts.alerting import Alerting
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries, MetricResult
from pumonitor.monitor.rules.alerts.rule import AlertRule, KnownReference
from pumonitor.monitor.rules.windows.panes import PaneSchedule
from pumonitor.monitor.windows.due.settled import is_quiet
from pumonitor.ports import Pane, Window

MONITOR = "card-fraud"
CONFIGURATION = "c0ffee"
DAY = timedelta(days=1)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)

Results = Mapping[tuple[str, str], Sequence[MetricResult]]
"""Of one pane, by series."""


def day(number: int) -> Window:
    return Window(start=FIRST + number * DAY, end=FIRST + (number + 1) * DAY, index=20454 + number)


def known(metric: str, value: float | None, *, half: float = 0.02, n: int = 50) -> MetricResult:
    if value is None:
        return MetricResult(metric=metric, value=None, undefined_reason="no positives")
    return MetricResult(
        metric=metric,
        value=value,
        low=value - half,
        high=value + half,
        se=half / 1.96,
        n_labeled=n,
        n_unlabeled=1000,
    )


def rows(number: int) -> MetricResult:
    return MetricResult(metric="predictions", value=float(number), low=number, high=number, se=0.0)


class AlertedLedger:
    """Plans days, commits what a function says of their panes, and folds alerts."""

    def __init__(
        self,
        ledger: Ledger,
        rules: Sequence[AlertRule],
        results: Callable[[Pane], Results],
        *,
        maturity: timedelta = 2 * DAY,
        panes: tuple[timedelta, ...] = (timedelta(),),
        notify: bool = True,
        destinations: Sequence[str] = ("hook",),
        known_reference: KnownReference | None = None,
    ) -> None:
        self.ledger = ledger
        self.rules = tuple(rules)
        self.results = results
        self.schedule = PaneSchedule(maturity=maturity, provisional=panes)
        self.now = FIRST
        self.have_stopped = False
        self.notify = notify
        self._destinations = destinations
        self._known_reference = known_reference
        self.alerting = self.worker()
        ledger.register_monitor(MONITOR, CONFIGURATION, meaning={"threshold": 0.8})

    def worker(self) -> Alerting:
        """Another process that folds, with a memory of its own."""
        inputs = AlertInputs(
            name=MONITOR,
            configuration=CONFIGURATION,
            rules=self.rules,
            known_reference=lambda moment: self._known_reference,
            scores_of=lambda found: None,
            rules_digest=self.digest,
            have_stopped=lambda: self.have_stopped,
        )
        return Alerting(
            {MONITOR: inputs},
            self.ledger,
            clock=lambda: self.now,
            notifies=self.notify,
            destinations=self._destinations,
        )

    def plan(self, numbers: Sequence[int]) -> None:
        panes = [pane for number in numbers for pane in self.schedule.panes(day(number))]
        self.ledger.plan(MONITOR, CONFIGURATION, panes)

    def collect(self) -> None:
        """All panes that are due by now."""
        while (claim := self.ledger.claim_collect("collector", now=self.now)) is not None:
            found = [
                CollectedPane(
                    number=one.pane.number,
                    digest=repr(self.results(one.pane)),
                    counts={"arrivals": [5], "orphan_labels": 0},
                )
                for one in claim.panes
            ]
            self.ledger.commit_collect(claim, found)

    def claim(self) -> Claim | None:
        return self.ledger.claim_evaluate("evaluator")

    def commit(self, claim: Claim, alerting: Alerting | None = None) -> None:
        alerting = alerting or self.alerting
        moments = {one.pane.number: one.pane.as_of for one in claim.panes}
        alerting.prepare(MONITOR)
        self.ledger.commit_evaluate(
            claim,
            [
                EvaluatedPane(
                    number=one.pane.number,
                    series=[
                        EvaluatedSeries(
                            model_version=series[0],
                            segment=series[1],
                            evaluation={},
                            results=results,
                        )
                        for series, results in self.results(one.pane).items()
                    ],
                )
                for one in claim.panes
            ],
            also=lambda connection, changed: alerting.after_commit_of(
                connection, MONITOR, [(moments[n], claim.window.start) for n in changed]
            ),
        )

    def evaluate(self) -> None:
        while (claim := self.claim()) is not None:
            self.commit(claim)

    def run(self, now: datetime) -> None:
        """A round of work at that time."""
        self.now = now
        self.plan(range(max((now - FIRST) // DAY, 0)))
        self.collect()
        self.evaluate()
        self.advance()

    @property
    def digest(self) -> str:
        """Of the rules."""
        return " ".join(["rules", *sorted(rule.key for rule in self.rules)])

    def is_quiet(self) -> bool:
        """Whether a round of work would leave its alerts alone."""
        standing = self.ledger.standings.all().get(MONITOR)
        return is_quiet(standing, rules=self.digest, now=self.now)

    def advance(self, alerting: Alerting | None = None) -> None:
        """What a round does in the end, by this worker or another."""
        if not self.is_quiet():
            (alerting or self.alerting).advance(MONITOR)

    def told(self, *fields: str) -> list[tuple[object, ...]]:
        """Transitions so far."""
        return [
            tuple(
                getattr(one if name in {"told_at", "withheld"} else one.transition, name)
                for name in fields
            )
            for one in self.ledger.alerts.history()
        ]
