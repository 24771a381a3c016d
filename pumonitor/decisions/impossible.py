"""Which numbers of a threshold are impossible, or are made of one that is, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pumonitor.diagnostics.impossible_prior import (
    impossible_at_threshold,
    impossible_prior,
    resting_estimates,
    stands_on_prior,
    why_impossible,
)
from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.metrics.evaluation_estimates import estimates_and_curves
from pumonitor.metrics.f_beta import f_beta_metric
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import AtThreshold
from pumonitor.results import Estimate
from pumonitor.text import given_text, number_text

_HELD: Final = ("positives_caught", "positives_missed", "money")
_APART: Final = 1e-9


def prior_doubt(
    problem: Problem, threshold: float, *, top_k: float = 0.1, f_beta: float = 2.0
) -> str | None:
    """Why the class prior cannot be right, by all estimates of an evaluation; None if it can.

    Parameters
    ----------
    problem : Problem
    threshold, top_k, f_beta : float
        As in `pumonitor.evaluate`: with the same ones the answer is that of the evaluation.
    """
    beta_metric = f_beta_metric(f_beta)
    estimates, _ = estimates_and_curves(problem, threshold, top_k, beta_metric, curves=False)
    return impossible_prior(estimates)


def reasons_at(
    at: AtThreshold, estimates: Mapping[str, Estimate], *, cases: float, doubt: str | None
) -> dict[str, str]:
    """Why numbers are impossible or are made of one that is, by name; only those that are.

    Parameters
    ----------
    at : AtThreshold
    estimates : mapping of str to Estimate
        Of `pumonitor.decisions.outcomes`.
    cases : float
        Rows of a window.
    doubt : str or None
        Why the class prior cannot be right.
    """
    pure = at.problem.label_purity == 1.0
    found = resting_estimates(estimates, pure=pure)
    if doubt is not None:
        on_prior = [name for name in estimates if stands_on_prior(name, pure=pure)]
        found |= {name: doubt for name in on_prior if name != "reviews"}
    for name, one in estimates.items():
        if one.infeasible:
            by_chance = doubt is None and not more_than_chance(one)
            found[name] = why_impossible(name, one, one.value, by_chance=by_chance)
    found |= _of_held(at, estimates, cases=cases)
    return {name: found[name] for name in estimates if name in found}


def _of_held(at: AtThreshold, estimates: Mapping[str, Estimate], *, cases: float) -> dict[str, str]:
    """Why caught and missed do not add up with recall: caught are held to what is reviewed."""
    held = estimates["positives_caught"].value
    came_out = cases * float(at.point.class_prior * at.point.recall)
    because = impossible_at_threshold(estimates)
    if because is None or abs(came_out - held) <= _APART * cases:
        return {}
    caught = (
        f"recall would make it {number_text(came_out)}, but no more than {given_text(held)} can "
        f"be: {because}"
    )
    others = f"computed with the positives caught held to {given_text(held)}: {because}"
    return {
        name: caught if name == "positives_caught" else others
        for name in _HELD
        if name in estimates
    }
