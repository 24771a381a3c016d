"""A class prior that is known of one period: where windows are followed from, and no constant.

Nine days of two countries, one of which has many positives; the first four are the reference.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.class_prior.assumed import FINDING

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 9
PRIORS = {"DE": 0.3, "FR": 0.05}
SHARE_OF_DE = 0.2
PRIOR = 0.1
SETTLED = FIRST + timedelta(days=DAYS + 5)

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  shop:
    predictions: {{source: p.parquet, id: id, time: at, score: score, segments: [{segments}]}}
    positives: {{source: c.parquet, id: id, known_at: at}}
    window: 1d
    maturity: 2d
    panes: []
    threshold: 0.5
    reference: {{start: 2026-01-01, end: 2026-01-05}}
    class_prior: {class_prior}
"""


def write_days(folder: Path) -> None:
    rng = np.random.default_rng(8)
    rows = 400 * DAYS
    at = FIRST + pd.to_timedelta(np.sort(rng.uniform(0, DAYS * 86_400, rows)), unit="s")
    country = np.where(rng.random(rows) < SHARE_OF_DE, "DE", "FR")
    positive = rng.random(rows) < np.where(country == "DE", PRIORS["DE"], PRIORS["FR"])
    score = 1 / (1 + np.exp(1.5 - rng.normal(1.2 * positive)))
    frame = pd.DataFrame({"id": np.arange(rows), "at": at, "score": score, "country": country})
    frame.to_parquet(folder / "p.parquet")
    confirmed = frame[positive & (rng.random(rows) < 0.5)]
    (confirmed[["id", "at"]]).to_parquet(folder / "c.parquet")


def class_priors(
    folder: Path, class_prior: str, *, segments: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """That of every day by segment, with all that is told of it."""
    write_days(folder)
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION.format(class_prior=class_prior, segments=segments))
    found: dict[str, list[dict[str, Any]]] = {}
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: SETTLED, deliver=False
    ) as jobs:
        jobs.plan("shop", start=FIRST, end=FIRST + timedelta(days=DAYS))
        assert jobs.drain().failures == []
        for day in range(DAYS):
            for row in jobs.ledger.evaluations("shop", start=FIRST + timedelta(days=day)):
                assert not any(one["name"] == FINDING for one in row.evaluation["warnings"])
                found.setdefault(row.segment, []).append(row.evaluation["made_with"]["class_prior"])
        assert not any(one.assumed for one in jobs.ledger.results("shop"))
    return found


def level(prior: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = prior["diagnostics"]["over_time"]["level"]
    return found


def widths(priors: list[dict[str, Any]]) -> np.ndarray:
    return np.array([(one["high"] - one["low"]) / one["value"] for one in priors])


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """An audit of the reference."""
    audit = "{positives: 50, cases: 500, of: {start: 2026-01-01, end: 2026-01-05}}"
    return class_priors(tmp_path_factory.mktemp("audited"), audit, segments="country")


def test_the_level_of_an_audit_is_followed_from_its_period_on(
    audited: dict[str, list[dict[str, Any]]],
) -> None:
    days = audited[""]
    assert {one["method"] for one in days} == {"followed from a given prior"}
    for one in days:
        given = level(one)
        assert given["source"] == "given"
        assert given["start"].startswith("2026-01-01")
        assert given["end"].startswith("2026-01-05")
        assert given["value"] == pytest.approx(PRIOR, rel=0.01)
        assert one["low"] < PRIOR < one["high"]
    # It is no constant: windows are followed, and what is not known of them widens.
    assert [one["diagnostics"]["over_time"]["windows"] for one in days[4:]] == list(range(1, 6))
    assert len({one["value"] for one in days[4:]}) > 1
    assert widths(days[:4]) == pytest.approx(widths(days)[0])
    assert (widths(days) > 0.3).all()
    # Of four days nobody knows yet how much days differ by themselves.
    assert (widths(days[:4]) < 0.8).all()
    assert (widths(days) < 1.2).all()


def test_a_share_of_all_rows_is_not_that_of_a_segment(
    audited: dict[str, list[dict[str, Any]]],
) -> None:
    for country, prior in PRIORS.items():
        days = audited[f"country={country}"]
        assert {level(one)["source"] for one in days} == {"auto"}
        assert np.mean([one["low"] < prior < one["high"] for one in days]) > 0.9


@pytest.mark.slow
def test_a_share_that_is_known_of_later_days_counts_from_then_on(tmp_path: Path) -> None:
    later = "{value: 0.1, low: 0.09, high: 0.11, of: {start: 2026-01-06, end: 2026-01-08}}"
    days = class_priors(tmp_path, later)[""]
    assert {level(one)["source"] for one in days[:6]} == {"auto"}
    assert {level(one)["source"] for one in days[6:]} == {"given"}
    assert widths(days)[6:].max() < 0.6 * widths(days)[:6].min()
    assert all(one["low"] < PRIOR < one["high"] for one in days)
