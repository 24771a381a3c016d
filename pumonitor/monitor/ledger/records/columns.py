"""Many results at once, as columns: one list for each field and no object for each result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pumonitor.monitor.ledger.records.results import PublishedResult


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


class Columns:
    """Records in columns of equal length, each an attribute of its name.

    Parameters
    ----------
    is_cut : bool
        Whether there are more of them than the limit allowed.
    **columns : sequence

    Examples
    --------
    >>> found = Columns(day=(2, 3), value=(0.4, 0.5), is_cut=True)
    >>> len(found), found.value, found.is_cut
    (2, (0.4, 0.5), True)
    """

    def __init__(self, *, is_cut: bool = False, **columns: Sequence[Any]) -> None:
        self.is_cut = is_cut
        self._length = len(next(iter(columns.values())))
        self.__dict__.update(columns)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Sequence[Any]: ...

    def __len__(self) -> int:
        return self._length


class ResultColumns(Columns):
    """Results; the columns are the fields of `PublishedResult`."""

    def results(self) -> list[PublishedResult]:
        """The same, an object for each."""
        names = list(PublishedResult.model_fields)
        rows = zip(*(getattr(self, name) for name in names), strict=True)
        return [PublishedResult(**dict(zip(names, row, strict=True))) for row in rows]


class HeadlineColumns(Columns):
    """Results that a page shows first; those of the table of headlines."""


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
