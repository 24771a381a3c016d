"""Where confirmed positives come from, and what is taken for granted of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

LabelOrigin = Literal["queue", "complaints", "both", "random"]
LABEL_ORIGINS: tuple[LabelOrigin, ...] = ("queue", "complaints", "both", "random")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAssumption:
    """What estimates take for granted of the confirmed positives, and how much rests on it.

    Attributes
    ----------
    sentence : str
        For people: the first line of a result.
    odds : float
        The preference: how many times as high the odds of confirmation are on one side of the
        threshold.
    metrics : mapping of str to tuple of float
        Recall and F1, where they are defined: what the estimate would be if positives at or above
        the threshold were confirmed at `odds` times the odds of the others, and if the others were.
        F1 with the class prior as it is.
    """

    sentence: str
    odds: float
    metrics: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", MappingProxyType(dict(self.metrics)))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "sentence": self.sentence,
            "odds": self.odds,
            "metrics": {
                name: {"if_flagged_preferred": if_flagged, "if_others_preferred": if_others}
                for name, (if_flagged, if_others) in self.metrics.items()
            },
        }

    def __str__(self) -> str:
        return self.sentence
