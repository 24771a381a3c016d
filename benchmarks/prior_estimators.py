"""Error of the class-prior estimators on two normals: `python -m benchmarks.prior_estimators`."""

from __future__ import annotations

import argparse

import numpy as np

from pumonitor import ScoreTable
from pumonitor.prior import METHODS, TwoSamples, estimate_from_table


def main() -> None:
    """Print mean absolute error and bias of the unlabeled prior, and coverage of auto."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--labeled", type=int, default=1000)
    parser.add_argument("--unlabeled", type=int, default=10_000)
    parser.add_argument("--separation", type=float, default=2.0)
    parser.add_argument("--spread", type=float, default=1.0, help="standard deviation of positives")
    arguments = parser.parse_args()
    names = [name for name in METHODS if name != "elkan_noto"]
    print(f"{arguments.labeled} labeled, {arguments.unlabeled} unlabeled, {arguments.seeds} seeds")
    print("prior  " + " ".join(f"{name:>16}" for name in [*names, "auto"]) + "  auto covers, width")
    errors = []
    for prior in (0.05, 0.1, 0.3, 0.5):
        rows, held, widths = [], 0, []
        for seed in range(arguments.seeds):
            rng = np.random.default_rng([seed, int(1000 * prior)])
            positive = np.concatenate(
                [np.ones(arguments.labeled), rng.random(arguments.unlabeled) < prior]
            )
            labels = np.repeat([1, 0], [arguments.labeled, arguments.unlabeled])
            spread = np.where(positive == 1, arguments.spread, 1.0)
            scores = rng.normal(arguments.separation * positive, spread)
            table = ScoreTable.from_arrays(labels, scores)
            sample = TwoSamples.from_table(table)
            found = estimate_from_table(table, scenario="case-control")
            rows.append([*(METHODS[name](sample)[0] for name in names), found.value])
            held += found.low <= prior <= found.high
            widths.append(found.high - found.low)
        error = np.array(rows) - prior
        errors.append(np.abs(error).mean(axis=0))
        cells = zip(errors[-1], error.mean(axis=0), strict=True)
        print(
            f"{prior:5.2f}  "
            + " ".join(f"{mae:8.4f} {bias:+.4f}" for mae, bias in cells)
            + f"  {held / arguments.seeds:.2f}, {np.median(widths):.3f}",
            flush=True,
        )
    print(" mean  " + " ".join(f"{mae:8.4f}        " for mae in np.mean(errors, axis=0)))


if __name__ == "__main__":
    main()
