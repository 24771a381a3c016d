"""Train the network of `auto`: `python -m benchmarks.prior.train_auto`.

Recipe. Pairs of densities (`benchmarks.prior.shapes`) are mixed with an unlabeled prior that is
log-uniform on (.003, .95) in half of the cases and uniform on (.001, .98) in the others. Labeled
and unlabeled rows are drawn: three quarters of the cases 20 to 3000 and 500 to 30 000, the others 4
to 300 000 and 60 to 3 000 000, log-uniform. In three of ten cases that are not plain normals rows
are tied in a few cells, in one of five the lowest rows are one cell. From
`pumonitor.prior.auto.inputs` a network of two hidden layers learns fifteen quantiles of the prior
on the arcsine scale by pinball loss (Adam, one cosine-shaped fall of the learning rate). Everything
follows from one seed; no data set is used. What is stored are the weights, in half precision.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.prior.shapes import CELLS, draw_pairs
from pumonitor.prior.auto.inputs import auto_inputs
from pumonitor.prior.auto.quantile_network import GAP

DESTINATION = Path(__file__).resolve().parents[2] / "pumonitor" / "prior" / "data" / "auto.npz"
LEVELS = np.array(
    [0.005, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.995],
    dtype=np.float32,
)
MIDDLE = len(LEVELS) // 2
AT_ONCE = 2000
RANKED = 0.3
BATCH = 1024

Array = NDArray[np.float32]


def simulated(cases: int, seed: int) -> tuple[Array, Array]:
    """Inputs of the network and the true prior on the arcsine scale."""
    rng = np.random.default_rng(seed)
    inputs, truth = [], []
    for done in range(0, cases, AT_ONCE):
        found = _some(min(AT_ONCE, cases - done), rng)
        inputs.append(found[0].astype(np.float32))
        truth.append(np.arcsin(np.sqrt(found[1])).astype(np.float32))
        _say(f"drawn {done + len(found[1]):,} of {cases:,}")
    return np.concatenate(inputs), np.concatenate(truth)


def _some(cases: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = draw_pairs(cases, rng)
    prior = np.where(
        rng.random(cases) < 0.5,
        np.exp(rng.uniform(np.log(0.003), np.log(0.95), cases)),
        rng.uniform(0.001, 0.98, cases),
    )
    n_labeled = _rows(cases, (20, 3000), (4, 300_000), rng)
    n_unlabeled = _rows(cases, (500, 30_000), (60, 3_000_000), rng)
    mixed = prior[:, np.newaxis] * pairs.positive + (1 - prior[:, np.newaxis]) * pairs.negative
    mixed /= mixed.sum(axis=1, keepdims=True)
    scores = np.where(
        (~pairs.is_plain & (rng.random(cases) < RANKED))[:, np.newaxis],
        special.ndtri(np.clip(np.cumsum(mixed, axis=1) - 0.5 * mixed, 1e-9, 1 - 1e-9)),
        pairs.scores,
    )
    labeled = rng.multinomial(n_labeled, pairs.positive) / n_labeled[:, np.newaxis]
    unlabeled = rng.multinomial(n_unlabeled, mixed) / n_unlabeled[:, np.newaxis]
    for case in np.flatnonzero(~pairs.is_plain):
        if rng.random() < 0.3:
            _tie(labeled[case], unlabeled[case], rng)
        if rng.random() < 0.2:
            _tie_lowest(labeled[case], unlabeled[case], rng)
    inputs = auto_inputs(
        scores, labeled, unlabeled, n_labeled.astype(float), n_unlabeled.astype(float)
    )
    return inputs.numbers, prior


def _rows(
    cases: int, usual: tuple[int, int], all_: tuple[int, int], rng: np.random.Generator
) -> NDArray[np.int64]:
    usually = np.exp(rng.uniform(*np.log(usual), cases))
    always = np.exp(rng.uniform(*np.log(all_), cases))
    return np.where(rng.random(cases) < 0.75, usually, always).astype(np.int64)


def _tie(
    labeled: NDArray[np.float64], unlabeled: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """Rows of 20 to 250 runs of cells, each moved to the middle of its run."""
    runs = round(np.exp(rng.uniform(np.log(20), np.log(250))))
    starts = np.unique(np.concatenate([[0], rng.choice(CELLS, runs)]))
    middles = (starts + np.concatenate([starts[1:], [CELLS]]) - 1) // 2
    for share in (labeled, unlabeled):
        total = np.add.reduceat(share, starts)
        share[:] = 0.0
        share[middles] = total


def _tie_lowest(
    labeled: NDArray[np.float64], unlabeled: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """The lowest 3 to 60% of the rows in one cell, as with scores that are 0 for many."""
    rank = np.cumsum(0.5 * (labeled + unlabeled))
    until = int(np.searchsorted(rank, rng.uniform(0.03, 0.6)))
    for share in (labeled, unlabeled):
        total = share[: until + 1].sum()
        share[: until + 1] = 0.0
        share[0] = total


@dataclass(slots=True)
class Layer:
    """Weights and offsets, with Adam's running means of their gradients and of the squares."""

    weight: Array
    offset: Array
    means: list[Array] = field(init=False)
    squares: list[Array] = field(init=False)

    def __post_init__(self) -> None:
        self.means = [np.zeros_like(part) for part in (self.weight, self.offset)]
        self.squares = [np.zeros_like(part) for part in (self.weight, self.offset)]


def trained(
    inputs: Array, truth: Array, *, hidden: tuple[int, ...], epochs: int, seed: int
) -> list[Layer]:
    """Fit by pinball loss."""
    rng = np.random.default_rng(seed)
    sizes = [inputs.shape[1], *hidden, len(LEVELS)]
    layers = [
        Layer(
            (rng.standard_normal((fan_in, out)) * np.sqrt(2 / fan_in)).astype(np.float32),
            np.zeros(out, np.float32),
        )
        for fan_in, out in pairwise(sizes)
    ]
    batches = len(inputs) // BATCH
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(inputs))
        total = 0.0
        for batch in range(batches):
            rows = order[batch * BATCH : (batch + 1) * BATCH]
            loss, gradients = _gradients(layers, inputs[rows], truth[rows])
            total += loss
            step += 1
            done = step / (epochs * batches)
            rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * done)) * min(1.0, step / 200) + 1e-6
            _adam(layers, gradients, rate=rate, step=step)
        _say(f"epoch {epoch + 1} of {epochs}: loss {total / batches:.6f}")
    return layers


def _gradients(
    layers: list[Layer], inputs: Array, truth: Array
) -> tuple[float, list[tuple[Array, Array]]]:
    before, seen = [], [inputs]
    for layer in layers[:-1]:
        before.append(seen[-1] @ layer.weight + layer.offset)
        seen.append(before[-1] / (1 + np.exp(-before[-1])))
    out = seen[-1] @ layers[-1].weight + layers[-1].offset
    gaps = GAP * np.logaddexp(0, out)
    centre = out[:, MIDDLE : MIDDLE + 1]
    below = centre - np.cumsum(gaps[:, :MIDDLE][:, ::-1], axis=1)[:, ::-1]
    above = centre + np.cumsum(gaps[:, MIDDLE + 1 :], axis=1)
    error = truth[:, np.newaxis] - np.hstack([below, centre, above])
    loss = float(np.maximum(LEVELS * error, (LEVELS - 1) * error).mean())
    slope = (np.where(error > 0, -LEVELS, 1 - LEVELS) / error.size).astype(np.float32)
    per_gap = (GAP / (1 + np.exp(-out))).astype(np.float32)
    back = np.empty_like(out)
    back[:, MIDDLE] = slope.sum(axis=1)
    outward = np.cumsum(slope[:, MIDDLE + 1 :][:, ::-1], axis=1)[:, ::-1]
    back[:, MIDDLE + 1 :] = outward * per_gap[:, MIDDLE + 1 :]
    back[:, :MIDDLE] = -np.cumsum(slope[:, :MIDDLE], axis=1) * per_gap[:, :MIDDLE]
    gradients = [(seen[-1].T @ back, back.sum(axis=0))]
    for number in range(len(layers) - 2, -1, -1):
        chance = 1 / (1 + np.exp(-before[number]))
        back = back @ layers[number + 1].weight.T
        back = back * chance * (1 + before[number] * (1 - chance))
        gradients.append((seen[number].T @ back, back.sum(axis=0)))
    return loss, gradients[::-1]


def _adam(
    layers: list[Layer], gradients: list[tuple[Array, Array]], *, rate: float, step: int
) -> None:
    for layer, pair in zip(layers, gradients, strict=True):
        parts = (layer.weight, layer.offset)
        for part, gradient, mean, square in zip(
            parts, pair, layer.means, layer.squares, strict=True
        ):
            np.add(mean, 0.1 * (gradient - mean), out=mean)
            np.add(square, 0.001 * (gradient * gradient - square), out=square)
            scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            np.subtract(part, rate * (mean / (1 - 0.9**step)) / scale, out=part)


def store(layers: list[Layer], path: Path, recipe: str) -> None:
    """Weights in half precision, the levels, and how it was made."""
    arrays = {f"weight_{number}": layer.weight for number, layer in enumerate(layers)}
    arrays |= {f"offset_{number}": layer.offset for number, layer in enumerate(layers)}
    np.savez_compressed(
        path,
        levels=LEVELS.astype(np.float64),
        recipe=np.array(recipe),
        **{name: array.astype(np.float16) for name, array in arrays.items()},
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Draw, train, store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_500_000)
    parser.add_argument("--epochs", type=int, default=18)
    parser.add_argument("--hidden", type=int, nargs="+", default=[192, 192])
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--destination", type=Path, default=DESTINATION)
    arguments = parser.parse_args()
    inputs, truth = simulated(arguments.cases, arguments.seed)
    layers = trained(
        inputs,
        truth,
        hidden=tuple(arguments.hidden),
        epochs=arguments.epochs,
        seed=arguments.seed,
    )
    recipe = (
        f"python -m benchmarks.prior.train_auto --cases {arguments.cases} --epochs "
        f"{arguments.epochs} --hidden {' '.join(map(str, arguments.hidden))} --seed "
        f"{arguments.seed}\n\n{__doc__}"
    )
    store(layers, arguments.destination, recipe)


if __name__ == "__main__":
    main()
