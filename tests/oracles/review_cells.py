"""Reviews and complaints from the table of cells alone: chances, and a random walk over them.

A row is positive with chance p; a positive that nothing stops complains with chance e; a reviewer
calls a positive one positive with chance s. Nothing here is taken from `pumonitor.reviews`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Rows = Mapping[str, NDArray[Any]]

_SINGLE_ROW = (
    "open_complained",
    "open_silent",
    "undecided_complained",
    "undecided_silent",
    "drawn_positive",
    "drawn_negative",
    "positive_complained",
    "positive_silent",
    "cleared_complained",
    "cleared_silent",
)


def chances(
    p_logit: FloatArray, v: FloatArray, s_logit: FloatArray, *, blocks: bool
) -> dict[str, dict[str, FloatArray]]:
    """Of each outcome, in groups whose chances are 1 together."""
    p, e, s = 1 / (1 + np.exp(-p_logit)), 1 / (1 + np.exp(v)), 1 / (1 + np.exp(-s_logit))
    silence = 1 - p * e
    verdicts = {
        "cleared_complained": p * (1 - s) * e,
        "cleared_silent": p * (1 - s) * (1 - e) + 1 - p,
    }
    if blocks:
        verdicts["positive"] = p * s
    else:
        verdicts |= {"positive_complained": p * s * e, "positive_silent": p * s * (1 - e)}
    return {
        "without a verdict": {"complained": p * e, "silent": silence},
        "drawn because silent": {
            "drawn_positive": p * (1 - e) / silence,
            "drawn_negative": (1 - p) / silence,
        },
        "reviewed": verdicts,
    }


def rows_by_outcome(rows: Rows, *, blocks: bool) -> dict[str, dict[str, NDArray[Any]]]:
    """Rows of each outcome, in the same groups."""
    kind = {name: np.asarray(rows.get(name, 0)) for name in _SINGLE_ROW}
    reviewed = {name: kind[name] for name in ("cleared_complained", "cleared_silent")}
    if blocks:
        reviewed["positive"] = kind["positive_complained"] + kind["positive_silent"]
    else:
        reviewed |= {name: kind[name] for name in ("positive_complained", "positive_silent")}
    drawn = {name: kind[name] for name in ("drawn_positive", "drawn_negative")}
    return {
        "without a verdict": {
            "complained": kind["open_complained"] + kind["undecided_complained"],
            "silent": kind["open_silent"] + kind["undecided_silent"] + sum(drawn.values()),
        },
        "drawn because silent": drawn,
        "reviewed": reviewed,
    }


def log_likelihood(
    rows: Rows, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray, *, blocks: bool
) -> FloatArray:
    """By bin. Where reviewers miss nobody `s_logit` is 40, which leaves s a hair below 1."""
    counted = rows_by_outcome(rows, blocks=blocks)
    total = np.zeros(np.broadcast_shapes(p_logit.shape, v.shape))
    for group, outcomes in chances(p_logit, v, s_logit, blocks=blocks).items():
        for name, chance in outcomes.items():
            number = counted[group][name]
            if np.any(number > 0):
                total = total + number * np.log(np.maximum(chance, 1e-300))
    return np.asarray(total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Where bins lie: what the prior reads of them."""

    normal_score: FloatArray
    rank: FloatArray
    without_verdict: NDArray[np.bool_]
    anchor: float


SHAPES = ((0.15, 0.4), (0.5, 0.4), (1.5, 0.4), (5.0, 0.4), (1.5, 1.2), (1.5, 3.0))
"""Bend and noise of logit p, which are equally likely."""


def bent(away: FloatArray) -> FloatArray:
    """Covariance of the integral of a Wiener process, one on either side of 0."""
    size = len(away)
    covariance = np.zeros((size, size))
    for row in range(size):
        for column in range(size):
            first, second = sorted((abs(away[row]), abs(away[column])))
            if away[row] * away[column] > 0:
                covariance[row, column] = first**3 / 3 + first**2 * (second - first) / 2
    return covariance


def covariance_of_p(line: Line, bend: float, noise: float) -> FloatArray:
    """Level 4, slope 1.5, a bend on either side of the cut, and white noise."""
    away = line.normal_score - line.anchor
    slope = 2.25 * np.outer(away, away)
    return np.asarray(16 + slope + bend**2 * bent(away) + noise**2 * np.eye(len(away)))


def covariance_of_v(line: Line) -> FloatArray:
    """Level 1.5, slope 1.5, step .3 without a verdict, bend .7 from the cut on, departures .25."""
    step = line.without_verdict.astype(float)
    cut = line.rank[np.flatnonzero(line.normal_score == line.anchor)[0]]
    level = 2.25 * np.ones((len(step), len(step)))
    return np.asarray(
        level
        + 2.25 * np.outer(line.rank, line.rank)
        + 0.09 * np.outer(step, step)
        + 0.49 * bent(line.rank - cut)
        + 0.0625 * np.eye(len(step))
    )


class Prior:
    """Of logit p, over its shapes, and of v."""

    def __init__(self, line: Line) -> None:
        self.mean = -2 + 1.5 * (line.normal_score - line.anchor)
        of_p = [covariance_of_p(line, *shape) for shape in SHAPES]
        self.of_p = [_whitening(covariance) for covariance in of_p]
        self.of_v = _whitening(covariance_of_v(line))

    def log_density(self, p_logit: FloatArray, v: FloatArray) -> FloatArray:
        """But for a constant."""
        each = [_log_normal(p_logit - self.mean, matrix) for matrix in self.of_p]
        return np.asarray(np.logaddexp.reduce(each, axis=0) + _log_normal(v, self.of_v))


def _whitening(covariance: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)).T)


def _log_normal(away: FloatArray, whitening: FloatArray) -> FloatArray:
    squares = ((away @ whitening) ** 2).sum(axis=-1)
    return np.asarray(np.log(np.diagonal(whitening)).sum() - 0.5 * squares)


def random_walk(
    rows: Rows,
    line: Line,
    *,
    blocks: bool,
    detection: tuple[float, float] | None = None,
    overall: tuple[float, float] | None = None,
    chains: int = 160,
    steps: int = 1000,
    seed: int = 1,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draws of logit p, v and logit s by Metropolis' algorithm.

    Chains start apart. In the first two thirds of a thousand steps moves take the covariance of
    all chains, which then stays.
    """
    rng = np.random.default_rng(seed)
    bins, prior = len(line.rank), Prior(line)
    weight = np.asarray(rows["open_complained"]) + np.asarray(rows.get("undecided_complained", 0))

    def density(x: FloatArray) -> FloatArray:
        p_logit, v = x[:, :bins], x[:, bins : 2 * bins]
        s_logit = x[:, 2 * bins :] if detection else np.full((len(x), 1), 40.0)
        total = log_likelihood(rows, p_logit, v, s_logit, blocks=blocks).sum(axis=1)
        total = total + prior.log_density(p_logit, v)
        if detection:
            total -= 0.5 * ((s_logit[:, 0] - detection[0]) / detection[1]) ** 2
        if overall:
            odds = np.log(np.exp(v) @ (weight + 0.05) / (weight + 0.05).sum())
            total -= 0.5 * (odds - overall[0]) ** 2 / overall[1]
        return np.asarray(total)

    size = 2 * bins + (detection is not None)
    x = rng.normal(0, 0.3, (chains, size))
    x[:, :bins] += np.linspace(-6, 0, bins)
    x[:, 2 * bins :] += 2
    value, scale, root = density(x), 0.1, np.eye(size)
    kept = []
    for step in range(steps + 1000):
        if step in (100, 200, 350, 500, 667):
            root, scale = np.linalg.cholesky(np.cov(x.T) + 1e-6 * np.eye(size)), 2.38 / size**0.5
        moved = x + scale * rng.standard_normal((chains, size)) @ root.T
        reached = density(moved)
        taken = np.log(rng.random(chains)) < reached - value
        x, value = np.where(taken[:, None], moved, x), np.where(taken, reached, value)
        if step >= 1000 and step % 10 == 0:
            kept.append(x)
    drawn = np.concatenate(kept)
    s_logit = drawn[:, 2 * bins] if detection else np.full(len(drawn), 40.0)
    return drawn[:, :bins], drawn[:, bins : 2 * bins], s_logit


def hidden_positives(
    rows: Rows,
    draws: tuple[FloatArray, FloatArray, FloatArray],
    *,
    errs: bool,
    seed: int = 2,
) -> FloatArray:
    """Positives among rows of which nobody knows, by draw and bin: by Bayes' rule, row by row."""
    p_logit, v, s_logit = draws
    rng = np.random.default_rng(seed)
    p, e = 1 / (1 + np.exp(-p_logit)), 1 / (1 + np.exp(v))
    s = 1 / (1 + np.exp(-s_logit[:, None]))
    unseen = p * (1 - e) / (1 - p * e)
    missed = p * (1 - s) * (1 - e) / (p * (1 - s) * (1 - e) + 1 - p)
    silent = np.asarray(rows["open_silent"]) + np.asarray(rows.get("undecided_silent", 0))
    total = rng.binomial(silent, unseen) + rng.binomial(rows.get("stopped", 0), p)
    if errs:
        total = total + rng.binomial(rows["cleared_silent"], missed)
    return np.asarray(total, dtype=float)
