"""What goes into the ledger and comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes
from pumonitor.ports import Pane, State, Window
from pumonitor.tables import ScoreTable

__all__ = [
    "AuditEntry",
    "Backlog",
    "Claim",
    "ClaimedPane",
    "CollectedPane",
    "CollectedSeries",
    "EvaluatedPane",
    "EvaluatedSeries",
    "EvaluatedWindow",
    "LabeledCount",
    "MetricResult",
    "NewMessage",
    "PaneCounts",
    "PaneRecord",
    "PublishedResult",
    "Status",
    "Step",
    "StoredEvaluation",
    "StoredSeries",
    "WindowRecord",
    "window_key",
]

Status = Literal["planned", "collected", "evaluated"]
Step = Literal["collect", "evaluate"]


def window_key(monitor: str, configuration: str, start: datetime, end: datetime) -> str:
    """The key of a window in the ledger, the same whenever and wherever it is computed.

    Parameters
    ----------
    monitor : str
    configuration : str
        Hash of what the monitor's configuration means.
    start, end : datetime
        With their zone.
    """
    parts = (monitor, configuration, _instant(start), _instant(end))
    # Lengths keep ("a", "bc") and ("ab", "c") apart.
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        msg = f"times must carry their zone, got {moment}"
        raise ValueError(msg)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


# -- claims -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedPane:
    """A pane to collect or to evaluate.

    Attributes
    ----------
    pane : Pane
    revision : int
        What its results will be, if there is anything new in them.
    digest : str or None
        Of what was collected.
    counts : mapping or None
        What was found when it was collected.
    """

    pane: Pane
    revision: int
    digest: str | None = None
    counts: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A window that one worker may work on until its lease runs out.

    Attributes
    ----------
    step : {"collect", "evaluate"}
    window_key, monitor, configuration : str
    window : Window
    panes : tuple of ClaimedPane
        Those that are due, in order.
    owner : str
    fence : int
        Grows with every claim of the window; work under a smaller one is refused.
    lease_until : datetime
        By the database's clock.
    attempts : int
        Earlier ones that failed in a row.
    """

    step: Step
    window_key: str
    monitor: str
    configuration: str
    window: Window
    panes: tuple[ClaimedPane, ...]
    owner: str
    fence: int
    lease_until: datetime
    attempts: int


# -- what is committed ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedSeries:
    """What was collected of one series of a pane.

    Attributes
    ----------
    model_version, segment : str
        "" where there is none.
    table : ScoreTable or None
        Compressed; None where there are too few rows for one.
    class_prior : mapping or None
        The estimate from these rows alone, plain JSON values.
    delays : JSON value
        Counts of confirmations by delay.
    """

    model_version: str
    segment: str
    table: ScoreTable | None
    class_prior: Mapping[str, Any] | None = None
    delays: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedPane:
    """What was collected of one pane.

    Attributes
    ----------
    number : int
    digest : str
        Of the counts: equal digests stand for equal data.
    counts : mapping
        `InputCounts`, plain JSON values.
    series : sequence of CollectedSeries
    """

    number: int
    digest: str
    counts: Mapping[str, Any]
    series: Sequence[CollectedSeries] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One number of one series; None where it is undefined, for a reason.

    Attributes
    ----------
    metric : str
    value, low, high : float or None
        As people are shown them, held to what the metric can be. There is no `low` and no `high`
        where the whole interval is impossible.
    se : float or None
    n_labeled, n_unlabeled : int or None
    undefined_reason : str or None
        Why there is no value.
    infeasible : bool
        Whether the number came out outside what the metric can be.
    impossible : bool
        Whether it is evidence of nothing: it is outside what the metric can be by more than chance,
        or the class prior it stands on makes other estimates impossible.
    infeasible_reason : str or None
        Of both, in words.
    unclipped_value, unclipped_low, unclipped_high : float or None
        As estimated; None where `value`, `low` and `high` are that.
    assumed : bool
        Whether the number was given in the configuration and not measured.
    """

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n_labeled: int | None = None
    n_unlabeled: int | None = None
    undefined_reason: str | None = None
    infeasible: bool = False
    impossible: bool = False
    infeasible_reason: str | None = None
    unclipped_value: float | None = None
    unclipped_low: float | None = None
    unclipped_high: float | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedSeries:
    """What one series of a pane came to.

    Attributes
    ----------
    model_version, segment : str
    evaluation : mapping
        Plain JSON values, a function of the data alone: no times of computation.
    results : sequence of MetricResult
    """

    model_version: str
    segment: str
    evaluation: Mapping[str, Any]
    results: Sequence[MetricResult] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """Something to tell a destination once the results are stored.

    Attributes
    ----------
    destination : str
    lane : str
        Messages of a destination and lane arrive in order.
    key : str
        A second message of the same key to the destination is not sent.
    payload : mapping
        Plain JSON values.
    """

    destination: str
    lane: str
    key: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedPane:
    """What one pane came to, and who is to be told if that is new.

    Attributes
    ----------
    number : int
    series : sequence of EvaluatedSeries
    messages : sequence of NewMessage
    prior_states : sequence of PriorState
        From which the class priors of later windows go on.
    """

    number: int
    series: Sequence[EvaluatedSeries] = ()
    messages: Sequence[NewMessage] = ()
    prior_states: Sequence[PriorState] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorState:
    """A class prior as it was followed up to a window, that window among them.

    Attributes
    ----------
    segment, model_version : str
    window_start : datetime
    known : str
        What was known then of the windows up to it: a state holds as long as that is the same.
    state : bytes
    """

    segment: str
    model_version: str
    window_start: datetime
    known: str
    state: bytes = field(repr=False)


# -- what is read -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredSeries:
    """What was collected of one series of a pane, as it is stored.

    Attributes
    ----------
    window_key : str
    window : Window
    number : int
        The pane's.
    state : {"provisional", "mature", "final"}
    as_of : datetime
    model_version, segment : str
    class_prior : mapping or None
    delays : JSON value
    table_bytes : bytes or None
    """

    window_key: str
    window: Window
    number: int
    state: State
    as_of: datetime
    model_version: str
    segment: str
    class_prior: Mapping[str, Any] | None
    delays: Any
    table_bytes: bytes | None = field(repr=False)

    def table(self) -> ScoreTable | None:
        """The score table, unpacked at every call."""
        return None if self.table_bytes is None else table_from_bytes(self.table_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvaluation:
    """What one series of a pane came to, in one revision."""

    window_key: str
    monitor: str
    window: Window
    number: int
    state: State
    as_of: datetime
    revision: int
    model_version: str
    segment: str
    evaluation: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedWindow:
    """A window with results, under whichever configuration."""

    configuration: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedResult:
    """A row of `pumonitor_results`, with the fields of `pumonitor results` in their order."""

    monitor: str
    model_version: str
    segment: str
    window_start: datetime
    window_end: datetime
    state: State
    revision: int
    as_of: datetime
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n_labeled: int | None
    n_unlabeled: int | None
    undefined_reason: str | None = None
    infeasible: bool = False
    impossible: bool = False
    infeasible_reason: str | None = None
    unclipped_value: float | None = None
    unclipped_low: float | None = None
    unclipped_high: float | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneCounts:
    """What was found in a window as of a moment."""

    window: Window
    as_of: datetime
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledCount:
    """How many positives of one series of a window were confirmed as of one of its panes."""

    window: Window
    number: int
    model_version: str
    segment: str
    labeled: int
    rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneRecord:
    """A pane and how far it is.

    Attributes
    ----------
    number, state, as_of
    status : {"planned", "collected", "evaluated"}
    revision : int or None
        Of its newest results.
    digest : str or None
    counts : mapping or None
    collected_at, evaluated_at : datetime or None
    library_version : str or None
        That last worked on it.
    """

    number: int
    state: State
    as_of: datetime
    status: Status
    revision: int | None
    digest: str | None
    counts: Mapping[str, Any] | None
    collected_at: datetime | None
    evaluated_at: datetime | None
    library_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """A window and how far it is.

    Attributes
    ----------
    window_key, monitor, configuration : str
    window : Window
    panes : tuple of PaneRecord
        In order.
    attempts : int
        Failed ones in a row.
    last_error : str or None
        Of the last of them.
    not_before : datetime or None
        When the next is made.
    lease_owner : str or None
        Who works on it, or did when the lease ran out.
    lease_until : datetime or None
    """

    window_key: str
    monitor: str
    configuration: str
    window: Window
    panes: tuple[PaneRecord, ...]
    attempts: int
    last_error: str | None
    not_before: datetime | None
    lease_owner: str | None
    lease_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How much there is to do.

    Attributes
    ----------
    windows : int
        All that are planned.
    to_collect : int
        Windows with panes that are due and not collected.
    to_evaluate : int
        Windows with panes that are collected and not evaluated.
    failing : int
        Those of both whose last attempt failed.
    oldest_unfinished : datetime or None
        Least as_of of the panes that are due and not evaluated.
    """

    windows: int
    to_collect: int
    to_evaluate: int
    failing: int
    oldest_unfinished: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Something a person or a process did."""

    at: datetime
    actor: str
    action: str
    detail: Mapping[str, Any]
