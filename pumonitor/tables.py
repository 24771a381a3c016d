"""ScoreTable: how many labeled, unlabeled and known-negative rows fall in each score cell.

Every metric and every score-based class-prior estimator is a function of this table, so the same
code serves an array, a warehouse group-by and a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray
from pumonitor._counts import cells_of_counts
from pumonitor._joined import added, compressed
from pumonitor._rows import DENSITY_EDGES, columns_of_rows
from pumonitor._score_columns import ScoreColumns
from pumonitor._validate import check_label_counts
from pumonitor._weights import Weights
from pumonitor.errors import InputError

__all__ = ["ScoreTable", "Weights", "score_shares"]


_HISTOGRAM_BINS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable(ScoreColumns):
    """Counts (or weight sums) of rows by score cell and label state.

    Cells are closed intervals [lower, upper] in ascending order that do not overlap. A table
    made from arrays is exact: every distinct labeled score is a cell of its own, and the
    unlabeled rows between two of them form cells whose inner order no estimate depends on. A
    table made from binned counts is approximate, `resolution` says by how much.

    Attributes
    ----------
    lower, upper : ndarray of shape (cells,)
        Lowest and highest score in the cell.
    labeled, unlabeled, negative : ndarray of shape (cells,)
        Rows (weight sums) that are confirmed positive, unlabeled, confirmed negative.
    n_labeled, n_unlabeled, n_negative : int
        Rows, whatever their weight.
    weights : Weights or None
        Second moments when rows carry weights.
    propensities : Propensities or None
        How many were lifted and how heavy the heaviest row is, when there are propensities.
    chances : Chances or None
        Propensities of unlabeled rows per cell, when they are known for all of them.
    reviewed : ReviewedRows or None
        What reviews and complaints say of the rows, in a monitor with reviews.
    entities : LabeledEntities or None
        Labeled rows that are of one entity, where it is known.
    values : ValuedRows or None
        What rows are worth, where it is known.

    Examples
    --------
    >>> table = ScoreTable.from_arrays([1, 0, 0, 1, 0], [0.9, 0.8, 0.3, 0.3, 0.1])
    >>> table.n_labeled, table.n_unlabeled, table.resolution
    (2, 3, 0.0)
    >>> both = table + table
    >>> both.n_labeled
    4
    """

    # -- making one ---------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        labels: Any,
        scores: Any,
        *,
        thresholds: Iterable[float] = (),
        sample_weight: Any = None,
        propensity: Any = None,
        detection_rate: float = 1.0,
        min_propensity: float = 0.0,
        density_edges: int = DENSITY_EDGES,
        entity: Any = None,
    ) -> ScoreTable:
        """Exact table of rows.

        Parameters
        ----------
        labels : array-like of shape (n,)
            1 confirmed positive, 0 unlabeled, -1 confirmed negative. numpy, pandas, polars or
            Arrow, nullable types included as long as nothing is missing.
        scores : array-like of shape (n,)
            Any finite numbers, higher = more positive.
        thresholds : iterable of float
            Decision thresholds at which threshold metrics will be asked for; a cell ends there.
        sample_weight : array-like of shape (n,), optional
            Rows each row stands for, > 0.
        propensity : float or array-like of shape (n,), optional
            P(labeled given positive, x), in (0, 1] on labeled rows, which stand for
            weight / propensity positives. The probability with which a row was sent to review can
            be passed as it was logged: elsewhere it may be 0 (never reviewed) or missing. Where
            it is given for all unlabeled rows, `never_reviewed_share` tells how many could not
            have been labeled at all; every estimate is then about the others' kind only.
            Confirmed negatives are rows of the population with their sample weight and nothing
            more, however they were chosen: they do not stand for unlabeled rows.
        detection_rate : float
            P(a reviewed positive is found), which multiplies the propensities.
        min_propensity : float
            Smaller propensities (after the detection rate) are lifted to it: less spread of the
            weights for some bias towards easy positives; `propensities.lifted` counts the rows.
        density_edges : int
            Quantiles of the unlabeled scores at which cells end as well, so that estimators of
            densities see the shape between labeled scores.
        entity : array-like of shape (n,), optional
            Whose row it is (card, customer, device), read on labeled rows; a missing one is an
            entity of its own. Labels of one entity tell less than as many of different ones.

        Raises
        ------
        InputError
            If labels, scores or weights cannot be used; the message says what, where, how often.
        TooFewPositivesError
            If fewer than two rows are confirmed positives.
        """
        return cls(
            **columns_of_rows(
                labels,
                scores,
                thresholds=thresholds,
                sample_weight=sample_weight,
                propensity=propensity,
                detection_rate=detection_rate,
                min_propensity=min_propensity,
                density_edges=density_edges,
                entity=entity,
            )
        )

    @classmethod
    def from_counts(
        cls,
        labeled: ArrayLike,
        unlabeled: ArrayLike,
        *,
        edges: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        negative: ArrayLike | None = None,
    ) -> ScoreTable:
        """Table of counts made elsewhere, for example by a warehouse's group-by.

        Parameters
        ----------
        labeled, unlabeled, negative : array-like of shape (cells,)
            Non-negative counts per cell, cells in ascending order of score.
        edges : array-like of shape (cells + 1,)
            Bin edges; a cell holds edge <= score < next edge. The last is open-ended upwards by
            nothing: make it greater than the highest score.
        lower, upper : array-like of shape (cells,)
            In place of `edges`: the lowest and highest score of each cell, as a group-by returns
            them with min and max. Equal for a cell of one score. Where an upper bound is the next
            lower bound, that score belongs to the upper cell.

        Examples
        --------
        >>> table = ScoreTable.from_counts([0, 3, 7], [50, 40, 10], edges=[0.0, 0.3, 0.6, 1.0])
        >>> round(table.resolution, 4)
        0.095
        """
        cells = cells_of_counts(labeled, unlabeled, negative, edges=edges, lower=lower, upper=upper)
        totals = {name: round(float(column.sum())) for name, column in cells.sums.items()}
        check_label_counts(totals["labeled"], totals["unlabeled"])
        return cls(
            lower=cells.lower,
            upper=cells.upper,
            labeled=cells.sums["labeled"],
            unlabeled=cells.sums["unlabeled"],
            negative=cells.sums["negative"],
            n_labeled=totals["labeled"],
            n_unlabeled=totals["unlabeled"],
            n_negative=totals["negative"],
        )

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> ScoreTable:
        """Read what `to_dict` wrote, or any mapping with the keywords of `from_counts`."""
        known = {"labeled", "unlabeled", "negative", "edges", "lower", "upper"}
        unknown = sorted(set(table) - known)
        if unknown:
            msg = (
                f"unknown keys in table: {', '.join(unknown)}; known are {', '.join(sorted(known))}"
            )
            raise InputError(msg)
        missing = sorted({"labeled", "unlabeled"} - set(table))
        if missing:
            msg = f"table lacks {' and '.join(missing)}"
            raise InputError(msg)
        return cls.from_counts(**dict(table))

    # -- reading it ---------------------------------------------------------------------------

    @property
    def has_propensities(self) -> bool:
        """Whether labeled rows stand for other numbers of positives than of rows."""
        return not np.array_equal(self.labeled, self.labeled_mass)

    @property
    def never_reviewed_share(self) -> float | None:
        """Share of the unlabeled rows that could not have been labeled; None when not known."""
        if self.chances is None:
            return None
        unlabeled = float(self.unlabeled.sum())
        # A difference of two sums of the same weights: rounding must not make it negative.
        return max(unlabeled - float(self.chances.reviewable.sum()), 0.0) / unlabeled

    def weight_facts(self) -> dict[str, float]:
        """What the weights of labeled rows come from and how uneven they are, for the settings.

        What does not apply, or is not known, has no key.
        """
        found: dict[str, float | None] = {"largest_weight_share": self.largest_weight_share}
        if self.propensities is not None:
            found |= {
                "lifted_propensities": self.propensities.lifted,
                "min_propensity": self.propensities.min_propensity,
                "detection_rate": self.propensities.detection_rate,
                "never_reviewed_share": self.never_reviewed_share,
            }
        return {name: fact for name, fact in found.items() if fact is not None}

    @property
    def resolution(self) -> float:
        """Bound on the error of AUL (and of `auc_pu`) that binning causes; 0 when exact.

        Half the product of the labeled and the unlabeled share of each mixed cell, summed: within
        a cell that holds one score only, ties count one half and nothing is lost. The error of
        AUC is at most this over (label purity - class prior), since the correction stretches
        errors by that.
        """
        mixed = self.upper > self.lower

        def bound(others: FloatArray) -> float:
            product = float(np.sum(self.labeled[mixed] * others[mixed]))
            return 0.5 * product / (float(self.labeled.sum()) * float(others.sum()))

        # Confirmed negatives are part of the population in one scenario and not in the other.
        return max(bound(self.unlabeled), bound(self.unlabeled + self.negative))

    def to_dict(self) -> dict[str, list[float]]:
        """Plain lists for JSON; only for tables without weights."""
        if self.weights is not None:
            msg = "a table with weights cannot be written as counts"
            raise InputError(msg)
        return {
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "labeled": self.labeled.tolist(),
            "unlabeled": self.unlabeled.tolist(),
            "negative": self.negative.tolist(),
        }

    # -- changing it --------------------------------------------------------------------------

    def __add__(self, other: ScoreTable) -> ScoreTable:
        """The table of both sets of rows; overlapping cells are merged, equal cells summed.

        Merging partitions binned on the same edges loses nothing. Cells of exact tables that
        overlap become one, which `resolution` then shows.
        """
        if not isinstance(other, ScoreTable):
            return NotImplemented
        return added(self, other)

    def compress(self, max_cells: int, *, thresholds: Iterable[float] = ()) -> ScoreTable:
        """At most `max_cells` cells (and one more for each threshold kept), by joining neighbours.

        Cells are joined so that each holds about the same share of labeled and unlabeled rows;
        `resolution` of the result states the error, about 1 / (2 max_cells) at the most.
        """
        return compressed(self, max_cells, thresholds=thresholds)


def score_shares(table: ScoreTable) -> dict[str, NDArray[np.float64]]:
    """Shares of labeled and of unlabeled rows in equal bins of the score, for drawing."""
    edges = np.linspace(table.lower[0], table.upper[-1], _HISTOGRAM_BINS + 1)
    middle = 0.5 * (table.lower + table.upper)
    bins = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, _HISTOGRAM_BINS - 1)

    def share(values: NDArray[np.float64]) -> NDArray[np.float64]:
        counts = np.bincount(bins, weights=values, minlength=_HISTOGRAM_BINS)
        return np.asarray(counts / values.sum())

    return {
        "edges": edges,
        "labeled": share(table.labeled),
        "unlabeled": share(table.unlabeled),
    }
