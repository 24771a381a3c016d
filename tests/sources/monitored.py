"""One set of predictions and labels with everything that happens to them, for every engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd

from pumonitor.audit.requests import CaseRequest
from pumonitor.ports import CountRequest, PredictionSource, Window, WindowCounts
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

START = datetime(2026, 3, 10, tzinfo=UTC)
DAY = timedelta(days=1)
NOW = START + 60 * DAY
WINDOW = Window(start=START, end=START + DAY, index=20522)
REQUEST = CountRequest(
    window=WINDOW,
    as_of=(START + DAY, START + 3 * DAY, START + 30 * DAY),
    threshold=0.7,
    delay_edges=(3600.0, 86400.0, 5 * 86400.0),
)
PREDICTIONS = PredictionColumns(
    id="prediction id",
    time="scored_at",
    score="score",
    model_version="version",
    segments=("country", "Channel"),
)
# Channel as a number of the model, not as a group.
WITH_CHANNELS = replace(PREDICTIONS, segments=("country",), features=("Channel",))
DRAW = CaseRequest(
    window=WINDOW,
    as_of=REQUEST.as_of[-1],
    threshold=REQUEST.threshold,
    model_version="v9",
    edges=(0.1, 0.7),
    seed="a-1",
    shares=(0.1, 0.3, 1.0),
    confirmed_share=0.5,
    columns=("country",),
)
LABELS = LabelColumns(id="case", known_at="confirmed_at", label="label", propensity="review_rate")
ORPHANED = 1_000_000
"""Ids of labels without prediction are above it."""

# Languages sort these differently, and none as bytes.
COUNTRIES = np.array(["DE", "de", "Åland", "zz", "a b", "it's", None], dtype=object)


def predictions(rows: int = 1500, *, text_ids: bool = False) -> pd.DataFrame:
    """Three days of predictions; ids repeat with the same score, another one, and another time."""
    rng = np.random.default_rng(7)
    ids = np.arange(rows)
    microseconds = np.sort(rng.integers(-86_400_000_000, 2 * 86_400_000_000, rows))
    score = rng.beta(0.3, 2.0, rows)
    score[:12] = [0, 1, 0.7, 1e-9, 1 - 1e-12, 5e-324, 0.5, 2**-24, 1 - 2**-24, 0.25, -0.0, 0.7]
    microseconds[:12] = np.arange(12) * 7
    frame = pd.DataFrame(
        {
            "prediction id": ids,
            "scored_at": microseconds,
            "score": score,
            "version": np.where(microseconds < 40_000_000_000, "v9", "v10"),
            "country": COUNTRIES[rng.integers(0, len(COUNTRIES), rows)],
            "Channel": rng.integers(1, 3, rows),
        }
    )
    inside = frame[(frame.scored_at >= 0) & (frame.scored_at < 86_400_000_000)]
    same = inside.sample(20, random_state=1)
    other = inside.sample(15, random_state=2).assign(score=lambda rows: rows.score / 2)
    later = inside.sample(10, random_state=3).assign(
        scored_at=lambda rows: np.minimum(rows.scored_at + 5_000_000, 86_399_999_999)
    )
    lower = later.assign(score=lambda rows: rows.score / 4)
    edges = inside.head(2).assign(**{"prediction id": [rows, rows + 1]})
    edges["scored_at"] = [0, 86_400_000_000]
    frame = pd.concat([frame, same, other, later, lower, edges], ignore_index=True)
    frame["scored_at"] = _moments(frame["scored_at"])
    return _finished(frame, "prediction id", text_ids=text_ids)


def labels(rows: int = 1500, *, text_ids: bool = False) -> pd.DataFrame:
    """Confirmations, negatives, repeated, contradicting, taken back, (too) early, orphaned ones."""
    rng = np.random.default_rng(8)
    ids = rng.choice(rows, 400, replace=False)
    known = rng.exponential(4 * 86_400_000_000, 400).astype(np.int64)
    frame = pd.DataFrame(
        {
            "case": ids,
            "confirmed_at": known,
            "label": rng.choice([1, 1, 1, -1, 0], 400),
            "review_rate": rng.choice([0.125, 0.3, 1.0], 400),
        }
    )
    again = frame.sample(60, random_state=1)
    later = frame.sample(80, random_state=2)
    later = later.assign(
        confirmed_at=later.confirmed_at + 86_400_000_000,
        label=rng.choice([1, 0, -1], 80),
        review_rate=0.9,
    )
    contradicting = frame.sample(25, random_state=3).assign(label=lambda rows: -rows.label)
    orphans = frame.head(17).assign(case=lambda rows: rows.case + ORPHANED, confirmed_at=1_000_000)
    # Of long before, some of predictions that are confirmed in time as well.
    long_ago = frame.sample(30, random_state=5).assign(confirmed_at=-5 * 86_400_000_000)
    # At the edge of the window, of a moment asked for, and of a bucket of delays.
    edges = frame.head(4).assign(
        case=[5, 6, 7, rows],
        confirmed_at=[86_400_000_000, 86_400_000_001, 3 * 86_400_000_000, 3_600_000_000],
        label=1,
    )
    frame = pd.concat(
        [frame, again, later, contradicting, orphans, long_ago, edges], ignore_index=True
    )
    frame["confirmed_at"] = _moments(frame["confirmed_at"])
    frame.loc[frame.label != 1, "review_rate"] = np.nan
    return _finished(frame, "case", text_ids=text_ids)


def _moments(microseconds: pd.Series) -> pd.Series:
    offset = (START - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return pd.to_datetime(microseconds + offset, unit="us", utc=True)


def _finished(frame: pd.DataFrame, key: str, *, text_ids: bool) -> pd.DataFrame:
    frame = frame.sample(frac=1, random_state=4).reset_index(drop=True)
    if text_ids:
        # Those that are in no prediction lack what ids of predictions begin with.
        is_orphaned = frame[key] >= ORPHANED
        frame[key] = np.where(
            is_orphaned,
            (frame[key] - ORPHANED).astype(str),
            "Case-" + frame[key].astype(str),
        )
    return frame


def opened(made: object, known: object) -> PredictionSource:
    """A source of these tables, wherever they are."""
    return open_source(made, PREDICTIONS, known, LABELS, clock=lambda: NOW)


def assert_table_equal(counts: WindowCounts, expected: WindowCounts) -> None:
    """Of counts in a table: it names no ids, so it does not say which labels match nothing."""
    assert counts.unmatched is None
    assert_equal(counts, replace(expected, unmatched=None))


def assert_equal(counts: WindowCounts, expected: WindowCounts) -> None:
    """To the last byte."""
    assert counts.found == expected.found
    assert counts.unmatched == expected.unmatched
    for name in ("model_version", "cell", "lower", "upper", "history", "propensity", "rows"):
        found, wanted = getattr(counts, name), getattr(expected, name)
        assert found.tobytes() == wanted.tobytes(), name
    assert counts.delays.tolist() == expected.delays.tolist()
    assert list(counts.segments) == list(expected.segments)
    for name, values in expected.segments.items():
        assert counts.segments[name].tolist() == values.tolist()
