"""The fewest rows about which two engines still disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pumonitor.conformance.cases.case import Case

_Row = TypeVar("_Row")


def smallest(case: Case, differs: Callable[[Case], bool], *, tries: int) -> Case:
    """Leave out windows and rows for as long as the difference stays.

    Parameters
    ----------
    case : Case
        On which they differ.
    differs : callable
        Asks both engines.
    tries : int
        How often at most they are asked.
    """
    left = [tries]

    def still(shorter: Case) -> bool:
        left[0] -= 1
        return left[0] >= 0 and differs(shorter)

    for request in case.requests:
        alone = replace(case, requests=(request,))
        if len(case.requests) > 1 and still(alone):
            case = alone
            break
    made = _fewest(
        case.predictions.rows,
        lambda rows: still(replace(case, predictions=case.predictions.with_rows(rows))),
    )
    case = replace(case, predictions=case.predictions.with_rows(made))
    known = _fewest(
        case.positives.rows,
        lambda rows: still(replace(case, positives=case.positives.with_rows(rows))),
    )
    case = replace(case, positives=case.positives.with_rows(known))
    if (reviews := case.reviews) is None:
        return case
    decided = _fewest(
        reviews.rows, lambda rows: still(replace(case, reviews=reviews.with_rows(rows)))
    )
    return replace(case, reviews=reviews.with_rows(decided))


def _fewest(rows: Sequence[_Row], differs: Callable[[Sequence[_Row]], bool]) -> Sequence[_Row]:
    """Leave out ever shorter stretches of rows, until no single one can be left out."""
    length = (len(rows) + 1) // 2
    while length >= 1:
        place = 0
        while place < len(rows):
            shorter = [*rows[:place], *rows[place + length :]]
            if differs(shorter):
                rows = shorter
            else:
                place += length
        length = 0 if length == 1 else (length + 1) // 2
    return rows
