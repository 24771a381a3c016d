"""Errors and warnings a caller may want to catch, and the hints their messages end with.

Bad arguments are ValueError and TypeError.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PumonitorError(Exception):
    """Base of every error raised for what went wrong while working."""


class InputError(PumonitorError, ValueError):
    """The data cannot be evaluated as they are; the message says what, where and how often."""


class DamagedFileError(InputError):
    """A file is cut off or damaged; the message names it."""


class TooFewPositivesError(InputError):
    """There are not enough confirmed positives to estimate anything."""


class SourceError(PumonitorError):
    """A file or table could not be read."""


class ExtraMissingError(PumonitorError):
    """What was asked for needs a package that is not installed; the message names it."""


class RowsLeftOutWarning(UserWarning):
    """An estimate rests on a sample of the rows, since the method cannot take them all."""


class NoBoundWarning(UserWarning):
    """A class-prior estimate is the largest there can be because nothing bounds it."""


def nearest(name: str, known: Iterable[str], *, most: int = 1, likeness: float = 0.6) -> list[str]:
    """The known names that `name` may be a misspelling of, nearest first; case does not count.

    Two neighbouring letters swapped are likelier than any other slip.

    Examples
    --------
    >>> nearest("AUK", ["f1", "auc", "aul"], most=2)
    ['aul', 'auc']
    >>> nearest("acu", ["f1", "auc", "aul"])
    ['auc']
    """
    folded = {one.strip().casefold(): one for one in known}
    typed = name.strip().casefold()
    found = difflib.get_close_matches(typed, folded, n=max(len(folded), 1), cutoff=likeness)
    found.sort(key=lambda one: not _swapped(typed, one))
    return [folded[one] for one in found[:most]]


def _swapped(typed: str, meant: str) -> bool:
    """Whether they differ by two neighbouring letters that changed places."""
    differ = [at for at, pair in enumerate(zip(typed, meant, strict=False)) if len(set(pair)) > 1]
    if len(typed) != len(meant) or len(differ) != 2 or differ[1] - differ[0] != 1:
        return False
    first, second = differ
    return typed[first] == meant[second] and typed[second] == meant[first]


def did_you_mean(name: str, known: Iterable[str], *, most: int = 1, likeness: float = 0.6) -> str:
    """How a message about a name that is not known ends; empty where none is like it.

    Examples
    --------
    >>> did_you_mean("f11", ["f1", "auc"])
    "; did you mean 'f1'?"
    """
    near = nearest(name, known, most=most, likeness=likeness)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def no_such(what: str, name: object, known: Iterable[str]) -> str:
    """The message about a name that is not known: what is like it, and all there are.

    Examples
    --------
    >>> no_such("estimate", "f11", ["f1", "auc"])
    "no estimate 'f11'; did you mean 'f1'? (there are f1, auc)"
    """
    known = tuple(known)
    return f"no {what} {name!r}{did_you_mean(str(name), known)} (there are {', '.join(known)})"


def shortened(text: str, *, most: int = 40) -> str:
    """What was given, as messages have it: of what is very long the beginning and its length.

    Examples
    --------
    >>> shortened("30 days"), shortened("9" * 10_000, most=8)
    ('30 days', '99999999... (10,000 characters)')
    """
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def if_percent(*shares: float) -> str:
    """How a message about shares above 1 ends; empty where they are no percentages either.

    Examples
    --------
    >>> if_percent(40), if_percent(0.5, 2), if_percent(-1)
    ('; did you mean 0.4?', '; did you mean (0.005, 0.02)?', '')
    """
    if not (max(shares) > 1 and all(0 < share < 100 for share in shares)):
        return ""
    meant = ", ".join(f"{share / 100:g}" for share in shares)
    return f"; did you mean {meant if len(shares) == 1 else f'({meant})'}?"
