"""What has changed since the reference, as the filter that follows the class prior holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pumonitor.prior.over_time import Explanation, Movement
from pumonitor.results import ClassPriorEstimate

__all__ = ["WhatChanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatChanged:
    """Of a class prior that was followed from a reference.

    Attributes
    ----------
    level : float
        The reference's class prior.
    moved : float
        Chance that the class prior differs from that by a quarter or more.
    since_reference : mapping of str to Movement
        Of "class_prior", "label_frequency", "ranking" and "negatives".
    explanations : tuple of Explanation
        Combinations of them that may have changed, the likeliest first; those with less than a
        tenth may be left out.
    """

    level: float
    moved: float
    since_reference: Mapping[str, Movement]
    explanations: tuple[Explanation, ...]

    @classmethod
    def of(cls, class_prior: ClassPriorEstimate | None) -> WhatChanged | None:
        """None where the class prior was not followed, or is that of the reference itself.

        Examples
        --------
        >>> WhatChanged.of(ClassPriorEstimate.given(0.05)) is None
        True
        """
        return None if class_prior is None else cls.from_diagnostics(class_prior.diagnostics)

    @classmethod
    def from_diagnostics(cls, diagnostics: Mapping[str, Any]) -> WhatChanged | None:
        """From the diagnostics of a class prior, in plain JSON types."""
        stored = diagnostics.get("over_time")
        if stored is None or not stored["explanations"]:
            return None
        return cls(
            level=stored["level"]["value"],
            moved=stored["moved"],
            since_reference={
                name: Movement(**one) for name, one in stored["since_reference"].items()
            },
            explanations=tuple(
                Explanation(changed=tuple(one["changed"]), chance=one["chance"])
                for one in stored["explanations"]
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """The parts of the diagnostics that `from_diagnostics` reads beside the level."""
        return {
            "moved": self.moved,
            "since_reference": {name: asdict(one) for name, one in self.since_reference.items()},
            "explanations": [
                {"changed": list(one.changed), "chance": one.chance} for one in self.explanations
            ],
        }
