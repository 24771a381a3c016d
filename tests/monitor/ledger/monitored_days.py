"""A monitor of days with three panes each, and work on them that needs no data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from pumonitor.monitor.ledger.database.schema import outbox, windows
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim, window_key
from pumonitor.monitor.ledger.records.collected import CollectedPane, CollectedSeries
from pumonitor.monitor.ledger.records.results import (
    EvaluatedPane,
    EvaluatedSeries,
    MetricResult,
    NewMessage,
)
from pumonitor.ports import Pane, State, Window
from pumonitor.tables import ScoreTable

MONITOR = "card-fraud"
CONFIGURATION = "c0ffee"
DAY = timedelta(days=1)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
AGES = (timedelta(), 2 * DAY, 4 * DAY)
STATES: tuple[State, ...] = ("provisional", "mature", "final")
LONG_AFTER = FIRST + 1000 * DAY
TABLE = ScoreTable.from_counts([1, 2, 7], [60, 30, 10], edges=[0.0, 0.3, 0.6, 1.0])


def day(number: int) -> Window:
    return Window(start=FIRST + number * DAY, end=FIRST + (number + 1) * DAY, index=20454 + number)


def panes_of(window: Window) -> list[Pane]:
    return [
        Pane(window=window, number=number, state=state, as_of=window.end + age)
        for number, (state, age) in enumerate(zip(STATES, AGES, strict=True))
    ]


def key(number: int) -> str:
    return window_key(MONITOR, CONFIGURATION, day(number).start, day(number).end)


def planned(ledger: Ledger, days: int, monitor: str = MONITOR) -> None:
    ledger.register_monitor(monitor, CONFIGURATION, meaning={"threshold": 0.8})
    panes = [pane for number in range(days) for pane in panes_of(day(number))]
    ledger.plan(monitor, CONFIGURATION, panes)


def counted(claim: Claim, *, digest: str = "d", value: float = 0.25) -> list[CollectedPane]:
    """What collecting might find: the overall series and a segment of one version."""
    return [
        CollectedPane(
            number=one.pane.number,
            digest=f"{digest}{one.pane.number}",
            counts={"predictions": 110 + one.pane.number},
            series=[
                CollectedSeries(
                    model_version="7",
                    segment=segment,
                    table=TABLE,
                    class_prior={"value": value, "low": 0.2, "high": 0.3},
                    delays=[[1, 2], [0, one.pane.number]],
                )
                for segment in ("", "country=DE")
            ],
        )
        for one in claim.panes
    ]


def judged(claim: Claim, *, value: float = 0.9, note: str = "fine") -> list[EvaluatedPane]:
    """What evaluating might come to, with a message per pane."""
    return [
        EvaluatedPane(
            number=one.pane.number,
            series=[
                EvaluatedSeries(
                    model_version="7",
                    segment="",
                    evaluation={"note": note, "numbers": [1, 2.5, None]},
                    results=[
                        MetricResult(
                            metric="auc",
                            value=value,
                            low=0.8,
                            high=0.95,
                            se=0.03,
                            n_labeled=10,
                            n_unlabeled=5_000_000_000,
                        ),
                        MetricResult(metric="mcc", value=None, undefined_reason="no positives"),
                    ],
                )
            ],
            messages=[message(f"{claim.window_key} {one.pane.number} {one.revision}")],
        )
        for one in claim.panes
    ]


def message(key: str, *, destination: str = "mlflow", lane: str = "7") -> NewMessage:
    return NewMessage(
        destination=destination, lane=lane, key=key, payload={"text": key, "number": 1.5}
    )


def collected(ledger: Ledger, *, now: datetime = LONG_AFTER, **found: object) -> Claim:
    """Collect the oldest window."""
    claim = ledger.claim_collect("collector", now=now)
    assert claim is not None
    ledger.commit_collect(claim, counted(claim, **found))  # type: ignore[arg-type]
    return claim


def evaluated(ledger: Ledger, **found: object) -> tuple[int, ...]:
    """Evaluate the oldest window."""
    claim = ledger.claim_evaluate("evaluator")
    assert claim is not None
    return ledger.commit_evaluate(claim, judged(claim, **found))  # type: ignore[arg-type]


def run_out(ledger: Ledger) -> None:
    """Let all leases run out and all waits end, as if time had passed."""
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    with ledger.database.writing() as connection:
        connection.execute(
            update(windows).where(windows.c.lease_until.is_not(None)).values(lease_until=long_ago)
        )
        connection.execute(
            update(windows).where(windows.c.not_before.is_not(None)).values(not_before=long_ago)
        )
        for column in (outbox.c.claimed_until, outbox.c.not_before):
            connection.execute(update(outbox).where(column.is_not(None)).values({column: long_ago}))


def days_of(claims: list[Claim | None]) -> list[int]:
    """Days of claims since the first one; -1 where there is no claim."""
    return [-1 if claim is None else claim.window.index - 20454 for claim in claims]
