"""Problems of a configuration file, each with place, line and sentence, in one error message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pumonitor.errors import InputError

Place = tuple[str | int, ...]
"""Path of a value in the file: keys and positions from the top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem at one place.

    Attributes
    ----------
    place : tuple of str and int
    message : str
        What is wrong and what to do, without the place.
    line : int or None
        Line in the file, from 1.
    within : tuple of str and int
        Path from the place to the item whose line is shown.
    """

    place: Place
    message: str
    line: int | None = None
    within: Place = ()


class WithinError(ValueError):
    """Error of one item in a value that is validated as a whole.

    Parameters
    ----------
    message : str
        Includes the readable path to the item.
    within : str or int
        Path to the item: keys and positions.
    """

    def __init__(self, message: str, *within: str | int) -> None:
        super().__init__(message)
        self.within: Place = within


def shown_place(place: Place) -> str:
    """Format a place, such as ``rules[0].below``.

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
    """Make one error with a line for each problem, in the order of the file.

    Of several problems in one line at one place only the first is reported, as it causes the
    others.

    Parameters
    ----------
    name : str
        Name of the file.
    problems : sequence of Problem
        The most informative first.
    lines : mapping, optional
        Place to line, for problems without a line. A place that is not in the file gets the line of
        its parent.
    """
    first: dict[tuple[Place, int | None], Problem] = {}
    for problem in problems:
        exactly = (*problem.place, *problem.within)
        first.setdefault((problem.place, problem.line or _line(exactly, lines or {})), problem)
    found = [(line, problem) for (_, line), problem in first.items()]
    found.sort(key=lambda pair: (pair[0] is None, pair[0] or 0))
    sentences = [problem_sentence(problem, line) for line, problem in found]
    if len(sentences) == 1:
        return InputError(f"{name}: {sentences[0]}")
    listed = "\n".join(f"  {sentence}" for sentence in sentences)
    return InputError(f"{name} has {len(sentences)} problems:\n{listed}")


def _line(place: Place, lines: Mapping[Place, int]) -> int | None:
    for length in range(len(place), -1, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def problem_sentence(problem: Problem, line: int | None) -> str:
    """Place, line if it is known, and what is wrong there."""
    where = [shown_place(problem.place)] if problem.place else []
    if line is not None:
        where.append(f"line {line}")
    return f"{', '.join(where)}: {problem.message}" if where else problem.message
