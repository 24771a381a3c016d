"""All that happens to labels and predictions: repeated, contradicting, taken back, missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from pumonitor.conformance.cases.case import (
    DAY,
    NOON,
    START,
    Case,
    positives_of,
    predictions_of,
    request_of,
)
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns

_MADE = PredictionColumns(
    id="id", time="made", score="score", model_version="version", segments=("country",)
)
_KNOWN = LabelColumns(id="id", known_at="known", label="label", propensity="chance")
_MADE_KINDS: dict[str, Kind] = {
    "id": "integer",
    "made": "moment",
    "score": "number",
    "version": "text",
    "country": "text",
}
_KNOWN_KINDS: dict[str, Kind] = {
    "id": "integer",
    "known": "moment",
    "label": "integer",
    "chance": "number",
}


def cases_of_labels() -> list[Case]:
    """Cases of labels, and of rows that cannot be used."""
    whole = _everything()
    local = whole.with_times_as("naive", in_place_of="moment")
    return [
        whole,
        replace(local, name=f"{whole.name}, in local times"),
        replace(
            whole,
            name=f"{whole.name}, with labels elsewhere",
            in_engine=frozenset({"predictions"}),
        ),
        replace(
            whole,
            name=f"{whole.name}, with predictions elsewhere",
            in_engine=frozenset({"positives"}),
        ),
        replace(whole, name="no labels at all", positives=positives_of([], _KNOWN_KINDS)),
        _without_times(whole),
        # Of nothing the largest is nothing, and not 0, which is a moment of 1970.
        replace(
            whole,
            name="no predictions at all",
            predictions=predictions_of([], _MADE_KINDS),
        ),
        *_refused(),
    ]


def _everything() -> Case:
    """A hundred predictions of three days, half of them with labels of all kinds."""
    rng = np.random.default_rng(5)
    number = 100
    made = [START - DAY + _after(one) for one in rng.integers(0, 3 * 86_400_000_000, number)]
    scores = rng.beta(0.4, 2.0, number)
    words = np.array(["DE", "de", "Åland", None], dtype=object)
    rows: list[tuple[Any, ...]] = [
        (
            place,
            made[place],
            float(scores[place]),
            "v9" if place % 3 else "v10",
            words[place % 4],
        )
        for place in range(number)
    ]
    repeated = [rows[place] for place in range(0, number, 11)]
    others = [(*rows[place][:2], rows[place][2] / 2, *rows[place][3:]) for place in range(0, 99, 9)]
    later = [
        (row[0], row[1] + timedelta(microseconds=1), row[2] / 3, *row[3:]) for row in rows[::13]
    ]
    labels: list[tuple[Any, ...]] = []
    for place in range(0, number, 2):
        known = made[place] + _after(int(rng.exponential(2 * 86_400_000_000)))
        label = int(rng.choice([1, 1, 1, -1, 0]))
        labels.append((place, known, label, 0.125 * (1 + place % 8) if label == 1 else None))
        if place % 6 == 0:
            labels.append(labels[-1])
        if place % 8 == 0:
            labels.append((place, known + DAY, -label, 0.5 if label == -1 else None))
        if place % 10 == 0:
            labels.append((place, known, -1 if label == 1 else 1, None if label == 1 else 0.25))
        if place % 14 == 0:
            labels.append((place, made[place] - 2 * DAY, 1, 1.0))
        if place % 16 == 0:
            labels.append((place, made[place] - timedelta(hours=1), 1, 1.0))
    orphans = [(10_000 + place, NOON, 1, 0.5) for place in range(5)]
    return Case(
        name="repeated, contradicting, retracted, early and orphaned rows",
        predictions=predictions_of([*rows, *repeated, *others, *later], _MADE_KINDS),
        positives=positives_of([*labels, *orphans], _KNOWN_KINDS),
        made=_MADE,
        known=_KNOWN,
        requests=tuple(
            request_of(
                START + place * DAY,
                threshold=0.25,
                as_of=(START + (place + 1) * DAY, START + 4 * DAY, START + 40 * DAY),
            )
            for place in range(-1, 2)
        ),
    )


def _after(microseconds: int) -> timedelta:
    return timedelta(microseconds=int(microseconds))


def _without_times(case: Case) -> Case:
    """Labels without a time: what is known is known at every moment."""
    kinds = {name: kind for name, kind in _KNOWN_KINDS.items() if name != "known"}
    rows = [(one[0], *one[2:]) for one in case.positives.rows]
    return replace(
        case,
        name="labels without times",
        positives=positives_of(rows, kinds),
        known=LabelColumns(id="id", label="label", propensity="chance"),
    )


def _refused() -> list[Case]:
    """A NULL in each column that must have a value, and values that cannot be."""
    row = (1, NOON, 0.5, "v1", "DE")
    label = (1, NOON, 1, 0.5)
    good = Case(
        name="",
        predictions=predictions_of([row], _MADE_KINDS),
        positives=positives_of([label], _KNOWN_KINDS),
        made=_MADE,
        known=_KNOWN,
        requests=(request_of(),),
    )
    found = [
        replace(
            good,
            name=f"NULL in {column} of predictions",
            predictions=predictions_of([row, _with(row, at, None, 2)], _MADE_KINDS),
        )
        for at, column in enumerate(_MADE_KINDS)
    ]
    found += [
        replace(
            good,
            name=f"NULL in {column} of positives",
            positives=positives_of([label, _with(label, at, None, 2)], _KNOWN_KINDS),
        )
        for at, column in enumerate(_KNOWN_KINDS)
    ]
    wrong = {"label": (2, 2), "propensity": (3, 0.0), "propensity above 1": (3, 1.5)}
    found += [
        replace(
            good,
            name=f"a {what} that cannot be",
            positives=positives_of([label, _with(label, at, value, 2)], _KNOWN_KINDS),
        )
        for what, (at, value) in wrong.items()
    ]
    return found


def _with(row: tuple[Any, ...], at: int, value: Any, number: int) -> tuple[Any, ...]:
    """Another row with one value replaced."""
    return tuple(
        value if place == at else number if place == 0 else one for place, one in enumerate(row)
    )
