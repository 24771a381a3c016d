"""One pass over the rows: count what cannot be used, refuse it in words, return the totals."""

# ruff: noqa: S608 (names and values reach SQL only through `quoted`, `text` and `number`)

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pumonitor._validate import (
    LABEL_REMEDY,
    MISSING_LABEL_REMEDY,
    NEVER_LABELED,
    hint_on_verdicts,
)
from pumonitor.errors import InputError
from pumonitor.sources.column_types.columns import Rows
from pumonitor.sources.reach.session import Session

_DECIMAL_COMMA = re.compile(r"^\s*-?\d+,\d+\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    """A condition no row may meet."""

    role: str
    fails: str
    what: str
    remedy: str


_CHECKS = (
    _Check(
        role="labels",
        fails="labels_missing",
        what="missing values",
        remedy=MISSING_LABEL_REMEDY,
    ),
    _Check(
        role="labels",
        fails="label IS NULL AND NOT labels_missing",
        what="values other than 1, 0 and -1",
        remedy=LABEL_REMEDY,
    ),
    _Check(
        role="scores",
        fails="scores_missing",
        what="missing values",
        remedy="a row without a score was not scored; drop it or repair the scoring job",
    ),
    _Check(
        role="scores",
        fails="score IS NULL AND NOT scores_missing",
        what="values that are not numbers",
        remedy="name the column that holds the model's score, as numbers",
    ),
    _Check(
        role="scores",
        fails="isinf(score)",
        what="infinite values",
        remedy="clip the scores, or use probabilities in place of log-odds",
    ),
    _Check(
        role="sample_weight",
        fails="weight IS NULL OR NOT isfinite(weight) OR weight <= 0",
        what="values that are not finite numbers above 0",
        remedy="give every row a weight",
    ),
    _Check(
        role="propensity",
        fails="label = 1 AND propensity = 0",
        what="labeled rows of propensity 0",
        remedy=NEVER_LABELED,
    ),
    _Check(
        role="propensity",
        # NaN compares as greater than everything here, so it fails the last condition.
        fails="label = 1 AND (propensity IS NULL OR propensity <= 0 OR propensity > 1)",
        what="values on labeled rows that are not above 0 and at most 1",
        remedy="give every labeled row the chance that a positive like it gets labeled",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What one pass over the rows tells.

    `inner_lowest` and `inner_highest` are the lowest score above 0 and the highest below 1; both
    None when no score lies between.
    """

    rows: int
    lowest: float
    highest: float
    inner_lowest: float | None
    inner_highest: float | None


def check_rows(session: Session, rows: Rows) -> Totals:
    """Count rows and refuse unusable ones.

    Raises
    ------
    InputError
        Naming the column, the file, what is wrong, how often, where first, and what to do.
    """
    checks = [check for check in _CHECKS if rows.has(check.role)]
    counted = ", ".join(f"count(*) FILTER (WHERE {check.fails})" for check in checks)
    (answer,) = session.rows(
        "SELECT count(*), min(score), max(score), "
        "min(score) FILTER (WHERE score > 0 AND score < 1), "
        f"max(score) FILTER (WHERE score > 0 AND score < 1), {counted} FROM ({rows.select})",
        step="Checking rows",
    )
    count, lowest, highest, inner_lowest, inner_highest, *failures = answer
    if count == 0:
        msg = f"{rows.name} has no rows: there is nothing to evaluate; check the filter or the join"
        raise InputError(msg)
    for check, failed in zip(checks, failures, strict=True):
        if failed:
            raise InputError(_sentence(session, rows, check, failed=failed, count=count))
    if lowest == highest and count > 1:
        msg = (
            f"scores column '{rows.names['scores']}' of {rows.name} is {lowest:g} in all {count} "
            "rows: a constant score ranks nothing; check that the column holds the model's score"
        )
        raise InputError(msg)
    return Totals(
        rows=count,
        lowest=lowest,
        highest=highest,
        inner_lowest=inner_lowest,
        inner_highest=inner_highest,
    )


def _sentence(session: Session, rows: Rows, check: _Check, *, failed: int, count: int) -> str:
    column, kind = rows.names[check.role], rows.types[check.role]
    stored = "" if kind == "TEXT" else f" (the column is stored as {kind})"
    examples = session.rows(
        f"SELECT {check.role}_text, count(*) AS times FROM ({rows.select}) "
        f"WHERE ({check.fails}) AND {check.role}_text IS NOT NULL "
        f"GROUP BY {check.role}_text ORDER BY times DESC, {check.role}_text LIMIT 3"
    )
    shown = [f"'{_shortened(value)}' ({times} times)" for value, times in examples]
    listed = f": {', '.join(shown)}" if shown else ""
    remedy = check.remedy
    if any(_DECIMAL_COMMA.match(str(value)) for value, _ in examples):
        remedy = "the numbers have a decimal comma: write them with a decimal point"
    elif check.role == "labels":
        remedy += hint_on_verdicts(value for value, _ in examples)
    return (
        f"{check.role} column '{column}' of {rows.name} has {failed} {check.what} in {count} rows"
        f"{stored}{listed}, first in {_first_place(session, rows, check)}; {remedy}"
    )


def _shortened(value: str, length: int = 40) -> str:
    return value if len(value) <= length else value[: length - 3] + "..."


def _first_place(session: Session, rows: Rows, check: _Check) -> str:
    """Name the data row, counted from 1 without the header, and the file if there are several."""
    files = rows.per_file()
    for file, select in files:
        ((first,),) = session.rows(
            f"SELECT min(place) FROM (SELECT row_number() OVER () AS place, * FROM ({select})) "
            f"WHERE {check.fails}"
        )
        if first is not None:
            where = f" of {Path(file).name}" if len(files) > 1 else ""
            return f"row {first}{where}"
    return "a row that has changed in the meantime"
