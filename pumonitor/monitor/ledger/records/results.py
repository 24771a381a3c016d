"""Records of evaluated windows: results, evaluations and messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from pumonitor.monitor.ledger.records.collected import PriorState
from pumonitor.ports import State, Window
from pumonitor.views.model import Moment, Number, View

REASON = Field(default=None, description="Why the value is null.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One result of one series.

    Attributes
    ----------
    metric : str
    value, low, high : float or None
        Displayed value and interval, clipped to the metric's range; None if undefined. `low` and
        `high` are None too if the whole interval is outside the range.
    se : float or None
        Standard error.
    n_labeled, n_unlabeled : int or None
    undefined_reason : str or None
        Why the value is undefined.
    infeasible : bool
        Whether the estimate is outside the metric's range.
    impossible : bool
        Whether rules must not use it: it is outside the range beyond chance, or its class prior
        makes other estimates impossible.
    infeasible_reason : str or None
        Explanation of either; without both, which impossible number it is computed with.
    unclipped_value, unclipped_low, unclipped_high : float or None
        The estimate before clipping; None if it equals `value`, `low` and `high`.
    assumed : bool
        Whether the value was given in the configuration and not estimated.
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
    """Evaluation and results of one series of a pane.

    Attributes
    ----------
    model_version, segment : str
    evaluation : mapping
        The evaluation in JSON types. A function of the data alone, without times of computation.
    results : sequence of MetricResult
    """

    model_version: str
    segment: str
    evaluation: Mapping[str, Any]
    results: Sequence[MetricResult] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message for the outbox.

    Attributes
    ----------
    destination : str
    lane : str
        Messages of one destination and lane are delivered in order.
    key : str
        Idempotency key: a second message with it is not sent to the destination.
    payload : mapping
        In JSON types.
    """

    destination: str
    lane: str
    key: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedPane:
    """Evaluation of one pane, with messages that are sent if its results are new.

    Attributes
    ----------
    number : int
    series : sequence of EvaluatedSeries
    messages : sequence of NewMessage
    prior_states : sequence of PriorState
        States of the filter, from which later windows go on.
    """

    number: int
    series: Sequence[EvaluatedSeries] = ()
    messages: Sequence[NewMessage] = ()
    prior_states: Sequence[PriorState] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvaluation:
    """Evaluation of one series of a pane in one revision."""

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
    """A window with results, with the configuration that they belong to."""

    configuration: str
    start: datetime
    end: datetime


class PublishedResult(View):
    """One result: a window, a series and a metric; a row of `pumonitor_results`."""

    monitor: str
    model_version: str
    segment: str
    window_start: Moment
    window_end: Moment
    state: State
    revision: int
    as_of: Moment
    metric: str
    value: Number
    low: Number
    high: Number
    n_labeled: int | None
    n_unlabeled: int | None
    undefined_reason: str | None = REASON
    infeasible: bool = False
    impossible: bool = False
    infeasible_reason: str | None = Field(
        default=None,
        description="Why it is infeasible or impossible; of others, which impossible value it is "
        "computed from.",
    )
    unclipped_value: Number = None
    unclipped_low: Number = None
    unclipped_high: Number = None
    assumed: bool = False

    @property
    def is_evidence(self) -> bool:
        """Whether it is possible, and its class prior too."""
        return not (self.infeasible or self.impossible)
