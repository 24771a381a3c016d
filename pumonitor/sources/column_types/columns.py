"""Find the named columns in files and write the SQL that reads them, whatever their types."""

# ruff: noqa: S608 (names and values reach SQL only through `quoted`, `text` and `number`)

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pumonitor.errors import InputError, did_you_mean
from pumonitor.sources.reach.locations import Location, short_name
from pumonitor.sources.reach.session import Session, number, quoted, text

__all__ = ["TABLE", "Rows", "csv_layout", "find_rows", "parquet_layout", "place_of"]

TABLE: Final = "pumonitor_table"
"""Where the rows are that were handed over instead of read from files."""

_DELIMITERS = (",", ";", "\t", "|")
_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
_NUMBERS = re.compile(
    r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)"
)
_SHOWN_COLUMNS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One column of one layout: the SQL expression and its type (TEXT for CSV cells)."""

    expression: str
    type: str

    @property
    def number(self) -> str:
        """The value as a double; null when it is not a number."""
        if self.type == "TEXT":
            return f"try_cast({self.expression} AS DOUBLE)"
        if _NUMBERS.fullmatch(self.type):
            return f"CAST({self.expression} AS DOUBLE)"
        return "CAST(NULL AS DOUBLE)"

    @property
    def truth(self) -> str:
        """The value as a double with true and false taken as 1 and 0."""
        if self.type != "TEXT":
            return self.number
        return (
            f"CASE lower({self.expression}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 "
            f"ELSE {self.number} END"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Files of one layout."""

    files: tuple[str, ...]
    reader: str
    columns: Mapping[str, _Column]
    threshold: float | None

    def select(self, files: Sequence[str]) -> str:
        label, score = self.columns["labels"], self.columns["scores"]
        chosen = [
            f"CASE {label.truth} WHEN 1 THEN 1 WHEN 0 THEN 0 WHEN -1 THEN -1 END::TINYINT AS label",
            f"coalesce(isnan({label.number}), {label.expression} IS NULL) AS labels_missing",
            f"{self._score()} AS score",
            f"coalesce(isnan({score.number}), {score.expression} IS NULL) AS scores_missing",
            f"{self._number('sample_weight')} AS weight",
            f"{self._number('propensity')} AS propensity",
        ]
        chosen += [
            f"CAST({column.expression} AS VARCHAR) AS {role}_text"
            for role, column in self.columns.items()
        ]
        paths = ", ".join(text(file) for file in files)
        return f"SELECT {', '.join(chosen)} FROM {self.reader.format(files=f'[{paths}]')}"

    def _score(self) -> str:
        score = self.columns["scores"]
        if score.type != "FLOAT" or self.threshold is None:
            return score.number
        # 0.7 in 32 bits is below 0.7 in 64: without this a score of 0.7 would miss a threshold
        # of 0.7. No other score changes place, as this one is the nearest to the threshold.
        limit = number(self.threshold)
        return f"CASE {score.expression} WHEN {limit}::FLOAT THEN {limit} ELSE {score.number} END"

    def _number(self, role: str) -> str:
        return self.columns[role].number if role in self.columns else "CAST(1 AS DOUBLE)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of a location as one relation with known columns.

    They are label (1, 0, -1 or null), labels_missing, score (double or null), scores_missing,
    weight and propensity (double, 1 when not asked for), and <role>_text for messages.
    """

    name: str
    names: Mapping[str, str]
    types: Mapping[str, str]
    parts: tuple[_Part, ...]

    @property
    def select(self) -> str:
        """SQL of all rows."""
        return " UNION ALL ".join(part.select(part.files) for part in self.parts)

    def per_file(self) -> list[tuple[str, str]]:
        """Each file with the SQL of its rows."""
        return [(file, part.select([file])) for part in self.parts for file in part.files]

    def has(self, role: str) -> bool:
        """Whether a column was named for this role."""
        return role in self.names


def find_rows(
    session: Session, location: Location, names: Mapping[str, str], *, threshold: float | None
) -> Rows:
    """Resolve column names in every file of the location.

    Parameters
    ----------
    names : mapping of str to str
        Role (labels, scores, sample_weight, propensity) to column name, exactly as in the file.
    threshold : float or None
        Scores in 32 bits that are this number in 32 bits become this number.

    Raises
    ------
    InputError
        If a column is absent (the nearest names are given) or stands twice in a file, or if two
        roles name one column.
    """
    _refuse_shared(names)
    layouts: dict[tuple[str, ...], list[str]] = {}
    details: dict[tuple[str, ...], tuple[str, dict[str, _Column]]] = {}
    for file in location.files:
        if location.kind == "csv":
            header, reader, columns = csv_layout(session, file, names)
        elif location.kind == "table":
            header, reader, columns = _table_layout(session)
        else:
            header, reader, columns = parquet_layout(session, file)
        found = {
            role: columns[place_of(header, name, role=role, file=file)]
            for role, name in names.items()
        }
        key = (reader, *(f"{column.expression} {column.type}" for column in found.values()))
        layouts.setdefault(key, []).append(file)
        details[key] = (reader, found)
    parts = tuple(
        _Part(
            files=tuple(files),
            reader=details[key][0],
            columns=details[key][1],
            threshold=threshold,
        )
        for key, files in layouts.items()
    )
    types = {role: column.type for role, column in parts[0].columns.items()}
    return Rows(name=location.name, names=dict(names), types=types, parts=parts)


def _refuse_shared(names: Mapping[str, str]) -> None:
    roles: dict[str, str] = {}
    for role, name in names.items():
        if name in roles:
            both = f"{role_in_words(roles[name])} and {role_in_words(role)}"
            msg = f"{both} both name the column '{name}': they must differ"
            raise InputError(msg)
        roles[name] = role


def role_in_words(role: str) -> str:
    """What a column is read for, as messages say it.

    Examples
    --------
    >>> role_in_words("feature_3"), role_in_words("text_1"), role_in_words("sample_weight")
    ('feature', 'ids or other text', 'sample_weight')
    """
    word, _, number = role.rpartition("_")
    if not number.isdigit():
        return role
    return "ids or other text" if word == "text" else word


def place_of(
    header: Sequence[str], name: str, *, role: str, file: str, shown: str | None = None
) -> int:
    """Where a column stands in a file's header; refused if it is absent or stands there twice."""
    count, said = list(header).count(name), role_in_words(role)
    shown = shown or short_name(file)
    if count > 1:
        msg = f"{shown} has {count} columns named '{name}' ({said}): rename all but one of them"
        raise InputError(msg)
    if count == 1:
        return list(header).index(name)
    hint = did_you_mean(name, header, most=3)
    if not hint:
        listed = ", ".join(f"'{other}'" for other in header[:_SHOWN_COLUMNS])
        more = len(header) - _SHOWN_COLUMNS
        hint = f"; its columns are {listed}" + (f" and {more} more" if more > 0 else "")
    msg = f"{shown} has no column '{name}' ({said}){hint}"
    raise InputError(msg)


def csv_layout(
    session: Session, file: str, names: Mapping[str, str]
) -> tuple[list[str], str, list[_Column]]:
    """Header, reader and columns of a CSV file.

    Nothing is guessed but the delimiter: DuckDB's own detection drops ragged rows, renames
    repeated columns and reads yes and no as true and false without a word.
    """
    first = session.rows(
        f"SELECT line FROM read_csv({text(file)}, auto_detect = false, header = false, "
        "columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '') LIMIT 1"
    )
    if not first or not first[0][0]:
        msg = f"{short_name(file)} has no header line: its first line must name the columns"
        raise InputError(msg)
    line = str(first[0][0]).removeprefix("\ufeff")
    headers = {mark: next(csv.reader([line], delimiter=mark)) for mark in _DELIMITERS}
    wanted = set(names.values())
    delimiter = max(
        _DELIMITERS, key=lambda mark: (len(wanted & set(headers[mark])), len(headers[mark]))
    )
    header = headers[delimiter]
    cells = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(header)))
    missing = ", ".join(text(mark) for mark in _MISSING)
    reader = (
        "read_csv({files}, auto_detect = false, header = true, "
        f"delim = {text(delimiter)}, quote = '\"', escape = '\"', nullstr = [{missing}], "
        f"columns = {{{{{cells}}}}})"
    )
    return header, reader, [_Column(expression=f"c{i}", type="TEXT") for i in range(len(header))]


def parquet_layout(session: Session, file: str) -> tuple[list[str], str, list[_Column]]:
    """Header, reader and columns of a Parquet file."""
    reader = "read_parquet({files}, hive_partitioning = false)"
    # DuckDB makes repeated names unique, in the order of the file: the schema has the real ones.
    described = session.rows(f"DESCRIBE SELECT * FROM {reader.format(files=text(file))}")
    schema = session.rows(f"SELECT name, num_children FROM parquet_schema({text(file)})")
    header: list[str] = []
    position = 1
    while position < len(schema):
        header.append(str(schema[position][0]))
        position = _after(schema, position)
    columns = [_Column(expression=quoted(str(row[0])), type=str(row[1])) for row in described]
    return header, reader, columns


def _table_layout(session: Session) -> tuple[list[str], str, list[_Column]]:
    """Header, name and columns of `TABLE`."""
    described = session.rows(f"DESCRIBE SELECT * FROM {TABLE}")
    header = [str(row[0]) for row in described]
    return (
        header,
        TABLE,
        [_Column(expression=quoted(str(row[0])), type=str(row[1])) for row in described],
    )


def _after(schema: Sequence[tuple[str, int | None]], position: int) -> int:
    """Position after a schema element and all its children (the schema is depth first)."""
    children = schema[position][1] or 0
    position += 1
    for _ in range(children):
        position = _after(schema, position)
    return position
