"""What is wrong in a configuration file: a place, a line and a sentence each, told together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pumonitor.errors import InputError

__all__ = ["Place", "Problem", "WithinError", "problems_error", "shown_place"]

Place = tuple[str | int, ...]
"""Keys and positions that lead to a value from the top of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong at one place.

    Attributes
    ----------
    place : tuple of str and int
    message : str
        What is wrong and what to do, without the place.
    line : int or None
        In the file, from 1.
    within : tuple of str and int
        Keys and positions that lead on from the place to the line that is meant.
    """

    place: Place
    message: str
    line: int | None = None
    within: Place = ()


class WithinError(ValueError):
    """What is wrong with one item of a value that is judged as a whole.

    Parameters
    ----------
    message : str
        With what leads to the item, as people write it.
    within : str or int
        Keys and positions that lead to it.
    """

    def __init__(self, message: str, *within: str | int) -> None:
        super().__init__(message)
        self.within: Place = within


def shown_place(place: Place) -> str:
    """The place as people write it.

    Examples
    --------
    >>> shown_place(("monitors", "card-fraud", "rules", 0, "below"))
    'monitors.card-fraud.rules[0].below'
    """
    shown = ""
    for part in place:
        shown += f"[{part}]" if isinstance(part, int) else f"{'.' if shown else ''}{part}"
    return shown


def problems_error(
    name: str, problems: Sequence[Problem], lines: Mapping[Place, int] | None = None
) -> InputError:
    """One error with a line for every problem, in the order of the file.

    Of several problems in one line about one place only the first is told: the others follow.

    Parameters
    ----------
    name : str
        Of the file.
    problems : sequence of Problem
        The most telling first.
    lines : mapping, optional
        Line of every place, for problems that have none; a place that is not in the file has the
        line of what it is missing from.
    """
    told: dict[tuple[Place, int | None], Problem] = {}
    for problem in problems:
        exactly = (*problem.place, *problem.within)
        told.setdefault((problem.place, problem.line or _line(exactly, lines or {})), problem)
    found = [(line, problem) for (_, line), problem in told.items()]
    found.sort(key=lambda pair: (pair[0] is None, pair[0] or 0))
    sentences = [_sentence(problem, line) for line, problem in found]
    if len(sentences) == 1:
        return InputError(f"{name}: {sentences[0]}")
    listed = "\n".join(f"  {sentence}" for sentence in sentences)
    return InputError(f"{name} has {len(sentences)} problems:\n{listed}")


def _line(place: Place, lines: Mapping[Place, int]) -> int | None:
    for length in range(len(place), -1, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _sentence(problem: Problem, line: int | None) -> str:
    where = [shown_place(problem.place)] if problem.place else []
    if line is not None:
        where.append(f"line {line}")
    return f"{', '.join(where)}: {problem.message}" if where else problem.message
