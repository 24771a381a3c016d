"""Rows of audits in a state database, put there by hand."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import insert

from pumonitor.audit.ordering import draw_key
from pumonitor.monitor.ledger.database.schema import review_audits, review_cases, review_verdicts
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.monitored_days import CONFIGURATION, MONITOR, day

DRAWN_AT = day(9).start
SEED = "secret"
CASES = (
    ("k0", 0, "case", 0),
    ("k1", 0, "case", 1),
    ("k2", 1, "case", 0),
    ("k3", 1, "case", 1),
    ("k4", 1, "case", 1),
    ("s0", 1, "seed", 0),
    ("k2", 1, "again", 0),
    ("k5", 0, "case", 0),
)
"""Id, bin, kind and window of each line of the file, from number 1."""


def put_audit(ledger: Ledger, name: str = "a1", *, first: int = 0, **changed: object) -> None:
    """An audit of two days with six cases in two bins, a seed and a case given twice."""
    windows = [day(first), day(first + 1)]
    with ledger.database.writing() as connection:
        connection.execute(
            insert(review_audits).values(
                {
                    "audit": name,
                    "monitor": MONITOR,
                    "configuration": CONFIGURATION,
                    "model_version": "7",
                    "window_start": windows[0].start,
                    "window_end": windows[1].end,
                    "as_of": windows[1].end + timedelta(days=4),
                    "drawn_at": DRAWN_AT,
                    "actor": "somebody",
                    "threshold": 0.6,
                    "fair": "check",
                    "seed": SEED,
                    "edges": [0.5],
                    "rows": [200, 40],
                    "labeled": [2, 10],
                    "planned": [3, 3],
                    "windows": [
                        {
                            "start": one.start.isoformat(),
                            "end": one.end.isoformat(),
                            "as_of": (one.end + timedelta(days=4)).isoformat(),
                            "rows": [100, 20],
                            "labeled": [1, 5],
                        }
                        for one in windows
                    ],
                }
                | changed
            )
        )
        connection.execute(
            insert(review_cases),
            [
                {
                    "audit": name,
                    "number": number,
                    "keyed": draw_key(SEED, row_id),
                    "id": row_id,
                    "bin": at,
                    "inclusion": None if kind == "seed" else 0.1,
                    "kind": kind,
                    "window_start": windows[which].start,
                }
                for number, (row_id, at, kind, which) in enumerate(CASES, start=1)
            ],
        )


def say(
    ledger: Ledger,
    number: int,
    verdict: int | None,
    *,
    audit: str = "a1",
    reviewer: str = "",
    hours: int = 1,
) -> None:
    """A verdict some hours after the draw."""
    with ledger.database.writing() as connection:
        connection.execute(
            insert(review_verdicts).values(
                audit=audit,
                number=number,
                verdict=verdict,
                reviewer=reviewer,
                at=DRAWN_AT + timedelta(hours=hours),
                read_at=DRAWN_AT + timedelta(hours=hours),
            )
        )
