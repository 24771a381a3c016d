"""What would be read before it is: bytes, and partitions, files or row groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pumonitor.text import count_text, size_text

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
        return f"{count_text(self.read)} of {count_text(self.of)} {self.named}"


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
        size = size_text(self.read)
        said = f"{size} at most" if self.is_most else f"about {size}"
        if not self.parts:
            return said
        within, *finer = (one.said for one in self.parts)
        return f"{said}, in {within}" + (f" ({', '.join(finer)})" if finer else "")


@runtime_checkable
class TellsScan(Protocol):
    """A source that may know, before it reads, how much it would read."""

    def scan(self, request: CountRequest) -> Scan | None:
        """What counting a window would read; None where the engine does not tell."""

    def scan_of_all(self) -> Scan | None:
        """What looking at all rows would read, as `describe` does."""
