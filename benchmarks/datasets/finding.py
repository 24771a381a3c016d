"""Find the table of a data set: in the folder, in an installed package, or as an archive's file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.datasets.archives import member
from benchmarks.datasets.content import content_digest
from benchmarks.datasets.errors import DatasetMissingError, DatasetWrongError
from benchmarks.datasets.packaged import PACKAGED
from benchmarks.datasets.readers import READERS
from benchmarks.datasets.table import Entry, entry

if TYPE_CHECKING:
    import pandas

__all__ = [
    "VARIABLE",
    "available",
    "checked",
    "data_folder",
    "load_table",
    "missing",
    "read_archive",
]

VARIABLE: Final = "PUMONITOR_DATA"
"""Environment variable that names the folder."""


def data_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The folder of data sets: `PUMONITOR_DATA`, or else a folder in the user's cache.

    Parameters
    ----------
    environment : mapping of str to str, optional
        Instead of the process's own.

    Examples
    --------
    >>> data_folder({"PUMONITOR_DATA": "/data/uci"}).as_posix()
    '/data/uci'
    >>> data_folder({"XDG_CACHE_HOME": "/var/cache"}).as_posix()
    '/var/cache/pumonitor/data'
    """
    known = os.environ if environment is None else environment
    if known.get(VARIABLE):
        return Path(known[VARIABLE]).expanduser()
    cache = known.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path("~/.cache").expanduser()) / "pumonitor" / "data"


def load_table(name: str, folder: Path | None = None) -> pandas.DataFrame:
    """The table of a data set; nothing is fetched.

    Looked for are, in this order, ``<name>.parquet`` in the folder, a package that holds it, and
    the archive's file in the folder.

    Parameters
    ----------
    name : str
    folder : Path, optional
        `data_folder` unless given.

    Returns
    -------
    pandas.DataFrame
        Features, then columns `meta_*` that are none (the split, a second target), then `target`,
        not binarised. Shared by all callers: copy it before you change it.

    Raises
    ------
    DatasetMissingError
        If it is nowhere; the message names the places.
    DatasetWrongError
        If what is found is not the data set of the table.
    """
    return _loaded(name, data_folder() if folder is None else folder)


@lru_cache(maxsize=8)
def _loaded(name: str, folder: Path) -> pandas.DataFrame:
    import pandas

    found = entry(name)
    places = [str(path := folder / f"{name}.parquet")]
    if path.is_file():
        return checked(found, pandas.read_parquet(path), path)
    if name in PACKAGED:
        try:
            return checked(found, PACKAGED[name](), found.package)
        except DatasetMissingError:
            places.append(f"package {found.package}")
    if found.address is not None:
        places.append(str(archive := folder / found.file))
        if archive.is_file():
            return read_archive(found, archive)
    raise DatasetMissingError(name, f"looked at {', '.join(places)}")


def read_archive(found: Entry, archive: Path) -> pandas.DataFrame:
    """The table made from the archive's file.

    Raises
    ------
    DatasetWrongError
        If the file is damaged, has another form, or holds other data.
    """
    try:
        frame = READERS[found.name](lambda file: member(archive, file))
    except (ValueError, KeyError) as error:
        raise DatasetWrongError(
            f"{archive} is no archive of {found.name} ({found.title}): {error}; remove it"
        ) from None
    return checked(found, frame, archive)


def checked(found: Entry, frame: pandas.DataFrame, place: object) -> pandas.DataFrame:
    """The table itself, if it holds what the table of data sets says.

    Raises
    ------
    DatasetWrongError
        If not.
    """
    digest = content_digest(frame)
    if digest != found.content:
        raise DatasetWrongError(
            f"{place} does not hold {found.name} ({found.title}) as published: SHA-256 of its "
            f"content is {digest}, not {found.content} ({len(frame):,} rows); "
            f"remove it and fetch it anew: python -m benchmarks.datasets fetch {found.name}"
        )
    return frame


def available(name: str) -> bool:
    """Whether `load_table` finds it.

    Raises
    ------
    DatasetWrongError
        If something else is in its place.
    """
    try:
        load_table(name)
    except DatasetMissingError:
        return False
    return True


def missing(names: Iterable[str]) -> list[Entry]:
    """Those that `load_table` does not find, once each, in the order given.

    Raises
    ------
    DatasetMissingError
        If one of the names is of no data set.
    """
    return [found for found in map(entry, dict.fromkeys(names)) if not available(found.name)]
