"""Estimates that are functions of the class prior and of others that do not depend on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["PRIOR_FACTOR", "stands_on"]

PRIOR_FACTOR: Final = "class_prior_factor"
"""Name of a result: ratio of a followed class prior to the reference's, with its interval."""


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
