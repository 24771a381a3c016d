"""Bounds on every contingency-table metric, and on ROC and precision-recall curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.metrics.contingency_bounds import ContingencyBounds, Side
from pumonitor.metrics.from_arrays import GivenPrior
from pumonitor.metrics.settings import check_settings
from pumonitor.metrics.surrogates import HiddenCounts, hidden_counts
from pumonitor.results import ClassPriorEstimate, Scenario
from pumonitor.stats.distribution_bands import SIMULTANEOUS, Band, distribution_band
from pumonitor.stats.effective_rows import effective_rows
from pumonitor.tables import ScoreTable
from pumonitor.text import percent_text

Basis = Literal["positives", "negatives", "tighter"]
_Kind = Literal["positives", "negatives"]

_PRIORS = 17
_HIGHEST_FIRST = slice(None, None, -1)


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
    _check_informative(class_prior, label_purity)
    rows = _Rows.of(table, class_prior, scenario=scenario, label_purity=label_purity)
    chosen: tuple[_Kind, ...] = ("positives", "negatives") if basis == "tighter" else (basis,)
    generator = np.random.default_rng(0 if rng is None else rng)
    return ContingencyBounds(
        thresholds=np.concatenate(
            [[np.nextafter(table.upper[-1], np.inf)], table.lower[_HIGHEST_FIRST]]
        ),
        cell_tops=table.upper[_HIGHEST_FIRST],
        flagged=rows.flagged,
        positives=rows.surely[-1] + rows.hidden,
        band=band,
        confidence_level=confidence_level,
        tied=(table.lower == table.upper)[_HIGHEST_FIRST],
        row_weight=float(rows.flagged[-1])
        / (table.n_unlabeled + table.n_labeled + table.n_negative)
        if table.weights is not None
        else 1.0,
        sides=tuple(
            rows.side(one, band=band, confidence_level=confidence_level, rng=generator)
            for one in chosen
        ),
        class_prior=(float(rows.priors[0]), float(rows.priors[-1])),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """The population's rows at or above each threshold, and the positives hidden among them.

    Attributes
    ----------
    table : ScoreTable
    in_population : bool
        Whether labeled rows belong to the population.
    label_purity : float
    flagged, surely, pool : ndarray of shape (cells + 1,)
        All rows, the highest threshold first; those that are surely positive; and those that may
        be positive or negative.
    priors, hidden : ndarray
        Class priors that the bounds are for, and at each the number of positives in the pool.
    """

    table: ScoreTable
    in_population: bool
    label_purity: float
    flagged: FloatArray
    surely: FloatArray
    pool: FloatArray
    priors: FloatArray
    hidden: FloatArray

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        class_prior: ClassPriorEstimate,
        *,
        scenario: Scenario,
        label_purity: float,
    ) -> _Rows:
        """Count the rows, and the hidden positives at each class prior of the interval."""
        in_population = scenario == "single-training-set"
        nothing = np.zeros(len(table) + 1)
        labeled = _running(table.labeled_mass) if in_population else nothing
        negative = _running(table.negative) if in_population else nothing
        flagged = _running(table.unlabeled) + labeled + negative
        # Labels that may be mistaken do not say which rows are positive: those rows are open too.
        surely = labeled if label_purity == 1.0 else nothing
        pool = flagged - surely - negative
        if class_prior.high * flagged[-1] < surely[-1] - max(4 * np.sqrt(surely[-1]), 1.0):
            msg = (
                f"class_prior={class_prior.high:g} is impossible: "
                f"{percent_text(surely[-1] / flagged[-1])} of the rows are confirmed positives"
            )
            raise InputError(msg)
        priors = np.array([class_prior.value])
        if not class_prior.is_known:
            priors = np.linspace(class_prior.low, class_prior.high, _PRIORS)
        return cls(
            table=table,
            in_population=in_population,
            label_purity=label_purity,
            flagged=flagged,
            surely=surely,
            pool=pool,
            priors=priors,
            hidden=np.clip(priors * flagged[-1] - surely[-1], 0.0, pool[-1]),
        )

    def side(
        self, basis: _Kind, *, band: Band, confidence_level: float, rng: np.random.Generator
    ) -> Side:
        """Bounds on the positives flagged, from how confirmed rows of one kind are ranked."""
        of_positives = basis == "positives"
        share, size = self._ranking_of_known(basis)
        band_on_share = distribution_band(
            share, size, band=band, confidence_level=confidence_level, rng=rng
        )
        positives = self.hidden[:, np.newaxis]
        of_kind = positives if of_positives else self.pool[-1] - positives
        low, high = _stretched(share, *band_on_share, size, of_kind, band)
        if of_positives and self.label_purity < 1.0:
            flagged, priors = self.flagged / self.flagged[-1], self.priors[:, np.newaxis]
            low, high = (
                _without_noise(part, flagged, priors, self.label_purity) for part in (low, high)
            )
        counts = hidden_counts(self.pool, low, high, hidden=of_kind)
        if not of_positives:
            counts = HiddenCounts(low=self.pool - counts.high, high=self.pool - counts.low)
        return Side(basis=basis, low=self.surely + counts.low, high=self.surely + counts.high)

    def _ranking_of_known(self, basis: _Kind) -> tuple[FloatArray, float]:
        """Share of the confirmed rows of a kind that are flagged, and how many rows it rests on."""
        if basis == "negatives":
            known = _running(self.table.negative)
            return known / known[-1], float(known[-1])
        weight, squares = _like_the_hidden(
            self.table, hidden_only=self.in_population and self.label_purity == 1.0
        )
        known = _running(weight)
        return known / known[-1], effective_rows(weight, squares)


def _running(column: FloatArray) -> FloatArray:
    """Sum over the cells at or above each threshold, the highest first."""
    return np.concatenate([[0.0], np.cumsum(column[_HIGHEST_FIRST])])


def _check_informative(class_prior: ClassPriorEstimate, label_purity: float) -> None:
    if class_prior.high >= label_purity:
        msg = (
            "bounds need class_prior < label_purity over all of its interval, got "
            f"class_prior={class_prior.high:g}, label_purity={label_purity:g}"
        )
        raise ValueError(msg)


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


def _stretched(
    share: FloatArray,
    low: FloatArray,
    high: FloatArray,
    size: float,
    hidden: FloatArray,
    band: Band,
) -> tuple[FloatArray, FloatArray]:
    """The band on the process' distribution, made one for the K hidden rows' own.

    Hidden rows are a sample too: their share differs from that of n known ones with variance
    V (1/n + 1/K), not V / n. The published construction ("bootstrap") leaves that out.
    """
    if band == "bootstrap":
        return low, high
    factor = np.sqrt(1 + np.divide(size, hidden, out=np.zeros_like(hidden), where=hidden > 0))
    lower = np.clip(share - factor * (share - low), 0.0, 1.0)
    upper = np.clip(share + factor * (high - share), 0.0, 1.0)
    return np.where(hidden > 0, lower, low), np.where(hidden > 0, upper, high)


def _without_noise(
    share: FloatArray, flagged: FloatArray, class_prior: FloatArray, label_purity: float
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
    labels, scores
        As in `pumonitor.metrics.aul`.
    sample_weight, propensity
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
    auc between 0.823 and 0.878
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
