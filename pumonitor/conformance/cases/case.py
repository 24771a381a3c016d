"""What one case asks of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from pumonitor.conformance.given import GivenTable
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    ReviewColumns,
)

START: Final = datetime(2026, 3, 10, tzinfo=UTC)
DAY: Final = timedelta(days=1)
NOON: Final = START + DAY / 2

MADE: Final[dict[str, Kind]] = {"id": "integer", "made": "moment", "score": "number"}
KNOWN: Final[dict[str, Kind]] = {"id": "integer", "known": "moment", "label": "integer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Two small tables, what their columns mean, and which counts are compared.

    Attributes
    ----------
    name : str
    predictions, positives : GivenTable
    made, known : PredictionColumns, LabelColumns
    requests : tuple of CountRequest
    scale : {"probability", "unbounded"}
    in_engine : frozenset of str
        Which of the tables are read by the engine; DuckDB reads the other.
    describes : bool
        Whether the span and the delays of labels are compared as well.
    reviews : GivenTable, optional
        Verdicts of a queue; positives are complaints then.
    reviewed : ReviewColumns, optional
        What their columns mean.
    """

    @property
    def tables(self) -> dict[str, GivenTable]:
        """By role."""
        tables = {"predictions": self.predictions, "positives": self.positives}
        return tables if self.reviews is None else tables | {"reviews": self.reviews}

    name: str
    predictions: GivenTable
    positives: GivenTable
    made: PredictionColumns
    known: LabelColumns
    requests: tuple[CountRequest, ...]
    scale: Literal["probability", "unbounded"] = "probability"
    in_engine: frozenset[str] = frozenset({"predictions", "positives", "reviews"})
    describes: bool = False
    reviews: GivenTable | None = None
    reviewed: ReviewColumns | None = None

    def with_times_as(self, kind: Kind, *, in_place_of: Kind) -> Case:
        """The same with other times: local ones of UTC, or text."""
        plain = in_place_of == "moment" and kind == "naive"
        how: dict[str, Any] = {"time_zone": "UTC"} if plain else {}
        changed = replace(
            self,
            predictions=_with_times(self.predictions, kind, in_place_of),
            positives=_with_times(self.positives, kind, in_place_of),
        )
        if in_place_of in self.predictions.kinds.values():
            changed = replace(changed, made=replace(self.made, **how))
        if in_place_of in self.positives.kinds.values():
            changed = replace(changed, known=replace(self.known, **how))
        if self.reviews is not None and self.reviewed is not None:
            changed = replace(
                changed,
                reviews=_with_times(self.reviews, kind, in_place_of),
                reviewed=replace(self.reviewed, **how)
                if in_place_of in self.reviews.kinds.values()
                else self.reviewed,
            )
        return changed


def _with_times(table: GivenTable, kind: Kind, before: Kind) -> GivenTable:
    def converted(value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        return value.isoformat() if kind == "text" else value.replace(tzinfo=None)

    kinds: Mapping[str, Kind] = {
        name: kind if one == before else one for name, one in table.kinds.items()
    }
    changed = [
        tuple(
            converted(value) if one == before else value
            for value, one in zip(row, table.kinds.values(), strict=True)
        )
        for row in table.rows
    ]
    return replace(table, kinds=kinds, rows=tuple(changed))


def predictions_of(
    rows: Sequence[tuple[Any, ...]], kinds: dict[str, Kind] | None = None
) -> GivenTable:
    """Predictions: id, made, score and whatever else is named."""
    return GivenTable(role="predictions", kinds=kinds or MADE, rows=tuple(rows))


def positives_of(
    rows: Sequence[tuple[Any, ...]], kinds: dict[str, Kind] | None = None
) -> GivenTable:
    """Labels: id, known, label and whatever else is named."""
    return GivenTable(role="positives", kinds=kinds or KNOWN, rows=tuple(rows))


def reviews_of(rows: Sequence[tuple[Any, ...]], kinds: dict[str, Kind]) -> GivenTable:
    """Reviews: id, time of the verdict, verdict and whatever else is named."""
    return GivenTable(role="reviews", kinds=kinds, rows=tuple(rows))


def request_of(
    start: datetime = START,
    end: datetime | None = None,
    *,
    threshold: float = 0.5,
    as_of: tuple[datetime, ...] | None = None,
) -> CountRequest:
    """Counts of one window, as known at its end and 30 days later."""
    until = end or start + DAY
    return CountRequest(
        window=Window(start=start, end=until, index=0),
        as_of=as_of or (until, until + 30 * DAY),
        threshold=threshold,
        delay_edges=(3600.0, 86400.0),
    )
