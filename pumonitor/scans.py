"""What would be read before it is: bytes, and partitions, files or row groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pumonitor.ports import CountRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """How many parts of a table are read.

    Attributes
    ----------
    named : str
        What they are: "partitions", "files", "row groups".
    read, of : int
        Those that are read, and all there are.
    """

    named: str
    read: int
    of: int

    @property
    def said(self) -> str:
        """For people."""
        return f"{self.read:,} of {self.of:,} {self.named}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What would be read, as it is expected before anything is.

    Attributes
    ----------
    read : int
        Bytes.
    parts : tuple of Parts
        Of the predictions, from the largest parts to the smallest; empty where it is not told.
    is_most : bool
        Whether no more than that is read; else it is what a planner estimates.
    """

    read: int
    parts: tuple[Parts, ...] = ()
    is_most: bool = True

    @property
    def said(self) -> str:
        """For people.

        Examples
        --------
        >>> Scan(read=1_234_000_000, parts=(Parts(named="partitions", read=3, of=365),)).said
        '1.23 GB at most, in 3 of 365 partitions'
        """
        size = bytes_said(self.read)
        said = f"{size} at most" if self.is_most else f"about {size}"
        if not self.parts:
            return said
        within, *finer = (one.said for one in self.parts)
        return f"{said}, in {within}" + (f" ({', '.join(finer)})" if finer else "")


def bytes_said(size: float) -> str:
    """A number of bytes for people, in powers of 1000.

    Examples
    --------
    >>> bytes_said(999), bytes_said(10_000_000_000)
    ('999 bytes', '10 GB')
    """
    unit = "bytes"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"


def seconds_said(seconds: float) -> str:
    """A time that something takes, for people.

    Examples
    --------
    >>> seconds_said(0.42), seconds_said(95), seconds_said(7_600)
    ('0.42 s', '95 s', '2.1 h')
    """
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"


@runtime_checkable
class TellsScan(Protocol):
    """A source that may know, before it reads, how much it would read."""

    def scan(self, request: CountRequest) -> Scan | None:
        """What counting a window would read; None where the engine does not tell."""

    def scan_of_all(self) -> Scan | None:
        """What looking at all rows would read, as `describe` does."""
