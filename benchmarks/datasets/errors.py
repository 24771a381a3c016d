"""What can go wrong while a data set is looked for, fetched or read."""

from __future__ import annotations

from pumonitor.errors import PumonitorError

__all__ = ["DatasetMissingError", "DatasetWrongError", "FetchError"]


class DatasetMissingError(PumonitorError):
    """A data set is neither in the folder nor in an installed package.

    Attributes
    ----------
    name : str
        Of the data set.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"no data set {name!r}: {why}")
        self.name = name


class DatasetWrongError(PumonitorError):
    """A file is there, and what it holds is not the data set that the table describes."""


class FetchError(PumonitorError):
    """A file could not be fetched.

    Attributes
    ----------
    unreachable : str or None
        The host, if nothing answered there; other files of the host need not be tried.
    """

    def __init__(self, message: str, *, unreachable: str | None = None) -> None:
        super().__init__(message)
        self.unreachable = unreachable
