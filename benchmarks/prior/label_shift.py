"""Error and coverage of label shift on two normals: `python -m benchmarks.prior.label_shift`.

A reference window of known prior (or of a prior with an interval, drawn with that error) and a
window of another prior, both with as many labeled and unlabeled rows. For label_shift_em scores
are the true posteriors of the reference.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np
from scipy import special

from pumonitor.prior import METHODS, ReferenceWindow, estimate_class_prior

REFERENCE_PRIOR = 0.1
Z = 1.959964


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--scenario", default="case-control")
    parser.add_argument("--error", type=float, default=0.0, help="standard error of the prior")
    arguments = parser.parse_args()
    methods = [name for name, method in METHODS.items() if method.reads == "reference"]
    print("separation prior n_L n_U | bias, root mean square, coverage, width; fit rejected at .05")
    held_by_cell = []
    for separation, prior, n_labeled, n_unlabeled in itertools.product(
        (1.0, 2.0), (0.02, 0.1, 0.3), (30, 100, 1000), (2000, 20_000)
    ):
        rows = []
        for seed in range(arguments.seeds):
            rng = np.random.default_rng([seed, n_labeled, n_unlabeled, int(1000 * prior)])

            def window(
                share: float,
                rng: np.random.Generator = rng,
                separation: float = separation,
                sizes: tuple[int, int] = (n_labeled, n_unlabeled),
            ) -> tuple[np.ndarray, np.ndarray]:
                if arguments.scenario == "case-control":
                    labels = np.repeat([1, 0], sizes)
                    positive = (labels == 1) | (rng.random(len(labels)) < share)
                else:
                    positive = rng.random(sum(sizes)) < share
                    chance = min(sizes[0] / sum(sizes) / share, 0.9)
                    labels = (positive & (rng.random(sum(sizes)) < chance)).astype(int)
                x = rng.normal(separation * positive)
                odds = separation * x - 0.5 * separation**2
                return labels, special.expit(odds + special.logit(REFERENCE_PRIOR))

            given = REFERENCE_PRIOR
            if arguments.error:
                said = float(np.clip(rng.normal(REFERENCE_PRIOR, arguments.error), 0.02, 0.9))
                reach = Z * arguments.error
                given = (said, max(said - reach, 1e-6), said + reach)
            reference = ReferenceWindow.from_arrays(*window(REFERENCE_PRIOR), class_prior=given)
            data = window(prior)
            row = []
            for method in methods:
                found = estimate_class_prior(
                    *data, method=method, scenario=arguments.scenario, reference=reference
                )
                row.append(
                    [
                        found.value - prior,
                        (found.value - prior) ** 2,
                        found.low <= prior <= found.high,
                        found.high - found.low,
                        found.diagnostics["fit_p_value"] < 0.05,
                    ]
                )
            rows.append(row)
        means = np.mean(rows, axis=0)
        held_by_cell.append(means[:, 2])
        print(
            f"{separation:g} {prior:5.2f} {n_labeled:5d} {n_unlabeled:6d} | "
            + " | ".join(
                f"{bias:+.4f} {np.sqrt(square):.4f} {held:.3f} {width:.4f}; {rejected:.3f}"
                for bias, square, held, width, rejected in means
            ),
            flush=True,
        )
    for name, held in zip(methods, np.transpose(held_by_cell), strict=True):
        print(f"{name}: coverage {held.mean():.3f}, from {held.min():.3f} to {held.max():.3f}")


if __name__ == "__main__":
    main()
