"""An estimate as people see it, in the terminal, a report, a page, MLflow and a result's row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from pumonitor.diagnostics.impossible_prior import doubted_estimates, resting_estimates
from pumonitor.names import AT_THRESHOLD, GROUPS, MEANING, UNCORRECTED_OF, title
from pumonitor.plain_values import finite_or_none
from pumonitor.results import Estimate, Evaluation
from pumonitor.text import interval_shown, interval_text, marked, number_text, with_interval
from pumonitor.views.numbers import PREFIX, NumberView, metric_parts, number_view

_OF_A_DECISION: Final = frozenset(AT_THRESHOLD) - {"predicted_positive_rate"}


class EstimateView(NumberView):
    """An estimate of an evaluation.

    Attributes
    ----------
    name, title, meaning : str
        As in `Evaluation.estimates`; for people; what it means.
    came_out : float or None
        The value as estimated, where it is impossible.
    is_known : bool
        Whether it was taken as known, and has no interval.
    uncorrected : float or None
        What counting every unconfirmed row as negative gives.
    undefined_reason : str or None
        Why there is no value.
    note : str
        Why the value is not what came out, or which impossible number it is computed with.
    """

    name: str
    title: str
    meaning: str
    came_out: float | None = None
    is_known: bool = False
    uncorrected: float | None = None
    undefined_reason: str | None = None
    note: str = ""

    @property
    def value_text(self) -> str:
        """The value, with a mark where it is impossible or computed from a number that is."""
        return "undefined" if self.value is None else marked(number_text(self.value), self.note)

    @property
    def interval_text(self) -> str:
        """The interval, or why there is none."""
        if self.value is None:
            return self.undefined_reason or ""
        if self.is_known:
            return "taken as known"
        without = "not known" if self.came_out is None else "impossible"
        return interval_shown(self.low, self.high) or without

    @property
    def uncorrected_text(self) -> str:
        """The uncorrected number; empty where there is none."""
        return "" if self.uncorrected is None else number_text(self.uncorrected)


def estimate_groups(evaluation: Evaluation) -> dict[str, list[EstimateView]]:
    """Estimates by heading; one of no group comes last under "Other".

    Uncorrected estimates stand beside the corrected ones as well.
    """
    grouped = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in evaluation.estimates if name not in grouped)
    views = estimate_views(evaluation)
    groups = {
        heading: [views[name] for name in names if name in views]
        for heading, names in {**GROUPS, "Other": others}.items()
    }
    return {heading: lines for heading, lines in groups.items() if lines}


def estimate_views(evaluation: Evaluation) -> dict[str, EstimateView]:
    """All estimates of an evaluation by name.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(20_000) < 0.05
    >>> labels = is_positive & (rng.random(20_000) < 0.3)
    >>> ev = pumonitor.evaluate(labels, rng.normal(2.0 * is_positive), class_prior=0.05)
    >>> view = estimate_views(ev)["class_prior"]
    >>> view.title, view.value_text, view.interval_text
    ('Share of positives', '0.0500', 'taken as known')
    """
    known = {"class_prior"} if evaluation.class_prior.is_known else set()
    views = views_of(evaluation.estimates, evaluation.settings)
    return {
        name: view.model_copy(
            update={
                "is_known": view.is_known or name in known,
                "uncorrected": uncorrected_value(evaluation, name),
            }
        )
        for name, view in views.items()
    }


def views_of(
    estimates: Mapping[str, Estimate], settings: Mapping[str, Any]
) -> dict[str, EstimateView]:
    """Estimates that were made together, of an evaluation or of one model of a comparison.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        All of them: one may show that the class prior of all is impossible.
    settings : mapping
        How they were computed.
    """
    pure = settings["label_purity"] == 1.0
    doubted = doubted_estimates(estimates, pure=pure)
    why = resting_estimates(estimates, pure=pure) | doubted
    return {
        name: _estimate_view(estimate, settings, why.get(name, ""), is_doubted=name in doubted)
        for name, estimate in estimates.items()
    }


def _estimate_view(
    estimate: Estimate, settings: Mapping[str, Any], why: str, *, is_doubted: bool
) -> EstimateView:
    return EstimateView(
        **dict(number_view(estimate, estimate.range, is_doubted=is_doubted)),
        name=estimate.name,
        title=title(estimate.name, settings),
        meaning=MEANING.get(estimate.name, ""),
        came_out=estimate.value if estimate.infeasible else None,
        is_known=estimate.low == estimate.high and estimate.se_sampling == 0,
        undefined_reason=estimate.undefined_reason,
        note=impossible_note(estimate) or (f"{why[0].upper()}{why[1:]}." if why else ""),
    )


def logged_estimates(estimates: Mapping[str, Estimate], *, pure: bool = True) -> dict[str, float]:
    """Metrics that the evaluator logs, by `metric_parts`.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        All of one evaluation: one of them may show that the class prior of all is impossible.
    pure : bool
        Whether every confirmed positive is one (a label purity of 1).

    Examples
    --------
    >>> precision = Estimate(name="precision", value=1.04, low=0.91, high=1.2, method="draws",
    ...                      confidence_level=0.95, n_labeled=50, n_unlabeled=900)
    >>> logged_estimates({"precision": precision})  # doctest: +NORMALIZE_WHITESPACE
    {'pu/precision': 1.0, 'pu/precision_low': 0.91, 'pu/precision_high': 1.0,
     'pu/precision_infeasible': 1.0}
    """
    doubted = doubted_estimates(estimates, pure=pure)
    return {
        f"{PREFIX}{name}{ending}": logged
        for name, estimate in estimates.items()
        for ending, logged in metric_parts(
            number_view(estimate, estimate.range, is_doubted=name in doubted)
        )
    }


def uncorrected_value(evaluation: Evaluation, name: str) -> float | None:
    """The number one would get by counting unconfirmed cases as negatives; None without one.

    Read from the ``_pu`` estimate, else from the uncorrected curve at the decision threshold. The
    naive share of positives is the share of rows that are labeled, which only weights change.
    """
    if name in UNCORRECTED_OF:
        estimate = evaluation.estimates.get(UNCORRECTED_OF[name])
        return None if estimate is None else finite_or_none(estimate.value)
    if name in _OF_A_DECISION:
        return _on_curve(evaluation, name)
    settings = evaluation.settings
    if (
        name == "class_prior"
        and settings["scenario"] == "single-training-set"
        and not settings.get("weighted", False)
    ):
        counts = (settings["n_labeled"], settings["n_unlabeled"], settings["n_negative"])
        return float(counts[0] / sum(counts))
    return None


def _on_curve(evaluation: Evaluation, name: str) -> float | None:
    curve = evaluation.curves.get(f"{name}_by_threshold")
    if curve is None or curve.uncorrected is None:
        return None
    # The grid holds the first score at or above the threshold: the same rows are above both.
    index = int(np.searchsorted(curve.x, evaluation.settings["threshold"], side="left"))
    return finite_or_none(float(curve.uncorrected[index])) if index < len(curve.x) else None


def impossible_note(estimate: Estimate) -> str:
    """What it means that an estimate lies outside its range; empty when it does not.

    Examples
    --------
    >>> print(impossible_note(Estimate(name="precision", value=1.04, low=0.91, high=1.2,
    ...     confidence_level=0.95, method="", n_labeled=50, n_unlabeled=900)))
    Impossible value: it came out at 1.04 (0.910 to 1.20), outside 0 to 1.00. Shown is 1.00, the
    nearest possible. Chance alone can do that; so can too high a share of positives.
    """
    if not estimate.infeasible:
        return ""
    came_out = (
        "Impossible value: it came out at "
        f"{with_interval(estimate.value, estimate.low, estimate.high)}, outside "
        f"{interval_text(*estimate.range)}. Shown is {number_text(estimate.displayed[0])}, the "
        "nearest possible."
    )
    if estimate.interval_infeasible:
        return (
            f"{came_out} Chance does not explain that: the share of positives is wrong, or the "
            "confirmed positives are not a fair sample."
        )
    return f"{came_out} Chance alone can do that; so can too high a share of positives."
