"""The classifier of two of the papers: bagged feed-forward networks, scored out of bag.

All networks of an ensemble are trained at once, as one array: each has its own bootstrap sample of
the rows as weights, a quarter of which is held out to stop it, and resilient propagation
(Riedmiller and Braun 1993, without weight backtracking) moves every weight by its own step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["out_of_bag_scores", "standardized"]

FloatArray = NDArray[np.float64]
Weights = NDArray[np.float32]

_CHUNK = 1024
_VALIDATION = 0.25
_PATIENCE = 10
_STEPS = (1e-6, 0.02, 2.0)
"""Smallest, first and largest step of resilient propagation."""


def standardized(features: FloatArray) -> FloatArray:
    """Columns of mean 0 and variance 1; missing cells at the mean; constant columns left out."""
    mean = np.nanmean(features, axis=0)
    filled = np.where(np.isnan(features), mean, features)
    spread = filled.std(axis=0)
    kept = spread > 0
    return np.asarray((filled[:, kept] - mean[kept]) / spread[kept])


@dataclass(slots=True, kw_only=True)
class _Ensemble:
    """Weights of all networks: inputs to hidden, hidden to output, and the output's bias."""

    hidden: Weights
    output: Weights
    bias: Weights

    def parts(self) -> tuple[Weights, Weights, Weights]:
        return self.hidden, self.output, self.bias

    def taken(self, active: NDArray[np.intp]) -> _Ensemble:
        return _Ensemble(
            hidden=self.hidden[:, active], output=self.output[active], bias=self.bias[active]
        )

    def put(self, active: NDArray[np.intp], other: _Ensemble) -> None:
        self.hidden[:, active] = other.hidden
        self.output[active] = other.output
        self.bias[active] = other.bias


def out_of_bag_scores(
    features: FloatArray,
    labels: NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    networks: int = 100,
    hidden: int = 5,
    most_epochs: int = 500,
) -> FloatArray:
    """Mean output of the networks that did not see a row, in training or to stop.

    Parameters
    ----------
    features : ndarray of shape (rows, columns)
        Standardised.
    labels : ndarray of shape (rows,)
        What the networks learn: the true class, or being labeled.
    networks, hidden, most_epochs : int
    """
    rows = len(labels)
    inputs = np.concatenate([features, np.ones((rows, 1))], axis=1).astype(np.float32)
    train, validate = _bags(rows, networks, rng)
    unseen = (train + validate) == 0
    train /= train.sum(axis=0)
    validate /= validate.sum(axis=0)
    current = _Ensemble(
        hidden=(
            rng.standard_normal((inputs.shape[1], networks, hidden)) / np.sqrt(inputs.shape[1])
        ).astype(np.float32),
        output=(rng.standard_normal((networks, hidden)) / np.sqrt(hidden)).astype(np.float32),
        bias=np.full(networks, np.log(labels.mean() / (1 - labels.mean())), dtype=np.float32),
    )
    best = _train(inputs, labels.astype(np.float32), train, validate, current, most_epochs)
    total = np.zeros(rows)
    for start in range(0, rows, _CHUNK):
        part = slice(start, start + _CHUNK)
        _, chance = _forward(inputs[part], best)
        total[part] = (chance * unseen[part]).sum(axis=1)
    return np.asarray(total / np.maximum(unseen.sum(axis=1), 1))


def _bags(rows: int, networks: int, rng: np.random.Generator) -> tuple[Weights, Weights]:
    """Bootstrap counts of each network's rows, and those of them that are held out."""
    train = np.zeros((rows, networks), dtype=np.float32)
    validate = np.zeros((rows, networks), dtype=np.float32)
    for network in range(networks):
        counts = rng.multinomial(rows, np.full(rows, 1 / rows))
        drawn = np.flatnonzero(counts)
        held = rng.permutation(drawn)[: round(_VALIDATION * len(drawn))]
        train[:, network] = counts
        validate[held, network] = counts[held]
        train[held, network] = 0
    return train, validate


def _train(
    inputs: Weights,
    labels: Weights,
    train: Weights,
    validate: Weights,
    current: _Ensemble,
    most_epochs: int,
) -> _Ensemble:
    """The weights of lowest validation loss of each network."""
    networks = len(current.bias)
    best = current.taken(np.arange(networks))
    lowest = np.full(networks, np.inf)
    since = np.zeros(networks, dtype=int)
    steps = [np.full_like(part, _STEPS[1]) for part in current.parts()]
    last = [np.zeros_like(part) for part in current.parts()]
    active = np.arange(networks)
    for _ in range(most_epochs):
        now = current.taken(active)
        gradients, loss = _gradients(inputs, labels, train[:, active], validate[:, active], now)
        better = loss < lowest[active] - 1e-6
        lowest[active[better]] = loss[better]
        best.put(active[better], now.taken(np.flatnonzero(better)))
        since[active] = np.where(better, 0, since[active] + 1)
        where = (np.s_[:, active], np.s_[active], np.s_[active])
        for part, gradient, step, before, at in zip(
            current.parts(), gradients, steps, last, where, strict=True
        ):
            _move(part, gradient, step, before, at)
        active = active[since[active] < _PATIENCE]
        if len(active) == 0:
            break
    return best


def _move(part: Weights, gradient: Weights, step: Weights, before: Weights, at: object) -> None:
    """One step of resilient propagation: larger while the sign stays, smaller when it turns."""
    turned = np.sign(gradient) * np.sign(before[at])  # type: ignore[index]
    factor = np.where(turned > 0, 1.2, np.where(turned < 0, 0.5, 1.0)).astype(np.float32)
    size = np.clip(step[at] * factor, _STEPS[0], _STEPS[2])  # type: ignore[index]
    gradient = np.where(turned < 0, np.float32(0), gradient)
    step[at] = size  # type: ignore[index]
    part[at] -= np.sign(gradient) * size  # type: ignore[index]
    before[at] = gradient  # type: ignore[index]


def _forward(inputs: Weights, ensemble: _Ensemble) -> tuple[Weights, Weights]:
    """Hidden activations (rows, networks, hidden) and outputs (rows, networks)."""
    columns, networks, hidden = ensemble.hidden.shape
    layer = inputs @ ensemble.hidden.reshape(columns, networks * hidden)
    np.tanh(layer, out=layer)
    layer = layer.reshape(-1, networks, hidden)
    logit = np.einsum("nkh,kh->nk", layer, ensemble.output) + ensemble.bias
    return layer, 1 / (1 + np.exp(-np.clip(logit, -30, 30)))


def _gradients(
    inputs: Weights, labels: Weights, train: Weights, validate: Weights, ensemble: _Ensemble
) -> tuple[tuple[Weights, Weights, Weights], FloatArray]:
    """Gradients of the training loss, and the validation loss, of every network."""
    columns, networks, hidden = ensemble.hidden.shape
    of_hidden = np.zeros((columns, networks * hidden), dtype=np.float32)
    of_output = np.zeros((networks, hidden), dtype=np.float32)
    of_bias = np.zeros(networks, dtype=np.float32)
    loss = np.zeros(networks)
    for start in range(0, len(labels), _CHUNK):
        part = slice(start, start + _CHUNK)
        layer, chance = _forward(inputs[part], ensemble)
        truth = labels[part, np.newaxis]
        right = np.where(truth > 0, chance, 1 - chance)
        loss -= (validate[part] * np.log(np.maximum(right, 1e-9))).sum(axis=0)
        error = (chance - truth) * train[part]
        of_bias += error.sum(axis=0)
        of_output += np.einsum("nk,nkh->kh", error, layer)
        back = (1 - layer**2) * error[:, :, np.newaxis] * ensemble.output
        of_hidden += inputs[part].T @ back.reshape(len(back), networks * hidden)
    return (of_hidden.reshape(columns, networks, hidden), of_output, of_bias), loss
