"""Names of metrics, and synonyms from other programs and papers."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from pumonitor.errors import nearest
from pumonitor.names import ALSO_CALLED, COUNTS, TITLES

__all__ = ["METRICS", "meant_by", "refuse_unknown"]

METRICS: Final = (*TITLES, *COUNTS)

_MOST_NAMED: Final = 12
_ENDINGS: Final = re.compile(r"_(score|rate|value|metric)$")


def meant_by(name: str, known: Collection[str] = METRICS) -> str | None:
    """The metric that a synonym or misspelling stands for; None if unknown.

    Examples
    --------
    >>> meant_by("f1_score"), meant_by("ROC-AUC"), meant_by("prior"), meant_by("preciion")
    ('f1', 'auc', 'class_prior', 'precision')
    """
    folded = re.sub(r"[^a-z0-9]+", "_", name.strip().casefold()).strip("_")
    for one in (folded, _ENDINGS.sub("", folded)):
        meant = one if one in known else ALSO_CALLED.get(one)
        if meant in known:
            return meant
    near = nearest(name, known)
    return near[0] if near else None


def refuse_unknown(
    name: str,
    known: Collection[str] = METRICS,
    *,
    listed_by: str = "pumonitor schema",
) -> None:
    """Raise an error for an unknown metric, with a suggestion or the most important names.

    Parameters
    ----------
    name : str
    known : collection of str
    listed_by : str
        Command that prints all names.

    Raises
    ------
    ValueError
        Its message continues a sentence that begins with the place of the name.
    """
    if name in known:
        return
    meant = meant_by(name, known)
    hint = f"; did you mean {meant!r}?" if meant else f" (there are {_some(known, listed_by)})"
    msg = f"is no metric: {name!r}{hint}"
    raise ValueError(msg)


def _some(known: Collection[str], listed_by: str) -> str:
    """The first names in one line, and how many more there are."""
    first = [one for one in METRICS if one in known]
    ordered = [*first, *(one for one in known if one not in first)]
    more = len(ordered) - _MOST_NAMED
    shown = ", ".join(ordered[:_MOST_NAMED])
    return f"{shown} and {more} more: {listed_by} prints them" if more > 0 else shown
