"""Errors a caller may want to catch; plain bad arguments are ValueError and TypeError."""

from __future__ import annotations

__all__ = ["InputError", "PumonitorError", "SourceError", "TooFewPositivesError"]


class PumonitorError(Exception):
    """Base of every error raised for what went wrong while working."""


class InputError(PumonitorError, ValueError):
    """The data cannot be evaluated as they are; the message says what, where and how often."""


class TooFewPositivesError(InputError):
    """There are not enough confirmed positives to estimate anything."""


class SourceError(PumonitorError):
    """A file or table could not be read."""
