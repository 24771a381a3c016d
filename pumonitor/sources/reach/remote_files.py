"""Addresses of files in object stores and on web servers."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, field
from typing import Final

from pumonitor.errors import InputError
from pumonitor.sources.reach.locations import FileKind
from pumonitor.sources.reach.remote_stores import WEB

_SCHEMES: Final = ("s3", "gs", "gcs", "r2", *WEB)
_SUFFIXES: Final[dict[str, FileKind]] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


def is_remote(path: str) -> bool:
    """Whether this is an address."""
    return "://" in path


def shown_address(address: str) -> str:
    """The address without user, password and what follows a question mark.

    Where a question mark stands for a character of a pattern, it stays.

    Examples
    --------
    >>> shown_address("https://me:hunter2@host/p.parquet?X-Amz-Signature=a/b")
    'https://host/p.parquet'
    >>> shown_address("s3://bucket/p-?.parquet?versionId=1")
    's3://bucket/p-?.parquet'
    """
    scheme, _, rest = address.partition("://")
    if scheme.lower() in WEB:
        rest = rest.partition("?")[0].partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{re.sub(r'[?][^/?=]*=.*', '', path)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFiles:
    """Files behind one address or pattern.

    Attributes
    ----------
    name : str
        The address without user, password and what follows a question mark.
    files : tuple of str
        The address.
    kind : {"csv", "parquet", "json"}
        By its suffix.
    """

    name: str
    files: tuple[str, ...] = field(repr=False)
    kind: FileKind

    @property
    def is_pattern(self) -> bool:
        """Whether it may mean several files."""
        return self.is_in_store and glob.has_magic(self.name)

    @property
    def is_in_store(self) -> bool:
        """Whether what is beside it can be listed: web servers have no way to do so."""
        return not self.name.startswith(WEB)

    @property
    def directory(self) -> str:
        """What contains the file, or all the files of a pattern."""
        marks = [self.name.find(mark) for mark in "*?[" if mark in self.name]
        return self.name[: self.name.rfind("/", 0, min(marks, default=len(self.name))) + 1]


def remote_files(address: str) -> RemoteFiles:
    """Read an address.

    Raises
    ------
    InputError
        If it is of a scheme or a kind of file that is not read, or a pattern where none can be.
    """
    given, _, rest = address.partition("://")
    scheme = given.lower()
    name = shown_address(f"{scheme}://{rest}")
    if scheme not in _SCHEMES:
        msg = (
            f"{name} is an address of the scheme {scheme}, and files are read from "
            f"{', '.join(_SCHEMES)}; a database is named by url: and table: or query:"
        )
        raise InputError(msg)
    _check_marks(name, f"{scheme}://{rest}")
    last = name[name.rfind("/") + 1 :].removesuffix(".gz").removesuffix(".zst")
    kind = _SUFFIXES.get(last[last.rfind(".") :].lower() if "." in last else "")
    if kind is None:
        inside = "" if scheme in WEB else f"; for all files in it, {name.rstrip('/')}/*.parquet"
        msg = (
            f"{name} must end in one of {', '.join(_SUFFIXES)}, which shows the format of the "
            f"files{inside}"
        )
        raise InputError(msg)
    return RemoteFiles(name=name, files=(f"{scheme}://{rest}",), kind=kind)


def _check_marks(name: str, address: str) -> None:
    if name.startswith(WEB):
        if "*" in name:
            msg = (
                f"{name} is a pattern, and web servers do not list their files: name one file, or "
                "read the pattern from a store (s3://, gs://, r2://) or a mounted folder"
            )
            raise InputError(msg)
    elif "?" in address:
        msg = (
            f"{name} has a question mark, which a store's address cannot: write * or [0-9] for "
            "characters; keys, region and endpoint are read from the environment"
        )
        raise InputError(msg)
    elif name != address:
        msg = (
            f"{name} is written with a user before its bucket: leave it out, keys are read "
            "from the environment"
        )
        raise InputError(msg)
