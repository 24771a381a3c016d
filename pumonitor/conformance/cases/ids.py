"""Ids and categories as text and as numbers that engines may take for the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pumonitor.conformance.cases.case import (
    MADE,
    NOON,
    Case,
    positives_of,
    predictions_of,
    request_of,
)
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns

_WORDS = (
    "a",
    "A",
    "a ",
    " a",
    "a\t",
    "",
    " ",
    "é",
    "e\u0301",
    "e",
    "É",
    "ß",
    "ss",
    "ı",
    "i",
    "I",
    "😀",
    "😁",
    "é😀",
    "0",
    "00",
    "1e0",
    "1.0",
    "NULL",
    "it's",
    "back\\slash",
    "100%",
    "a_b",
    "aXb",
    ":start",
    '"quoted"',
    "`tick`",
    "z" * 300,
    "z" * 300 + " ",
    "æ",
    "ae",
    "\u200bq",
    "q",
)


def cases_of_ids() -> list[Case]:
    """Cases of ids, model versions and segments."""
    return [
        _ids("text ids: blanks, case, accents, emoji", "text", _WORDS),
        _ids("whole-number ids of 64 bits", "integer", _numbers()),
        _ids("ids of 64 bits with labels elsewhere", "integer", _numbers(), at="predictions"),
        _ids("text ids with labels elsewhere", "text", _WORDS, at="predictions"),
        _ids("text ids with predictions elsewhere", "text", _WORDS, at="positives"),
        _categories(),
        _entities(),
        _booleans(),
    ]


def _numbers() -> list[int]:
    return [0, 1, -1, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2, -(2**63)]


def _ids(name: str, kind: Kind, ids: Sequence[Any], *, at: str = "") -> Case:
    """Each id once, and every third of them a second time with another score."""
    once = [(one, NOON, place % 9 / 10) for place, one in enumerate(ids)]
    again = [(one, NOON, 0.95) for one in ids[::3]]
    labels = [(one, NOON, 1) for one in ids[::2]] + [(one, NOON, -1) for one in ids[1::4]]
    both = frozenset({"predictions", "positives"})
    return Case(
        name=name,
        predictions=predictions_of(
            [*once, *again], {"id": kind, "made": "moment", "score": "number"}
        ),
        positives=positives_of(labels, {"id": kind, "known": "moment", "label": "integer"}),
        made=PredictionColumns(id="id", time="made", score="score"),
        known=LabelColumns(id="id", known_at="known", label="label"),
        requests=(request_of(),),
        in_engine=frozenset({at}) if at else both,
    )


def _categories() -> Case:
    words: list[str | None] = [*_WORDS[:24], None]
    rows = [
        (place, NOON, 0.25, word, words[place // 2], place % 3 or None)
        for place, word in enumerate(words)
    ]
    return Case(
        name="versions and segments: blanks, case, accents, emoji, NULL",
        predictions=predictions_of(
            rows,
            {
                "id": "integer",
                "made": "moment",
                "score": "number",
                "version": "text",
                "country": "text",
                "channel": "integer",
            },
        ),
        positives=positives_of([(place, NOON, 1) for place in range(0, len(rows), 2)]),
        made=PredictionColumns(
            id="id",
            time="made",
            score="score",
            model_version="version",
            segments=("country", "channel"),
        ),
        known=LabelColumns(id="id", known_at="known", label="label"),
        requests=(request_of(),),
    )


def _entities() -> Case:
    """Labeled rows are read one by one: who shares an entity, and who is of nobody known."""
    cards: list[str | None] = [*_WORDS, None]
    rows = [
        (place, NOON, place % 9 / 10, card) for place, card in enumerate([*cards, *cards[::-1]])
    ]
    return Case(
        name="entities of labeled rows: blanks, case, accents, emoji, NULL",
        predictions=predictions_of(rows, {**MADE, "card": "text"}),
        positives=positives_of([(row[0], NOON, 1 - row[0] % 3 // 2) for row in rows]),
        made=PredictionColumns(id="id", time="made", score="score", group="card"),
        known=LabelColumns(id="id", known_at="known", label="label"),
        requests=(request_of(),),
    )


def _booleans() -> Case:
    truth = [True, False, None, True]
    return Case(
        name="true and false as segments and labels",
        predictions=predictions_of(
            [(place, NOON, 0.5, one) for place, one in enumerate(truth)],
            {"id": "integer", "made": "moment", "score": "number", "vip": "boolean"},
        ),
        positives=positives_of(
            [(0, NOON, True), (1, NOON, False), (3, NOON, True)],
            {"id": "integer", "known": "moment", "label": "boolean"},
        ),
        made=PredictionColumns(id="id", time="made", score="score", segments=("vip",)),
        known=LabelColumns(id="id", known_at="known", label="label"),
        requests=(request_of(),),
    )
