"""Errors and warnings a caller may want to catch; bad arguments are ValueError and TypeError."""

from __future__ import annotations

__all__ = [
    "InputError",
    "NoBoundWarning",
    "PumonitorError",
    "RowsLeftOutWarning",
    "SourceError",
    "TooFewPositivesError",
]


class PumonitorError(Exception):
    """Base of every error raised for what went wrong while working."""


class InputError(PumonitorError, ValueError):
    """The data cannot be evaluated as they are; the message says what, where and how often."""


class TooFewPositivesError(InputError):
    """There are not enough confirmed positives to estimate anything."""


class SourceError(PumonitorError):
    """A file or table could not be read."""


class RowsLeftOutWarning(UserWarning):
    """An estimate rests on a sample of the rows, since the method cannot take them all."""


class NoBoundWarning(UserWarning):
    """A class-prior estimate is the largest there can be because nothing bounds it."""
