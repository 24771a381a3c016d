"""From what the user typed to the files it means."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pumonitor.errors import DamagedFileError, InputError, nearest
from pumonitor.masks import without_password
from pumonitor.sources.reach.table_formats import refuse_tables_on_disk

FileKind = Literal["csv", "parquet", "json", "table"]
"""What files hold; "table" is one that another library reads, of a lake."""

_CSV = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_JSON = (".json", ".jsonl", ".ndjson")
_COMPRESSED = (".gz", ".zst")
_NAMES: dict[FileKind, str] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON",
    "table": "tables",
}
_PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The files behind one path or glob.

    Attributes
    ----------
    name : str
        As the user wrote it, for messages.
    files : tuple of str
        Absolute paths, sorted.
    kind : {"csv", "parquet", "json"}
        All files are of this kind.
    damaged : mapping of str to str
        Further files, each with why it cannot be read.
    """

    name: str
    files: tuple[str, ...]
    kind: FileKind
    damaged: Mapping[str, str] = field(default_factory=dict)


def locate(
    path: str | os.PathLike[str],
    *,
    kinds: Collection[FileKind] = ("csv", "parquet"),
    reads_lakes: bool = False,
    sets_aside: bool = False,
) -> Location:
    """Find the files a path or glob names.

    Parameters
    ----------
    path : path-like
    kinds : collection of str
        Those the caller reads.
    reads_lakes : bool
        Whether the caller reads tables of lakes by their address.
    sets_aside : bool
        Whether files that are empty or damaged are named beside the others, as long as there are
        others.

    Raises
    ------
    InputError
        If there is no such file, if it is a directory, empty or of unknown kind, or if a glob
        mixes kinds.
    """
    name = os.fspath(path)
    if "://" in name:
        scheme = name.partition("://")[0]
        msg = (
            f"{without_password(name)} is an address ({scheme}), and only files on this machine "
            "are read: download or mount it and give its path"
        )
        raise InputError(msg)
    found = matching_files(Path(name))
    if not found:
        raise InputError(nothing_found(name))
    refuse_tables_on_disk(
        name,
        (file if file.is_dir() else file.parent for file in map(Path.absolute, found)),
        reads_lakes=reads_lakes,
    )
    files = [file.absolute() for file in found if not file.is_dir()]
    if not files:
        msg = f"{name} is a directory: name the files in it, for example '{_inside(found[0])}'"
        raise InputError(msg)
    found_kinds: dict[Path, FileKind] = {}
    damaged: dict[str, str] = {}
    for file in files:
        try:
            found_kinds[file] = _kind(file, kinds)
        except DamagedFileError as error:
            if not sets_aside or len(damaged) + 1 == len(files):
                raise
            damaged[str(file)] = str(error)
    if len(set(found_kinds.values())) > 1:
        mixed = " and ".join(sorted(_NAMES[kind] for kind in set(found_kinds.values())))
        msg = f"{name} matches both {mixed} files: name one kind, for example '*.parquet'"
        raise InputError(msg)
    return Location(
        name=name,
        files=tuple(map(str, found_kinds)),
        kind=next(iter(found_kinds.values())),
        damaged=damaged,
    )


def matches_nothing(path: str | os.PathLike[str]) -> bool:
    """Whether this is a pattern that no file fits so far."""
    name = os.fspath(path)
    return "://" not in name and glob.has_magic(name) and not matching_files(Path(name))


def matching_files(path: Path) -> list[Path]:
    """Files and directories that a path or pattern fits, sorted; none is not an error."""
    # A file whose name really holds a * or [ is meant literally.
    if path.exists():
        return [path]
    if not glob.has_magic(str(path)):
        return []
    root = Path(path.anchor)
    return sorted(root.glob(str(path.relative_to(path.anchor))))


def nothing_found(name: str, *, what: str = "file") -> str:
    """What is said of a path or pattern that fits no file, with the nearest name."""
    if glob.has_magic(name):
        return f"no file matches {name}: check the pattern; the current directory is {Path.cwd()}"
    folder = Path(name).parent
    if not folder.is_dir():
        return f"there is no {what} {name}: the directory {folder} does not exist"
    beside = [entry.name for entry in folder.iterdir()]
    near = nearest(Path(name).name, beside)
    hint = f"; did you mean {folder / near[0]}?" if near else f" in {folder.resolve()}"
    return f"there is no {what} {name}{hint}"


def short_name(file: str) -> str:
    """The last part of a path or address; what follows a question mark of an address is secret.

    Examples
    --------
    >>> short_name("data/p?.csv"), short_name("https://host/data/p.csv?X-Amz-Signature=a/b")
    ('p?.csv', 'p.csv')
    """
    return Path(file.partition("?")[0] if "://" in file else file).name


def _inside(directory: Path) -> Path:
    """Suggest a glob that fits what a directory holds."""
    present = {entry.suffix for entry in directory.iterdir()}
    suffix = next((suffix for suffix in (*_PARQUET, *_CSV) if suffix in present), ".parquet")
    return directory / f"*{suffix}"


def _kind(file: Path, kinds: Collection[FileKind]) -> FileKind:
    try:
        with file.open("rb") as stream:
            start = stream.read(len(_PARQUET_MAGIC))
    except OSError as error:
        msg = f"{file} cannot be opened: {error.strerror or error}"
        raise InputError(msg) from None
    if not start:
        msg = f"{file} is empty (0 bytes): check the job that writes it"
        raise DamagedFileError(msg)
    if start == _PARQUET_MAGIC:
        return "parquet"
    suffixes = [suffix.lower() for suffix in file.suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _PARQUET:
        msg = f"{file} is not Parquet although its name says so: check how it was written or copied"
        raise DamagedFileError(msg)
    if suffix in _CSV:
        return "csv"
    if suffix in _JSON and "json" in kinds:
        return "json"
    msg = (
        f"{file} is neither Parquet nor named like CSV ({', '.join(_CSV)}, plain or "
        f"{', '.join(_COMPRESSED)}): rename it or write it as one of these"
    )
    raise InputError(msg)
