"""Days whose class prior differs by itself: the interval of a day holds the day's, not the level's.

Twenty-two days of a monitor whose class prior is given for its reference, the first eight. On the
fifteenth four times as many cases are positive, for that day alone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS, REFERENCE, BURST = 22, 8, 15
ROWS, LEVEL, SPREAD, FREQUENCY = 800, 0.08, 0.6, 0.6

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  shop:
    predictions: {source: p.parquet, id: id, time: at, score: score}
    positives: {source: c.parquet, id: id, known_at: at}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    reference: {start: 2026-01-01, end: 2026-01-09}
    class_prior: {value: 0.08, low: 0.07, high: 0.09, of: {start: 2026-01-01, end: 2026-01-09}}
"""


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Of every day: its class prior, what the monitor made of it, and the results."""
    folder = tmp_path_factory.mktemp("days")
    rng = np.random.default_rng(3)
    factors = np.exp(SPREAD * rng.normal(size=DAYS))
    factors[:REFERENCE] /= factors[:REFERENCE].mean()
    priors = np.minimum(LEVEL * factors, 0.5)
    priors[BURST] = 4 * LEVEL
    frames = []
    for day, prior in enumerate(priors):
        positive = np.arange(ROWS) < round(ROWS * prior)
        at = FIRST + timedelta(days=day) + pd.to_timedelta(np.linspace(1, 86_000, ROWS), unit="s")
        score = 1 / (1 + np.exp(1.5 - rng.normal(2.5 * positive)))
        confirmed = positive & (rng.random(ROWS) < FREQUENCY)
        frames.append(pd.DataFrame({"at": at, "score": score, "confirmed": confirmed}))
    frame = pd.concat(frames, ignore_index=True)
    frame["id"] = np.arange(len(frame))
    frame[["id", "at", "score"]].to_parquet(folder / "p.parquet")
    frame.loc[frame.confirmed, ["id", "at"]].to_parquet(folder / "c.parquet")
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION)
    settled = FIRST + timedelta(days=DAYS + 3)
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: settled, deliver=False
    ) as jobs:
        jobs.plan("shop", start=FIRST, end=FIRST + timedelta(days=DAYS))
        assert jobs.drain().failures == []
        rows: dict[datetime, dict[str, Any]] = {}
        for one in jobs.ledger.results("shop"):
            rows.setdefault(one.window_start, {})[one.metric] = one
        return [
            {
                "prior": prior,
                "class_prior": jobs.ledger.evaluations("shop", start=start)[0].evaluation[
                    "made_with"
                ]["class_prior"],
                "results": rows[start],
            }
            for prior, start in (
                (prior, FIRST + timedelta(days=day)) for day, prior in enumerate(priors)
            )
        ]


def test_the_interval_of_a_day_holds_its_own_class_prior(days: list[dict[str, Any]]) -> None:
    later = days[REFERENCE:]
    held = [
        one["class_prior"]["low"] <= one["prior"] <= one["class_prior"]["high"] for one in later
    ]
    assert np.mean(held) > 0.9
    ratios = [one["class_prior"]["high"] / one["class_prior"]["low"] for one in later]
    # Thirty labels alone make it 2; the days themselves go from a third to four times the level.
    assert np.median(ratios) < 2.4


def test_precision_is_that_of_the_day(days: list[dict[str, Any]]) -> None:
    from scipy.special import ndtr

    true, false = ndtr(2.5 - 1.5), ndtr(-1.5)
    held = []
    for one in days[REFERENCE:]:
        precision = one["prior"] * true / (one["prior"] * true + (1 - one["prior"]) * false)
        found = one["results"]["precision"]
        held.append(found.low <= precision <= found.high)
    assert np.mean(held) > 0.9


def test_after_a_burst_the_level_is_what_it_was(days: list[dict[str, Any]]) -> None:
    levels = [one["class_prior"]["diagnostics"]["over_time"]["level_now"] for one in days[8:]]
    before, after = levels[BURST - 9], levels[BURST - 8 + 3]
    assert after["value"] == pytest.approx(before["value"], rel=0.3)
    assert days[BURST]["class_prior"]["value"] > 2.5 * before["value"]


def test_days_that_differ_are_no_move_of_the_level(days: list[dict[str, Any]]) -> None:
    moved = [one["results"]["class_prior_moved"].value for one in days[REFERENCE:]]
    assert max(np.minimum(moved[1:], moved[:-1])) < 0.8
    of_day, of_level = (
        np.array([one["results"][name].value for one in days[REFERENCE:]])
        for name in ("class_prior_factor", "class_prior_level_factor")
    )
    assert np.std(np.log(of_level)) < 0.5 * np.std(np.log(of_day))
