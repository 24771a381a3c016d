"""Addresses on the command line: whose variables are read here, and what no message repeats."""

from __future__ import annotations

from typing import Final, TypeVar

import typer

Given = TypeVar("Given", str | None, list[str] | None)

_READ: Final[set[str]] = set()
"""Addresses that this command was given: what drivers say of them is masked."""


def read_variables(given: Given) -> Given:
    """The addresses that an argument or option gives, each ${NAME} replaced by its variable.

    It is the callback of every argument that may be an address, so that no command reads its own.

    Raises
    ------
    typer.BadParameter
        If a variable is not set.

    Examples
    --------
    >>> read_variables("scores.parquet")
    'scores.parquet'
    """
    if given is None:
        return given
    if isinstance(given, list):
        return [_with_values(address) for address in given]
    return _with_values(given)


def _with_values(address: str) -> str:
    if "://" not in address:
        return address
    import os

    from pumonitor.monitor.config.values.variables import replace_variables

    replaced = replace_variables(address, os.environ)
    if replaced.missing:
        raise typer.BadParameter("; ".join(replaced.missing.values()))
    _READ.add(replaced.text)
    return replaced.text


def forget_addresses() -> None:
    """Begin a command: what another one in this process was given masks nothing in its messages."""
    _READ.clear()


def masked(text: str) -> str:
    """A message without the password or token of any address.

    Examples
    --------
    >>> masked("postgresql://mon:hunter2@db is an address")
    'postgresql://mon:****@db is an address'
    """
    from pumonitor.masks import Mask, hidden_parts, without_password

    parts = (part for address in _READ for part in hidden_parts(address) if part != address)
    return Mask(parts)(without_password(text))
