"""Files wherever they are, on this machine or behind an address, and what reads both."""

# ruff: noqa: S608 (paths reach SQL only through `text`)

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from pumonitor.errors import InputError, PumonitorError
from pumonitor.sources.reach.locations import Location, locate
from pumonitor.sources.reach.remote_access import prepare_access
from pumonitor.sources.reach.remote_files import RemoteFiles, is_remote, remote_files
from pumonitor.sources.reach.session import Session, contained, text
from pumonitor.sources.reach.table_formats import log_folders, refuse_tables_at_addresses

if TYPE_CHECKING:
    import duckdb

Place = Location | RemoteFiles


def place_of_files(path: str | os.PathLike[str], *, sets_aside: bool = False) -> Place:
    """Where the files are that a path, pattern or address names.

    Parameters
    ----------
    path : path-like
    sets_aside : bool
        Whether files of a pattern that cannot be read are named in place of refusing all.

    Raises
    ------
    InputError
        If there are none here, or if the address is of a kind that is not read.
    """
    name = os.fspath(path)
    if is_remote(name):
        return remote_files(name)
    return locate(path, kinds=("csv", "parquet", "json"), reads_lakes=True, sets_aside=sets_aside)


def connect(places: Iterable[Place], *, without: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """Open a connection contained to some files.

    Raises
    ------
    InputError, SourceError
        If DuckDB cannot be made to read addresses.
    """
    places = list(places)
    remote = [place for place in places if isinstance(place, RemoteFiles)]
    names = [place.name for place in remote]
    patterns = [place for place in remote if place.is_pattern]
    stored = [place for place in remote if place.is_in_store]
    return contained(
        [file for place in places if place not in patterns for file in place.files],
        directories=[
            *(place.directory for place in patterns),
            *(folder for place in stored for folder in log_folders(place.directory)),
        ],
        without=without,
        prepare=(lambda new: prepare_access(new, names)) if remote else None,
    )


def files_of(place: Place, session: Session) -> list[str]:
    """Its files; those of a store's pattern are asked for.

    Raises
    ------
    InputError
        If they are part of a table whose log says which of them count.
    SourceError
        If a store does not answer.
    """
    if not isinstance(place, RemoteFiles) or not place.is_in_store:
        return list(place.files)
    files = _listed(place.files[0], session) if place.is_pattern else list(place.files)
    refuse_tables_at_addresses(place.name, files, _lists(session))
    return files


def _lists(session: Session) -> Callable[[str], bool]:
    """Whether a pattern fits anything; who may list a folder may not be let to list others."""
    is_refused = False

    def fits(pattern: str) -> bool:
        nonlocal is_refused
        if not is_refused:
            try:
                return bool(_listed(pattern, session))
            except PumonitorError:
                is_refused = True
        return False

    return fits


def _listed(pattern: str, session: Session) -> list[str]:
    found = session.rows(f"SELECT file FROM glob({text(pattern)}) ORDER BY file")
    return [str(file) for (file,) in found]


def no_files(place: Place) -> InputError:
    """What is said of a store's pattern that fits no file."""
    return InputError(f"no file matches {place.name}: check the bucket and the pattern")
