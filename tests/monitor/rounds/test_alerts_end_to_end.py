"""From files whose scores lose their meaning to transitions and messages, by rounds of work."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.ledger.database.schema import outbox
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAY = timedelta(days=1)
DAYS = 6
BAD = (3, 5)
RULES = """\
    rules:
      - {metric: auc, below: 0.8, warning: 0.85, repeat: 1d, to: [hook], name: ranking}
      - {metric: auc, drop: 0.1}
      - {health: volume, change: 50%}
destinations:
  hook: {webhook: "https://example.org/in"}
  pager: {webhook: "https://example.org/page"}
"""


def write_failing_shop(folder: Path, state: str) -> Path:
    """On two days scores say nothing; the prior is given, which saves estimating it."""
    path = write_shop(folder, state=state, days=DAYS, maturity=DAY)
    file = folder / "predictions.parquet"
    rows = pd.read_parquet(file)
    days = (rows["scored_at"] - FIRST).dt.days
    for number in range(*BAD):
        own = days == number
        rows.loc[own, "score"] = np.random.default_rng(number).permutation(rows.loc[own, "score"])
    rows.to_parquet(file)
    text = path.read_text().replace("panes: [0d, 1d]", "panes: []\n    class_prior: 0.1")
    path.write_text(text + RULES)
    return path


def run(path, now):
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        done = jobs.run()
        assert done.failures == []
        return jobs.ledger.alerts.history()


def messages(path):
    configuration = read_configuration(path).configuration
    with (
        open_jobs(configuration, deliver=False) as jobs,
        jobs.ledger.database.reading() as connection,
    ):
        stored = connection.execute(select(outbox).order_by(outbox.c.id)).all()
    return [(row.destination, AlertMessage.from_payload(row.payload)) for row in stored]


@pytest.fixture(params=["sqlite", "postgresql"])
def state(request, tmp_path):
    if request.param == "sqlite":
        return "sqlite:///state.db"
    return request.getfixturevalue("postgres_address")


def test_scores_that_lose_their_meaning_are_reported_and_so_is_the_end(state, tmp_path):
    path = write_failing_shop(tmp_path, state)
    # The first bad day comes after the reference, and is mature a day after its end.
    fires, ends = FIRST + (BAD[0] + 2) * DAY, FIRST + (BAD[1] + 2) * DAY
    for number in range(4):
        history = run(path, fires + number * DAY)
    by_rule = {}
    for one in history:
        about = one.transition
        by_rule.setdefault(about.rule, []).append((about.kind, about.as_of, one.withheld))
    assert by_rule == {
        "ranking": [
            ("fired", fires, None),
            ("reminder", fires + DAY, None),
            # Another rule of the incident fires a day longer.
            ("resolved", ends, "incident"),
        ],
        "ranking (warning)": [
            ("fired", fires, "inhibited"),
            ("reminder", fires + DAY, "inhibited"),
            ("resolved", ends, "untold"),
        ],
        # With the 20 labels that are known at first the interval of the change reaches the limit.
        "auc drop 0.1": [("fired", fires, None), ("resolved", ends + DAY, None)],
        # The day after the last has no predictions.
        "health volume change 50%": [("fired", ends + DAY, None)],
    }
    told = messages(path)
    events = [(where, one.transition) for where, one in told]
    assert [(where, one.rule, one.kind) for where, one in events if one.rule == "ranking"] == [
        ("alerts:hook", "ranking", "fired"),
        ("alerts:hook", "ranking", "reminder"),
        ("alerts:hook", "ranking", "resolved"),
    ]
    assert sorted((where, one.kind) for where, one in events if one.rule == "auc drop 0.1") == [
        (f"alerts:{name}", kind) for name in ("hook", "pager") for kind in ("fired", "resolved")
    ]
    first = events[0][1]
    assert (first.metric, first.limit_value, first.incident) == ("auc", 0.8, 1)
    assert {one.transition.key for _, one in told if one.late} == {
        one.key for _, one in events if (one.rule, one.kind) == ("ranking", "resolved")
    }
    assert len({one.dedup_key for _, one in events if not one.metric.startswith("health")}) == 1
    assert first.high < 0.8
    assert first.window_start == FIRST + BAD[0] * DAY
    assert first.sentence.startswith("2026-01-04: AUC is 0.")
    assert {one.number for _, one in told} <= {one.id for one in history}
