"""Hypotheses about a change: models of the new counts, each with one or two free parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.causes.earlier import log_most_by_earlier
from pumonitor.monitor.rules.causes.excess import excess
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.causes.predictions import Distributions, Prediction
from pumonitor.monitor.rules.causes.shapes import Shapes
from pumonitor.monitor.rules.causes.variation import RowVariation, share_variation, windows_apart

_DELAYS = 4
_PER_PARAMETER = 3.0
_PER_CELL = 1.0
"""Penalty per freely fitted cell; by chance each gains half of it in log likelihood."""
_SMALLEST_SHARE = 1e-12
_MOVED = 0.1
_MOST_VARIATIONS = 3.0
_FREE = 8.0
_CLASS_PRIOR_ERROR = 2.0
"""Where a bound depends on the class prior it may be wrong, or have changed, by this factor."""
_STARTS = ((0.0, -1.5, -1.0, -0.5, -0.2, 0.2, 0.5, 1.0, 1.5), (0.0, -0.3, 0.3))
"""Starting values of a hypothesis's own parameters: a shift or a tilt, and a log stretch."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """The maximum likelihood fit of a hypothesis.

    Attributes
    ----------
    score : float
        Log likelihood less the penalty for free parameters and cells.
    parameters : ndarray
        Log ratio of the class prior, log ratio of the confirmed share, then the hypothesis's own.
    covariance : ndarray
        Of the parameters.
    prior_free : bool
        Whether the class prior is a free parameter; otherwise it varies only as it usually does
        between windows.
    """

    score: float
    parameters: FloatArray
    covariance: FloatArray
    prior_free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hypothesis:
    predict: Callable[[FloatArray], Prediction]
    own: int = 0
    prior_free: bool = False
    share_free: bool = False
    delays_free: bool = False
    log_most_share: float = _FREE
    """Upper bound of a free log ratio of the confirmed share, before usual variation."""
    mix: float = 0.0
    cells_free: int = 0


class Hypotheses:
    """All hypotheses about the change between two periods.

    The likelihood compares what a hypothesis predicts with four things in the new period: the
    scores of all rows, the scores of confirmed positives, their number, and their delays. Windows
    of the reference vary by more than chance; the log likelihood is divided by that dispersion, and
    by the sampling error of the reference itself.

    Parameters
    ----------
    before, now : Period
        The reference and the new period, on the same cells.
    class_prior : float
        Of the reference.
    """

    def __init__(self, before: Period, now: Period, *, class_prior: float) -> None:
        self._before, self._now = before, now
        labeled, rows = before.labeled.sum(axis=0), before.rows.sum(axis=0)
        self.shapes = shapes = Shapes(labeled, rows, class_prior=class_prior)
        self._rows = shapes.binned(now.rows.sum(axis=0))
        self._labeled = shapes.binned(now.labeled.sum(axis=0))
        self._share_confirmed = labeled.sum() / (class_prior * rows.sum())
        binned = np.array([shapes.binned(one) for one in before.rows])
        apart = windows_apart(before, now)
        self._usual = RowVariation.learned(binned, self._rows, apart=apart)
        labeled_windows = np.array([shapes.binned(one) for one in before.labeled])
        self._dispersion = max(_dispersion(labeled_windows), 1.0)
        uncertainty = 1 + self._labeled.sum() / labeled_windows.sum()
        self._weight_of_labeled = float(1 / (uncertainty * self._dispersion))
        self._variation = share_variation(before, now)
        self._delays_before, self._delays_now = _delays(before.arrivals, now.arrivals)

    def fit(self) -> dict[str, Fit]:
        """Fit every hypothesis: kind to the best fit among its variants. Includes "none"."""
        as_before = Distributions.of(self.shapes)
        everything = self._rows / self._rows.sum()
        hypotheses = {
            "none": [_Hypothesis(predict=as_before.same)],
            "class_prior": [_Hypothesis(predict=as_before.same, prior_free=True)],
            "confirmed_share": [self._share_changed(as_before.same)],
            "ranking": [
                _Hypothesis(predict=as_before.positives_moved, own=2),
                _Hypothesis(predict=as_before.negatives_moved, own=2),
                _Hypothesis(
                    predict=lambda own: replace(as_before.same(own), everything=everything),
                    cells_free=len(self._rows),
                ),
            ],
            "score_scale": [
                _Hypothesis(predict=as_before.all_moved, own=2),
                _Hypothesis(predict=self._mapped(), cells_free=len(self._rows)),
            ],
        }
        if len(self._delays_before):
            hypotheses["label_delay"] = [self._share_changed(as_before.same, by_delays=True)]
        if self._before.traffic and self._now.traffic:
            hypotheses["traffic"] = [_Hypothesis(predict=self._traffic(), mix=1.0 - self._moved())]
        fits = {
            kind: max((self._fitted(one) for one in variants), key=_score)
            for kind, variants in hypotheses.items()
        }
        return self._with_labeled_moved(as_before, fits)

    def _with_labeled_moved(self, as_before: Distributions, fits: dict[str, Fit]) -> dict[str, Fit]:
        """Add the fits in which confirmed rows score elsewhere and all rows as before.

        Another choice of positives to confirm predicts such counts, and so does a model that mixes
        positives and negatives up, as after a wrong join: neither moves all scores. Both get the
        same fit, less what makes one of them impossible. Another ranking may move all scores too.
        """
        shapes = [
            _Hypothesis(predict=as_before.labeled_mixed, own=1),
            _Hypothesis(predict=as_before.labeled_moved, own=2),
        ]
        moved = [self._fitted(shape) for shape in shapes]
        shape = shapes[moved.index(max(moved, key=_score))]
        everything = self._rows / self._rows.sum()
        also_all = self._fitted(
            replace(
                shape,
                predict=lambda own: replace(shape.predict(own), everything=everything),
                cells_free=len(self._rows),
            )
        )
        best = max(moved, key=_score)
        ranking = replace(best, score=best.score - self._excess_of_positives())
        return {
            **fits,
            "ranking": max(fits["ranking"], ranking, also_all, key=_score),
            "labeling": replace(best, score=best.score - self._excess_of_confirmed()),
        }

    def _excess_of_confirmed(self) -> float:
        """Evidence that more is confirmed in some range of scores than was positive there."""
        confirmed = self._labeled.sum() / (
            self.shapes.class_prior * self._rows.sum() * _CLASS_PRIOR_ERROR
        )
        before = self.shapes.binned(self._before.labeled.sum(axis=0))
        return excess(self._labeled, of=before, share=float(confirmed)) / self._dispersion

    def _excess_of_positives(self) -> float:
        """Evidence that positives like the confirmed ones exceed all rows in a range of scores."""
        share = self.shapes.class_prior / _CLASS_PRIOR_ERROR
        return excess(self._labeled, of=self._rows, share=share) / self._dispersion

    # -- likelihood -------------------------------------------------------------------------------

    def _fitted(self, hypothesis: _Hypothesis) -> Fit:
        from scipy import optimize

        def cost(parameters: FloatArray) -> float:
            return -self._log_likelihood(hypothesis, parameters)

        size = 2 + hypothesis.own
        # With few confirmed positives the likelihood has several local maxima: try many starts.
        starts = [np.array([0.0, 0.0, *own]) for own in product(*_STARTS[: hypothesis.own])]
        start = min(starts, key=cost)
        simplex = start + np.vstack([np.zeros(size), 0.15 * np.eye(size)])
        found = optimize.minimize(
            cost,
            start,
            method="Nelder-Mead",
            options={
                "initial_simplex": simplex,
                "maxiter": 400 * size,
                "xatol": 1e-3,
                "fatol": 1e-2,
            },
        )
        free = hypothesis.own + hypothesis.prior_free + hypothesis.share_free + hypothesis.mix
        if hypothesis.delays_free and len(self._delays_before):
            free += len(self._delays_before) - 1
        return Fit(
            score=-float(found.fun) - _PER_PARAMETER * free - _PER_CELL * hypothesis.cells_free,
            parameters=np.concatenate([self._held(hypothesis, found.x), found.x[2:]]),
            covariance=_covariance(cost, found.x),
            prior_free=hypothesis.prior_free,
        )

    def _log_likelihood(self, hypothesis: _Hypothesis, parameters: FloatArray) -> float:
        log_prior, log_share = parameters[:2]
        held_prior, held_share = self._held(hypothesis, parameters)
        predicted = hypothesis.predict(parameters[2:])
        prior = min(self.shapes.class_prior * predicted.prior_ratio * np.exp(held_prior), 0.99)
        mixed = prior * predicted.positives + (1 - prior) * predicted.negatives
        if predicted.everything is not None:
            mixed = predicted.everything
        value = self._usual.log_likelihood(self._rows, mixed)
        value += _multinomial(self._labeled, predicted.labeled) * self._weight_of_labeled
        number = self._labeled.sum()
        expected = self._share_confirmed * np.exp(held_share) * prior * self._rows.sum()
        poisson = special.xlogy(number, expected / max(number, 1)) - expected + number
        value += self._weight_of_labeled * float(poisson)
        if not hypothesis.prior_free:
            value -= 0.5 * (log_prior / self._variation) ** 2
        if not hypothesis.share_free:
            value -= 0.5 * (log_share / self._variation) ** 2
        beyond = max(log_share - hypothesis.log_most_share, 0.0)
        value -= 0.5 * (beyond / self._variation) ** 2
        if len(self._delays_before) and not hypothesis.delays_free:
            weight = self._weight_of_labeled
            value += _multinomial(self._delays_now, self._delays_before) * weight
        return float(value)

    def _held(self, hypothesis: _Hypothesis, parameters: FloatArray) -> FloatArray:
        """Clip the log ratios of class prior and confirmed share to what a hypothesis allows.

        With many rows every hypothesis fits badly somewhere. Without the clip a ratio that is not
        free compensates for that: when positives came to score like negatives, the fit found three
        times as many positives.
        """
        most = _MOST_VARIATIONS * self._variation
        ends = [_FREE if free else most for free in (hypothesis.prior_free, hypothesis.share_free)]
        highest = np.minimum(ends, [_FREE, hypothesis.log_most_share + most])
        return np.clip(parameters[:2], -np.array(ends), highest)

    def _share_changed(
        self, predict: Callable[[FloatArray], Prediction], *, by_delays: bool = False
    ) -> _Hypothesis:
        """The hypothesis that another share of positives is confirmed by now.

        With `by_delays` the share can rise only by what used to be confirmed after the maturity.
        """
        most = max(-float(np.log(self._share_confirmed)), 0.0)
        if by_delays:
            most = min(most, log_most_by_earlier(self._before.arrivals))
        return _Hypothesis(
            predict=predict, share_free=True, delays_free=by_delays, log_most_share=most
        )

    def _mapped(self) -> Callable[[FloatArray], Prediction]:
        """Predict from the monotone map that turns the reference's score distribution into the new.

        Such a map exists for any two distributions. It keeps ranks, so confirmed positives have the
        same distribution of ranks among all rows as in the reference.
        """
        labeled = self.shapes.at_ranks(np.cumsum(self._rows) / self._rows.sum())
        predicted = Prediction(
            positives=labeled,
            negatives=self._rows / self._rows.sum(),
            labeled=labeled,
            everything=self._rows / self._rows.sum(),
        )
        return lambda _: predicted

    def _moved(self) -> float:
        """Share of the traffic that moved to other segments, in tenths, at most 1.

        The mix is counted, not fitted, so it needs no penalty. When the mix is as before, "traffic"
        predicts the same as "none" and pays the penalty of one parameter.
        """
        parts = sorted({*self._before.traffic, *self._now.traffic})
        shares = []
        for traffic in (self._before.traffic, self._now.traffic):
            rows = np.array([traffic[one][1].sum() if one in traffic else 0.0 for one in parts])
            shares.append(rows / max(rows.sum(), 1))
        return min(0.5 * float(np.abs(shares[1] - shares[0]).sum()) / _MOVED, 1.0)

    def _traffic(self) -> Callable[[FloatArray], Prediction]:
        """Predict from the reference with each segment weighted to its present number of rows."""
        shapes = self.shapes
        labeled, rows = np.zeros(self._before.rows.shape[1]), np.zeros(self._before.rows.shape[1])
        for name, (part_labeled, part_rows) in self._before.traffic.items():
            here = self._now.traffic.get(name)
            if here is not None and part_rows.sum() > 0:
                ratio = here[1].sum() / part_rows.sum()
                labeled += ratio * part_labeled
                rows += ratio * part_rows
        if labeled.sum() == 0:
            labeled, rows = self._before.labeled.sum(axis=0), self._before.rows.sum(axis=0)
        # Segments differ in their class prior; labeled rows show by how much.
        prior = min(labeled.sum() / (self._share_confirmed * rows.sum()), 0.99)
        positives = np.maximum(shapes.binned(labeled) / labeled.sum(), _SMALLEST_SHARE)
        everything = shapes.binned(rows) / rows.sum()
        negatives = np.maximum((everything - prior * positives) / (1 - prior), _SMALLEST_SHARE)
        predicted = Prediction(
            positives=positives,
            negatives=negatives,
            labeled=positives,
            prior_ratio=prior / shapes.class_prior,
        )
        return lambda _: predicted


def _multinomial(counts: FloatArray, shares: FloatArray) -> float:
    """Log likelihood of counts less that of their own shares; at most 0."""
    total = counts.sum()
    if total == 0:
        return 0.0
    some = counts > 0
    own = counts[some] / total
    return float((counts[some] * np.log(shares[some] / shares.sum() / own)).sum())


def _score(fit: Fit) -> float:
    return fit.score


def _dispersion(binned: FloatArray) -> float:
    """Pearson's chi-square of the windows against their pooled shares, per degree of freedom."""
    sizes = binned.sum(axis=1, keepdims=True)
    used = sizes[:, 0] > 0
    binned, sizes = binned[used], sizes[used]
    shares = binned.sum(axis=0) / binned.sum()
    some = shares > 0
    freedom = (len(binned) - 1) * (int(some.sum()) - 1)
    if freedom <= 0:
        return 1.0
    expected = sizes * shares[some]
    return float(((binned[:, some] - expected) ** 2 / expected).sum() / freedom)


def _delays(before: FloatArray, now: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shares before and counts now in four groups of delays, equally frequent before.

    Two empty arrays if either period has no delays.
    """
    if len(before) != len(now) or before.sum() == 0 or now.sum() == 0:
        return np.zeros(0), np.zeros(0)
    levels = np.arange(1, _DELAYS) / _DELAYS * before.sum()
    ends = np.unique(np.searchsorted(np.cumsum(before), levels))
    starts = np.concatenate([[0], ends[ends < len(before) - 1] + 1])
    shares = np.add.reduceat(before, starts) + 0.5
    return shares / shares.sum(), np.add.reduceat(now, starts)


def _covariance(cost: Callable[[FloatArray], float], at: FloatArray) -> FloatArray:
    """Covariance of the parameters: inverse curvature of the cost at its minimum.

    The finite differences are wide because the cost has small kinks.
    """
    size = len(at)
    step = 0.02
    steps = step * np.eye(size)
    centre = cost(at)
    curvature = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            if i == j:
                value = (cost(at + steps[i]) - 2 * centre + cost(at - steps[i])) / step**2
            else:
                value = (
                    cost(at + steps[i] + steps[j])
                    - cost(at + steps[i] - steps[j])
                    - cost(at - steps[i] + steps[j])
                    + cost(at - steps[i] - steps[j])
                ) / (4 * step**2)
            curvature[i, j] = curvature[j, i] = value
    values, vectors = np.linalg.eigh(curvature)
    return np.asarray((vectors / np.maximum(values, 1e-3)) @ vectors.T)
