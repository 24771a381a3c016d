"""URLs of databases that are files: nothing but a path stands in them."""

from __future__ import annotations

from pumonitor.errors import InputError


def refuse_host(url: str, *, example: str) -> None:
    """Refuse a URL that names a host, a user or a token, and repeat none of it.

    Parameters
    ----------
    url : str
    example : str
        How it is written.

    Raises
    ------
    InputError
        If it does.

    Examples
    --------
    >>> refuse_host("duckdb:///scores.duckdb", example="duckdb:///FILE")
    >>> refuse_host("duckdb://me:hunter2@host/scores", example="duckdb:///FILE")
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: the url of a file must be duckdb:///FILE, with three slashes: it \
has no host, no user and no password
    """
    host = url.partition("://")[2].partition("/")[0]
    if any(mark in host for mark in "@:;"):
        msg = (
            f"the url of a file must be {example}, with three slashes: it has no host, no user and "
            "no password"
        )
        raise InputError(msg)
