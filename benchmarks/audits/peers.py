"""Intervals of others from audits of the same size, none of which reads confirmations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.audits.windows import Pool, Window
from pumonitor.audit.counts import AuditCounts

__all__ = ["PPI_METRICS", "cases_of_simple_audit", "prediction_powered", "stratified"]

FloatArray = NDArray[np.float64]

PPI_METRICS = ("class_prior", "precision", "recall", "f1")


def stratified(counts: AuditCounts) -> Mapping[str, tuple[float, float]]:
    """The stratified estimator of survey sampling, with normal intervals by the delta method.

    Confirmed rows are known positives; the shares of the others are those of the drawn ones.
    """
    unlabeled = counts.bins.unlabeled.astype(float)
    drawn = np.maximum(counts.decided, 1)
    share = counts.positive / drawn
    positives = counts.labeled + unlabeled * share
    variance = unlabeled**2 * share * (1 - share) / np.maximum(drawn - 1, 1)
    variance *= 1 - drawn / np.maximum(unlabeled, drawn)
    above = counts.bins.above.astype(float)
    rows = float(counts.rows.sum())
    flagged, hits, found = above @ counts.rows, above @ positives, positives.sum()
    ratio = 2 * hits / (found + flagged)
    slopes = {
        "class_prior": (found / rows, np.ones_like(above) / rows),
        "precision": (hits / flagged, above / flagged),
        "recall": (hits / found, (above - hits / found) / found),
        "f1": (ratio, (2 * above - ratio) / (found + flagged)),
    }
    return {
        name: _normal(value, float(slope**2 @ variance)) for name, (value, slope) in slopes.items()
    }


def prediction_powered(
    rows: Window, cases: int, rng: np.random.Generator
) -> Mapping[str, tuple[float, float]]:
    """PPI++ (Angelopoulos, Duchi, Zrnic 2023): a simple audit, tuned by the scores of all rows.

    Ratios by the delta method, each with its own tuning.
    """
    drawn = rng.choice(len(rows.score), cases, replace=False)
    above = (rows.score >= rows.threshold).astype(float)
    truth, guess = rows.positive[drawn].astype(float), rows.score
    flagged = above.mean()

    def tuned(weight: FloatArray) -> tuple[float, float]:
        """Mean of weight * truth, tuned with weight * score, and its variance."""
        y, f = weight[drawn] * truth, weight * guess
        spread = f[drawn].var()
        tuning = float(np.cov(y, f[drawn])[0, 1] / (1 + cases / len(f)) / max(spread, 1e-12))
        rest = y - tuning * f[drawn]
        value = tuning * f.mean() + rest.mean()
        return value, float(tuning**2 * f.var() / len(f) + rest.var(ddof=1) / cases)

    hits, found = tuned(above)[0], tuned(np.ones_like(above))[0]
    floor = 0.5 / cases
    recall, ratio = hits / max(found, floor), 2 * hits / max(found + flagged, floor)
    weights = {
        "class_prior": (found, np.ones_like(above)),
        "precision": (hits / flagged, above / flagged),
        "recall": (recall, (above - recall) / max(found, floor)),
        "f1": (ratio, (2 * above - ratio) / max(found + flagged, floor)),
    }
    return {name: _normal(value, tuned(weight)[1]) for name, (value, weight) in weights.items()}


def _normal(value: float, variance: float) -> tuple[float, float]:
    reach = 1.96 * float(np.sqrt(variance))
    return value - reach, value + reach


def cases_of_simple_audit(
    scores: Pool, threshold: float, class_prior: float, widths: Mapping[str, float]
) -> Mapping[str, float]:
    """How many cases drawn from all rows alike give intervals as wide.

    By the asymptotic variance; cases are post-stratified at the threshold, as anybody would.
    """
    hit = float((scores.positives >= threshold).mean())
    wrong = float((scores.negatives >= threshold).mean())
    flagged = class_prior * hit + (1 - class_prior) * wrong
    precision, missed = class_prior * hit / flagged, class_prior * (1 - hit) / (1 - flagged)
    f1 = 2 * flagged * precision / (class_prior + flagged)
    # Of the two shares, each from the cases on its side of the threshold, for one case in all.
    shares = np.array(
        [precision * (1 - precision) / flagged, missed * (1 - missed) / (1 - flagged)]
    )
    slopes = {
        "class_prior": (flagged, 1 - flagged),
        "precision": (1.0, 0.0),
        "recall": ((1 - hit) * flagged / class_prior, -hit * (1 - flagged) / class_prior),
        "f1": (
            (2 - f1) * flagged / (class_prior + flagged),
            -f1 * (1 - flagged) / (class_prior + flagged),
        ),
    }
    variance = {name: float(np.square(slope) @ shares) for name, slope in slopes.items()}
    below = _rank(np.sort(scores.negatives), scores.positives)
    beaten = 1 - _rank(np.sort(scores.positives), scores.negatives)
    variance["auc"] = float(below.var() / class_prior + beaten.var() / (1 - class_prior))
    return {
        name: variance[name] * (2 * 1.96 / width) ** 2
        for name, width in widths.items()
        if name in variance
    }


def _rank(ordered: FloatArray, scores: FloatArray) -> FloatArray:
    low, high = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    return np.asarray((low + high) / (2 * len(ordered)))
