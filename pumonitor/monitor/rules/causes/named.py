"""What a cause is: its kind, how well it is supported, sizes, and one sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

__all__ = ["AUC_AT_NEW_PRIOR", "KINDS", "RATIOS", "Cause", "Size", "is_clear"]

KINDS: Final = (
    "class_prior",
    "ranking",
    "score_scale",
    "confirmed_share",
    "label_delay",
    "labeling",
    "traffic",
    "none",
    "unclear",
)
"""What a change may come from; "unclear" where the counts cannot tell."""

AUC_AT_NEW_PRIOR: Final = "auc_at_new_prior"

RATIOS: Final = ("positives", "confirmed_share")
"""Sizes whose change is a ratio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A quantity in both periods, and its change with an interval.

    Attributes
    ----------
    before, now : float
    change, low, high : float
        `now - before`, except for "positives" and "confirmed_share": now over before.
    """

    before: float
    now: float
    change: float
    low: float
    high: float


def is_clear(sizes: Mapping[str, Size], name: str) -> bool:
    """Whether the interval of a change leaves out that there is none.

    Examples
    --------
    >>> is_clear({"auc": Size(before=0.9, now=0.8, change=-0.1, low=-0.2, high=0.01)}, "auc")
    False
    """
    size = sizes.get(name)
    nothing = 1.0 if name in RATIOS else 0.0
    return size is not None and not size.low <= nothing <= size.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why the new windows differ from the reference.

    Attributes
    ----------
    kind : str
        The first of `kinds`; "unclear" when there is none, since several explanations fit, or the
        best one's own size may be none at all.
    kinds : tuple of str
        Of `KINDS`, all that has surely changed; "none" alone when nothing has to be told to explain
        the counts.
    support : mapping of str to float
        Of each explanation, between 0 and 1 and summing to 1: a story or several ("class_prior and
        ranking"). A move of all scores that changes AUC counts as "ranking", another ranking that
        leaves AUC where it was as "score_scale". Empty with fewer than five confirmed.
    sizes : mapping of str to Size
        "positives" (their share of the rows, as a ratio), "auc" (with the class prior of the
        reference in both; as the results have it where they have that prior), "auc_at_new_prior"
        (where the class prior is what changed), "score" (mean, in standard deviations of the
        reference's rows), "confirmed_share" (of the positives, as a ratio), and "delay" (median,
        seconds) where known. What would be impossible is left out.
    windows : int
        That these are about.
    sentence : str
    """

    kind: str
    kinds: tuple[str, ...]
    support: Mapping[str, float]
    sizes: Mapping[str, Size]
    windows: int
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "kind": self.kind,
            "kinds": list(self.kinds),
            "support": dict(self.support),
            "sizes": {name: asdict(size) for name, size in self.sizes.items()},
            "windows": self.windows,
            "sentence": self.sentence,
        }
