"""Records of audits: how far verdicts on them have been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

BETWEEN: Final = "between "
"""In place of a configuration: an audit between two models, which no configuration evaluates."""

Kind = Literal["case", "seed", "again"]
"""An unconfirmed row that was drawn; a known positive among them; a case given a second time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnWindow:
    """A window that cases were drawn from.

    Attributes
    ----------
    start, end, as_of : datetime
        Labels known by `as_of` counted.
    rows, labeled : tuple of int
        N and L by score bin.
    design_effect : float
        Confirmed positives of the audit that tell as much as one, where they share entities.
    """

    start: datetime
    end: datetime
    as_of: datetime
    rows: tuple[int, ...]
    labeled: tuple[int, ...]
    design_effect: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCase:
    """A line of the file for the reviewers.

    Attributes
    ----------
    number : int
        Its place in the file, from 1.
    keyed : str
        Key of its id with the audit's seed.
    id : str or None
        None once it is deleted.
    bin : int
    inclusion : float or None
        Probability with which it was drawn; None for a seed.
    kind : {"case", "seed", "again"}
    window_start : datetime
    segments : tuple of str or None
        Those it is of, each as column=value; None if it was drawn before they were kept.
    """

    number: int
    keyed: str
    id: str | None
    bin: int
    inclusion: float | None
    kind: Kind
    window_start: datetime
    segments: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAudit:
    """An audit as it was drawn.

    Attributes
    ----------
    name, monitor, configuration, model_version : str
    windows : tuple of DrawnWindow
        In order of time.
    drawn_at : datetime
        By the database's clock.
    actor : str
    threshold : float
    fair : {"check", "assume"}
    seed : str
    edges : tuple of float
        Inner edges of the score bins.
    planned : tuple of int
        Cases drawn, by bin.
    """

    name: str
    monitor: str
    configuration: str
    model_version: str
    windows: tuple[DrawnWindow, ...]
    drawn_at: datetime
    actor: str
    threshold: float
    fair: Literal["check", "assume"]
    seed: str = field(repr=False)
    edges: tuple[float, ...]
    planned: tuple[int, ...]

    @property
    def window_start(self) -> datetime:
        """Start of its first window."""
        return self.windows[0].start

    @property
    def window_end(self) -> datetime:
        """End of its last window."""
        return self.windows[-1].end

    @property
    def rows(self) -> tuple[int, ...]:
        """N by bin, over all windows."""
        return tuple(map(sum, zip(*(one.rows for one in self.windows), strict=True)))

    @property
    def labeled(self) -> tuple[int, ...]:
        """L by bin, over all windows."""
        return tuple(map(sum, zip(*(one.labeled for one in self.windows), strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReading:
    """What was read from a file or table of verdicts at one time, of one audit.

    Attributes
    ----------
    audit : str or None
        None for what belongs to no audit of the monitor.
    source : str
    digest : str
        Of what was read.
    read_at : datetime
    actor : str
    added : int
        New verdicts.
    refused : mapping of str to int
        Reason to number of verdicts that could not be used.
    """

    audit: str | None
    source: str
    digest: str
    read_at: datetime
    actor: str
    added: int
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCounts:
    """What an audit counted and found in one window, by score bin.

    Attributes
    ----------
    rows, labeled : tuple of int
        N and L when the audit was drawn.
    decided, positive, undecided : tuple of int
        Cases with a verdict, those of them said to be positive, and cases without a decision.
        A case given twice is one.
    """

    rows: tuple[int, ...]
    labeled: tuple[int, ...]
    decided: tuple[int, ...]
    positive: tuple[int, ...]
    undecided: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentVerdicts:
    """What an audit found in one segment over all of its windows, by score bin.

    Attributes
    ----------
    decided, positive, undecided : tuple of int
        As in `WindowCounts`.
    """

    decided: tuple[int, ...]
    positive: tuple[int, ...]
    undecided: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAudit:
    """An audit as far as verdicts on it had been read.

    Attributes
    ----------
    name, monitor, configuration, model_version : str
    window_start, window_end : datetime
        First start and last end of its windows.
    as_of : datetime
        The last of the moments as of which its windows' labels were read when it was drawn.
    drawn_at : datetime
    threshold : float
    fair : {"check", "assume"}
    edges : tuple of float
        Inner edges of the score bins. Cells of stored tables need not begin there: `bins_along`
        lays the bins on a table.
    by_window : mapping of datetime to WindowCounts
        By the start of the window, in the order of time.
    planned : tuple of int
        Cases drawn, by bin.
    seeds_found, seeds_known : int
        Of the blind known positives those said to be positive, and those decided.
    conflicts : int
        Cases with verdicts that contradict each other; they count as undecided.
    unread : int
        Cases that nobody has given a verdict on.
    cases : int
        Cases drawn, without seeds and second copies.
    by_segment : mapping of str to SegmentVerdicts, or None
        Of each segment, named column=value, that has a case with a verdict; None if the audit was
        drawn before segments were kept.
    design_effect : float
        As of `DrawnWindow`.
    digest : str
        Of everything above.
    """

    name: str
    monitor: str
    configuration: str
    model_version: str
    window_start: datetime
    window_end: datetime
    as_of: datetime
    drawn_at: datetime
    threshold: float
    fair: Literal["check", "assume"]
    edges: tuple[float, ...]
    by_window: Mapping[datetime, WindowCounts]
    planned: tuple[int, ...]
    seeds_found: int
    seeds_known: int
    conflicts: int
    unread: int
    cases: int
    by_segment: Mapping[str, SegmentVerdicts] | None = None
    design_effect: float = 1.0
    digest: str
