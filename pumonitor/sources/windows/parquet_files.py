"""Parquet files that are read as one table: the same columns in each, with types that agree."""

# ruff: noqa: S608 (names and paths reach SQL only through `text`)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pumonitor.errors import DamagedFileError, InputError
from pumonitor.sources.column_types.column_kinds import Kind, types_agree
from pumonitor.sources.column_types.columns import parquet_layout, place_of
from pumonitor.sources.reach.locations import short_name
from pumonitor.sources.reach.session import Session, text

_SHOWN_TYPES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetFiles:
    """Files whose named columns can be read together.

    Attributes
    ----------
    files : tuple of str
        Those with rows; none where none has any.
    kinds : mapping of str to set of str
        What the files hold in each named column.
    rows : int
        In all files together.
    damaged : mapping of str to str
        Files that cannot be read, each with what is wrong with it.
    """

    files: tuple[str, ...]
    kinds: Mapping[str, frozenset[Kind]]
    rows: int
    damaged: Mapping[str, str] = field(default_factory=dict)


def parquet_files(
    session: Session,
    paths: Sequence[str],
    roles: Mapping[str, str],
    *,
    name: str,
    kind_of: Callable[[str], Kind],
) -> ParquetFiles:
    """Look at the schemas of all files, without reading rows.

    DuckDB would read a column that one file lacks as missing, and a time without a zone as one in
    UTC where another file has zones.

    Parameters
    ----------
    session : Session
    paths : sequence of str
        Files, or a pattern.
    roles : mapping of str to str
        What each named column means, by its name.
    name : str
        Of the table, for messages.
    kind_of : callable
        Kind of one of DuckDB's types.

    Raises
    ------
    InputError
        If a file lacks a named column or has it twice, if files disagree about its type, or if
        all are damaged.
    """
    rows, damaged = _rows_by_file(session, paths, name=name)
    # A job that found nothing writes a file without rows, and mostly without types too.
    filled = [file for file in rows if rows[file]]
    types: dict[str, dict[str, list[str]]] = {column: {} for column in roles}
    for files in _layouts(session, filled or list(rows), roles).values():
        header, _, columns = parquet_layout(session, files[0])
        shown = file_of(name, files[0], of=len(rows))
        for column, role in roles.items():
            found = columns[_place(header, column, role=role, file=files[0], shown=shown)]
            types[column].setdefault(found.type, []).extend(files)
    kinds = {column: frozenset(map(kind_of, of)) for column, of in types.items()}
    for column, role in roles.items():
        if not types_agree(kinds[column], role=role):
            raise InputError(_disagree(name, column, role, types[column]))
    return ParquetFiles(files=tuple(filled), kinds=kinds, rows=sum(rows.values()), damaged=damaged)


def file_of(name: str, file: str, *, of: int) -> str:
    """What messages call one of several files of a table."""
    return name if of == 1 else f"{short_name(file)} of {name}"


def _rows_by_file(
    session: Session, paths: Sequence[str], *, name: str
) -> tuple[dict[str, int], dict[str, str]]:
    """Rows of files, and what is wrong with those whose footer cannot be read."""

    def looked(files: Sequence[str], about: str) -> dict[str, int]:
        listed = f"[{', '.join(map(text, files))}]"
        found = session.about(about).rows(
            f"SELECT file_name, num_rows FROM parquet_file_metadata({listed})"
        )
        return {str(file): int(count) for file, count in found}

    try:
        return looked(paths, name), {}
    except DamagedFileError as error:
        if len(paths) == 1:
            raise
        first = error
    rows: dict[str, int] = {}
    damaged: dict[str, str] = {}
    for path in paths:
        try:
            rows |= looked([path], file_of(name, path, of=len(paths)))
        except DamagedFileError as error:
            damaged[path] = str(error)
    if not rows:
        raise first
    return rows, damaged


def _layouts(
    session: Session, files: Sequence[str], roles: Mapping[str, str]
) -> dict[tuple[tuple[str, ...], ...], list[str]]:
    """Files by what their schemas say of the named columns: one of each group is looked at."""
    listed = f"[{', '.join(map(text, files))}]"
    named = ", ".join(map(text, roles))
    stored: dict[str, list[tuple[str, ...]]] = {file: [] for file in files}
    for file, *said in session.rows(
        "SELECT file_name, name, type, converted_type, logical_type, scale "
        f"FROM parquet_schema({listed}) WHERE name IN ({named})"
    ):
        stored[str(file)].append(tuple(map(str, said)))
    layouts: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for file, said in stored.items():
        layouts.setdefault(tuple(sorted(said)), []).append(file)
    return layouts


def _place(header: Sequence[str], name: str, *, role: str, file: str, shown: str) -> int:
    """Where the column stands; DuckDB tells names apart by more than their case."""
    place = place_of(header, name, role=role, file=file, shown=shown)
    alike = [other for other in header if other != name and other.casefold() == name.casefold()]
    if alike:
        msg = (
            f"{shown} has columns '{name}' ({role}) and '{alike[0]}', which differ in case only: "
            "rename one of them"
        )
        raise InputError(msg)
    return place


def _disagree(name: str, column: str, role: str, types: Mapping[str, Sequence[str]]) -> str:
    number = sum(map(len, types.values()))
    # The rarest first: that is mostly the one to mend.
    ordered = sorted(types.items(), key=lambda item: (len(item[1]), item[0]))
    shown = [
        f"{kind} in {len(files)} of {number} files (such as {short_name(files[0])})"
        for kind, files in ordered[:_SHOWN_TYPES]
    ]
    return (
        f"{role} column '{column}' of {name} is stored as {' and as '.join(shown)}: write it with "
        "one type in all of them"
    )
