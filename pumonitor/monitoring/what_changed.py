"""What has changed since the reference, as the filter that follows the class prior holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pumonitor.results import ClassPriorEstimate

__all__ = ["CHANGES", "Change", "Explanation", "WhatChanged"]

CHANGES: Final = ("class prior", "label frequency", "ranking", "negatives")
"""What the filter tells apart: "ranking" is where positives score, "negatives" where these do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One of them, now over the reference.

    Attributes
    ----------
    value, low, high : float
        A ratio.
    chance : float
        That it has moved so far that it counts.
    """

    value: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A combination of what has changed, and the chance that it is this one."""

    changed: frozenset[str]
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatChanged:
    """Read from the diagnostics of a class prior that was followed.

    Attributes
    ----------
    level : float
        The reference's class prior.
    moved : float
        Chance that the class prior is a quarter higher, or a fifth lower, or further off.
    since_reference : mapping of str to Change
        By `CHANGES`.
    explanations : tuple of Explanation
        Those with a chance of a tenth and more, the most likely first.
    """

    level: float
    moved: float
    since_reference: Mapping[str, Change]
    explanations: tuple[Explanation, ...]

    @classmethod
    def of(cls, class_prior: ClassPriorEstimate | None) -> WhatChanged | None:
        """None where the class prior was not followed.

        Examples
        --------
        >>> WhatChanged.of(ClassPriorEstimate.given(0.05)) is None
        True
        """
        stored = None if class_prior is None else class_prior.diagnostics.get("over_time")
        return None if stored is None else cls.from_json(stored)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> WhatChanged:
        """From plain JSON types, as they are among the diagnostics."""
        return cls(
            level=float(stored["level"]["value"]),
            moved=float(stored["moved"]),
            since_reference={
                name: Change(
                    **{part: float(one[part]) for part in ("value", "low", "high", "chance")}
                )
                for name, one in (
                    (name, stored["since_reference"].get(name.replace(" ", "_")))
                    for name in CHANGES
                )
                if one is not None and one["value"] is not None
            },
            explanations=tuple(
                Explanation(changed=frozenset(one["changed"]), chance=float(one["chance"]))
                for one in stored["explanations"]
            ),
        )

    def chance(self, *changes: str) -> float:
        """That one of these has changed, or more of them: what no listed explanation says is left
        out."""
        return sum(one.chance for one in self.explanations if one.changed & set(changes))
