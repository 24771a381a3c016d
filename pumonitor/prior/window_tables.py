"""The table of a window with what earlier windows add to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior.two_windows import shares_below
from pumonitor.tables import ScoreTable, Weights

__all__ = ["pool_tables"]

FloatArray = NDArray[np.float64]

_CELLS = 512


def pool_tables(
    tables: Sequence[ScoreTable],
    *,
    labeled_discount: float = 1.0,
    unlabeled_discount: float = 0.0,
) -> ScoreTable:
    """The last window's table, with the labeled rows of the windows before it.

    How positives score does not depend on how many there are: while the model and the kind of
    positives stay the same, the labeled rows of all windows tell it together, and a window of 20
    confirmed positives can be estimated from its own unlabeled rows. Wrong where positives have
    come to score otherwise, or are confirmed by another rule than before: discount the past then.

    Parameters
    ----------
    tables : sequence of ScoreTable
        In order of time, the window to be estimated last; scores of one model.
    labeled_discount : float
        From 0 to 1: a labeled row k windows back counts labeled_discount**k rows of how positives
        score.
    unlabeled_discount : float
        The same of unlabeled rows and confirmed negatives, and of labeled ones as part of the
        population. Above 0 the class prior is a discounted average over the windows, which lags.

    Returns
    -------
    ScoreTable
        With weights, for class-prior estimation alone: metrics of it would describe no window.
        Of the same cells where all tables have them, elsewhere at most 512 new ones over which a
        cell's rows are spread evenly.

    Raises
    ------
    ValueError
        If there are no tables, or a discount is not from 0 to 1.

    Notes
    -----
    Labeled rows keep the total of the windows they describe, sum_k u^k n_labeled_k for the
    discount u of unlabeled rows, which is what the labeled fraction is read from; their sum of
    squares gives them the size (sum_k l^k n_k)^2 / sum_k l^(2k) n_k of their discount l.

    References
    ----------
    Kish (1965), Survey sampling, section 11.7 (the effective number of weighted rows).

    Examples
    --------
    >>> edges = [0.0, 0.5, 1.0]
    >>> day = ScoreTable.from_counts([2, 8], [850, 150], edges=edges)
    >>> before = ScoreTable.from_counts([1, 19], [900, 100], edges=edges)
    >>> pooled = pool_tables([before, day])
    >>> pooled.labeled.tolist(), pooled.unlabeled.tolist()
    ([1.0, 9.0], [850.0, 150.0])
    >>> round(float(pooled.labeled.sum() ** 2 / pooled.labeled_squares.sum()), 9)
    30.0
    """
    if not tables:
        msg = "tables must hold at least one window, got none"
        raise ValueError(msg)
    discounts = {"labeled_discount": labeled_discount, "unlabeled_discount": unlabeled_discount}
    for name, discount in discounts.items():
        if not 0 <= discount <= 1:
            msg = f"{name} must satisfy 0 <= {name} <= 1, got {discount}"
            raise ValueError(msg)
    windows_back = np.arange(len(tables), dtype=np.float64)[::-1]
    of_labeled = np.asarray(labeled_discount**windows_back, dtype=np.float64)
    of_population = np.asarray(unlabeled_discount**windows_back, dtype=np.float64)
    lower, upper, columns = _on_common_cells(tables)

    def summed(name: str, weight: FloatArray) -> FloatArray:
        return np.asarray(weight @ columns[name])

    labeled, labeled_mass = (summed(name, of_labeled) for name in ("labeled", "labeled_mass"))
    # The sums tell how positives score; their totals are those of the population.
    to_total = float(summed("labeled", of_population).sum() / labeled.sum())
    to_mass = float(summed("labeled_mass", of_population).sum() / labeled_mass.sum())
    return ScoreTable(
        lower=lower,
        upper=upper,
        labeled=to_total * labeled,
        unlabeled=summed("unlabeled", of_population),
        negative=summed("negative", of_population),
        n_labeled=sum(_counted((table.n_labeled for table in tables), labeled_discount)),
        n_unlabeled=sum(_counted((table.n_unlabeled for table in tables), unlabeled_discount)),
        n_negative=sum(_counted((table.n_negative for table in tables), unlabeled_discount)),
        weights=Weights(
            labeled_squares=to_total**2 * summed("labeled_squares", of_labeled**2),
            labeled_mass=to_mass * labeled_mass,
            labeled_mass_squares=summed("labeled_mass_squares", of_population**2),
            labeled_cross=summed("labeled_cross", of_population**2),
            unlabeled_squares=summed("unlabeled_squares", of_population**2),
            negative_squares=summed("negative_squares", of_population**2),
        ),
    )


def _counted(rows: Iterable[int], discount: float) -> list[int]:
    """Rows of the windows that count at all."""
    return list(rows)[-1:] if discount == 0 else list(rows)


_COLUMNS = (
    "labeled",
    "labeled_squares",
    "labeled_mass",
    "labeled_mass_squares",
    "labeled_cross",
    "unlabeled",
    "unlabeled_squares",
    "negative",
    "negative_squares",
)


def _on_common_cells(
    tables: Sequence[ScoreTable],
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    """Lowest and highest score of each cell, and each column of sums, (windows, cells)."""
    first = tables[0]
    if all(
        np.array_equal(first.lower, other.lower) and np.array_equal(first.upper, other.upper)
        for other in tables
    ):
        columns = {name: np.stack([getattr(table, name) for table in tables]) for name in _COLUMNS}
        return first.lower, first.upper, columns
    cuts = _cuts(tables)

    def laid(table: ScoreTable, rows: FloatArray) -> FloatArray:
        total = float(rows.sum())
        if total == 0:
            return np.zeros(len(cuts) + 1)
        return total * np.diff(shares_below(cuts, table, rows), prepend=0.0, append=1.0)

    columns = {
        name: np.stack([laid(table, getattr(table, name)) for table in tables]) for name in _COLUMNS
    }
    lowest = min(float(table.lower[0]) for table in tables)
    highest = max(float(table.upper[-1]) for table in tables)
    lower = np.concatenate([[lowest], cuts])
    upper = np.concatenate([np.nextafter(cuts, -np.inf), [highest]])
    return lower, upper, columns


def _cuts(tables: Sequence[ScoreTable]) -> FloatArray:
    """Scores at which cells begin, so that each cell holds about the same share of the rows."""
    begins = np.concatenate([table.lower for table in tables])
    order = np.argsort(begins, kind="stable")
    mass = np.concatenate(
        [
            table.labeled / table.labeled.sum() + table.unlabeled / table.unlabeled.sum()
            for table in tables
        ]
    )[order]
    reached = np.cumsum(mass) / mass.sum()
    places = np.searchsorted(reached, np.arange(1, _CELLS) / _CELLS)
    chosen = np.unique(begins[order][places])
    return np.asarray(chosen[chosen > begins[order][0]])
