"""Repetitions kept on disk one by one, so that a row of hours can be stopped inside."""

from __future__ import annotations

import hashlib
import inspect
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["FOLDER", "forget", "remembered", "remembered_arrays"]

FOLDER: Final = Path("reproduction") / "parts"


def remembered(
    function: Callable[..., dict[str, float]], *arguments: Any, depends_on: tuple[Any, ...] = ()
) -> dict[str, float]:
    """The numbers `function(*arguments)` returns, from disk if they were computed before.

    They are computed anew when the source of the function, or of the modules or functions in
    `depends_on`, or the content of the files there, has changed.
    """
    path = _path(function, arguments, depends_on, ending="json")
    try:
        found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        found = function(*arguments)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")
        part.replace(path)
    return found


def remembered_arrays(
    function: Callable[..., dict[str, NDArray[Any]]],
    *arguments: Any,
    depends_on: tuple[Any, ...] = (),
) -> dict[str, NDArray[Any]]:
    """The same for arrays: what takes long, so that what is made of it can change."""
    path = _path(function, arguments, depends_on, ending="npz")
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except (FileNotFoundError, zipfile.BadZipFile):
        found = function(*arguments)
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.savez(file, **found)  # type: ignore[arg-type]
        part.replace(path)
        return found


def _path(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    depends_on: tuple[Any, ...],
    *,
    ending: str,
) -> Path:
    text = "\n".join(_source(one) for one in (function, *depends_on))
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    name = "-".join(str(argument) for argument in arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"{function.__module__.rsplit('.', 1)[-1]}-{name}-{key}.{ending}"


@cache
def _source(one: Any) -> str:
    """Read once: what runs is what was there at the start, whatever is edited meanwhile."""
    if isinstance(one, Path):
        return hashlib.sha256(one.read_bytes()).hexdigest()
    return inspect.getsource(one)


def forget(papers: set[str]) -> None:
    """Remove what is remembered of these papers."""
    for paper in papers:
        for path in FOLDER.glob(f"{paper}-*"):
            path.unlink()
