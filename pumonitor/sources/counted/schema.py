"""The table of counts, version 1: what a job writes and `counts://` reads.

A job of the user's own counts windows where the rows are, and writes one set of rows per window
and list of moments. The monitor reads these sets and needs no access to a prediction. The same
schema is written by `pumonitor.spark.counts` and by the SQL of `pumonitor export sql`.

A set has rows of three kinds:

- `group`: a number of predictions (`n`) that share model version, segments, score cell, label
  history and propensity, with their least and largest score. Cell and history are numbered as in
  `pumonitor.ports.WindowCounts`.
- `delay`: a number of positives (`n`) by the place of the moment at which they first counted as
  such (`history`) and by the bucket of their delay (`cell`). Those of 0 may be left out.
- `found`: one of the totals of `pumonitor.ports.InputCounts` (`n`), named by `name`. All of them
  but `late_labels` are there, also where they are 0: a set without them is not whole.

With reviews the history is that of what complaints and reviews say (`pumonitor.reviews.states`),
which the settings tell by `states`, and a set has rows of one more kind.

- `rule`: a reason of reviews (`name`) that was taken for a rule.

SQL that runs by itself cannot stop at rows that cannot be used: it writes rows of a fourth kind.

- `problem`: a number of rows (`n`) of the table `name` ("predictions", "positives") that cannot be
  used, and why (`cell`: the number of the problem, below 0 of predictions). A set with one is
  refused.

Sets are only ever added. Of several about the same window and moments the one counted last stands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from pumonitor.ports import CountRequest
from pumonitor.sources.column_types.time_columns import microseconds

VERSION: Final = 1
"""Grows with every change after which an older reader would count something else."""

GROUP: Final = "group"
DELAY: Final = "delay"
FOUND: Final = "found"
PROBLEM: Final = "problem"
RULE: Final = "rule"

TOTALS: Final = (
    "predictions",
    "duplicate_predictions",
    "conflicting_predictions",
    "label_rows",
    "duplicate_labels",
    "conflicting_labels",
    "retracted_labels",
    "early_labels",
    "refused_labels",
    "orphan_labels",
)
"""What the rows of kind `found` are named: all of `InputCounts` that a source knows."""

FieldType = Literal["bigint", "double", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of the table.

    Attributes
    ----------
    name : str
    type : {"bigint", "double", "text"}
        A whole number of 64 bits with its sign, a double, or text.
    meaning : str
        One sentence; what it is where it does not apply.
    """

    name: str
    type: FieldType
    meaning: str


FIELDS: Final = (
    Field(name="format", type="bigint", meaning="Version of this schema: 1."),
    Field(
        name="settings",
        type="text",
        meaning="What counts depend on beside rows, as JSON (`CountedSettings.text`).",
    ),
    Field(
        name="counted_at",
        type="bigint",
        meaning="When the set was counted, in microseconds since 1970 in UTC.",
    ),
    Field(name="window_start", type="bigint", meaning="Microseconds since 1970 in UTC."),
    Field(name="window_end", type="bigint", meaning="Microseconds since 1970 in UTC."),
    Field(
        name="moments",
        type="text",
        meaning="The moments asked for, ascending, as microseconds with a comma between them.",
    ),
    Field(name="kind", type="text", meaning="`group`, `delay`, `found` or `rule`."),
    Field(name="name", type="text", meaning="Of `found`: which total; of `rule`: its word."),
    Field(
        name="model_version",
        type="text",
        meaning="Of `group`: its version, empty without a column.",
    ),
    Field(
        name="cell", type="bigint", meaning="Of `group`: score cell; of `delay`: bucket; else 0."
    ),
    Field(
        name="history",
        type="bigint",
        meaning="Of `group`: label history; of `delay`: place of the moment; else 0.",
    ),
    Field(name="lower_score", type="double", meaning="Of `group`: least score; else NULL."),
    Field(name="upper_score", type="double", meaning="Of `group`: largest score; else NULL."),
    Field(
        name="propensity",
        type="double",
        meaning="Of `group`: chance that such a positive is confirmed, NULL without; else NULL.",
    ),
    Field(name="n", type="bigint", meaning="How many there are."),
)
"""All columns but those of segments, which follow them: `segment_0` and so on."""


def segment_field(place: int) -> Field:
    """The column of a segment, by its place among those that the configuration names.

    Examples
    --------
    >>> segment_field(0).name
    'segment_0'
    """
    return Field(
        name=f"segment_{place}",
        type="text",
        meaning="Of `group`: value of this segment column, empty where it is missing; else empty.",
    )


def fields_of(segments: int) -> tuple[Field, ...]:
    """All columns of a table with so many segments, in the order in which they are written."""
    return (*FIELDS, *map(segment_field, range(segments)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedSettings:
    """What counts depend on beside the rows: counts of other settings are not comparable.

    Attributes
    ----------
    threshold : float
    score_scale : {"probability", "unbounded"}
    segments : tuple of str
        Names of the segment columns, in their order.
    delay_edges : tuple of float
        As in `pumonitor.ports.CountRequest`.
    states : int or None
        With reviews, how many states a row may be in.
    ranked_by : str or None
        Which of the segments is the score that filled the queue, if any is.
    value : str or None
        Which of them is what a row is worth, if any is.
    """

    threshold: float
    score_scale: Literal["probability", "unbounded"]
    segments: tuple[str, ...]
    delay_edges: tuple[float, ...]
    states: int | None = None
    ranked_by: str | None = None
    value: str | None = None

    @classmethod
    def of(
        cls,
        request: CountRequest,
        *,
        score_scale: Literal["probability", "unbounded"],
        segments: Sequence[str],
        states: int | None = None,
        ranked_by: str | None = None,
        value: str | None = None,
    ) -> CountedSettings:
        """Those of a request."""
        return cls(
            threshold=request.threshold,
            score_scale=score_scale,
            segments=tuple(segments),
            delay_edges=request.delay_edges,
            states=states,
            ranked_by=ranked_by,
            value=value,
        )

    @property
    def text(self) -> str:
        """As it stands in the table: JSON with sorted keys and no blanks.

        Examples
        --------
        >>> CountedSettings(
        ...     threshold=0.5, score_scale="probability", segments=("country",), delay_edges=()
        ... ).text
        '{"delay_edges":[],"score_scale":"probability","segments":["country"],"threshold":0.5}'
        """
        given = {"states": self.states, "ranked_by": self.ranked_by, "value": self.value}
        return json.dumps(
            {name: value for name, value in given.items() if value is not None}
            | {
                "threshold": float(self.threshold),
                "score_scale": self.score_scale,
                "segments": list(self.segments),
                "delay_edges": [float(edge) for edge in self.delay_edges],
            },
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=True,
        )


def moments_text(moments: Sequence[datetime]) -> str:
    """Moments as the table has them.

    Examples
    --------
    >>> from datetime import UTC
    >>> moments_text([datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC)])
    '0,86400000000'
    """
    return ",".join(str(microseconds(moment)) for moment in moments)
