"""Repetitions kept on disk one by one, so that a row of hours can be stopped inside."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["FOLDER", "forget", "remembered"]

FOLDER: Final = Path("reproduction") / "parts"


def remembered(
    function: Callable[..., dict[str, float]], *arguments: Any, depends_on: tuple[Any, ...] = ()
) -> dict[str, float]:
    """The numbers `function(*arguments)` returns, from disk if they were computed before.

    They are computed anew when the source of the function, or of the modules or functions in
    `depends_on`, has changed.
    """
    text = "\n".join(_source(one) for one in (function, *depends_on))
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    name = "-".join(str(argument) for argument in arguments)
    path = FOLDER / f"{function.__module__.rsplit('.', 1)[-1]}-{name}-{key}.json"
    try:
        found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        found = function(*arguments)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")
        part.replace(path)
    return found


@cache
def _source(one: Any) -> str:
    """Read once: what runs is what was there at the start, whatever is edited meanwhile."""
    return inspect.getsource(one)


def forget(papers: set[str]) -> None:
    """Remove what is remembered of these papers."""
    for paper in papers:
        for path in FOLDER.glob(f"{paper}-*.json"):
            path.unlink()
