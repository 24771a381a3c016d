"""Estimates that are functions of others, if all windows have the level of one class prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["PRIOR_FACTOR", "stands_on"]

PRIOR_FACTOR: Final = "class_prior_factor"
"""Result of a class prior that is followed: it over the reference's, with its interval."""


_STAND_ON: Final[Mapping[str, tuple[str, ...]]] = {
    "class_prior": ("class_prior",),
    "auc": ("class_prior", "aul"),
    "precision": ("class_prior", "recall", "predicted_positive_rate"),
    "f1": ("class_prior", "recall", "predicted_positive_rate"),
}


def stands_on(name: str) -> tuple[str, ...]:
    """Estimates that another is a function of, if the class prior is one; none for others.

    Examples
    --------
    >>> stands_on("auc"), stands_on("recall")
    (('class_prior', 'aul'), ())
    """
    return _STAND_ON.get(name, ())
