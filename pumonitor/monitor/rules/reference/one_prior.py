"""Estimates that are functions of the class prior and of others that do not depend on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pumonitor.monitor.rules.reference.uncertain import Uncertain

PRIOR_MOVED: Final = "class_prior_moved"
"""Name of a result: P(class prior is a quarter above the reference's, or a fifth below it)."""

PRIOR_FACTOR: Final = "class_prior_factor"
"""Name of a result: ratio of a window's followed class prior to the reference's, with its interval.
"""

LEVEL_FACTOR: Final = "class_prior_level_factor"
"""Name of a result: the same of the level, which windows differ from by themselves."""


PRIOR_TO_COMPARE: Final = "class_prior_to_compare"
"""Name of a result: an audited class prior, its interval without the error that windows share."""


AUDITED_SHARE: Final = "audited_share"
"""Name of a result: of the audit drawn from a window, share of the cases with a verdict."""


def comparable(known: Mapping[str, Uncertain]) -> dict[str, Uncertain]:
    """Results of a window with the ratio of its class prior to a level that all windows share.

    An audited class prior is compared by what audits say of it, at a level of 1, and not by how a
    followed one has moved.
    """
    found = dict(known)
    audited = found.pop(PRIOR_TO_COMPARE, None)
    return found if audited is None else {**found, PRIOR_FACTOR: audited}


def comparable_reference(known: Mapping[str, Uncertain]) -> dict[str, Uncertain]:
    """The same of a window of the reference, whose own error is part of how its windows vary."""
    found = dict(known)
    audited = found.pop(PRIOR_TO_COMPARE, None)
    if audited is None:
        return found
    value = audited.value
    return {**found, PRIOR_FACTOR: Uncertain(value=value, low=value, high=value, se=0.0)}


_STAND_ON: Final[Mapping[str, tuple[str, ...]]] = {
    "class_prior": ("class_prior",),
    "auc": ("class_prior", "aul"),
    "precision": ("class_prior", "recall", "predicted_positive_rate"),
    "f1": ("class_prior", "recall", "predicted_positive_rate"),
}


def stands_on(name: str) -> tuple[str, ...]:
    """Names of the estimates that an estimate is a function of, the class prior first.

    Empty for estimates that do not depend on the class prior, and for all but the four above.

    Examples
    --------
    >>> stands_on("auc"), stands_on("recall")
    (('class_prior', 'aul'), ())
    """
    return _STAND_ON.get(name, ())
