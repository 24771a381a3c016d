"""Files in object stores and on web servers, read through DuckDB's httpfs."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.locations import FileKind
from pumonitor.sources.session import text

if TYPE_CHECKING:
    import duckdb

__all__ = ["RemoteFiles", "is_remote", "remote_files"]

_SCHEMES: Final = ("s3", "gs", "gcs", "r2", "http", "https")
_SUFFIXES: Final[dict[str, FileKind]] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
# The names the stores' own tools read; a secret stands nowhere else.
_CREDENTIALS: Final = {
    "s3": {
        "KEY_ID": "AWS_ACCESS_KEY_ID",
        "SECRET": "AWS_SECRET_ACCESS_KEY",
        "SESSION_TOKEN": "AWS_SESSION_TOKEN",
        "REGION": "AWS_REGION",
        "ENDPOINT": "AWS_ENDPOINT",
    },
    "gcs": {"KEY_ID": "GCS_ACCESS_KEY_ID", "SECRET": "GCS_SECRET_ACCESS_KEY"},
}


def is_remote(path: str) -> bool:
    """Whether this is an address."""
    return "://" in path


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
    def directory(self) -> str:
        """What contains all the files."""
        (address,) = self.files
        if glob.has_magic(address):
            address = address[: min(map(address.find, (m for m in "*?[" if m in address)))]
        return address[: address.rfind("/") + 1]

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Load what reads such addresses and hand it the credentials of the environment.

        Raises
        ------
        SourceError
            If the extension is not installed.
        """
        import duckdb

        try:
            connection.execute("LOAD httpfs")
        except duckdb.Error:
            msg = (
                f"{self.name} is an address, which DuckDB reads through its extension httpfs: "
                "install it once with python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\", "
                "or copy the files to this machine"
            )
            raise SourceError(msg) from None
        scheme = self.files[0].partition("://")[0]
        kind = "gcs" if scheme in {"gs", "gcs"} else "s3"
        if scheme in {"http", "https"}:
            return
        given = {
            option: os.environ[variable]
            for option, variable in _CREDENTIALS[kind].items()
            if os.environ.get(variable)
        }
        if "KEY_ID" in given:
            options = ", ".join(f"{option} {text(value)}" for option, value in given.items())
            connection.execute(f"CREATE OR REPLACE SECRET {kind} (TYPE {kind}, {options})")


def remote_files(address: str) -> RemoteFiles:
    """Read an address.

    Raises
    ------
    InputError
        If it is of a scheme or a kind of file that is not read.
    """
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    name = f"{scheme}://{host.rpartition('@')[2]}{slash}{_without_signature(path)}"
    if scheme not in _SCHEMES:
        msg = (
            f"{name} is an address of the scheme {scheme}, and files are read from "
            f"{', '.join(_SCHEMES)}; a database is named by url: and table: or query:"
        )
        raise InputError(msg)
    path = _without_signature(path).removesuffix(".gz").removesuffix(".zst")
    kind = _SUFFIXES.get(path[path.rfind(".") :].lower() if "." in path else "")
    if kind is None:
        msg = f"{name} must end in one of {', '.join(_SUFFIXES)}, which tells what the files are"
        raise InputError(msg)
    return RemoteFiles(name=name, files=(address,), kind=kind)


def _without_signature(path: str) -> str:
    """A path without what follows a question mark: signatures are there, name=value.

    In a pattern a question mark stands for a character.
    """
    return re.sub(r"\?[^/?=]*=.*", "", path)
