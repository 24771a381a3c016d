"""Reviews beside complaints: verdicts that change, reviewers who differ, all kinds of reasons."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import numpy as np

from pumonitor.conformance.cases.case import (
    DAY,
    START,
    Case,
    positives_of,
    predictions_of,
    request_of,
    reviews_of,
)
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.monitored_tables import (
    Channel,
    LabelColumns,
    LabelWords,
    PredictionColumns,
    ReviewColumns,
)

_MADE_KINDS: dict[str, Kind] = {
    "id": "text",
    "made": "moment",
    "score": "number",
    "action": "text",
}
_NUMBER_KINDS: dict[str, Kind] = {"id": "integer", "made": "moment", "score": "number"}
_KNOWN_KINDS: dict[str, Kind] = {"id": "text", "known": "moment"}
_DECIDED_KINDS: dict[str, Kind] = {
    "id": "text",
    "decided": "moment",
    "verdict": "text",
    "reviewer": "text",
    "reason": "text",
    "queued": "moment",
    "chance": "number",
}
_WORDS = LabelWords(positive=("fraud",), negative=("ok",), undecided=("unclear",))


def cases_of_reviews() -> list[Case]:
    """Cases of reviews."""
    whole = _everything()
    return [
        whole,
        replace(
            whole,
            name=f"{whole.name}, with both elsewhere",
            in_engine=frozenset({"predictions"}),
        ),
        replace(
            whole,
            name=f"{whole.name}, with reviews elsewhere",
            in_engine=frozenset({"predictions", "positives"}),
        ),
        _in_one_table(whole),
        _numbers(),
        *(_ranked_by_another(scale) for scale in ("probability", "unbounded")),
    ]


def _everything() -> Case:
    """Two hundred predictions of two days, a third of them reviewed, some by two, some twice."""
    rng = np.random.default_rng(8)
    number = 200
    made = [START + timedelta(seconds=int(at)) for at in rng.integers(0, 2 * 86_400, number)]
    scores = rng.beta(0.6, 2.0, number)
    predictions = [
        (f"p{row}", made[row], float(scores[row]), "declined" if row % 9 == 0 else "passed")
        for row in range(number)
    ]
    complaints = [
        (f"p{row}", made[row] + timedelta(hours=int(rng.integers(1, 600))))
        for row in range(0, number, 7)
    ]
    reasons = ("score", "Random", "audit", "complaint", "large amount")
    reviews: list[tuple[Any, ...]] = []
    for row in range(0, number, 3):
        decided = made[row] + timedelta(hours=int(rng.integers(1, 200)))
        queued = made[row] + timedelta(hours=row % 30)
        chance = (1 + row % 8) / 8
        verdict = str(rng.choice(["fraud", "ok", "ok", "unclear"]))
        reviews.append((f"p{row}", decided, verdict, "ann", reasons[row % 5], queued, chance))
        if row % 4 == 0:
            reviews.append((f"p{row}", decided + DAY, "fraud", "bob", "score", queued, None))
        if row % 10 == 0:
            reviews.append((f"p{row}", decided + 2 * DAY, "ok", "ann", "score", queued, None))
        if row % 15 == 0:
            reviews.append((f"p{row + 1}", None, None, None, "random", queued, None))
    return Case(
        name="reviews beside complaints",
        predictions=predictions_of(predictions, _MADE_KINDS),
        positives=positives_of(complaints, _KNOWN_KINDS),
        reviews=reviews_of(reviews, _DECIDED_KINDS),
        made=PredictionColumns(id="id", time="made", score="score", segments=("action",)),
        known=LabelColumns(id="id", known_at="known"),
        reviewed=ReviewColumns(
            id="id",
            verdict="verdict",
            verdict_words=_WORDS,
            decided_at="decided",
            queued_at="queued",
            probability="chance",
            reviewer="reviewer",
            chosen_by="reason",
        ),
        requests=tuple(
            request_of(
                START + day * DAY,
                as_of=(START + (day + 1) * DAY, START + 5 * DAY, START + 40 * DAY),
            )
            for day in range(2)
        ),
    )


def _in_one_table(case: Case) -> Case:
    """Complaints and reviews as rows of one table, which a column tells apart."""
    if case.reviews is None or case.reviewed is None:
        return case
    kinds: dict[str, Kind] = {**_DECIDED_KINDS, "via": "text"}
    rows = [
        *((*row, "queue") for row in case.reviews.rows),
        *(
            (name, known, None, None, None, None, None, "hotline")
            for name, known in case.positives.rows
        ),
        ("p1", START + DAY, "fraud", None, None, None, None, "test"),
    ]
    return replace(
        case,
        name="reviews and complaints in one table",
        positives=positives_of(rows, kinds),
        known=LabelColumns(
            id="id", known_at="decided", channel=Channel(column="via", words=("hotline", "mail"))
        ),
        reviews=reviews_of(rows, kinds),
        reviewed=replace(case.reviewed, channel=Channel(column="via", words=("queue",))),
    )


def _ranked_by_another(scale: Literal["probability", "unbounded"]) -> Case:
    """Another score filled the queue: in all tiers of its cells, at their edges, and missing."""
    rng = np.random.default_rng(10)
    ends = [0.0, 1.0, 2.0**-24, 2.0**-16, 1 - 2.0**-8, 0.5, 1e-9, 1 - 1e-9, None]
    others = [*ends, *rng.beta(0.3, 1.0, 60).tolist()]
    if scale == "unbounded":
        others += [-1e300, 1e300, -0.0, -3.5, 412.0]
    predictions = [
        (row, START + timedelta(minutes=row), float(score), other)
        for row, (score, other) in enumerate(zip(rng.random(len(others)), others, strict=True))
    ]
    return Case(
        name=f"reviews of a queue that another score filled, {scale}",
        predictions=predictions_of(predictions, {**_NUMBER_KINDS, "other": "number"}),
        positives=positives_of(
            [(row, START + DAY) for row in range(0, len(others), 5)],
            {"id": "integer", "known": "moment"},
        ),
        reviews=reviews_of(
            [(row, row % 2) for row in range(0, len(others), 3)],
            {"id": "integer", "verdict": "integer"},
        ),
        made=PredictionColumns(id="id", time="made", score="score", ranked_by="other"),
        known=LabelColumns(id="id", known_at="known"),
        reviewed=ReviewColumns(id="id", verdict="verdict"),
        scale=scale,
        requests=(request_of(),),
    )


def _numbers() -> Case:
    """Verdicts 1 and 0 without a time, a reviewer or a reason."""
    rng = np.random.default_rng(9)
    predictions = [
        (row, START + timedelta(minutes=row), float(score))
        for row, score in enumerate(rng.random(60))
    ]
    return Case(
        name="reviews as 1 and 0 without times",
        predictions=predictions_of(predictions),
        positives=positives_of(
            [(row, START + DAY) for row in range(0, 60, 5)],
            {"id": "integer", "known": "moment"},
        ),
        reviews=reviews_of(
            [(row, [1, 0, 0, None][row % 4]) for row in range(0, 60, 2)],
            {"id": "integer", "verdict": "integer"},
        ),
        made=PredictionColumns(id="id", time="made", score="score"),
        known=LabelColumns(id="id", known_at="known"),
        reviewed=ReviewColumns(id="id", verdict="verdict"),
        requests=(request_of(),),
    )
