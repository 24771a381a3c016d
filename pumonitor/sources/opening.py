"""From the places of two tables to a source of counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Literal, TypeVar

from pumonitor.errors import InputError
from pumonitor.ports import Clock, PredictionSource
from pumonitor.sources.column_types.column_kinds import key_of
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    ReviewColumns,
    SqlQuery,
    SqlTable,
)
from pumonitor.sources.counted.place import is_counts_address
from pumonitor.sources.counted.source import open_counted
from pumonitor.sources.engines.registry import open_engine
from pumonitor.sources.engines.verified import remarks_on
from pumonitor.sources.found_columns import (
    label_table,
    prediction_table,
    review_table,
    with_features,
    with_shown,
)
from pumonitor.sources.windows.both_channels import BOTH_CHANNELS
from pumonitor.sources.windows.counts_duckdb import DuckDBEngine
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_source import CountedSource
from pumonitor.sources.windows.counts_spark import SparkEngine, is_spark_frame

_First = TypeVar("_First")
_Second = TypeVar("_Second")


def open_source(
    predictions: object,
    prediction_columns: PredictionColumns,
    positives: object,
    label_columns: LabelColumns,
    *,
    score_scale: Literal["probability", "unbounded"] = "probability",
    orphans: Literal["count", "skip"] = "count",
    statement_timeout: float = 600.0,
    clock: Clock = lambda: datetime.now(UTC),
    as_of: datetime | None = None,
    max_bytes: int | None = None,
    reviews: Sequence[tuple[object, ReviewColumns]] = (),
) -> PredictionSource:
    """Open predictions and what became known about them.

    They may be in different places: where they are, labels travel to the predictions.

    Parameters
    ----------
    predictions, positives : path, SqlTable, SqlQuery or data frame
        A path or pattern of CSV, Parquet or JSON files, an address of such files (s3://, gs://,
        https://), a table of a lake (delta://path-or-address, iceberg://catalog/namespace.table),
        a table or query of a database (`SqlTable`, `SqlQuery`; `pumonitor engines list` names the
        kinds), a frame of pandas, polars, PyArrow, PySpark, or a dataset of PyArrow, of which only
        the files and row groups of a window are read. A pattern of positives that matches no file
        yet means that there are none.
    prediction_columns : PredictionColumns
    label_columns : LabelColumns
    score_scale : {"probability", "unbounded"}
        Scores in [0, 1], or any finite numbers.
    orphans : {"count", "skip"}
        Whether labels without any prediction are counted. It may read the ids of all predictions,
        most of the time a window takes where these are many and random; skipped it is 0.
    statement_timeout : float
        Seconds one statement of a database may take, > 0.
    clock : callable
        The time now, for telling what is in the future.
    as_of : datetime, optional
        Of tables in lakes the version is read that was the newest then; by default the newest.
        Whichever it is, it stays the same until the source is closed.
    max_bytes : int, optional
        What one statement about predictions may read: more is refused before it is run, and so is
        everything where nothing tells how much it would be. What a planner estimates is taken for
        what is read. Not kept by `counts://`, which reads no rows.
    reviews : sequence of (place, ReviewColumns)
        Queues that reviewed predictions; `positives` are complaints then.

    Returns
    -------
    PredictionSource

    Raises
    ------
    InputError
        If a place, a column or its type cannot be used.
    SourceError
        If files or a database cannot be read.
    ExtraMissingError
        If the package of an engine or of a lake's format is not installed.

    Examples
    --------
    >>> from datetime import timedelta
    >>> import pandas as pd
    >>> from pumonitor.ports import CountRequest, Window
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> made = pd.to_datetime(["2026-01-01T10:00Z", "2026-01-01T11:00Z"])
    >>> known = pd.to_datetime(["2026-01-03T09:00Z"])
    >>> source = open_source(
    ...     pd.DataFrame({"id": [1, 2], "made": made, "score": [0.9, 0.2]}),
    ...     PredictionColumns(id="id", time="made", score="score"),
    ...     pd.DataFrame({"id": [1], "known": known}),
    ...     LabelColumns(id="id", known_at="known"),
    ... )
    >>> window = Window(start=start, end=start + timedelta(days=1), index=0)
    >>> as_of = (start + timedelta(days=2), start + timedelta(days=30))
    >>> counts = source.counts(CountRequest(window=window, as_of=as_of, threshold=0.5))
    >>> counts.rows.tolist(), counts.history.tolist()
    ([1, 1], [4, 7])
    >>> source.close()
    """
    if is_counts_address(predictions) or is_counts_address(positives):
        ranked_by, value = prediction_columns.ranked_by, prediction_columns.value
        return _counted(
            predictions,
            positives,
            *(place for place, _ in reviews),
            segments=(
                *prediction_columns.segments,
                *(column for column in (ranked_by, value) if column is not None),
            ),
            states=BOTH_CHANNELS.number if reviews else None,
            ranked_by=ranked_by,
            value=value,
            score_scale=score_scale,
            timeout=statement_timeout,
            as_of=as_of,
        )
    with ExitStack() as stack:
        queues = {
            f"reviews {number}" if number > 1 else "reviews": queue
            for number, queue in enumerate(reviews, 1)
        }
        tables = {"predictions": predictions, "positives": positives}
        engines = _engines(
            tables | {role: place for role, (place, _) in queues.items()},
            timeout=statement_timeout,
            as_of=as_of,
            stack=stack,
        )
        engine, label_engine = engines["predictions"], engines["positives"]
        made, known = _both(
            lambda: prediction_table(engine, predictions, prediction_columns),
            lambda: label_table(label_engine, positives, label_columns),
        )
        reviewed = [
            (engines[role], review_table(engines[role], place, columns, role=role))
            for role, (place, columns) in queues.items()
        ]
        for _, queue in reviewed:
            key_of(made.relation, made.id, queue.labels.relation, queue.labels.id)
        source = CountedSource(
            engine,
            replace(made, only_probabilities=score_scale == "probability"),
            label_engine,
            known,
            key=key_of(made.relation, made.id, known.relation, known.id),
            orphans=orphans,
            clock=clock,
            with_features=partial(
                with_features, engine, predictions, prediction_columns, score_scale
            ),
            remarks=cache(partial(remarks_on, dict.fromkeys(engines.values()))),
            max_bytes=max_bytes,
            reviews=reviewed,
            with_shown=partial(with_shown, engine, predictions, prediction_columns, score_scale),
        )
        # Engines stay open with the source, and are closed if there is none.
        stack.pop_all()
    return source


def _counted(
    predictions: object,
    *others: object,
    segments: Sequence[str],
    score_scale: Literal["probability", "unbounded"],
    timeout: float,
    as_of: datetime | None,
    states: int | None,
    ranked_by: str | None,
    value: str | None,
) -> PredictionSource:
    """A table of counts, which knows of all tables."""
    if not isinstance(predictions, str) or any(other != predictions for other in others):
        tables = "predictions and positives" if len(others) == 1 else "all tables"
        msg = (
            f"{tables} must name the same source if one of them is counts://: its table has the "
            f"counts of {'both' if len(others) == 1 else 'all'}"
        )
        raise InputError(msg)
    return open_counted(
        predictions,
        segments=segments,
        score_scale=score_scale,
        timeout=timeout,
        as_of=as_of,
        states=states,
        ranked_by=ranked_by,
        value=value,
    )


def _both(first: Callable[[], _First], second: Callable[[], _Second]) -> tuple[_First, _Second]:
    """The results of both; if both raise an InputError, one with both messages."""
    try:
        one = first()
    except InputError as error:
        try:
            second()
        except InputError as other:
            if str(other) != str(error):
                msg = f"{error}; {other}"
                raise InputError(msg) from None
        raise
    return one, second()


def _engines(
    tables: Mapping[str, object], *, timeout: float, as_of: datetime | None, stack: ExitStack
) -> dict[str, Engine]:
    """The engine of each table by its role; one for those that it can read together."""
    places = {role: _place(table) for role, table in tables.items()}
    opened: dict[object, Engine] = {}
    for role, place in places.items():
        if place in opened:
            continue
        here = {one: tables[one] for one, where in places.items() if where == place}
        opened[place] = _engine(tables[role], here, timeout=timeout, as_of=as_of)
        stack.callback(opened[place].close)
    return {role: opened[place] for role, place in places.items()}


def _place(table: object) -> object:
    """What two tables have in common if one engine reads both."""
    if isinstance(table, SqlTable | SqlQuery):
        return table.url
    return table.sparkSession if is_spark_frame(table) else None  # type: ignore[attr-defined]


def _engine(
    table: object, here: Mapping[str, object], *, timeout: float, as_of: datetime | None
) -> Engine:
    if isinstance(table, SqlTable | SqlQuery):
        return open_engine(table.url, timeout=timeout, as_of=as_of)
    if is_spark_frame(table):
        return SparkEngine(table.sparkSession, timeout=timeout)  # type: ignore[attr-defined]
    return DuckDBEngine(here, may_be_absent=frozenset(here) - {"predictions"}, as_of=as_of)
