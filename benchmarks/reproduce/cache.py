"""Results of rows on disk, so that a run can be stopped and taken up again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from benchmarks.reproduce.rows import Row, RowResult

__all__ = ["read", "source_key", "write"]

_HERE = Path(__file__).parent
_MODELS = "benchmarks.reproduce.models"


def source_key(row: Row, repetitions: int) -> str:
    """A hash of what the row's numbers come from.

    That is its settings, the files named after its paper (those of its pictures left out) and the
    shared classifiers if one of these files uses them. The library itself is not part of it:
    `--fresh` computes anew after a change there.
    """
    digest = hashlib.sha256(f"{row.id} {repetitions} {row.data}".encode())
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(_HERE.glob(f"{row.paper}*.py"))
        if not path.stem.endswith("_charts")
    ]
    if any(_MODELS in text for text in texts):
        texts.append((_HERE / "models.py").read_text(encoding="utf-8"))
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def read(folder: Path, row: Row, repetitions: int) -> RowResult | None:
    """The stored result, or None when there is none or its sources have changed."""
    path = _path(folder, row, repetitions)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    if stored.get("key") != source_key(row, repetitions):
        return None
    return RowResult.from_dict(stored["result"])


def write(folder: Path, row: Row, repetitions: int, result: RowResult, *, key: str) -> Path:
    """Store a result under the `source_key` it was computed with; it appears whole or not at all.

    Raises
    ------
    ValueError
        If the result holds a number that JSON has no word for (NaN, infinity).
    """
    path = _path(folder, row, repetitions)
    content = {"key": key, "row": row.id, "result": result.to_dict()}
    text = json.dumps(content, indent=1, allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path


def _path(folder: Path, row: Row, repetitions: int) -> Path:
    return folder / "rows" / f"{row.id}-{repetitions}.json"
