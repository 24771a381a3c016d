"""Many results at once, as columns: one list for each field and no object for each result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.ports import State


def in_columns(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    limit: int | None = None,
    newest_last: bool = False,
) -> dict[str, Any]:
    """Columns by name, with `is_cut` if there is a limit.

    Parameters
    ----------
    names : sequence of str
        Names of the values of a row, in their order.
    rows : sequence of sequence
        Up to `limit` + 1 of them: one more says that there is more.
    limit : int, optional
    newest_last : bool
        Whether to reverse rows that come in descending order.

    Examples
    --------
    >>> in_columns(["day", "value"], [(3, 0.5), (2, 0.4), (1, 0.3)], limit=2, newest_last=True)
    {'day': (2, 3), 'value': (0.4, 0.5), 'is_cut': True}
    >>> in_columns(["day", "value"], [])
    {'day': (), 'value': ()}
    """
    shown = rows[:limit]
    columns = list(zip(*(reversed(shown) if newest_last else shown), strict=True))
    found: dict[str, Any] = dict(zip(names, columns or [()] * len(names), strict=True))
    return found if limit is None else found | {"is_cut": len(rows) > limit}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumns:
    """Results in columns of equal length; the fields are those of `PublishedResult`.

    Attributes
    ----------
    monitor, model_version, segment, window_start, window_end, state, revision, as_of, metric, \
value, low, high, n_labeled, n_unlabeled, undefined_reason, infeasible, impossible, \
infeasible_reason, unclipped_value, unclipped_low, unclipped_high, assumed : sequence
    is_cut : bool
        Whether there are more results than the limit allowed.

    """

    monitor: Sequence[str]
    model_version: Sequence[str]
    segment: Sequence[str]
    window_start: Sequence[datetime]
    window_end: Sequence[datetime]
    state: Sequence[State]
    revision: Sequence[int]
    as_of: Sequence[datetime]
    metric: Sequence[str]
    value: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]
    n_labeled: Sequence[int | None]
    n_unlabeled: Sequence[int | None]
    undefined_reason: Sequence[str | None]
    infeasible: Sequence[bool]
    impossible: Sequence[bool]
    infeasible_reason: Sequence[str | None]
    unclipped_value: Sequence[float | None]
    unclipped_low: Sequence[float | None]
    unclipped_high: Sequence[float | None]
    assumed: Sequence[bool]
    is_cut: bool = False

    def __len__(self) -> int:
        return len(self.monitor)

    def results(self) -> list[PublishedResult]:
        """The same, an object for each."""
        names = list(PublishedResult.model_fields)
        rows = zip(*(getattr(self, name) for name in names), strict=True)
        return [PublishedResult(**dict(zip(names, row, strict=True))) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineColumns:
    """Results that a page shows first, in columns of equal length.

    Attributes
    ----------
    monitor, model_version, window_start, window_end, state, metric, value, low, high, infeasible, \
impossible, assumed : sequence
    is_cut : bool
        Whether there are more results than the limit allowed.
    """

    monitor: Sequence[str]
    model_version: Sequence[str]
    window_start: Sequence[datetime]
    window_end: Sequence[datetime]
    state: Sequence[State]
    metric: Sequence[str]
    value: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]
    infeasible: Sequence[bool]
    impossible: Sequence[bool]
    assumed: Sequence[bool]
    is_cut: bool = False

    def __len__(self) -> int:
        return len(self.monitor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What an overview of monitors shows, as one moment of the ledger has it.

    Attributes
    ----------
    newest : HeadlineColumns
        Of all rows: the monitor's own metric, "label_maturity", "predictions" and
        "labeled_positives", in the newest window with predictions and in the newest one whose
        labels are mature; one entry where they are the same. Sorted by monitor, window, model
        version and metric.
    series : HeadlineColumns
        The monitor's own metric over its latest windows with predictions, sorted by monitor, window
        and model version.
    """

    newest: HeadlineColumns
    series: HeadlineColumns
