"""What is said of rows that cannot be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pumonitor._validate import NEVER_LABELED
from pumonitor.errors import InputError
from pumonitor.sources.column_types.column_kinds import Column, Key
from pumonitor.sources.column_types.time_columns import UNIT_NAMES, TimeColumn, fitting_unit
from pumonitor.sources.windows.counts_rows import (
    LABEL_PROBLEMS,
    PREDICTION_PROBLEMS,
    LabelTable,
    PredictionTable,
)

_LENGTH: Final = 40
_WHOLE: Final = re.compile(r"-?\d+")
_VERDICTS: Final = (
    "write 1 for positive and 0 for negative, or say what the words mean, verdict: {column: NAME, "
    "positive: [WORD], negative: [WORD], undecided: [WORD]}"
)
_LABELS: Final = (
    "use 1 for a confirmed positive, -1 for a confirmed negative, 0 to retract an earlier row"
)


def problem_column(table: PredictionTable | LabelTable, problem: int) -> Column:
    """The column a problem is in."""
    if isinstance(table, PredictionTable):
        kind = PREDICTION_PROBLEMS[problem - 1]
        return {"id": table.id, "time": table.time.column}.get(kind, table.score)
    columns = {
        "id": table.id,
        "known_at": None if table.known_at is None else table.known_at.column,
        "label": table.label,
        "propensity": table.propensity,
    }
    column = columns[LABEL_PROBLEMS[problem - 1]]
    # Without a column every row has the same good value.
    return table.id if column is None else column


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """Rows with one problem.

    Attributes
    ----------
    problem : int
        As `PREDICTION_PROBLEMS` or `LABEL_PROBLEMS` number it.
    found : int
        Rows.
    examples : sequence of tuple
        Values, each with how often it stands there.
    """

    problem: int
    found: int
    examples: Sequence[tuple[Any, ...]]


def prediction_problems(
    table: PredictionTable,
    unusable: Sequence[Unusable],
    *,
    key: Key,
    rows: int,
    between: tuple[datetime, datetime] | None,
) -> InputError:
    """The error about rows of the predictions: all that is wrong with them."""
    return _error(
        table.relation.name,
        [_of_prediction(table, one, key=key) for one in unusable],
        rows=rows,
        between=between,
    )


def _of_prediction(table: PredictionTable, unusable: Unusable, *, key: Key) -> _Fault:
    kind = PREDICTION_PROBLEMS[unusable.problem - 1]
    what, remedy = {
        "id": _of_id(key, unusable.examples),
        "time": _of_time(table.time, "predictions", unusable.examples),
        "score": (
            "values that are missing or no numbers",
            "a row without a score was not scored; drop it or repair the scoring job",
        ),
        "infinite score": (
            "values that are infinite or NaN",
            "clip the scores, or drop the rows that were not scored",
        ),
        "score out of range": (
            "values below 0 or above 1",
            "write probabilities, or say score_scale: unbounded",
        ),
    }[kind]
    return _Fault(
        role="score" if kind.endswith(("score", "range")) else kind,
        column=problem_column(table, unusable.problem),
        what=what,
        remedy=remedy,
        found=unusable.found,
        examples=unusable.examples,
    )


def label_problems(
    table: LabelTable, unusable: Sequence[Unusable], *, key: Key, rows: int
) -> InputError:
    """The error about rows of the labels: all that is wrong with them."""
    return _error(
        table.relation.name,
        [_of_label(table, one, key=key) for one in unusable],
        rows=rows,
        between=None,
    )


def _of_label(table: LabelTable, unusable: Unusable, *, key: Key) -> _Fault:
    kind = LABEL_PROBLEMS[unusable.problem - 1]
    block, role, words = "positives", "label", table.label_words
    numbers = ("values other than 1, 0 and -1", _LABELS)
    if table.are_verdicts or table.are_queued:
        block, role = "reviews", "verdict"
        numbers = ("values other than 1, 0 and undecided", _VERDICTS)
    what, remedy = {
        "id": _of_id(key, unusable.examples),
        "known_at": ("", "")
        if table.known_at is None
        else _of_time(table.known_at, block, unusable.examples),
        "label": numbers
        if words is None
        else (
            f"values other than {', '.join(map(repr, words.labels))}",
            f"list each under positive, negative or undecided of {role}; '' there is a missing "
            "value",
        ),
        "propensity": (
            "values on positives that are not above 0 and at most 1",
            f"give every positive the chance that one like it gets confirmed; {NEVER_LABELED}",
        ),
    }[kind]
    if table.are_verdicts or table.are_queued:
        time = "queued_at" if table.are_queued else "decided_at"
        kind = {"known_at": time, "label": "verdict"}.get(kind, kind)
    return _Fault(
        role=kind,
        column=problem_column(table, unusable.problem),
        what=what,
        remedy=remedy,
        found=unusable.found,
        examples=unusable.examples,
    )


def nul_problem(
    table: PredictionTable,
    column: Column,
    *,
    found: int,
    rows: int,
    between: tuple[datetime, datetime],
    examples: Sequence[tuple[Any, ...]],
) -> InputError:
    """The error about text with a NUL character."""
    fault = _Fault(
        role="model_version" if column is table.model_version else "segment",
        column=column,
        what="values that hold a NUL character",
        remedy="databases do not store it: remove it where the rows are written",
        found=found,
        examples=examples,
    )
    return _error(table.relation.name, [fault], rows=rows, between=between)


def _of_id(key: Key, examples: Sequence[tuple[Any, ...]]) -> tuple[str, str]:
    kind = "whole numbers" if key == "integer" else "text"
    remedy = "every row needs the id of its prediction"
    if key == "integer" and _whole_numbers(examples):
        remedy = "whole numbers must fit into 64 bits with their sign: cast both ids to text"
    return f"ids that are missing or not {kind}", remedy


def _of_time(time: TimeColumn, block: str, examples: Sequence[tuple[Any, ...]]) -> tuple[str, str]:
    what, remedy = _unreadable_time(time, block)
    unit = fitting_unit(_whole_numbers(examples))
    if unit is None:
        return what, remedy
    looks = f"whole numbers there look like {UNIT_NAMES[unit]} since 1970"
    if time.unit is not None:
        return what, f"{looks}, and the time_unit of {block} is {time.unit}: write all in one unit"
    cast = "" if time.column.kind == "cell" else "cast the column to whole numbers and "
    return what, f"{looks}: {cast}say time_unit: {unit} of {block}"


def _whole_numbers(examples: Sequence[tuple[Any, ...]]) -> list[int]:
    """Examples as numbers, if all that are there are whole."""
    values = [str(value) for value, *_ in examples if value is not None]
    return [int(value) for value in values] if all(map(_WHOLE.fullmatch, values)) else []


def _unreadable_time(time: TimeColumn, block: str) -> tuple[str, str]:
    unclear = f"that the clocks of {time.zone} show twice or never"
    remedy = (
        "or choose which of the two moments is meant, ambiguous: earlier or ambiguous: later "
        f"of {block}"
    )
    if time.ambiguous is not None:
        unclear, remedy = "", ""
    if time.column.kind in {"naive", "date"}:
        if not unclear:
            return "times that are missing", "every row needs its time"
        return (
            f"times that are missing, or {unclear} where they change",
            f"write such times in UTC or with their offset, {remedy}",
        )
    if time.column.kind in {"moment", "integer"} or time.unit is not None:
        return "times that are missing or no times", "every row needs its time"
    if time.zone is None:
        return (
            "times that are missing, not in ISO 8601, or without an offset",
            f"write them like 2026-01-31T08:30:00+00:00, or say the time_zone of {block}",
        )
    written = "write them like 2026-01-31T08:30:00+00:00"
    if not unclear:
        return "times that are missing or not in ISO 8601", written
    return (
        f"times that are missing, not in ISO 8601, or {unclear} where they change",
        f"{written}, {remedy}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    """What is wrong in a column, how often, and what to do."""

    role: str
    column: Column
    what: str
    remedy: str
    found: int
    examples: Sequence[tuple[Any, ...]]


def _error(
    name: str,
    faults: Sequence[_Fault],
    *,
    rows: int,
    between: tuple[datetime, datetime] | None,
) -> InputError:
    window = ""
    if between is not None:
        window = f" from {between[0].isoformat()} to {between[1].isoformat()}"
    told: list[str] = []
    before: Column | None = None
    for fault in faults:
        shown = [
            f"{'missing' if value is None else repr(_shortened(str(value)))} ({times} times)"
            for value, times in fault.examples
        ]
        listed = f": {', '.join(shown)}" if shown else ""
        place = f"{fault.role} column '{fault.column.name}'"
        if before is None:
            begins = f"{place} of {name} has {fault.found} {fault.what} in {rows} rows{window}"
        elif fault.column is before:
            begins = f"it also has {fault.found} {fault.what}"
        else:
            begins = f"{place} has {fault.found} {fault.what}"
        told.append(f"{begins}{listed}; {fault.remedy}")
        before = fault.column
    return InputError(". ".join([told[0], *(one[:1].upper() + one[1:] for one in told[1:])]))


def _shortened(value: str) -> str:
    return value if len(value) <= _LENGTH else value[: _LENGTH - 3] + "..."
