"""Scores at the edges of their cells, and numbers at the ends of what a double holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pumonitor.conformance.cases.case import (
    NOON,
    Case,
    positives_of,
    predictions_of,
    request_of,
)
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns

_MADE = PredictionColumns(id="id", time="made", score="score")
_KNOWN = LabelColumns(id="id", known_at="known", label="label")


def cases_of_scores() -> list[Case]:
    """Cases of scores."""
    return [
        _case("ties at cell edges", _at_edges()),
        _case("subnormals, -0.0 and 1 less a little", _near_the_ends()),
        _case("the largest doubles", _unbounded(), unbounded=True),
        _case("scores in 32 bits", _single(), kind="single", threshold=0.7),
        _case("scores that are whole numbers", [0, 1, 0, 1, 1], kind="integer"),
        _case("scores out of range", [0.25, 1.5, -0.25]),
        _values(),
    ]


def _case(
    name: str,
    scores: Sequence[float],
    *,
    unbounded: bool = False,
    kind: Kind = "number",
    threshold: float = 0.5,
) -> Case:
    rows = [(number, NOON, score) for number, score in enumerate(scores)]
    labels = [(number, NOON, 1) for number in range(0, len(scores), 3)]
    return Case(
        name=name,
        predictions=predictions_of(rows, {"id": "integer", "made": "moment", "score": kind}),
        positives=positives_of(labels),
        made=_MADE,
        known=_KNOWN,
        requests=(request_of(threshold=0.0 if unbounded else threshold),),
        scale="unbounded" if unbounded else "probability",
    )


def _values() -> Case:
    """What rows are worth: at edges of cells and of doublings, at the ends, and unusable."""
    edges = [edge * 2.0**power for edge in (1.0, 65 / 64) for power in (-10, -1, 0, 9, 49)]
    values = [
        *(value for edge in edges for value in _beside(edge)[:2]),
        *(0.0, 1e-300, 49.9, 2.0**50, 1e300, -0.01, None),
    ]
    rows = [
        (number, NOON, (number % 7) / 7, value) for number, value in enumerate([*values, *values])
    ]
    kinds: dict[str, Kind] = {"id": "integer", "made": "moment", "score": "number"}
    return Case(
        name="what rows are worth, in cells",
        predictions=predictions_of(rows, {**kinds, "amount": "number"}),
        positives=positives_of([(number, NOON, 1) for number in range(0, len(rows), 3)]),
        made=replace(_MADE, value="amount"),
        known=_KNOWN,
        requests=(request_of(),),
    )


def _beside(score: float) -> list[float]:
    return [math.nextafter(score, -1.0), score, math.nextafter(score, 2.0)]


def _at_edges() -> list[float]:
    rng = np.random.default_rng(11)
    edges = [0.5, 0.25, 2.0**-8, 2.0**-16, 2.0**-24, 1 - 2.0**-8, 1 - 2.0**-16]
    edges += (rng.integers(129, 2**15 - 129, 8) / 2**15).tolist()
    edges += (rng.integers(1, 2**12, 4) / 2**28).tolist()
    return [one for edge in edges for one in _beside(edge)]


def _near_the_ends() -> list[float]:
    tiny = [5e-324, 2.2250738585072014e-308, 1e-300, 2.0**-36, 2.0**-60]
    near = [1 - 2.0**-53, 1 - 2.0**-36, 1 - 1e-12]
    return [0.0, -0.0, 1.0, 0.1, 0.1 + 0.2, 1 / 3, *tiny, *near]


def _unbounded() -> list[float]:
    large = [1.7976931348623157e308, 1e300, 1e16, 9007199254740993.0, 3.0, 0.1, 1e-3]
    return [0.0, -0.0, 5e-324, -5e-324, *large, *(-one for one in large)]


def _single() -> list[float]:
    return [float(np.float32(one)) for one in (0.7, 0.1, 0.2, 0.3, 1.0, 0.0, 0.69999, 0.70001)]
