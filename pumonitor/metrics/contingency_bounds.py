"""The lowest and highest contingency table at every threshold, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Bounds, Curve
from pumonitor.stats.distribution_bands import SIMULTANEOUS, Band

_GRID = 101


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Flagged rows and true positives at thresholds from the highest to the lowest.

    Attributes
    ----------
    flagged : ndarray of shape (cells + 1,)
        From 0 to all rows.
    true_positives : ndarray of shape (..., cells + 1)
        From 0 to all positives; several paths over the same rows are computed at once.
    tied : ndarray of shape (cells,)
        Whether the rows of a cell share one score, and count as ties.
    positives_first : bool
        Where the order inside a cell is not known: positives first, or last.
    row_weight : float
        Weight of a row; 1 without weights.
    """

    flagged: FloatArray
    true_positives: FloatArray
    tied: NDArray[np.bool_]
    positives_first: bool
    row_weight: float = 1.0


def area_under_roc(path: Path) -> FloatArray:
    """AUC: (integral of TP over flagged rows - P^2 / 2) / (P N).

    Examples
    --------
    >>> flags = np.array([True, True])
    >>> path = Path(flagged=np.array([0.0, 1.0, 3.0]), true_positives=np.array([0.0, 1.0, 1.0]),
    ...             tied=flags, positives_first=True)
    >>> float(area_under_roc(path))
    1.0
    """
    rows, found = np.diff(path.flagged), np.diff(path.true_positives)
    before = path.true_positives[..., :-1]
    tied = before * rows + 0.5 * found * rows
    first = before * rows + found * rows - 0.5 * found**2
    last = before * rows + 0.5 * found**2
    inner = np.where(path.tied, tied, first if path.positives_first else last)
    positives = path.true_positives[..., -1]
    negatives = float(path.flagged[-1]) - positives
    area = (np.sum(inner, axis=-1) - 0.5 * positives**2) / (positives * negatives)
    return np.asarray(area)


def average_precision_of(path: Path) -> FloatArray:
    """Average precision: the mean over the positives of the precision at their score.

    Examples
    --------
    >>> path = Path(flagged=np.array([0.0, 1.0, 3.0, 4.0]),
    ...             true_positives=np.array([0.0, 1.0, 1.0, 2.0]),
    ...             tied=np.ones(3, dtype=bool), positives_first=True)
    >>> float(average_precision_of(path))
    0.75
    """
    flagged, found = path.flagged / path.row_weight, np.diff(path.true_positives) / path.row_weight
    before = path.true_positives[..., :-1] / path.row_weight
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(found > 0, found * (before + found) / flagged[1:], 0.0)
    mixed = ~path.tied
    if mixed.any():
        rows, inside = np.diff(flagged)[mixed], found[..., mixed]
        above = flagged[:-1][mixed] + (0.0 if path.positives_first else rows - inside)
        # sum over k = 1..found of (before + k) / (above + k), by the digamma function.
        harmonic = special.digamma(above + inside + 1) - special.digamma(above + 1)
        parts[..., mixed] = inside + (before[..., mixed] - above) * harmonic
    return np.asarray(np.sum(parts, axis=-1) / np.sum(found, axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """Bounds on true positives at every threshold for each class prior looked at.

    Attributes
    ----------
    basis : {"positives", "negatives"}
    low, high : ndarray of shape (priors, cells + 1)
    """

    basis: Literal["positives", "negatives"]
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContingencyBounds:
    """Lower and upper contingency tables at every threshold, thresholds descending.

    Attributes
    ----------
    thresholds : ndarray of shape (cells + 1,)
        Lowest score flagged; the first is above all scores.
    cell_tops : ndarray of shape (cells,)
        Highest score of each cell.
    flagged : ndarray of shape (cells + 1,)
        Rows of the population at or above it.
    positives : ndarray of shape (priors,)
        Positives in the population for each class prior looked at; one when it is known, else
        equally spaced over its interval.
    band, confidence_level, simultaneous
        Of the band on the ranks of the known rows.
    """

    thresholds: FloatArray
    cell_tops: FloatArray
    flagged: FloatArray
    positives: FloatArray
    band: Band
    confidence_level: float
    tied: NDArray[np.bool_]
    row_weight: float
    sides: tuple[Side, ...]
    class_prior: tuple[float, float]

    @property
    def simultaneous(self) -> bool:
        """Whether the band holds all thresholds at once."""
        return self.band in SIMULTANEOUS

    def auc(self) -> Bounds:
        """Bounds on the area under the ROC curve."""
        return self._of_area("auc", area_under_roc)

    def average_precision(self) -> Bounds:
        """Bounds on average precision."""
        return self._of_area("average_precision", average_precision_of)

    def at(self, metric: ThresholdMetric, threshold: float) -> Bounds:
        """Bounds on a metric of the decision `score >= threshold`.

        Raises
        ------
        InputError
            If the threshold falls between scores that were counted together.

        Examples
        --------
        >>> from pumonitor import ClassPriorEstimate, ScoreTable
        >>> from pumonitor.metrics.bounds import bounds_of_table
        >>> from pumonitor.metrics.recall import RECALL
        >>> table = ScoreTable.from_counts([0, 2, 8], [80, 15, 5], edges=[0.0, 0.3, 0.6, 1.0])
        >>> found = bounds_of_table(table, ClassPriorEstimate.given(0.15))
        >>> print(found.at(RECALL, 0.6))
        recall between 0.576 and 0.788
        """
        index = self._index(threshold)
        return min(
            (self._metric_of_side(side, metric, index) for side in self.sides),
            key=lambda found: found.high - found.low,
        )

    def tables_at(self, threshold: float) -> tuple[dict[str, float], dict[str, float]]:
        """Contingency tables with the fewest and the most true positives, at the middle prior."""
        index = self._index(threshold)
        side, middle = self.sides[0], len(self.positives) // 2
        return tuple(  # type: ignore[return-value]
            self._table(float(found[middle, index]), float(self.positives[middle]), index)
            for found in (side.low, side.high)
        )

    def _index(self, threshold: float) -> int:
        """Of the lowest flagged cell's threshold; 0 when nothing is flagged."""
        index = max(int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1, 0)
        if index < len(self.cell_tops) and self.cell_tops[index] >= threshold:
            low, high = self.thresholds[index + 1], self.cell_tops[index]
            msg = (
                f"threshold {threshold:g} falls inside the score cell [{low:g}, {high:g}], whose "
                f"{self.flagged[index + 1] - self.flagged[index]:g} rows were counted together: "
                "name it when the bounds are made (threshold=...), or make the table with a cell "
                "edge there"
            )
            raise InputError(msg)
        return index

    def roc(self) -> Curve:
        """Lower and upper bound of the ROC curve on a grid of false positive rates."""

        def coordinates(flagged: FloatArray, found: FloatArray) -> tuple[FloatArray, FloatArray]:
            positives = float(found[-1])
            negatives = float(flagged[-1]) - positives
            return (flagged - found) / negatives, found / positives

        return self._curve(
            "roc_bounds",
            "False positive rate",
            "True positive rate (recall)",
            np.linspace(0.0, 1.0, _GRID),
            coordinates,
        )

    def precision_recall(self) -> Curve:
        """Lower and upper bound of the precision-recall curve on a grid of recalls."""

        def coordinates(flagged: FloatArray, found: FloatArray) -> tuple[FloatArray, FloatArray]:
            # In case-control labeled rows can lie above all of the population.
            some = flagged > 0
            return found[some] / float(found[-1]), found[some] / flagged[some]

        return self._curve(
            "precision_recall_bounds",
            "Recall",
            "Precision",
            np.linspace(0.01, 1.0, _GRID - 1),
            coordinates,
        )

    def _curve(
        self,
        name: str,
        x_title: str,
        y_title: str,
        x: FloatArray,
        coordinates: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
    ) -> Curve:
        side = self._tighter_side()

        def on_grid(found: FloatArray, *, positives_first: bool) -> FloatArray:
            horizontal, vertical = coordinates(
                *self._with_corners(found, positives_first=positives_first)
            )
            return np.interp(x, np.maximum.accumulate(horizontal), vertical)

        low = np.min([on_grid(found, positives_first=False) for found in side.low], axis=0)
        high = np.max([on_grid(found, positives_first=True) for found in side.high], axis=0)
        return Curve(
            name=name,
            x_title=x_title,
            y_title=y_title,
            x=x,
            y=0.5 * (low + high),
            low=np.minimum(low, high),
            high=high,
        )

    def _with_corners(
        self, found: FloatArray, *, positives_first: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Flagged rows and true positives with the turn inside every cell whose order is open."""
        rows, more = np.diff(self.flagged), np.diff(found)
        first = np.where(self.tied, 0.0, more if positives_first else rows - more)
        turn = found[:-1] + (np.where(self.tied, 0.0, more) if positives_first else 0.0)
        flagged = np.empty(2 * len(self.flagged) - 1)
        true_positives = np.empty_like(flagged)
        flagged[::2], flagged[1::2] = self.flagged, self.flagged[:-1] + first
        true_positives[::2], true_positives[1::2] = found, turn
        return flagged, true_positives

    def _tighter_side(self) -> Side:
        if len(self.sides) == 1:
            return self.sides[0]
        chosen = self.auc().basis
        return next(side for side in self.sides if side.basis == chosen)

    def _table(self, found: float, positives: float, index: int) -> dict[str, float]:
        flagged, rows = float(self.flagged[index]), float(self.flagged[-1])
        return {
            "true_positives": found,
            "false_positives": flagged - found,
            "false_negatives": positives - found,
            "true_negatives": rows - flagged - positives + found,
        }

    def _of_area(self, name: str, area: Callable[[Path], FloatArray]) -> Bounds:
        def of_side(side: Side) -> Bounds:
            def areas(paths: FloatArray, *, positives_first: bool) -> FloatArray:
                return area(
                    Path(
                        flagged=self.flagged,
                        true_positives=paths,
                        tied=self.tied,
                        positives_first=positives_first,
                        row_weight=self.row_weight,
                    )
                )

            return self._bounds(
                name,
                float(np.min(areas(side.low, positives_first=False))),
                float(np.max(areas(side.high, positives_first=True))),
                side,
            )

        return min((of_side(side) for side in self.sides), key=lambda found: found.high - found.low)

    def _metric_of_side(self, side: Side, metric: ThresholdMetric, index: int) -> Bounds:
        rows, flagged = float(self.flagged[-1]), float(self.flagged[index])
        true_positives = np.stack([side.low[:, index], side.high[:, index]])
        rates = Rates(
            class_prior=self.positives / rows,
            recall=true_positives / self.positives,
            false_positive_rate=(flagged - true_positives) / (rows - self.positives),
            predicted_positive_rate=np.asarray(flagged / rows),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.broadcast_to(metric.formula(rates), true_positives.shape)
        low, high = float(values[0].min()), float(values[1].max())
        if not (np.isfinite(low) and np.isfinite(high)):
            low, high = metric.value_range(self.class_prior[0])
        return self._bounds(metric.name, low, high, side)

    def _bounds(self, name: str, low: float, high: float, side: Side) -> Bounds:
        return Bounds(
            name=name,
            low=low,
            high=high,
            confidence_level=self.confidence_level,
            band=self.band,
            simultaneous=self.simultaneous,
            basis=side.basis,
            class_prior=self.class_prior,
        )
