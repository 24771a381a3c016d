"""The class prior of a monitor's windows: followed through breaks, and the same however it is run.

Days whose model ranks worse from the 27th on, and a second version that comes on the 14th.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import delete, func, select

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database import schema

pytestmark = pytest.mark.slow

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 34
NEW_VERSION = 13
BREAK = 26
PRIOR = 0.06
END = FIRST + timedelta(days=DAYS)
SETTLED = END + timedelta(days=4)

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      score: score
      model_version: version
    positives:
      source: confirmations.parquet
      id: prediction_id
      known_at: confirmed_at
    window: 1d
    maturity: 2d
    panes: [0d]
    threshold: 0.5
    class_prior: {class_prior}
"""


def write_days(folder: Path, *, class_prior: str = "auto", break_at: int = BREAK) -> Path:
    """700 predictions a day, of whose positives a half is confirmed within two days."""
    rng = np.random.default_rng(3)
    rows = 700 * DAYS
    scored_at = FIRST + pd.to_timedelta(np.sort(rng.uniform(0, DAYS * 86_400, rows)), unit="s")
    day = ((scored_at - FIRST) // timedelta(days=1)).to_numpy()
    is_positive = rng.random(rows) < PRIOR
    logit = rng.normal(np.where(day < break_at, 2.4, 0.9) * is_positive - 1.5)
    # Another version scores on another scale.
    logit = np.where(day < NEW_VERSION, logit, 0.5 * logit + 1)
    pd.DataFrame(
        {
            "prediction_id": np.arange(rows),
            "scored_at": scored_at,
            "score": 1 / (1 + np.exp(-logit)),
            "version": np.where(day < NEW_VERSION, "1", "2"),
        }
    ).to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_positive & (rng.random(rows) < 0.5))
    delay = pd.to_timedelta(rng.uniform(0, 2 * 86_400, len(confirmed)), unit="s")
    pd.DataFrame(
        {"prediction_id": confirmed, "confirmed_at": scored_at[confirmed] + delay}
    ).to_parquet(folder / "confirmations.parquet")
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION.format(class_prior=class_prior))
    return path


@contextmanager
def jobs_at(path: Path, now: datetime) -> Iterator[Jobs]:
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: now, deliver=False
    ) as jobs:
        yield jobs


def class_priors(jobs: Jobs) -> dict[tuple[datetime, int, str], dict[str, Any]]:
    """That of every look at every window, with all that is told of it."""
    query = select(schema.windows.c.window_start, schema.evaluations).join(
        schema.evaluations, schema.evaluations.c.window_key == schema.windows.c.window_key
    )
    with jobs.ledger.database.reading() as connection:
        return {
            (row.window_start, row.pane, row.model_version): row.evaluation["made_with"][
                "class_prior"
            ]
            for row in connection.execute(query)
        }


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, dict[str, Any]]:
    """All windows long after, from files that know everything."""
    path = write_days(tmp_path_factory.mktemp("at-once"))
    with jobs_at(path, SETTLED) as jobs:
        assert jobs.run().failures == []
        return class_priors(jobs)


def days_of(found: dict[Any, dict[str, Any]], pane: int) -> list[tuple[int, dict[str, Any]]]:
    return sorted(
        ((start - FIRST).days, one)
        for (start, number, _), one in found.items()
        if number == pane and start < END
    )


def test_a_break_of_the_model_moves_no_class_prior(at_once: dict[Any, dict[str, Any]]) -> None:
    for pane in range(3):
        days = days_of(at_once, pane)
        assert len(days) == DAYS
        before = np.mean([one["value"] for day, one in days if NEW_VERSION <= day < BREAK])
        after = [one for day, one in days if day >= BREAK + 3]
        assert np.mean([one["value"] for one in after]) == pytest.approx(before, rel=0.1)
        assert all(one["low"] < PRIOR < one["high"] for _, one in days)
        told = after[-1]["diagnostics"]["over_time"]
        assert told["moved"] < 0.2
        assert told["since_reference"]["ranking"]["chance"] > 0.9


def test_the_first_windows_have_the_level_of_those_so_far_and_later_ones_follow_it(
    at_once: dict[Any, dict[str, Any]],
) -> None:
    mature = dict(days_of(at_once, 1))
    founded = next(day for day, one in mature.items() if one["diagnostics"]["over_time"]["windows"])
    # 20 a day: ten days have 150 that are confirmed.
    assert founded == 10
    level = mature[founded]["diagnostics"]["over_time"]["level"]
    assert level["source"] == "auto"
    assert level["windows"] == founded
    assert level["confirmed"] >= 150
    for day, one in mature.items():
        told = one["diagnostics"]["over_time"]
        assert told["windows"] == max(day - founded + 1, 0)
        assert told["level"] == level or day < founded
    # The second version is followed on from the first, by its counts until its scores are known.
    before, after = (
        mature[day]["diagnostics"]["over_time"]["level_now"]["value"]
        for day in (NEW_VERSION - 1, NEW_VERSION)
    )
    assert after == pytest.approx(before, rel=0.05)


def test_late_labels_of_the_final_pane_leave_the_class_prior_of_the_mature_one(
    at_once: dict[Any, dict[str, Any]],
) -> None:
    mature, final = dict(days_of(at_once, 1)), dict(days_of(at_once, 2))
    for day, one in mature.items():
        assert [final[day][end] for end in ("low", "value", "high")] == [
            one[end] for end in ("low", "value", "high")
        ]


def test_a_run_on_every_day_finds_what_a_run_long_after_finds(
    at_once: dict[Any, dict[str, Any]], tmp_path: Path
) -> None:
    """Each with the files of its day, from the states that the runs before it have kept."""
    path = write_days(tmp_path)
    files = [
        (tmp_path / name, pd.read_parquet(tmp_path / name), column)
        for name, column in (
            ("predictions.parquet", "scored_at"),
            ("confirmations.parquet", "confirmed_at"),
        )
    ]
    for day in range(1, DAYS + 5):
        now = FIRST + timedelta(days=day)
        for file, rows, column in files:
            rows[rows[column] <= now].to_parquet(file, index=False)
        with jobs_at(path, now) as jobs:
            assert jobs.run().failures == []
    with jobs_at(path, SETTLED) as jobs:
        daily = class_priors(jobs)
        with jobs.ledger.database.reading() as connection:
            kept = connection.execute(
                select(
                    schema.prior_states.c.model_version,
                    func.count(),
                    func.max(func.length(schema.prior_states.c.state)),
                ).group_by(schema.prior_states.c.model_version)
            ).all()
    assert {one: daily[one] for one in at_once} == at_once
    assert sorted(row[:2] for row in kept) == [("1", 3), ("2", 3)]
    assert max(row[2] for row in kept) < 100_000


def test_without_any_state_kept_the_same_is_found_again(
    at_once: dict[Any, dict[str, Any]], tmp_path: Path
) -> None:
    path = write_days(tmp_path)
    with jobs_at(path, END - timedelta(days=3)) as jobs:
        assert jobs.run().failures == []
        with jobs.ledger.database.writing() as connection:
            connection.execute(delete(schema.prior_states))
    with jobs_at(path, SETTLED) as jobs:
        assert jobs.run().failures == []
        found = class_priors(jobs)
    assert {one: found[one] for one in at_once} == at_once
