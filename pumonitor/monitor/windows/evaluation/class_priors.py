"""The class prior of one window's own rows, and how it is stored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pumonitor.errors import InputError
from pumonitor.plain_values import plain_fields
from pumonitor.prior import GivenOrEstimated, resolve_class_prior
from pumonitor.prior.assumed import LabelPurity, assumed_of
from pumonitor.prior.estimation import read_together
from pumonitor.prior.labels.label_noise import search_together
from pumonitor.results import ClassPriorEstimate, Scenario
from pumonitor.tables import ScoreTable


def is_given(class_prior: ClassPriorEstimate) -> bool:
    """Whether a class prior was assumed, and not estimated from rows."""
    return class_prior.method in {"given", "given interval"}


def estimated_together(
    tables: Sequence[ScoreTable], class_prior: GivenOrEstimated, *, label_purity: LabelPurity
) -> None:
    """Search at once for what `own_class_prior` is asked of these tables afterwards."""
    if isinstance(class_prior, str):
        if label_purity == "auto":
            search_together(tables)
        read_together(tables, method=class_prior)


def own_class_prior(
    table: ScoreTable | None,
    class_prior: GivenOrEstimated,
    *,
    label_purity: LabelPurity = 1.0,
    scenario: Scenario = "single-training-set",
    confidence_level: float = 0.95,
    rng: int = 0,
) -> ClassPriorEstimate | None:
    """Estimate the class prior from the rows of one window alone.

    Parameters
    ----------
    table : ScoreTable or None
    class_prior : "auto", method name, float, (low, high), (value, low, high), ClassPriorEstimate
        Value in the configuration; a given class prior needs no rows.
    label_purity, scenario, confidence_level, rng
        As in `pumonitor.evaluate`.

    Returns
    -------
    ClassPriorEstimate or None
        None if there is no table, or the class prior cannot be estimated from it.

    Examples
    --------
    >>> own_class_prior(None, 0.05).value
    0.05
    >>> own_class_prior(None, "auto") is None
    True
    """
    if not isinstance(class_prior, str):
        return ClassPriorEstimate.given(class_prior, confidence_level=confidence_level)
    if table is None or (class_prior == "propensity" and table.propensities is None):
        return None
    try:
        if label_purity == "auto":
            return assumed_of(
                table,
                class_prior=class_prior,
                label_frequency=None,
                label_purity=label_purity,
                scenario=scenario,
                target="process",
                confidence_level=confidence_level,
                rng=rng,
            )[0]
        return resolve_class_prior(
            class_prior,
            table,
            scenario=scenario,
            label_purity=label_purity,
            confidence_level=confidence_level,
            rng=rng,
        )
    except InputError:
        return None


_NUMBERS = ("value", "low", "high", "unlabeled_prior", "label_frequency", "least")
_PAIRS = ("unlabeled_prior_interval", "label_frequency_interval")


def class_prior_to_json(estimate: ClassPriorEstimate | None) -> dict[str, Any] | None:
    """The estimate in plain JSON types, from which it can be restored exactly.

    Examples
    --------
    >>> estimate = ClassPriorEstimate.given((0.02, 0.04))
    >>> print(class_prior_from_json(class_prior_to_json(estimate)))
    class_prior 0.0283 (0.0200 to 0.0400), given interval
    """
    if estimate is None:
        return None
    others = ("method", "confidence_level", "diagnostics")
    return plain_fields(estimate, *_NUMBERS, *_PAIRS, *others)


def class_prior_from_json(stored: Mapping[str, Any] | None) -> ClassPriorEstimate | None:
    """The estimate that `class_prior_to_json` wrote."""
    if stored is None:
        return None

    def number(value: float | None) -> float:
        return math.nan if value is None else float(value)

    of_unlabeled, of_frequency = ([number(end) for end in stored[name]] for name in _PAIRS)
    return ClassPriorEstimate(
        **{name: number(stored[name]) for name in _NUMBERS},
        unlabeled_prior_interval=(of_unlabeled[0], of_unlabeled[1]),
        label_frequency_interval=(of_frequency[0], of_frequency[1]),
        method=stored["method"],
        confidence_level=stored["confidence_level"],
        diagnostics=stored["diagnostics"],
    )
