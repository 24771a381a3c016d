"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package that imports nothing itself.

    Parameters
    ----------
    package : str
        Its name, for the error.
    homes : mapping of str to str
        The module of each public name; of a module, its own name.

    Examples
    --------
    >>> on_demand("pumonitor", {"as_scores": "pumonitor._validate"})("as_scores").__name__
    'as_scores'
    """

    def find(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = import_module(homes[name])
        return home if homes[name] == f"{package}.{name}" else getattr(home, name)

    return find
