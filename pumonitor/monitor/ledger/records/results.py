"""What is stored of an evaluated window, and read back by those that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pumonitor.monitor.ledger.records.collected import PriorState
from pumonitor.ports import State, Window

__all__ = [
    "EvaluatedPane",
    "EvaluatedSeries",
    "EvaluatedWindow",
    "MetricResult",
    "NewMessage",
    "PublishedResult",
    "StoredEvaluation",
]


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
