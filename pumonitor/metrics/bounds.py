"""Bounds on every contingency-table metric, and on ROC and precision-recall curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.bound_areas import Path, area_under_roc, average_precision_of
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.from_arrays import GivenPrior
from pumonitor.metrics.ll_score import LL_SCORE
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.problem import check_settings
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.specificity import SPECIFICITY
from pumonitor.metrics.surrogates import HiddenCounts, hidden_counts
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.results import Bounds, ClassPriorEstimate, Curve, Scenario
from pumonitor.stats.distribution_bands import SIMULTANEOUS, Band, distribution_band
from pumonitor.tables import ScoreTable

__all__ = ["BOUNDED", "Basis", "ContingencyBounds", "bounds", "bounds_of_table"]

FloatArray = NDArray[np.float64]

Basis = Literal["positives", "negatives", "tighter"]

BOUNDED: Final[tuple[ThresholdMetric, ...]] = (
    RECALL,
    PRECISION,
    SPECIFICITY,
    F1,
    ACCURACY,
    BALANCED_ACCURACY,
    MCC,
    LL_SCORE,
)

_PRIORS = 17
_GRID = 101


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """Bounds on true positives at every threshold for each class prior looked at."""

    basis: Literal["positives", "negatives"]
    low: tuple[FloatArray, ...]
    high: tuple[FloatArray, ...]


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
    sides: tuple[_Side, ...]
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
        >>> table = ScoreTable.from_counts([0, 2, 8], [80, 15, 5], edges=[0.0, 0.3, 0.6, 1.0])
        >>> found = bounds_of_table(table, ClassPriorEstimate.given(0.15))
        >>> print(found.at(RECALL, 0.6))
        recall between 0.5765 and 0.7879
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
            self._table(float(found[middle][index]), float(self.positives[middle]), index)
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

    def _tighter_side(self) -> _Side:
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

    def _of_area(self, name: str, area: Callable[[Path], float]) -> Bounds:
        def of_side(side: _Side) -> Bounds:
            def areas(paths: tuple[FloatArray, ...], *, positives_first: bool) -> list[float]:
                return [
                    area(
                        Path(
                            flagged=self.flagged,
                            true_positives=found,
                            tied=self.tied,
                            positives_first=positives_first,
                            row_weight=self.row_weight,
                        )
                    )
                    for found in paths
                ]

            return self._bounds(
                name,
                min(areas(side.low, positives_first=False)),
                max(areas(side.high, positives_first=True)),
                side,
            )

        return min((of_side(side) for side in self.sides), key=lambda found: found.high - found.low)

    def _metric_of_side(self, side: _Side, metric: ThresholdMetric, index: int) -> Bounds:
        rows, flagged = float(self.flagged[-1]), float(self.flagged[index])

        def values(found: tuple[FloatArray, ...]) -> FloatArray:
            true_positives = np.array([path[index] for path in found])
            negatives = rows - self.positives
            rates = Rates(
                class_prior=self.positives / rows,
                recall=true_positives / self.positives,
                false_positive_rate=(flagged - true_positives) / negatives,
                predicted_positive_rate=np.asarray(flagged / rows),
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.broadcast_to(metric.formula(rates), true_positives.shape)

        low, high = float(np.min(values(side.low))), float(np.max(values(side.high)))
        if not (np.isfinite(low) and np.isfinite(high)):
            low, high = metric.value_range(self.class_prior[0])
        return self._bounds(metric.name, low, high, side)

    def _bounds(self, name: str, low: float, high: float, side: _Side) -> Bounds:
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


def bounds_of_table(
    table: ScoreTable,
    class_prior: ClassPriorEstimate,
    *,
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    band: Band = "exact",
    basis: Basis = "positives",
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ContingencyBounds:
    """The same as `bounds`, from a ScoreTable and a class prior."""
    _check(table, band=band, basis=basis)
    check_settings(
        scenario=scenario,
        target="window",
        label_purity=label_purity,
        confidence_level=confidence_level,
    )
    if class_prior.high >= label_purity:
        msg = (
            "bounds need class_prior < label_purity over all of its interval, got "
            f"class_prior={class_prior.high:g}, label_purity={label_purity:g}"
        )
        raise ValueError(msg)
    highest_first = slice(None, None, -1)
    in_population = scenario == "single-training-set"

    def running(column: FloatArray) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(column[highest_first])])

    unlabeled = running(table.unlabeled)
    labeled = running(table.labeled_mass) if in_population else np.zeros(len(table) + 1)
    negative = running(table.negative) if in_population else np.zeros(len(table) + 1)
    flagged = unlabeled + labeled + negative
    # Labels that may be mistaken do not say which rows are positive: those rows are open too.
    surely = labeled if label_purity == 1.0 else np.zeros_like(labeled)
    pool = flagged - surely - negative
    priors = np.array([class_prior.value])
    if not class_prior.is_known:
        priors = np.linspace(class_prior.low, class_prior.high, _PRIORS)
    hidden = np.clip(priors * flagged[-1] - surely[-1], 0.0, pool[-1])
    if class_prior.high * flagged[-1] < surely[-1] - max(4 * np.sqrt(surely[-1]), 1.0):
        msg = (
            f"class_prior={class_prior.high:g} is impossible: "
            f"{100 * surely[-1] / flagged[-1]:.3g}% of the rows are confirmed positives"
        )
        raise InputError(msg)
    generator = np.random.default_rng(0 if rng is None else rng)

    def side(basis: Literal["positives", "negatives"]) -> _Side:
        of_positives = basis == "positives"
        known = running(table.negative)
        size = float(known[-1])
        if of_positives:
            weight, squares = _like_the_hidden(
                table, hidden_only=in_population and label_purity == 1.0
            )
            known, size = running(weight), _size(weight, squares)
        share = known / known[-1]
        band_on_share = distribution_band(
            share, size, band=band, confidence_level=confidence_level, rng=generator
        )
        found: list[HiddenCounts] = []
        for prior, count in zip(priors, hidden, strict=True):
            of_kind = float(count if of_positives else pool[-1] - count)
            low, high = _stretched(share, *band_on_share, size, of_kind, band)
            if of_positives and label_purity < 1.0:
                low, high = (
                    _without_noise(part, flagged / flagged[-1], float(prior), label_purity)
                    for part in (low, high)
                )
            counts = hidden_counts(pool, low, high, hidden=of_kind)
            if not of_positives:
                counts = HiddenCounts(low=pool - counts.high, high=pool - counts.low)
            found.append(counts)
        return _Side(
            basis=basis,
            low=tuple(surely + counts.low for counts in found),
            high=tuple(surely + counts.high for counts in found),
        )

    chosen: tuple[Literal["positives", "negatives"], ...] = (
        ("positives", "negatives") if basis == "tighter" else (basis,)
    )
    lowest = np.concatenate([[np.nextafter(table.upper[-1], np.inf)], table.lower[highest_first]])
    return ContingencyBounds(
        thresholds=lowest,
        cell_tops=table.upper[highest_first],
        flagged=flagged,
        positives=surely[-1] + hidden,
        band=band,
        confidence_level=confidence_level,
        tied=(table.lower == table.upper)[highest_first],
        row_weight=float(flagged[-1]) / (table.n_unlabeled + table.n_labeled + table.n_negative)
        if table.weights is not None
        else 1.0,
        sides=tuple(side(one) for one in chosen),
        class_prior=(float(priors[0]), float(priors[-1])),
    )


def _check(table: ScoreTable, *, band: Band, basis: Basis) -> None:
    if basis not in ("positives", "negatives", "tighter"):
        msg = f"basis must be 'positives', 'negatives' or 'tighter', got {basis!r}"
        raise ValueError(msg)
    if basis != "positives" and table.n_negative < 2:
        msg = (
            f"basis={basis!r} needs confirmed negatives (label -1): {table.n_negative} rows are; "
            "use basis='positives'"
        )
        raise InputError(msg)
    if table.weights is not None and (band in SIMULTANEOUS or basis != "positives"):
        msg = (
            "with weights or propensities bounds take band='bootstrap' or 'exact' and "
            f"basis='positives', got band={band!r}, basis={basis!r}"
        )
        raise InputError(msg)


def _like_the_hidden(table: ScoreTable, *, hidden_only: bool) -> tuple[FloatArray, FloatArray]:
    """Weights of labeled rows, and their squares, that rank like the positives sought.

    All positives are like labeled rows of weight w / e. Those left among the unlabeled have passed
    by with chance 1 - e, so they are like labeled rows of weight w (1 - e) / e. With one propensity
    for all, or none given, the two are the same.
    """
    if not hidden_only or not table.has_propensities:
        return table.labeled, table.labeled_squares
    weight = np.maximum(table.labeled - table.labeled_mass, 0.0)
    if weight.sum() <= 1e-9 * table.labeled.sum():
        return table.labeled, table.labeled_squares
    squares = table.labeled_squares - 2 * table.labeled_cross + table.labeled_mass_squares
    return weight, np.maximum(squares, 0.0)


def _size(weight: FloatArray, squares: FloatArray) -> float:
    """Rows, or with weights the rows they are worth (Kish)."""
    return float(weight.sum()) ** 2 / float(squares.sum())


def _stretched(
    share: FloatArray,
    low: FloatArray,
    high: FloatArray,
    size: float,
    hidden: float,
    band: Band,
) -> tuple[FloatArray, FloatArray]:
    """The band on the process' distribution, made one for the K hidden rows' own.

    Hidden rows are a sample too: their share differs from that of n known ones with variance
    V (1/n + 1/K), not V / n. The published construction ("bootstrap") leaves that out.
    """
    if band == "bootstrap" or hidden <= 0:
        return low, high
    factor = np.sqrt(1 + size / hidden)
    return (
        np.clip(share - factor * (share - low), 0.0, 1.0),
        np.clip(share + factor * (high - share), 0.0, 1.0),
    )


def _without_noise(
    share: FloatArray, flagged: FloatArray, class_prior: float, label_purity: float
) -> FloatArray:
    """Share of true positives from that of rows labeled so (Jain et al. 2017, equation 1)."""
    found = ((1 - class_prior) * share - (1 - label_purity) * flagged) / (
        label_purity - class_prior
    )
    return np.clip(found, 0.0, 1.0)


def bounds(
    labels: Any,
    scores: Any,
    *,
    class_prior: GivenPrior,
    threshold: float | None = None,
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    band: Band = "exact",
    basis: Basis = "positives",
    sample_weight: Any = None,
    propensity: Any = None,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ContingencyBounds:
    """Bounds on any contingency-table metric, AUC and average precision of these very rows.

    The hidden positives are taken to be ranked like the confirmed ones, within a confidence band.
    Wrong when confirmed positives are not a fair sample of the positives, and when the class prior
    lies outside the interval given. They are bounds, not an interval: for areas they hold the truth
    more often than the confidence level of the band says.

    Parameters
    ----------
    labels, scores, sample_weight, propensity
        As in `pumonitor.metrics.aul`.
    class_prior : float, (low, high), (value, low, high) or ClassPriorEstimate
        pi. With an interval the bounds hold for every prior in it.
    threshold : float, optional
        A decision threshold at which bounds will be asked for.
    scenario : {"single-training-set", "case-control"}
        Whether confirmed rows belong to the rows the metric is about.
    label_purity : float
        P(y = 1 given labeled). Below 1 no confirmed row counts as surely positive.
    band : {"exact", "bootstrap", "dkw", "bootstrap-simultaneous"}
        On the share of known rows above each threshold. "exact" and "bootstrap" are pointwise, the
        others hold at all thresholds at once. "bootstrap" is the published one: it has no width
        where all or none of the known rows are above, and leaves out that the hidden rows vary as
        well. Its bounds on AUC held the truth in 95% of samples or more with 100 or 1000 known
        of many positives, but in 57 to 95% with 20, or when most positives are known; those of
        "exact" held it everywhere (`python -m benchmarks.bounds`).
    basis : {"positives", "negatives", "tighter"}
        The known rows whose ranks are used. "negatives" takes confirmed negatives for a fair
        sample of the negatives, which reviewed cases seldom are. "tighter" takes, metric by metric,
        the basis with the closer bounds.
    confidence_level : float
        Of the band, and of the class prior's interval.
    rng : int, numpy Generator or None

    Returns
    -------
    ContingencyBounds

    Raises
    ------
    InputError
        If labels or scores cannot be used, if `basis` needs negatives that are not there, or if
        the band cannot take weights.
    ValueError
        Unless 0 < class_prior < label_purity <= 1, for all of the prior's interval.

    Notes
    -----
    Linear in the cells of the table. With pi an interval, bounds are taken over 17 priors in it,
    equally spaced: most metrics change monotonically with the prior, and none turns sharply.

    References
    ----------
    Claesen, Davis, De Smet, De Moor (2015), theorem 1, equations 8-14, section 6.4, appendix C.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5000) < 0.2
    >>> labels = positive & (rng.random(5000) < 0.4)
    >>> print(bounds(labels, rng.normal(1.5 * positive), class_prior=0.2).auc())
    auc between 0.8232 and 0.8783
    """
    table = ScoreTable.from_arrays(
        labels,
        scores,
        thresholds=() if threshold is None else (threshold,),
        sample_weight=sample_weight,
        propensity=propensity,
        density_edges=0,
    )
    return bounds_of_table(
        table,
        ClassPriorEstimate.given(class_prior, confidence_level=confidence_level),
        scenario=scenario,
        label_purity=label_purity,
        band=band,
        basis=basis,
        confidence_level=confidence_level,
        rng=rng,
    )
