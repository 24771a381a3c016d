"""Columns as every engine has them: a name, the engine's type, and the kind of value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, get_args

from pumonitor.errors import InputError, did_you_mean

Kind = Literal[
    "integer",
    "number",  # floating point in 64 bits, or decimal
    "single",  # floating point in 32 bits
    "text",
    "cell",  # of a CSV file, which has no types
    "boolean",
    "moment",  # a time with its zone
    "naive",  # a time without
    "date",
    "empty",  # no value at all to tell by
    "other",
]

Key = Literal["integer", "text"]
"""How ids are compared."""

_NUMBERS: Final[frozenset[Kind]] = frozenset({"integer", "number", "single", "cell", "empty"})
_TIMES: Final[tuple[frozenset[Kind], str]] = (
    frozenset({"integer", "text", "cell", "moment", "naive", "date", "empty"}),
    "times are timestamps, ISO 8601 text, or whole numbers with their time_unit",
)
_WORDS: Final[tuple[frozenset[Kind], str]] = (
    frozenset({"integer", "text", "cell", "boolean", "empty"}),
    "name a column of words or whole numbers",
)
_ALLOWED: Final[dict[str, tuple[frozenset[Kind], str]]] = {
    "id": (
        frozenset({"integer", "text", "cell", "empty"}),
        "ids are whole numbers or text; a floating-point number loses digits: cast it",
    ),
    "time": _TIMES,
    "known_at": _TIMES,
    "decided_at": _TIMES,
    "queued_at": _TIMES,
    "score": (_NUMBERS, "name the column that holds the model's score, as numbers"),
    "ranked_by": (_NUMBERS, "name the column of the score that filled the queue, as numbers"),
    "value": (_NUMBERS, "name the column of what a row is worth, as numbers without a currency"),
    "label": (
        _NUMBERS | {"boolean"},
        "cast it to numbers, or true and false: 1 for a confirmed positive, -1 for a confirmed "
        "negative, 0 to retract an earlier row; or say what its words mean, label: {column: NAME, "
        "positive: [WORD], negative: [WORD], undecided: [WORD]}",
    ),
    "outcome": _WORDS,
    "verdict": (
        _NUMBERS | {"boolean", "text"},
        "cast it to 1 for positive and 0 for negative, or say what its words mean, verdict: "
        "{column: NAME, positive: [WORD], negative: [WORD], undecided: [WORD]}",
    ),
    "reviewer": _WORDS,
    "chosen_by": _WORDS,
    "channel": _WORDS,
    "probability": (_NUMBERS, "chances are numbers above 0 and at most 1"),
    "propensity": (_NUMBERS, "propensities are numbers above 0 and at most 1"),
    "model_version": (
        frozenset({"integer", "text", "cell", "boolean", "date", "empty"}),
        "name a column of versions, as text",
    ),
    "segment": (
        frozenset({"integer", "text", "cell", "boolean", "date", "empty"}),
        "name a column of categories, as text",
    ),
    "feature": (
        _NUMBERS | {"text", "boolean"},
        "features are numbers, text, or true and false: cast it, or leave it out",
    ),
    "group": (
        frozenset({"integer", "text", "cell", "empty"}),
        "entities are whole numbers or text, as ids are",
    ),
    "shown": (frozenset(get_args(Kind)), "leave it out"),
}
_NUMBERS_ALIKE: Final[tuple[frozenset[Kind], ...]] = (
    frozenset({"integer", "number", "single", "boolean"}),
)
_TIMES_ALIKE: Final[tuple[frozenset[Kind], ...]] = (frozenset({"naive", "date"}),)
# Read as text. True beside 1 would be read as 1.
_CATEGORIES_ALIKE: Final[tuple[frozenset[Kind], ...]] = (
    frozenset({"integer", "text"}),
    frozenset({"boolean", "text"}),
    frozenset({"date", "text"}),
)
_ALIKE: Final[dict[str, tuple[frozenset[Kind], ...]]] = {
    "id": (),
    "time": _TIMES_ALIKE,
    "known_at": _TIMES_ALIKE,
    "decided_at": _TIMES_ALIKE,
    "queued_at": _TIMES_ALIKE,
    "score": _NUMBERS_ALIKE,
    "ranked_by": _NUMBERS_ALIKE,
    "value": _NUMBERS_ALIKE,
    "label": _NUMBERS_ALIKE,
    "outcome": _CATEGORIES_ALIKE,
    "verdict": _NUMBERS_ALIKE + _CATEGORIES_ALIKE,
    "reviewer": _CATEGORIES_ALIKE,
    "chosen_by": _CATEGORIES_ALIKE,
    "channel": _CATEGORIES_ALIKE,
    "probability": _NUMBERS_ALIKE,
    "propensity": _NUMBERS_ALIKE,
    "model_version": _CATEGORIES_ALIKE,
    "segment": _CATEGORIES_ALIKE,
    "feature": (frozenset({"integer", "number", "single"}),),
    "group": (),
    "shown": (frozenset(get_args(Kind)),),
}
"""Kinds that files may mix in one column: each is read as what it means."""

_SHOWN_COLUMNS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
    type : str
        What the engine calls it, for messages.
    kind : str
    sql : str
        The column as written in the engine's SQL.
    """

    name: str
    type: str
    kind: Kind
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPart:
    """Some rows of a relation, all those of some ids.

    Attributes
    ----------
    sql : str
        What stands after FROM.
    ids : str
        Condition on an id in SQL, to be formatted with it, that tells its ids from all others.
    """

    sql: str
    ids: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile:
    """A file of a relation that cannot be read, so that its rows are not there.

    Attributes
    ----------
    path : str
    why : str
        What is wrong with it, and what to do.
    first, last : datetime or None
        Its rows are of no time before or after; None where nothing tells.
    """

    path: str
    why: str
    first: datetime | None = None
    last: datetime | None = None

    def may_hold(self, start: datetime, end: datetime) -> bool:
        """Whether it may have rows of a stretch of time."""
        return (self.first is None or self.first < end) and (
            self.last is None or self.last >= start
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A table, a view, a query or files, as one engine reads them.

    Attributes
    ----------
    name : str
        For messages; without any secret.
    sql : str
        What stands after FROM; it may hold parameters.
    columns : mapping of str to Column
    parameters : mapping of str to object
        Those it holds, with values that let every row through.
    version : mapping of str to str
        Which version of a lake's table it is; empty for tables that keep none.
    is_streamed : bool
        Whether rows pass by as they are read; of a lazy frame all that are asked for are loaded.
    rows : int, optional
        How many there are, where files say so without being read.
    ends : mapping of str to str
        By moments whose ends the footers of files may know: SQL of one row (n, timed, least, most),
        of rows, those that have a value, and its ends.
    parts : tuple of RelationPart
        Where it is more than one statement takes: each is asked about by statements of its own. In
        the order of SHA-256 of ids; none where the whole does.
    damaged : tuple of DamagedFile
        Files of it that cannot be read.
    """

    name: str
    sql: str
    columns: Mapping[str, Column]
    parameters: Mapping[str, object] = field(default_factory=dict)
    version: Mapping[str, str] = field(default_factory=dict)
    is_streamed: bool = True
    rows: int | None = None
    ends: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[RelationPart, ...] = ()
    damaged: tuple[DamagedFile, ...] = ()


def named_column(relation: Relation, name: str, *, role: str) -> Column:
    """The column of this name, whose kind must be one that can mean this.

    Raises
    ------
    InputError
        If there is no such column (the nearest are named), or if its type cannot be used.
    """
    column = relation.columns.get(name)
    if column is None:
        hint = did_you_mean(name, relation.columns, most=3)
        if not hint:
            names = list(relation.columns)
            listed = ", ".join(f"'{other}'" for other in names[:_SHOWN_COLUMNS])
            more = len(names) - _SHOWN_COLUMNS
            hint = f"; its columns are {listed}" + (f" and {more} more" if more > 0 else "")
        msg = f"{relation.name} has no column '{name}' ({role}){hint}"
        raise InputError(msg)
    allowed, remedy = _ALLOWED[role]
    if column.kind not in allowed:
        msg = f"{role} column '{name}' of {relation.name} is stored as {column.type}: {remedy}"
        raise InputError(msg)
    return column


def types_agree(kinds: Collection[Kind], *, role: str) -> bool:
    """Whether files that hold these kinds in one column can be read as one table.

    Where all hold the same kind there is nothing to agree on; whether it can be used is asked by
    `named_column`.

    Examples
    --------
    >>> types_agree({"integer", "number"}, role="score")
    True
    >>> types_agree({"integer", "number"}, role="id"), types_agree({"moment", "naive"}, role="time")
    (False, False)
    """
    held = set(kinds) - {"empty"}
    if len(held) < 2:
        return True
    return held <= _ALLOWED[role][0] and any(held <= alike for alike in _ALIKE[role])


def key_of(predictions: Relation, prediction_id: Column, labels: Relation, label_id: Column) -> Key:
    """How the ids of both tables are compared.

    Cells of a CSV file are read as what the other table has.

    Raises
    ------
    InputError
        If one has whole numbers and the other text, which never match.
    """
    kinds = {prediction_id.kind, label_id.kind} - {"cell", "empty"}
    if kinds == {"integer", "text"}:
        msg = (
            f"ids of {predictions.name} are {prediction_id.type} in column '{prediction_id.name}', "
            f"those of {labels.name} are {label_id.type} in column '{label_id.name}': no label "
            "would be found; cast one of them to the other's type"
        )
        raise InputError(msg)
    return "integer" if kinds == {"integer"} else "text"
