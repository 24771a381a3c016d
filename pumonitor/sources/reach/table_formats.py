"""Folders that are tables of Delta Lake, Iceberg or Hudi: a log says which of their files count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Final

from pumonitor.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    """A kind of table, and what is in its folder.

    Attributes
    ----------
    name : str
    folder, files : str
        Where its log is, and a pattern of files there.
    line : str
        What names the table as a monitor's source; "" where it is not read.
    extra : str
        With what it is read.
    anywhere : bool
        Whether all that is below the table's folder is its own; otherwise its ``data`` folder and
        partitions are.
    """

    name: str
    folder: str
    files: str
    line: str = ""
    extra: str = ""
    anywhere: bool = True

    def holds(self, between: Sequence[str]) -> bool:
        """Whether files this far below the table's folder are its own."""
        return self.anywhere or between[:1] == ["data"] or all("=" in one for one in between)


_FORMATS: Final = (
    _Format(
        name="a Delta table",
        folder="_delta_log",
        files="*",
        line="delta://{folder}",
        extra="delta",
    ),
    _Format(
        name="an Iceberg table",
        folder="metadata",
        files="*.metadata.json",
        line="iceberg://CATALOG/NAMESPACE.TABLE, the table's name in its catalog,",
        extra="iceberg",
        anywhere=False,
    ),
    _Format(name="a Hudi table", folder=".hoodie", files="*"),
)


def refuse_tables_on_disk(name: str, folders: Iterable[Path], *, reads_lakes: bool) -> None:
    """Refuse files that are part of a table.

    Parameters
    ----------
    name : str
        The path or pattern, for the message.
    folders : iterable of Path
        Absolute ones that the files are in.
    reads_lakes : bool
        Whether the caller would read the table by its address.

    Raises
    ------
    InputError
        If one of the folders, or one above it, is such a table.
    """

    @cache
    def formats_of(folder: Path) -> tuple[_Format, ...]:
        return tuple(
            one for one in _FORMATS if next((folder / one.folder).glob(one.files), None) is not None
        )

    # Of x/../y the folder x is none that y is in; where a link leads, a table may be as well.
    named = [Path(normpath(one)) for one in folders]
    for folder in dict.fromkeys([*named, *(one.resolve() for one in named)]):
        for above in (folder, *folder.parents):
            between = folder.relative_to(above).parts
            for one in formats_of(above):
                if one.holds(list(between)):
                    raise InputError(_refusal(name, str(above), one, reads_lakes=reads_lakes))


def refuse_tables_at_addresses(
    name: str, files: Sequence[str], listed: Callable[[str], bool]
) -> None:
    """The same for files of a store; to ask for all of many folders would take too long.

    Parameters
    ----------
    name : str
        The pattern, for the message.
    files : sequence of str
        Addresses, sorted: the folders of the first and of the last are looked at.
    listed : callable
        Whether a pattern of addresses fits anything.

    Raises
    ------
    InputError
        As `refuse_tables_on_disk`.
    """
    seen: set[str] = set()
    for file in (*files[:1], *files[-1:]):
        for above in _above(file):
            between = file[len(above) :].split("/")[:-1]
            for one in _FORMATS:
                if above in seen or not one.holds(between):
                    continue
                if listed(f"{above}{one.folder}/{one.files}"):
                    raise InputError(_refusal(name, above.rstrip("/"), one, reads_lakes=True))
            seen.add(above)


def log_folders(address: str) -> list[str]:
    """Folders of a store that would tell of tables which a file or pattern is part of."""
    return [f"{above}{one.folder}/" for above in _above(address) for one in _FORMATS]


def _above(address: str) -> list[str]:
    """The folders that an address is in, from the innermost to the bucket, each with its slash.

    Examples
    --------
    >>> _above("s3://bucket/p/day=1/x.parquet")
    ['s3://bucket/p/day=1/', 's3://bucket/p/', 's3://bucket/']
    """
    scheme, _, rest = address.partition("://")
    parts = rest.split("/")[:-1]
    return [f"{scheme}://{'/'.join(parts[:count])}/" for count in range(len(parts), 0, -1)]


def _refusal(name: str, folder: str, found: _Format, *, reads_lakes: bool) -> str:
    remedy = (
        "write the rows that the table has now to Parquet files in a folder outside it and name "
        "these, or in Python hand over a data frame of its rows"
    )
    if reads_lakes and found.line:
        line = found.line.format(folder=_known_to_lakes(folder))
        remedy = f"write {line} instead (pip install 'pumonitor[{found.extra}]')"
    return (
        f"{name} names files of {found.name}, {folder} (its {found.folder} lists which of them are "
        "current): rows that were deleted or replaced are in them as well and would be counted; "
        f"{remedy}"
    )


def _known_to_lakes(folder: str) -> str:
    """The folder, in a store by the scheme that the library of Delta tables knows.

    Examples
    --------
    >>> _known_to_lakes("/data/p"), _known_to_lakes("gcs://bucket/p")
    ('/data/p', 'gs://bucket/p')
    """
    scheme, mark, rest = folder.partition("://")
    return {"gcs": "gs", "r2": "s3"}.get(scheme, scheme) + mark + rest
