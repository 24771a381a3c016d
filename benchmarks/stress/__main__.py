"""How often spoilt labels and negatives are seen, where they can be: `python -m benchmarks.stress`.

What can be seen at all
-----------------------
g, u, h are the score densities of labeled, unlabeled and confirmed negative rows, f1 and f0 those
of positives and negatives, a is the unlabeled prior: u = a f1 + (1 - a) f0. With fair and right
labels g = f1.

From g and u alone nothing can be contradicted: g as the positives and (u - a g) / (1 - a) as the
negatives are a clean model of any data, for every a up to the least ratio u / g. The same holds
when "score" is read as all features, or several scores. What follows needs an assumption on shapes
or something known beside.

Reducible negatives, f0 = r f1 + (1 - r) f2. Then u = (a + (1 - a) r) f1 + ... is clean data with a
higher prior: invisible. Negatives that only come near positives leave a ratio u / g that still
falls at the highest scores; that no scores are purely positive can be seen (note `no_pure_region`),
and says that the prior is an upper bound. With confirmed negatives u = a g + (1 - a) h has one
solution a whether or not f0 holds f1 (warning `prior_against_known_negatives`).

Easy positives labeled, g = f1 e / c with the chance e rising with the score. u / g falls with the
score as it does in clean data: invisible, the more so with a score that was trained on such labels,
which ranks by g / u and makes it rise by construction. With the class prior known from elsewhere,
u < a g at the top is impossible (`prior_too_high`, `infeasible`); calibrated scores say where
positives are (`unfair_labels_by_calibration`); if negatives are confirmed fairly no share makes g
and h mix to u (`unfair_labels_by_review`); a second, fair source differs
(`different_label_sources`).

Mistaken labels, g = b f1 + (1 - b) f0: positives with a lower tail like that of negatives give the
same g. Where f1 / f0 is smooth and falls to nothing, g / u levels off instead (`label_noise`).
Neither a known prior nor confirmed negatives help: u >= a g holds, and u is a mixture of g and h.
Calibrated scores and a second source do.

A run counts if there was something to see: the best test there is, which knows all densities
(`benchmarks.stress.oracle`), has power .95 at level .001. With reducible and confirmed negatives
what can be contradicted is the interval of the estimated prior, and runs count in which it does not
hold the truth by so much.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

import numpy as np

import pumonitor
from benchmarks.stress.designs import Design, Rows, clean, easy, noisy, reducible
from benchmarks.stress.features import easy_by_feature
from benchmarks.stress.oracle import power
from pumonitor import ScoreTable
from pumonitor.diagnostics.calibrated_scores import against_calibrated_scores
from pumonitor.diagnostics.known_negatives import against_known_negatives
from pumonitor.diagnostics.label_noise import label_noise
from pumonitor.diagnostics.label_sources import different_label_sources
from pumonitor.diagnostics.prior_too_high import prior_too_high
from pumonitor.diagnostics.pure_region import no_pure_region
from pumonitor.diagnostics.reviewed_cases import against_reviewed_cases
from pumonitor.prior.labels.label_noise import estimate_label_purity
from pumonitor.results import ClassPriorEstimate, Estimate, Finding

__all__ = ["Seen", "everything_of", "seen"]

_OBSERVABLE = 0.95
STRESSES: dict[str, Callable[[], list[Design]]] = {
    "easy positives labeled": easy,
    "positives easy by a feature labeled": easy_by_feature,
    "10% mistaken labels": noisy,
    "reducible negatives": reducible,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was found in one run, and the interval of an estimated prior it was held against."""

    names: frozenset[str]
    claimed: tuple[float, float] | None = None


def seen(design: Design, rows: Rows) -> Seen:
    """What the diagnostics for this evidence find: warnings, and the note `no_pure_region`.

    Those that need no evaluation of metrics, which would make every run a second long; the others
    can only add.
    """
    scores = rows.calibrated if design.evidence == "calibrated" else rows.scores
    table = ScoreTable.from_arrays(rows.labels, scores)
    settings = {
        "scenario": design.scenario,
        "label_purity": 1.0,
        "calibrated_scores": design.evidence == "calibrated",
    }
    given = ClassPriorEstimate.given(design.prior)
    found: list[Finding] = []
    claimed = None
    if design.evidence == "prior":
        found += prior_too_high(table, {}, given, settings)
    if design.evidence == "calibrated":
        found += against_calibrated_scores(table, given, settings)
    if design.evidence == "sources":
        confirmed = rows.labels == 1
        found += different_label_sources(
            {
                "one": scores[confirmed & rows.fair_source],
                "two": scores[confirmed & ~rows.fair_source],
            }
        )
    if design.mistaken:
        purity = estimate_label_purity(table, scenario=design.scenario)
        found += label_noise(settings | {"label_purity_evidence": purity.to_dict()})
    if design.evidence == "negatives":
        prior = given
        if not design.slope:
            prior = pumonitor.estimate_class_prior(
                rows.labels, rows.scores, scenario=design.scenario
            )
            claimed = prior.unlabeled_prior_interval
        found += against_reviewed_cases(table, settings)
        found += against_known_negatives(table, _estimates(prior, rows), prior, settings)
    elif not (design.slope or design.mistaken):
        prior = ClassPriorEstimate(value=0.5, low=0.0, high=1.0, method="auto")
        found += no_pure_region(table, prior, settings)
    names = [
        finding.name
        for finding in found
        if finding.severity == "warning" or finding.name == "no_pure_region"
    ]
    return Seen(names=frozenset(names), claimed=claimed)


def _estimates(prior: ClassPriorEstimate, rows: Rows) -> dict[str, Estimate]:
    low, high = prior.unlabeled_prior_interval
    estimate = Estimate(
        name="unlabeled_prior",
        value=prior.unlabeled_prior,
        low=low,
        high=high,
        confidence_level=prior.confidence_level,
        method=prior.method,
        n_labeled=int((rows.labels == 1).sum()),
        n_unlabeled=int((rows.labels == 0).sum()),
    )
    return {"unlabeled_prior": estimate}


def everything_of(design: Design, rows: Rows, *, known: bool) -> set[str]:
    """Names of all warnings, and `no_pure_region`, of an evaluation told all there is to know."""
    confirmed = rows.labels == 1
    population = rows.calibrated[rows.labels == 0]
    if design.scenario == "single-training-set":
        population = rows.calibrated
    evaluation = pumonitor.evaluate(
        rows.labels,
        rows.calibrated,
        threshold=float(np.quantile(population, 1 - design.prior)),
        class_prior=design.prior if known else "auto",
        scenario=design.scenario,
        calibrated_scores=True,
        label_source=np.where(confirmed, np.where(rows.halves, "one", "two"), ""),
    )
    return {
        finding.name
        for finding in evaluation.warnings
        if finding.severity == "warning" or finding.name == "no_pure_region"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=[*STRESSES, "clean"])
    parser.add_argument("--everywhere", action="store_true", help="also where nothing can be seen")
    arguments = parser.parse_args()
    for name, designs in STRESSES.items():
        if arguments.only in (None, name):
            _print_stress(name, designs(), arguments.seeds, everywhere=arguments.everywhere)
    if arguments.only in (None, "clean"):
        _print_clean(clean(), arguments.seeds)


def _print_stress(stress: str, designs: Sequence[Design], seeds: int, *, everywhere: bool) -> None:
    print(f"{stress}\n  beside scores  design     labeled  runs  visible  fired there  elsewhere")
    fired, visible = 0, 0
    groups = groupby(designs, key=lambda d: (d.evidence, d.name, d.n_labeled))
    for (evidence, name, n_labeled), group in groups:
        runs = [run for design in group for run in _runs(design, seeds, everywhere=everywhere)]
        there = [names for names, can_be in runs if can_be and names is not None]
        elsewhere = [names for names, can_be in runs if not can_be and names is not None]
        fired, visible = fired + sum(map(bool, there)), visible + len(there)
        print(
            f"  {evidence:14s} {name:10s} {n_labeled:7d} {len(runs):5d} {len(there):8d}  "
            f"{_share(there):>11s}  {_share(elsewhere):>9s}  {_listed(there)}",
            flush=True,
        )
    print(f"{stress}: fired in {fired} of {visible} runs ({100 * fired / max(visible, 1):.1f}%)\n")


def _runs(
    design: Design, seeds: int, *, everywhere: bool
) -> Iterator[tuple[frozenset[str] | None, bool]]:
    """Names found (None where nobody looked) and whether there was something to see."""
    by_run = design.evidence == "negatives" and not design.slope
    visible = not by_run and power(design) >= _OBSERVABLE
    for seed in range(seeds):
        if not (visible or by_run or everywhere):
            yield None, False
            continue
        found = seen(design, design.draw(np.random.default_rng([seed, *design.stream])))
        if by_run:
            visible = power(design, found.claimed) >= _OBSERVABLE
        yield found.names, visible


def _share(found: Sequence[Set[str]]) -> str:
    return f"{sum(map(bool, found)) / len(found):.2f}" if found else "-"


def _listed(found: Sequence[Set[str]]) -> str:
    counted = Counter(name for names in found for name in names)
    return ", ".join(f"{name} {count / len(found):.2f}" for name, count in counted.most_common())


def _print_clean(designs: Sequence[Design], seeds: int) -> None:
    print("clean windows, everything known beside the labels; few_positives is counted apart")
    total, noisy_runs, by_name = 0, 0, Counter[str]()
    for n_labeled, group in groupby(designs, key=lambda d: d.n_labeled):
        cells = list(group)
        here = [
            everything_of(
                design, design.draw(np.random.default_rng([seed, *design.stream])), known=known
            )
            for design in cells
            for seed in range(seeds)
            for known in (True, False)
        ]
        alarms = [names - {"few_positives", "no_pure_region"} for names in here]
        total, noisy_runs = total + len(here), noisy_runs + sum(map(bool, alarms))
        by_name += Counter(name for names in here for name in names)
        print(
            f"  {n_labeled} labeled: {sum(map(bool, alarms))} of {len(here)}  {_listed(here)}",
            flush=True,
        )
    print(
        f"clean: silent in {total - noisy_runs} of {total} ({100 * (1 - noisy_runs / total):.1f}%)"
    )
    for name, count in by_name.most_common():
        print(f"  {name:30s} {100 * count / total:5.2f}%")


if __name__ == "__main__":
    main()
