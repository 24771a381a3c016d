"""Train the regressor of DistCurve: `python -m benchmarks.prior.train_distcurve`.

Recipe. Pairs of a positive and a negative density are drawn from four families (two normals, two
betas, mixtures of one to four normals, Student t with 2 to 10 degrees of freedom), of which those
with an AUC of at least 0.6 are kept. The unlabeled prior is 0 in one of 30 pairs, uniform on (0, 1)
in about half of the others and log-uniform on (0.002, 1) in the rest. 20 to 20 000 labeled and 50
to 100 000 unlabeled rows, both log-uniform, are drawn from each pair; of these the distance curve
is computed as `pumonitor.prior.estimators.distcurve` does. What is learned is the largest share the
data can show, a + (1 - a) k, with k the ratio of negatives to positives in the group of 0.3% of the
positives that has the fewest negatives: 0 where classes separate at the end. Three networks of two
hidden layers learn the arcsine of its root by squared error (Adam, three learning rates in turn)
and are averaged. Everything follows from one seed. The mean absolute error on fresh pairs is
printed.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from pumonitor.prior.estimators.distcurve import BINS, distance_curve, regressor_inputs_of_curve
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples

SEED = 20200212
POINTS = 2000
LEAST_AUC = 0.6
PUREST = 0.003
HIDDEN = (48, 24)
NETWORKS = 3
STAGES = ((1e-3, 30), (2e-4, 15), (4e-5, 10))
BATCH = 500
DESTINATION = Path(__file__).resolve().parents[2] / "pumonitor" / "prior" / "data" / "distcurve.npz"


def normals(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Positives 0.3 to 7 above negatives, spreads that differ by a factor of about 1.3."""
    x = np.linspace(-8, 15, POINTS)
    above, spread = rng.uniform(0.3, 7.0), np.exp(rng.normal(0, 0.25))
    return stats.norm.pdf(x, above, spread), stats.norm.pdf(x)


def betas(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = (np.arange(POINTS) + 0.5) / POINTS
    shapes = np.exp(rng.uniform(np.log(0.5), np.log(20.0), size=(2, 2)))
    positive, negative = (stats.beta.pdf(x, *shape) for shape in shapes)
    return positive, negative


def mixtures(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(-12, 18, POINTS)

    def one(centre: float) -> np.ndarray:
        parts = int(rng.integers(1, 5))
        means = centre + rng.normal(0, 1.2, size=(parts, 1))
        spreads = np.exp(rng.normal(-0.2, 0.4, size=(parts, 1)))
        return rng.dirichlet(np.ones(parts)) @ stats.norm.pdf(x, means, spreads)

    return one(rng.uniform(0.5, 6.0)), one(0.0)


def heavy_tails(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(-15, 22, POINTS)
    freedom = rng.uniform(2.0, 10.0, size=2)
    return stats.t.pdf(x - rng.uniform(0.5, 7.0), freedom[0]), stats.t.pdf(x, freedom[1])


FAMILIES = (normals, betas, mixtures, heavy_tails)


def pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Shares of positives and of negatives on ascending points."""
    while True:
        positive, negative = FAMILIES[rng.integers(len(FAMILIES))](rng)
        positive, negative = positive / positive.sum(), negative / negative.sum()
        auc = float(positive @ (np.cumsum(negative) - 0.5 * negative))
        if auc < 0.5:
            positive, negative, auc = positive[::-1], negative[::-1], 1 - auc
        if auc >= LEAST_AUC:
            return positive, negative


def prior(rng: np.random.Generator) -> float:
    if rng.random() < 1 / 30:
        return 0.0
    return float(rng.random() if rng.random() < 0.5 else 0.002 ** rng.random())


def largest_share(prior: float, positive: np.ndarray, negative: np.ndarray) -> float:
    """The prior and what of the negatives is like positives, which no data could take apart."""
    held = positive > 0
    with np.errstate(over="ignore"):
        order = np.argsort(negative[held] / positive[held])
    reached = np.cumsum(positive[held][order])
    last = min(int(np.searchsorted(reached, PUREST)), len(reached) - 1)
    alike = float(np.cumsum(negative[held][order])[last] / reached[last])
    return prior + (1 - prior) * min(alike, 1.0)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> int:
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def simulated(size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs of the regressor, and what it is to say."""
    inputs, targets = [], []
    for begin in range(0, size, BATCH):
        binned, rows = [], []
        for _ in range(min(BATCH, size - begin)):
            positive, negative = pair(rng)
            share = prior(rng)
            n_labeled, n_unlabeled = log_uniform(rng, 20, 20_000), log_uniform(rng, 50, 100_000)
            labeled = rng.multinomial(n_labeled, positive)
            unlabeled = rng.multinomial(n_unlabeled, share * positive + (1 - share) * negative)
            sample = TwoSamples(
                scores=np.arange(POINTS, dtype=float),
                labeled=labeled[np.newaxis] / n_labeled,
                unlabeled=unlabeled[np.newaxis] / n_unlabeled,
                n_labeled=n_labeled,
                n_unlabeled=n_unlabeled,
            )
            centres, *shares = binned_normal_scores(sample, bins=BINS)
            binned.append(np.concatenate(shares))
            rows.append((n_labeled, n_unlabeled))
            targets.append(largest_share(share, positive, negative))
        both = np.stack(binned)
        curves = distance_curve(both[:, 0], both[:, 1], centres)
        inputs.append(regressor_inputs_of_curve(curves, np.array(rows, dtype=float)))
    return np.concatenate(inputs), np.array(targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=120_000)
    parser.add_argument("--to", type=Path, default=DESTINATION)
    arguments = parser.parse_args()
    rng = np.random.default_rng(SEED)
    inputs, targets = simulated(arguments.pairs, rng)
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
    networks = [trained((inputs - mean) / scale, targets, seed) for seed in range(NETWORKS)]
    layers = range(len(HIDDEN) + 1)
    stored = {"mean": mean, "scale": scale}
    for layer in layers:
        stored[f"weight_{layer}"] = np.stack([one.coefs_[layer] for one in networks])
        stored[f"bias_{layer}"] = np.stack([one.intercepts_[layer][None] for one in networks])
    arguments.to.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        arguments.to,
        recipe=np.array(
            f"{__doc__}\nSeed {SEED}, {arguments.pairs} pairs, {NETWORKS} networks of {HIDDEN} "
            f"units, (learning rate, passes) {STAGES}; written by "
            "benchmarks/prior/train_distcurve.py."
        ),
        **{name: values.astype(np.float32) for name, values in stored.items()},
    )
    fresh, truth = simulated(4000, rng)
    angle = np.mean([one.predict((fresh - mean) / scale) for one in networks], axis=0)
    error = np.abs(np.sin(np.clip(angle, 0, 0.5 * np.pi)) ** 2 - truth)
    print(f"mean absolute error on 4000 fresh pairs {error.mean():.4f}")


def trained(inputs: np.ndarray, targets: np.ndarray, seed: int) -> MLPRegressor:
    network = MLPRegressor(
        hidden_layer_sizes=HIDDEN,
        alpha=1e-4,
        batch_size=256,
        random_state=seed,
        warm_start=True,
    )
    with warnings.catch_warnings():
        # Each stage ends after its passes, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for rate, passes in STAGES:
            network.set_params(learning_rate_init=rate, max_iter=passes)
            network.fit(inputs, np.arcsin(np.sqrt(targets)))
    return network


if __name__ == "__main__":
    main()
