"""Draws from the posterior of p and e by bin: normals around each component's highest point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from pumonitor.audit.components import Components
from pumonitor.audit.likelihood import Likelihood
from pumonitor.stats.systematic_draws import draw_systematically

__all__ = ["Drawn", "Weighted", "draw_posterior", "propose_draws"]

FloatArray = NDArray[np.float64]

_STEPS: Final = 12
_HALVINGS: Final = 8
_NEAR: Final = 0.01
"""Twice the log density that a step may still gain: draws are weighted, so a point may be off."""
_COARSE: Final = 5  # levels from one that is sought first to the next
_NEGLIGIBLE: Final = 12.0  # log of a component's weight, from the highest
_NEGLIGIBLE_NEAR: Final = 4.0  # the same where another likelihood's are where the search begins
_DEGREES: Final = 8
_PROPOSED: Final = (4000, 16_000)
"""Draws, and how many where these are worth fewer than `_ENOUGH` independent ones."""
_ENOUGH: Final = 400
_PART_NEAR: Final = 4
"""By which both are divided for draws that only make intervals wider."""
S_BELIEVED: Final = (float(special.logit(0.9)), 1.0)
"""Mean and standard deviation of logit s where a cleared case complained."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Equally likely draws.

    Attributes
    ----------
    p_logit, v : ndarray of shape (draws, bins)
    s_logit : ndarray of shape (draws,)
    component : ndarray of shape (draws,)
        Which of those that were believed in each draw is of.
    effective : float
        How many independent draws they are worth.
    log_evidence : float
        Log of the chance of what was counted.
    """

    p_logit: FloatArray
    v: FloatArray
    s_logit: FloatArray
    component: NDArray[np.intp]
    effective: float
    log_evidence: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Target:
    """The log density of each component, up to its normalising constant."""

    likelihood: Likelihood
    components: Components
    detection: tuple[float, float] | None
    overall: tuple[float, float] | None
    share: FloatArray

    @property
    def bins(self) -> int:
        return len(self.likelihood.bins.rows)

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        s = x[..., 2 * self.bins] if self.detection is not None else np.full(x.shape[:-1], np.inf)
        return x[..., : self.bins], x[..., self.bins : 2 * self.bins], s

    def beside(self, x: FloatArray) -> FloatArray:
        """Log likelihood, and what is stated of s and of all complaints."""
        p_logit, v, s_logit = self.split(x)
        total = self.likelihood.value(p_logit, v, s_logit)
        if self.detection is not None:
            mean, spread = self.detection
            total = total - 0.5 * ((s_logit - mean) / spread) ** 2 - np.log(spread)
        if self.overall is not None:
            mean, variance = self.overall
            level = special.logsumexp(v, axis=-1, b=self.share)
            total = total - 0.5 * (level - mean) ** 2 / variance
        return np.asarray(total)

    def value(self, x: FloatArray, component: NDArray[np.intp]) -> FloatArray:
        """Of x given its component: with the normal, but for the constant of pi."""
        pulled, away = self.components.pull(x[:, : 2 * self.bins], component)
        constant = self.components.log_determinant[component]
        return np.asarray(self.beside(x) + 0.5 * (constant - (pulled * away).sum(axis=1)))

    def slopes(self, x: FloatArray, component: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Gradient and information, shape (n, size) and (n, size, size)."""
        bins, size = self.bins, x.shape[-1]
        likelihood = self.likelihood.slopes(*self.split(x))
        components = self.components
        gradient = np.zeros(x.shape)
        information = np.zeros((*x.shape, size))
        information[:, :bins, :bins] = components.precision_p[components.shape[component]]
        information[:, bins : 2 * bins, bins : 2 * bins] = components.precision_v
        gradient[:, : 2 * bins] = -components.pull(x[:, : 2 * bins], component)[0]
        each = np.arange(bins)
        parts = (each, bins + each)
        for at, first in enumerate(parts):
            gradient[..., first] += likelihood.gradient[at]
            for other, second in enumerate(parts):
                information[..., first, second] += likelihood.information[at, other]
        if self.detection is not None:
            mean, spread = self.detection
            gradient[..., -1] = (
                likelihood.gradient[2].sum(axis=-1) - (x[..., -1] - mean) / spread**2
            )
            information[..., -1, -1] = likelihood.information[2, 2].sum(axis=-1) + 1 / spread**2
            for at, first in enumerate(parts):
                information[..., first, -1] += likelihood.information[at, 2]
                information[..., -1, first] += likelihood.information[at, 2]
        if self.overall is not None:
            mean, variance = self.overall
            v = x[..., bins : 2 * bins]
            level = special.logsumexp(v, axis=-1, b=self.share)
            part = self.share * np.exp(v - level[..., np.newaxis])
            gradient[..., bins : 2 * bins] -= part * ((level - mean) / variance)[..., np.newaxis]
            information[..., bins : 2 * bins, bins : 2 * bins] += (
                part[..., :, np.newaxis] * part[..., np.newaxis, :] / variance
            )
        return gradient, information


def draw_posterior(
    likelihood: Likelihood,
    components: Components,
    *,
    detection: tuple[float, float] | None,
    overall: tuple[float, float] | None,
    size: int,
    rng: np.random.Generator,
) -> Drawn:
    """Equally likely draws of p, e and s: `propose_draws`, so many of them chosen by weight."""
    return propose_draws(
        likelihood, components, detection=detection, overall=overall, rng=rng
    ).chosen(size, rng)


def propose_draws(
    likelihood: Likelihood,
    components: Components,
    *,
    detection: tuple[float, float] | None,
    overall: tuple[float, float] | None,
    rng: np.random.Generator,
    near: Weighted | None = None,
) -> Weighted:
    """Draws of p, e and s with their weights.

    Parameters
    ----------
    likelihood : Likelihood
    components : Components
    detection : (float, float), optional
        Mean and standard deviation of logit s; None where reviewers find every positive they see.
    overall : (float, float), optional
        Mean and variance of -logit of the share of the open positives that complain.
    rng : Generator
    near : Weighted, optional
        Draws by another likelihood of the same counts: this one's highest points are sought from
        those of that one that matter most, and a quarter of the draws are proposed.

    Notes
    -----
    The density of a component is near a normal at its highest point, with the expected information
    there; draws come from a Student t of 8 degrees around it and are weighted by how much more
    likely they are than in it. Weights are truncated at the square root of their number times
    their mean (Ionides, 2008), and draws then chosen by weight.
    """
    complained = likelihood.complained
    share = (complained + 0.05) / (complained + 0.05).sum()
    target = _Target(
        likelihood=likelihood,
        components=components,
        detection=detection,
        overall=overall,
        share=share,
    )
    if near is None:
        kept, x, value = _highest_points(target)
    else:
        around = near.around
        matter = around.log_weight > around.log_weight.max() - _NEGLIGIBLE_NEAR
        kept, x, value = _climb(target, around.kept[matter], around.x[matter], is_pruned=True)
    _, information = target.slopes(x, kept)
    root = np.asarray(np.linalg.cholesky(information), dtype=float)
    log_root = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    log_weight = components.log_weight[kept] + value - log_root
    matter = log_weight > log_weight.max() - _NEGLIGIBLE
    around = _Proposal(
        target=target,
        kept=kept[matter],
        x=x[matter],
        root=root[matter],
        log_weight=log_weight[matter],
    )
    part = 1 if near is None else _PART_NEAR
    for size in _PROPOSED:
        weighted = Weighted(around, *around.draw(size // part, rng))
        if weighted.effective >= _ENOUGH / part:
            break
    return weighted


@dataclass(frozen=True, slots=True)
class Weighted:
    """Proposed draws, and the log of how much likelier each is than to be proposed."""

    around: _Proposal
    drawn: FloatArray
    component: NDArray[np.intp]
    importance: FloatArray

    @property
    def effective(self) -> float:
        """How many independent draws they are worth."""
        weight, _ = self._weight()
        return float(weight.sum() ** 2 / (weight**2).sum())

    def chosen(self, size: int, rng: np.random.Generator) -> Drawn:
        """So many equally likely draws."""
        weight, log_mean = self._weight()
        taken = draw_systematically(np.log(np.maximum(weight, 1e-300)), size, rng)
        p_logit, v, s_logit = self.around.target.split(self.drawn[taken])
        return Drawn(
            p_logit=p_logit,
            v=v,
            s_logit=s_logit,
            component=self.component[taken],
            effective=self.effective,
            log_evidence=log_mean,
        )

    def _weight(self) -> tuple[FloatArray, float]:
        """Truncated weights, and the log of the mean of those that are not."""
        scale = self.importance.max()
        weight = np.exp(self.importance - scale)
        mean = weight.mean()
        truncated = np.minimum(weight, np.sqrt(len(weight)) * mean)
        return truncated, float(scale + np.log(mean))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Proposal:
    """Student's t around the highest point of each component that matters."""

    target: _Target
    kept: NDArray[np.intp]
    x: FloatArray
    root: FloatArray
    log_weight: FloatArray

    def draw(
        self, size: int, rng: np.random.Generator
    ) -> tuple[FloatArray, NDArray[np.intp], FloatArray]:
        """Draws, their components, and the log of how much likelier each is than to be drawn."""
        which = draw_systematically(self.log_weight, size, rng)
        dimension = self.x.shape[1]
        normal = rng.standard_normal((size, dimension))
        wide = np.sqrt(_DEGREES / rng.chisquare(_DEGREES, size))
        drawn = np.empty_like(normal)
        for at in np.unique(which):
            some = which == at
            moved = linalg.solve_triangular(
                self.root[at], normal[some].T, trans=1, lower=True, check_finite=False
            )
            drawn[some] = self.x[at] + moved.T * wide[some, np.newaxis]
        squares = (normal**2).sum(axis=1) * wide**2
        log_root = np.log(np.diagonal(self.root, axis1=-2, axis2=-1)).sum(axis=-1)
        proposal = (
            log_root[which]
            - 0.5 * (_DEGREES + dimension) * np.log1p(squares / _DEGREES)
            + special.gammaln(0.5 * (_DEGREES + dimension))
            - special.gammaln(0.5 * _DEGREES)
            - 0.5 * dimension * np.log(0.5 * _DEGREES)
        )
        chosen = (self.log_weight - special.logsumexp(self.log_weight))[which]
        component = self.kept[which]
        believed = self.target.components.log_weight[component]
        importance = believed + self.target.value(drawn, component) - proposal - chosen
        return drawn, component, importance


def _highest_points(target: _Target) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Components that matter, where the density of each is highest, and its log there.

    Some levels of each shape first; those between them begin on the line from one to the next.
    """
    components, levels = target.components, target.components.levels
    x = components.mean
    if target.detection is not None:
        x = np.column_stack([x, np.full(len(x), target.detection[0])])
    every = np.arange(len(x))
    if levels > _COARSE:
        of_coarse = np.append(np.arange(0, levels - 1, _COARSE), levels - 1)
        coarse = (every.reshape(-1, levels)[:, of_coarse]).ravel()
        _, reached, _ = _climb(target, coarse, x[coarse])
        reached = reached.reshape(-1, len(of_coarse), x.shape[1])
        before = np.minimum(np.arange(levels) // _COARSE, len(of_coarse) - 2)
        part = (np.arange(levels) - of_coarse[before]) / np.diff(of_coarse)[before]
        low, high = reached[:, before], reached[:, before + 1]
        x = (low + part[:, np.newaxis] * (high - low)).reshape(x.shape)
    kept, x, value = _climb(target, every, x, is_pruned=True)
    return kept, x, value


def _climb(
    target: _Target, kept: NDArray[np.intp], x: FloatArray, *, is_pruned: bool = False
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Fisher's scoring of some components from these points; pruned of those that do not matter."""
    x, value = x.copy(), target.value(x, kept)
    moving = np.ones(len(kept), dtype=bool)
    for step in range(_STEPS):
        if is_pruned and (step != 1):
            # Without the determinant: it moves little from one component to the next.
            height = value + target.components.log_weight[kept]
            stays = height > height.max() - 2 * _NEGLIGIBLE
            kept, x, value, moving = kept[stays], x[stays], value[stays], moving[stays]
        at = np.flatnonzero(moving)
        if len(at) == 0:
            break
        gradient, information = target.slopes(x[at], kept[at])
        move = np.linalg.solve(information, gradient[..., np.newaxis])[..., 0]
        gain = (move * gradient).sum(axis=-1)
        length = np.minimum(1.0, 4.0 / np.maximum(np.abs(move).max(axis=-1), 1e-9))
        waiting = np.arange(len(at))
        for _ in range(_HALVINGS):
            tried = x[at[waiting]] + length[waiting, np.newaxis] * move[waiting]
            reached = target.value(tried, kept[at[waiting]])
            better = reached >= value[at[waiting]] - 1e-9
            x[at[waiting[better]]], value[at[waiting[better]]] = tried[better], reached[better]
            waiting = waiting[~better]
            if len(waiting) == 0:
                break
            length[waiting] /= 2
        moving[at] = gain > _NEAR
        moving[at[waiting]] = False
    return kept, x, value
