"""Coverage where positives share entities: `python -m benchmarks.entities`.

20,000 rows in the mean, two normals, 3% positives. Entities have 1 to `--most` positives
(uniform), whose scores have the correlation `alike`; labels are fair, drawn by entity or row by
row. The class prior is given, or with `--frequency` the label frequency, which makes precision and
class prior vary with the number of labels. `--compare` measures differences from a second model of
the same quality, `--audits` what an audit of 300 tells of its own window and of the next. For each
cell coverage and median width, with `entity` and without.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import pumonitor
from pumonitor.audit.allocation import design_audit
from pumonitor.audit.bins import bins_along, score_bins
from pumonitor.audit.by_bin import FrequencyByBin, read_unaudited
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.recall import RECALL
from pumonitor.prior.assumed import assumed_of
from pumonitor.results import Estimate
from pumonitor.tables import ScoreTable

ROWS, CLASS_PRIOR, DISTANCE, THRESHOLD = 20_000, 0.03, 2.0, 1.5
DIFFERENCES = ("recall", "precision", "f1", "auc", "aul")
AUDITED = ("class_prior", "recall", "f1", "auc")
CASES, CORRELATION = 300, 0.6

Held = Iterator[tuple[str, float, float, float]]
"""Name, truth and interval of an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one window; negatives are entities of their own."""

    labels: NDArray[np.int64]
    scores: NDArray[np.float64]
    entity: NDArray[np.int64]
    is_positive: NDArray[np.bool_]


def simulate(
    rng: np.random.Generator, *, most: int, alike: float, labeled: float, by_entity: bool
) -> Rows:
    """A window whose entities have 1 to `most` positives, `labeled` of them confirmed."""
    entities = rng.poisson(ROWS * CLASS_PRIOR / ((1 + most) / 2))
    of_row = np.repeat(np.arange(entities), rng.integers(1, most + 1, size=entities))
    own = rng.normal(size=len(of_row))
    shared = rng.normal(size=entities)[of_row]
    positive = DISTANCE + np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
    chance = rng.random(entities)[of_row] if by_entity else rng.random(len(of_row))
    negatives = rng.poisson(ROWS * (1 - CLASS_PRIOR))
    return Rows(
        labels=np.concatenate([chance < labeled, np.zeros(negatives, dtype=bool)]).astype(int),
        scores=np.concatenate([positive, rng.normal(size=negatives)]),
        entity=np.concatenate([of_row, entities + np.arange(negatives)]),
        is_positive=np.arange(len(of_row) + negatives) < len(of_row),
    )


def truth() -> dict[str, float]:
    """What the process has."""
    recall, false_alarms = stats.norm.sf([THRESHOLD - DISTANCE, THRESHOLD])
    flagged = CLASS_PRIOR * recall + (1 - CLASS_PRIOR) * false_alarms
    auc = stats.norm.cdf(DISTANCE / np.sqrt(2))
    return {
        "class_prior": CLASS_PRIOR,
        "recall": float(recall),
        "precision": float(CLASS_PRIOR * recall / flagged),
        "f1": float(2 * CLASS_PRIOR * recall / (CLASS_PRIOR + flagged)),
        "auc": float(auc),
        "aul": float(0.5 * CLASS_PRIOR + (1 - CLASS_PRIOR) * auc),
    }


def estimates(rows: Rows, *, use_entity: bool, frequency: float | None) -> dict[str, Estimate]:
    """Of one window."""
    table = ScoreTable.from_arrays(
        rows.labels,
        rows.scores,
        thresholds=(THRESHOLD,),
        density_edges=0,
        entity=rows.entity if use_entity else None,
    )
    prior, purity, _ = assumed_of(
        table,
        class_prior=CLASS_PRIOR if frequency is None else "auto",
        label_frequency=frequency,
        label_purity=1.0,
        scenario="single-training-set",
        target="process",
        confidence_level=0.95,
        rng=None,
        auxiliary=None,
    )
    problem = make_problem(table, prior, label_purity=purity)
    at, lift = at_threshold(problem, THRESHOLD), observed_lift(problem)
    return {
        "class_prior": class_prior_estimate(problem),
        "recall": RECALL.estimate(at),
        "precision": PRECISION.estimate(at),
        "f1": F1.estimate(at),
        "auc": auc_estimate(problem, lift),
        "aul": aul_estimate(problem, lift),
    }


def differences(rows: Rows, rng: np.random.Generator, *, use_entity: bool) -> Held:
    """From a second model of the same quality, whose scores are as alike inside entities."""
    own = rng.normal(size=len(rows.scores))
    shared = rng.normal(size=int(rows.entity.max()) + 1)[rows.entity]
    noise = np.where(rows.is_positive, np.sqrt(0.5) * (shared + own), own)
    centred = rows.scores - DISTANCE * rows.is_positive
    other = CORRELATION * centred + np.sqrt(1 - CORRELATION**2) * noise
    found = pumonitor.compare(
        rows.labels,
        {"old": rows.scores, "new": other + DISTANCE * rows.is_positive},
        threshold=THRESHOLD,
        class_prior=CLASS_PRIOR,
        entity=rows.entity if use_entity else None,
        label_origin="random",
    )
    for name in DIFFERENCES:
        difference = found.difference("new", "old", name)
        yield name, 0.0, difference.low, difference.high


def audited(rows: Rows, rng: np.random.Generator, *, use_entity: bool, **settings: float) -> Held:
    """By an audit of this window, and of the next one by what it leaves."""

    def table_of(of: Rows) -> ScoreTable:
        entity = of.entity if use_entity else None
        return ScoreTable.from_arrays(of.labels, of.scores, thresholds=(THRESHOLD,), entity=entity)

    bins = score_bins(table_of(rows), threshold=THRESHOLD)
    planned = design_audit(bins, cases=CASES, label_frequency=0.3, metrics=("f1",)).planned
    is_silent, index = rows.labels == 0, bins.bin_of(rows.scores)
    hidden = np.bincount(index[is_silent & rows.is_positive], minlength=len(bins.rows))
    positive = rng.hypergeometric(hidden, bins.unlabeled - hidden, planned)
    posterior = estimate_audit(AuditCounts.of(bins, decided=planned, positive=positive))
    yield from _of_window("", rows, posterior.metrics())
    later = simulate(rng, **settings)
    table = table_of(later)
    laid, kept = bins_along(table, edges=bins.edges, rank=bins.rank, threshold=THRESHOLD)
    counts = AuditCounts.of(laid, decided=0, positive=0)
    read = read_unaudited(counts, FrequencyByBin.of(posterior).among(kept))
    yield from _of_window("next ", later, read.metrics())


def _of_window(prefix: str, rows: Rows, drawn: Mapping[str, NDArray[np.float64]]) -> Held:
    """Its own rows."""
    found, flagged = rows.is_positive, rows.scores >= THRESHOLD
    hits = np.count_nonzero(found & flagged)
    ranks = stats.rankdata(rows.scores)[found]
    true = {
        "class_prior": found.mean(),
        "recall": hits / found.sum(),
        "f1": 2 * hits / (found.sum() + flagged.sum()),
        "auc": (ranks.mean() - 0.5 * (found.sum() + 1)) / (~found).sum(),
    }
    for name in AUDITED:
        yield prefix + name, float(true[name]), *np.quantile(drawn[name], [0.025, 0.975]).tolist()


def cell(
    *,
    what: str,
    most: int,
    alike: float,
    labeled: float,
    by_entity: bool,
    use_entity: bool,
    runs: int,
    seed: int,
) -> dict[str, tuple[float, float]]:
    """Coverage and median width of each metric."""
    settings: dict[str, Any] = {
        "most": most,
        "alike": alike,
        "labeled": labeled,
        "by_entity": by_entity,
    }
    intervals: dict[str, list[tuple[bool, float]]] = {}
    for run in range(runs):
        rng = np.random.default_rng([seed, most, round(100 * alike), round(1000 * labeled), run])
        rows = simulate(rng, **settings)
        if np.count_nonzero(rows.labels) < 2:
            continue
        if what == "differences":
            held = differences(rows, rng, use_entity=use_entity)
        elif what == "audits":
            held = audited(rows, rng, use_entity=use_entity, **settings)
        else:
            known = labeled if what == "frequency" else None
            of_window = estimates(rows, use_entity=use_entity, frequency=known)
            true = truth()
            held = ((name, true[name], each.low, each.high) for name, each in of_window.items())
        for name, value, low, high in held:
            intervals.setdefault(name, []).append((low <= value <= high, high - low))
    return {
        name: (float(np.mean([holds for holds, _ in each])), float(np.median([w for _, w in each])))
        for name, each in intervals.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--alike", type=float, nargs="+", default=[0.0, 0.5, 0.9])
    parser.add_argument("--labeled", type=float, nargs="+", default=[0.3])
    parser.add_argument("--frequency", action="store_true", help="give c in place of pi")
    parser.add_argument("--compare", action="store_true", help="differences of two models")
    parser.add_argument("--audits", action="store_true", help="an audit, and the window after it")
    parser.add_argument("--by-row", action="store_true", help="labels drawn row by row")
    given = parser.parse_args(arguments)
    what = "differences" if given.compare else "audits" if given.audits else "estimates"
    what = "frequency" if given.frequency else what
    print("coverage/width, with entity | without")
    for most, alike, labeled in itertools.product(given.most, given.alike, given.labeled):
        sides = [
            cell(
                what=what,
                most=most,
                alike=alike,
                labeled=labeled,
                by_entity=not given.by_row,
                use_entity=use_entity,
                runs=given.runs,
                seed=given.seed,
            )
            for use_entity in (True, False)
        ]
        texts = [
            ", ".join(f"{name} {covered:.3f}/{wide:.3g}" for name, (covered, wide) in side.items())
            for side in sides
        ]
        print(f"most {most}, alike {alike}, labeled {labeled}: {' | '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
