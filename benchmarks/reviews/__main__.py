"""Reviews: `python -m benchmarks.reviews [--only SECTION ...] [--runs N] [--cells N] [--seed N]`.

A line a cell: coverage of the 95% intervals of class prior, recall, F1 and AUC of the window's own
rows, and the median width of those of recall and AUC, of the class prior as a share of the truth.
Cells of `coverage` are drawn from all combinations of scores (normal, and six data sets by trees,
forest and logistic regression), both regimes, shares reviewed and complaints that are flat, rise
or fall threefold with the score. Cells below .93 by more than chance are named at the end.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.reviews.changes import judge_changes
from benchmarks.reviews.gating import judge_streams as judge_gate
from benchmarks.reviews.pairs import (
    COMPARED,
    PairCell,
    measure_pair,
    pair_cells,
    pair_cells_of_entities,
)
from benchmarks.reviews.streams import judge_delays, judge_streams
from benchmarks.reviews.windows import (
    METRICS,
    MODELS,
    SETS,
    Cell,
    counts_of,
    draw_window,
)
from pumonitor.audit.metrics import metric_draws
from pumonitor.reviews.bins import cuts_of_queue
from pumonitor.reviews.estimation import estimate_reviews
from pumonitor.reviews.reading import read_reviews

GOAL = 0.93


def measure(cell: Cell, *, runs: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Coverage and median width by metric."""
    held: dict[str, list[bool]] = {name: [] for name in METRICS}
    wide: dict[str, list[float]] = {name: [] for name in METRICS}
    for run in range(runs):
        window = draw_window(cell, np.random.default_rng([seed, run]))
        counts, truth = counts_of(window), window.truth()
        cuts = cuts_of_queue(window.score, window.reviews)
        estimates = read_reviews(counts, cuts=cuts).estimates
        for name in METRICS:
            low, high = estimates[name].low, estimates[name].high
            held[name].append(low <= truth[name] <= high)
            scale = truth[name] if name == "class_prior" else 1.0
            wide[name].append((high - low) / scale)
    covered = {name: float(np.mean(each)) for name, each in held.items()}
    return covered, {name: float(np.median(each)) for name, each in wide.items()}


def coverage_cells(wanted: int, seed: int) -> Iterator[Cell]:
    """Cells drawn from all combinations, the same for the same seed."""
    sources = [("normal", auc) for auc in ("0.75", "0.9", "0.95", "0.97")]
    sources += list(itertools.product(SETS, MODELS))
    shapes = [(0.3, "flat"), (0.5, "flat"), (0.9, "flat"), (0.5, "rising"), (0.5, "falling")]
    every = list(
        itertools.product(
            sources, shapes, (0.005, 0.01, 0.05), (0.005, 0.02), (True, False), (20_000, 200_000)
        )
    )
    for index in np.random.default_rng(seed).permutation(len(every))[:wanted]:
        (scores, model), (complains, shape), prior, reviewed, blocks, rows = every[index]
        yield Cell(
            scores=scores,
            model=model,
            class_prior=prior,
            reviewed=reviewed,
            complains=complains,
            shape=shape,
            rows=rows,
            blocks=blocks,
        )


def violation_cells() -> Iterator[Cell]:
    """What was assumed and is not so, and what is allowed for."""
    for blocks in (True, False):
        base = Cell(blocks=blocks)
        yield replace(base, detection_rate=0.7)
        yield replace(base, undecided=0.1)
        yield replace(base, by_rule=0.005)
        yield replace(base, declined=0.3)
        yield replace(base, shape="tenfold")


def entity_cells() -> Iterator[Cell]:
    """Positives that share entities, complain together and score more or less alike."""
    for blocks in (True, False):
        for most, alike in ((5, 0.5), (20, 0.5), (20, 0.9)):
            yield Cell(blocks=blocks, most=most, alike=alike)


def day_cells() -> Iterator[Cell]:
    """The highest of each day of a week, reviewed down to a score that differs from day to day."""
    for blocks in (True, False):
        base = Cell(blocks=blocks, days=7)
        yield base
        yield replace(base, shape="falling")
        yield replace(base, reviewed=0.005)
        yield replace(base, model="0.85", class_prior=0.03)
        yield replace(base, rows=200_000)


def print_cells(cells: Iterator[Cell], *, runs: int, seed: int) -> None:
    """A line a cell, then those that fail."""
    failing = []
    for cell in cells:
        covered, width = measure(cell, runs=runs, seed=seed)
        line = ", ".join(f"{name} {covered[name]:.3f} ({width[name]:.3g})" for name in METRICS)
        extra = "".join(
            f", {name} {getattr(cell, name):g}"
            for name in ("detection_rate", "undecided", "by_rule", "declined", "most", "alike")
            if getattr(cell, name) != getattr(Cell(), name)
        )
        print(f"{cell}{extra}: {line}", flush=True)
        if _falls_short(covered, runs=runs):
            failing.append(f"{cell}{extra}")
    print(f"{len(failing)} cells below {GOAL} by more than chance", *failing, sep="\n  ")


def _falls_short(covered: dict[str, float], *, runs: int) -> bool:
    """Whether an interval covers less than it should, by more than chance."""
    return min(covered.values()) < GOAL - 2.33 * math.sqrt(GOAL * (1 - GOAL) / runs)


def print_pairs(cells: Iterator[PairCell], *, runs: int, seed: int) -> None:
    """A line a cell of two models, then those that fail."""
    failing = []
    for cell in cells:
        covered, width, verdicts = measure_pair(cell, runs=runs, seed=seed)
        line = ", ".join(
            f"{name} {covered[name]:.2f} ({width[name]:.3f}; better {verdicts[name][0]:.2f}, worse "
            f"{verdicts[name][1]:.2f})"
            for name in COMPARED
        )
        print(f"{cell}: {line}", flush=True)
        if _falls_short(covered, runs=runs):
            failing.append(str(cell))
    print(f"{len(failing)} cells below {GOAL} by more than chance", *failing, sep="\n  ")


def print_capacity(*, runs: int, seed: int) -> None:
    """Whether recall seems to change when twice as many rows are reviewed, at one threshold."""
    for blocks in (True, False):
        changes, errors = [], []
        for run in range(runs):
            ends = []
            for times in (1.0, 2.0):
                cell = Cell(blocks=blocks, reviewed=0.01 * times, rows=50_000)
                window = draw_window(cell, np.random.default_rng([seed, run, int(times)]))
                window = replace(window, threshold=2.326)
                drawn = estimate_reviews(counts_of(window), seed=run)
                recall = metric_draws(drawn.bins, drawn.positives, drawn.concordance)["recall"]
                ends.append((np.median(recall), recall.std(), window.truth()["recall"]))
            (before, spread, true), (after, other, later) = ends
            changes.append((after - before) - (later - true))
            errors.append(math.hypot(spread, other))
        seen = np.mean(np.abs(changes) > 1.96 * np.array(errors))
        print(
            f"{'blocks' if blocks else 'does not block'}: recall off by {np.mean(changes):+.3f} "
            f"in the mean (standard deviation {np.std(changes):.3f}); seen in {seen:.3f}",
            flush=True,
        )


def print_cost(*, runs: int, seed: int) -> None:
    """Seconds of one core a window."""
    for rows in (20_000, 200_000):
        for blocks in (True, False):
            counts = [
                counts_of(draw_window(Cell(rows=rows, blocks=blocks), np.random.default_rng(run)))
                for run in range(seed, seed + min(runs, 20))
            ]
            began = time.process_time()
            for each in counts:
                estimate_reviews(each)
            spent = (time.process_time() - began) / len(counts)
            print(f"{rows:,} rows, {'blocks' if blocks else 'does not block'}: {spent:.3f} s")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    sections = (
        *("coverage", "violations", "entities", "days", "compare", "capacity", "changes"),
        *("streams", "delays", "gate", "cost"),
    )
    parser.add_argument("--only", nargs="+", choices=sections, default=list(sections))
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for name in asked.only:
        print(f"\n{name}, {asked.runs} runs a cell", flush=True)
        match name:
            case "coverage":
                cells = coverage_cells(asked.cells, asked.seed)
                print_cells(cells, runs=asked.runs, seed=asked.seed)
            case "violations":
                print_cells(violation_cells(), runs=asked.runs, seed=asked.seed)
            case "entities":
                print_cells(entity_cells(), runs=asked.runs, seed=asked.seed)
                print_pairs(pair_cells_of_entities(), runs=asked.runs, seed=asked.seed)
            case "days":
                print_cells(day_cells(), runs=asked.runs, seed=asked.seed)
            case "compare":
                print_pairs(pair_cells(), runs=asked.runs, seed=asked.seed)
            case "capacity":
                print_capacity(runs=asked.runs, seed=asked.seed)
            case "changes" | "streams" | "delays" | "gate":
                judge = {
                    "changes": judge_changes,
                    "streams": judge_streams,
                    "delays": judge_delays,
                    "gate": judge_gate,
                }[name]
                for line in judge(runs=asked.runs, seed=asked.seed):
                    print(line, flush=True)
            case _:
                print_cost(runs=asked.runs, seed=asked.seed)


if __name__ == "__main__":
    main()
