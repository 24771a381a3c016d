"""The page of the Python interface, from the docstrings of what is public."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pumonitor
from pumonitor import decisions, metrics, prior

__all__ = ["page"]

_HEAD = """---
search: {boost: 0.5}
---

# Python

What can be imported, from the docstrings. Every example there runs as a test.

"""


def page() -> str:
    """Markdown in which mkdocstrings puts the docstrings."""
    front = [name for name in pumonitor.__all__ if not inspect.ismodule(getattr(pumonitor, name))]
    functions = [name for name in front if inspect.isfunction(getattr(pumonitor, name))]
    functions.sort(key=lambda name: (not name.startswith("evaluate"), name))
    of_prior = [name for name in prior.__all__ if callable(getattr(prior, name))]
    parts = [
        _HEAD,
        _of("pumonitor", functions),
        _of("pumonitor", [name for name in front if name not in functions]),
        _of("pumonitor.metrics", metrics.__all__),
        _of("pumonitor.prior", [name for name in of_prior if name not in front]),
        _of("pumonitor.decisions", _without(decisions.__all__, front)),
        _of("pumonitor.metrics.conversions", _all("pumonitor.metrics.conversions")),
        _of("pumonitor.sources.opening", ["open_source"]),
        _of("pumonitor.sklearn", _callable("pumonitor.sklearn")),
    ]
    return "\n".join(parts)


def _without(names: list[str], others: list[str]) -> list[str]:
    """Functions and classes that are not among others."""
    described = (name for name in names if callable(getattr(decisions, name)))
    return [name for name in described if name not in others and name != "Where"]


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _all(module: str) -> list[str]:
    return list(_module(module).__all__)


def _callable(module: str) -> list[str]:
    return [
        name for name in _all(module) if hasattr(getattr(_module(module), name), "__qualname__")
    ]


def _of(module: str, names: list[str]) -> str:
    """By where they are defined: a module and a function in it may have one name."""
    return "".join(_directive(f"{module}.{name}", getattr(_module(module), name)) for name in names)


def _directive(name: str, described: Any) -> str:
    home = f"{described.__module__}.{described.__qualname__}"
    if described.__module__ == "typing":
        home = name
    # Of a table the columns have a class of their own, which nobody imports.
    inherited = "      inherited_members: true\n" if described is pumonitor.ScoreTable else ""
    return (
        f"::: {home}\n    options:\n      heading: {name}\n      toc_label: {name}\n{inherited}\n"
    )
