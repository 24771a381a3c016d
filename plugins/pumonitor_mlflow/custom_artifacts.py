"""The caller's own artifacts, computed from the rows and written beside ours."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pumonitor_mlflow.artifacts import ARTIFACT_OF_SUFFIX
from pumonitor_mlflow.extra_metrics import frame_of_rows
from pumonitor_mlflow.rows import Rows

# MLflow lets through names that leave the run's folder on some stores.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def write_custom_artifacts(
    functions: Sequence[Callable[..., Any]],
    rows: Rows,
    values: Mapping[str, float],
    directory: Path,
) -> None:
    """Write what the caller's functions make of the rows.

    Each is called with ``(eval_df, builtin_metrics, artifacts_dir)`` and returns a dict of names
    to paths, JSON text, data frames, arrays, matplotlib figures, or values that JSON can hold.
    MLflow would pickle anything else; here it is refused.

    Raises
    ------
    TypeError, ValueError
        If a function returns something else, a name is taken or has characters beyond letters,
        digits, ``_``, ``.`` and ``-``, or a file has an unknown suffix.
    """
    for index, function in enumerate(functions):
        called = getattr(function, "__name__", repr(function))
        subject = f"custom artifact function {called!r} (custom_artifacts[{index}])"
        with tempfile.TemporaryDirectory() as scratch:
            made = function(frame_of_rows(rows), dict(values), scratch)
            if not isinstance(made, Mapping):
                msg = (
                    f"{subject} must return a dict of names to artifacts, got {type(made).__name__}"
                )
                raise TypeError(msg)
            for name, artifact in made.items():
                _write(name, artifact, directory, subject=subject)


def _write(name: Any, artifact: Any, directory: Path, *, subject: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ".." in name:
        msg = (
            f"{subject} names an artifact {name!r}: use letters, digits, '_', '.' and '-', at most "
            "100 of them"
        )
        raise ValueError(msg)
    source = _existing_file(artifact)
    suffix = source.suffix if source is not None else _suffix_of(artifact)
    if suffix not in ARTIFACT_OF_SUFFIX:
        kind = type(artifact).__name__ if source is None else f"file with suffix {suffix!r}"
        msg = (
            f"{subject} gives {name!r} as a {kind}: give a path to a file with one of the suffixes "
            f"{', '.join(sorted(ARTIFACT_OF_SUFFIX))}, JSON, a data frame, an array or a figure"
        )
        raise TypeError(msg)
    path = directory / (name + suffix)
    taken = [other.name for other in directory.iterdir() if other.stem == name]
    if taken:
        msg = f"{subject} gives {name!r}, but there is an artifact {taken[0]} already: rename it"
        raise ValueError(msg)
    if source is not None:
        shutil.copyfile(source, path)
    else:
        _save(artifact, path)


def _existing_file(artifact: Any) -> Path | None:
    if isinstance(artifact, Path):
        return artifact
    if isinstance(artifact, str) and len(artifact) < 4096 and "\n" not in artifact:
        path = Path(artifact)
        return path if path.is_file() else None
    return None


def _suffix_of(artifact: Any) -> str | None:
    if hasattr(artifact, "savefig"):
        return ".png"
    if hasattr(artifact, "to_csv"):
        return ".csv"
    if isinstance(artifact, np.ndarray):
        return ".npy"
    try:
        json.loads(artifact) if isinstance(artifact, str) else json.dumps(artifact)
    except (TypeError, ValueError):
        return None
    return ".json"


def _save(artifact: Any, path: Path) -> None:
    match path.suffix:
        case ".png":
            artifact.savefig(path)
        case ".csv":
            artifact.to_csv(path, index=False)
        case ".npy":
            np.save(path, artifact, allow_pickle=False)
        case _:
            text = artifact if isinstance(artifact, str) else json.dumps(artifact)
            path.write_text(text, encoding="utf-8")
