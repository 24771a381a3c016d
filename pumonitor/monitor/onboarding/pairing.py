"""Find predictions and confirmations among the files of a folder by their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pumonitor.errors import InputError
from pumonitor.sources.reach.table_formats import refuse_tables_on_disk

_ENDINGS: Final = (".parquet", ".pq", ".csv", ".tsv", ".csv.gz", ".jsonl", ".ndjson")
_PREDICTIONS: Final = re.compile(r"predict|scor|infer", re.IGNORECASE)
_REVIEWS: Final = re.compile(r"review|verdict|queue|decision|investigat", re.IGNORECASE)
_POSITIVES: Final = re.compile(
    r"confirm|positive|label|chargeback|feedback|report|outcome|fraud|case", re.IGNORECASE
)


def pair_of_tables(
    files: Sequence[str],
    *,
    predictions: str | None = None,
    positives: str | None = None,
    reviews: str | None = None,
) -> tuple[str, str, str | None]:
    """Paths or patterns of the predictions, of the confirmations, and of reviews if there are any.

    Parameters
    ----------
    files : sequence of str
        One folder, or files and patterns in any order. A third one is of reviews if its name alone
        says so.
    predictions, positives, reviews : str, optional
        Given by the user.

    Raises
    ------
    InputError
        If it is unclear which two files are the tables.
    """
    if predictions is not None and positives is not None:
        return predictions, positives, reviews
    candidates = _candidates(files or ["."])
    rest = [name for name in candidates if name not in {predictions, positives, reviews}]
    if reviews is None and len(candidates) > 2:
        named = [name for name in rest if _REVIEWS.search(Path(name).name)]
        if len(named) == 1:
            (reviews,) = named
            rest.remove(reviews)
    if predictions is None and positives is None:
        return *_both(rest), reviews
    if len(rest) > 1:
        pattern = _POSITIVES if positives is None else _PREDICTIONS
        rest = [name for name in rest if pattern.search(name)] or rest
    if len(rest) != 1:
        missing = "--positives" if positives is None else "--predictions"
        raise InputError(_unclear(candidates, f"give the other with {missing}"))
    if predictions is not None:
        return predictions, rest[0], reviews
    return rest[0], positives or "", reviews


def _both(candidates: list[str]) -> tuple[str, str]:
    scored = [name for name in candidates if _PREDICTIONS.search(name)]
    confirmed = [name for name in candidates if _POSITIVES.search(name) and name not in scored]
    if len(scored) == 1 and len(confirmed) == 1:
        return scored[0], confirmed[0]
    if len(candidates) == 2:
        first, second = candidates
        return (second, first) if second in scored or first in confirmed else (first, second)
    raise InputError(_unclear(candidates, "give them with --predictions and --positives"))


def _unclear(candidates: Sequence[str], remedy: str) -> str:
    found = ", ".join(candidates[:12]) if candidates else "no CSV, Parquet or JSON Lines file"
    return (
        "a file of predictions and a file of confirmed positives are needed, and there are "
        f"{found}: {remedy}"
    )


def _candidates(files: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in files:
        if not Path(name).is_dir():
            found.append(name)
            continue
        refuse_tables_on_disk(name, [Path(name).absolute()], reads_lakes=True)
        found += _tables_in(Path(name))
    return found


def _tables_in(folder: Path) -> list[str]:
    """Tables in a folder and its subfolders; files whose names differ by digits only are one table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("scores-01.csv", "scores-02.csv", "confirmed.csv"):
    ...         _ = (Path(folder) / name).write_text("")
    ...     [Path(path).name for path in _tables_in(Path(folder))]
    ['confirmed.csv', 'scores-*.csv']
    """
    tables: defaultdict[str, list[Path]] = defaultdict(list)
    for file in sorted((*folder.glob("*"), *folder.glob("*/*"), *folder.glob("*/*/*"))):
        ending = next((end for end in _ENDINGS if file.name.lower().endswith(end)), None)
        if ending is None or not file.is_file() or file.name.startswith((".", "_")):
            continue
        stem = file.name[: -len(ending)]
        pattern = file.parent / f"{re.sub(r'[0-9][0-9_.-]*', '*', stem)}{ending}"
        tables[str(pattern)].append(file)
    return [str(files[0]) if len(files) == 1 else pattern for pattern, files in tables.items()]
