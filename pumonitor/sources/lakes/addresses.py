"""Addresses of tables in lakes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pumonitor.errors import InputError

LakeFormat = Literal["delta", "iceberg"]

_MARKS: Final[dict[LakeFormat, str]] = {"delta": "delta://", "iceberg": "iceberg://"}
_STORES: Final = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss")
_HAVE_CONTAINERS: Final = ("abfs", "abfss")
"""Schemes in which a container, not a user, stands before an @."""

_ICEBERG: Final = re.compile(r"[^/\s.]+/[^/.\s]+(\.[^/.\s]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeAddress:
    """Where a table is.

    Attributes
    ----------
    format : {"delta", "iceberg"}
    name : str
        The whole address, for messages.
    place : str
        Of Delta the path or address of its folder; of Iceberg the table's name in its catalog.
    catalog : str
        Of Iceberg; else "".
    """

    format: LakeFormat
    name: str
    place: str
    catalog: str = ""


def is_lake_address(path: str) -> bool:
    """Whether this names a table of a lake."""
    return path.lower().startswith(tuple(_MARKS.values()))


def lake_address(address: str) -> LakeAddress:
    """Read the address of a table.

    Raises
    ------
    InputError
        If it is not complete, names a store that is not read, or holds a password.

    Examples
    --------
    >>> lake_address("iceberg://lake/fraud.predictions").place
    'fraud.predictions'
    >>> lake_address("delta://s3://bucket/fraud/predictions").place
    's3://bucket/fraud/predictions'
    """
    name = shown_lake_address(address)
    scheme, _, place = address.partition("://")
    if scheme.lower() == "iceberg":
        _refuse_credentials(name, address)
        if not _ICEBERG.fullmatch(place):
            msg = (
                f"{name} must be iceberg://CATALOG/NAMESPACE.TABLE: a catalog of pyiceberg's "
                "configuration, and the table's name in it"
            )
            raise InputError(msg)
        catalog, _, table = place.partition("/")
        return LakeAddress(format="iceberg", name=name, place=table, catalog=catalog)
    if not place:
        msg = "delta:// must be followed by the path or address of the table's folder"
        raise InputError(msg)
    if "://" in place:
        _check_store(name, address, place)
    return LakeAddress(format="delta", name=name, place=place)


def _check_store(name: str, address: str, place: str) -> None:
    scheme = place.partition("://")[0]
    if scheme not in _STORES:
        msg = (
            f"{name} is in a store of the scheme {scheme}, and Delta tables are read from folders "
            f"and {', '.join(_STORES)}"
        )
        raise InputError(msg)
    _refuse_credentials(name, address)


def _refuse_credentials(name: str, address: str) -> None:
    if name.partition("://")[2] != address.partition("://")[2]:
        msg = (
            f"{name} is written with a user, a password or what follows a question mark: leave it "
            "out, credentials are read from the environment"
        )
        raise InputError(msg)


def shown_lake_address(address: str) -> str:
    """The address without user, password and what follows a question mark.

    Examples
    --------
    >>> shown_lake_address("delta://s3://me:hunter2@bucket/p?sig=a")
    'delta://s3://bucket/p'
    >>> shown_lake_address("delta://abfss://lake@account.dfs.core.windows.net/p")
    'delta://abfss://lake@account.dfs.core.windows.net/p'
    """
    outer, mark, place = address.partition("://")
    scheme, inner, rest = place.partition("://")
    if not inner:
        # A path may hold any character, and the name of a table neither ? nor @.
        if outer.lower() == "iceberg":
            place = place.partition("?")[0].rpartition("@")[2]
        return f"{outer.lower()}{mark}{place}"
    rest = rest.partition("?")[0]
    user, _, server = rest.rpartition("@")
    # A password may hold a slash, and a path an @.
    if ":" in user or ("/" not in user and scheme not in _HAVE_CONTAINERS):
        rest = server
    return f"{outer.lower()}{mark}{scheme}{inner}{rest}"


def absolute_lake_address(address: str, folder: Path) -> str:
    """The address, where a path in it is relative to a folder.

    Examples
    --------
    >>> absolute_lake_address("delta://lake/p", Path("/etc/fraud"))
    'delta:///etc/fraud/lake/p'
    """
    outer, mark, place = address.partition("://")
    if outer.lower() != "delta" or "://" in place or not place:
        return address
    return f"{outer}{mark}{folder.absolute() / place}"
