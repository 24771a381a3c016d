"""Files that cannot be read, which windows their rows may be of, and what is said of them."""

# ruff: noqa: S608 (paths and names reach SQL only through `text`)

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from pumonitor.errors import DamagedFileError
from pumonitor.ports import Window
from pumonitor.sources.column_types.column_kinds import Column, DamagedFile, Relation
from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER, from_microseconds
from pumonitor.sources.reach.session import Session, text
from pumonitor.sources.windows.counts_engine import Engine, NamesDamagedFiles
from pumonitor.text import moment_text, window_text

_DATE: Final = re.compile(r"(?<!\d)(\d{4})\D{0,7}(\d{2})\D{0,5}(\d{2})(?!\d)")
"""A day in a path, as in 2026-01-31, 20260131 or year=2026/month=01/day=31."""
_DAY: Final = timedelta(days=1)
_FEWEST: Final = 2
"""Files that must show how far rows are from the day in the name."""

_Ends = tuple[datetime, datetime]


def damaged_files(
    session: Session, damaged: Mapping[str, str], readable: Sequence[str], time: Column | None
) -> tuple[DamagedFile, ...]:
    """What is known of files that cannot be read.

    A file holds no rows that were made after it was written. Where readable files have a day in
    their path, rows of the damaged one are as far from its day as theirs are, in whole days.

    Parameters
    ----------
    session : Session
    damaged : mapping of str to str
        Path to what is wrong with it.
    readable : sequence of str
        The other files of the table, of Parquet; none where their ends are not known.
    time : Column or None
        The column of times.
    """
    if not damaged:
        return ()
    reach = _reach(_ends(session, readable, time)) if readable and time is not None else None
    files = []
    for path, why in damaged.items():
        first, last = None, _written(path)
        day = _day_in(path)
        if reach is not None and day is not None:
            first = day + reach[0]
            named = day + reach[1] - timedelta.resolution
            last = named if last is None else min(last, named)
        files.append(DamagedFile(path=path, why=why, first=first, last=last))
    return tuple(files)


def check_files(
    predictions: Relation, labels: Sequence[Relation], window: Window, as_of: datetime
) -> None:
    """Refuse a window that a damaged file may have predictions of, or labels known by then.

    Raises
    ------
    DamagedFileError
        If one may.
    """
    # A label counts from a day before its prediction on.
    labels_from = window.start - CLOCKS_DIFFER
    for relation, start, end in (
        (predictions, window.start, window.end),
        *((table, labels_from, as_of + timedelta.resolution) for table in labels),
    ):
        for file in relation.damaged:
            if file.may_hold(start, end):
                msg = f"{file.why}. It may have rows of this window, which waits for it"
                raise DamagedFileError(msg)


def naming_file(
    error: DamagedFileError, *read: tuple[Engine, Relation, str, Sequence[object] | None]
) -> DamagedFileError:
    """The error with the name of the file, of which the library does not always say it.

    Parameters
    ----------
    error : DamagedFileError
    *read : tuple of Engine, Relation, str, and sequence or None
        What was read: by which engine, and of a column (of times) within which bounds.
    """
    if "Failed to read file" in str(error):
        return error
    for engine, relation, column, bounds in read:
        if isinstance(engine, NamesDamagedFiles):
            file = engine.damaged_file(relation, column, bounds)
            if file is not None:
                return DamagedFileError(f"{file} of {relation.name} is damaged: write it again")
    return error


def waits_for(file: DamagedFile) -> str:
    """What is wrong with a damaged file, and which windows wait for it."""
    if file.first is not None and file.last is not None:
        reach = f" from {window_text(file.first, file.last)}"
    elif file.last is not None:
        reach = f" until {moment_text(file.last)}"
    else:
        reach = "" if file.first is None else f" from {moment_text(file.first)} on"
    return f"{file.why}. It may have rows{reach}: windows that may need them wait for it"


def _day_in(path: str) -> datetime | None:
    for year, month, day in reversed(_DATE.findall(path)):
        with suppress(ValueError):
            return datetime(int(year), int(month), int(day), tzinfo=UTC)
    return None


def _written(path: str) -> datetime | None:
    try:
        written = Path(path).stat().st_mtime
    except OSError:
        return None
    return datetime.fromtimestamp(written, tz=UTC) + CLOCKS_DIFFER


def _ends(session: Session, files: Sequence[str], time: Column) -> dict[str, _Ends]:
    """First and last time of each file whose footer tells them."""
    if time.kind not in {"moment", "naive", "date"}:
        return {}
    kind = "TIMESTAMPTZ" if time.kind == "moment" else "TIMESTAMP"
    least, most = (
        f"{end}(epoch_us(CAST(TRY_CAST(stats_{end}_value AS {time.type}) AS {kind})))"
        for end in ("min", "max")
    )
    listed = ", ".join(map(text, files))
    rows = session.rows(
        f"SELECT file_name, {least}, {most} FROM parquet_metadata([{listed}]) "
        f"WHERE path_in_schema = {text(time.name)} GROUP BY file_name "
        "HAVING count(*) = count(stats_min_value)"
    )
    # A local time may be so far from the same one in UTC.
    zone = timedelta() if time.kind == "moment" else timedelta(hours=14)
    return {
        str(file): (from_microseconds(int(first)) - zone, from_microseconds(int(last)) + zone)
        for file, first, last in rows
        if first is not None and last is not None
    }


def _reach(ends: Mapping[str, _Ends]) -> tuple[timedelta, timedelta] | None:
    """How many days before and after the day in its path a file has rows at the most."""
    offsets = [
        (first - day, last - day)
        for file, (first, last) in ends.items()
        if (day := _day_in(file)) is not None
    ]
    if len(offsets) < _FEWEST:
        return None
    before = min(first for first, _ in offsets) // _DAY
    after = max(last for _, last in offsets) // _DAY + 1
    return before * _DAY, after * _DAY
