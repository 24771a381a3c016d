"""A named cause: its kind, its support, the sizes of the changes, and a sentence for messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pumonitor.plain_values import plain_fields

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
"""Kinds of causes; "unclear" when the counts do not distinguish them."""

AUC_AT_NEW_PRIOR: Final = "auc_at_new_prior"

RATIOS: Final = ("positives", "confirmed_share")
"""Sizes whose change is a ratio, now over before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A quantity in both periods, and its change with a confidence interval.

    Attributes
    ----------
    before, now : float
    change, low, high : float
        `now - before`; for `RATIOS` `now / before`.
    """

    before: float
    now: float
    change: float
    low: float
    high: float


def is_clear(sizes: Mapping[str, Size], name: str) -> bool:
    """Whether the interval of a change excludes no change.

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
        The first of `kinds`; "unclear" when `kinds` is empty: several hypotheses fit, or the
        interval of the best one's size includes no change.
    kinds : tuple of str
        All named changes, of `KINDS`. ("none",) when no change is needed to explain the counts.
    possible : tuple of str
        Of an unclear cause the two likeliest kinds that explain what shows most; else empty.
    support : mapping of str to float
        Hypothesis, or combination such as "class_prior and ranking", to its support; supports add
        up to 1. A map of all scores that changes AUC counts as "ranking"; another ranking with the
        same AUC counts as "score_scale". Empty with fewer than five confirmed positives.
    sizes : mapping of str to Size
        "positives" (share of the rows, a ratio), "auc" (both periods at the reference's class
        prior; the AUC of the results when they have that prior), "auc_at_new_prior" (when the class
        prior changed), "score" (mean score, in standard deviations of the reference's rows),
        "confirmed_share" (of the positives, a ratio), and "delay" (median in seconds, when known).
        Impossible values are left out.
    windows : int
        Number of windows since the change.
    sentence : str
        For messages: what is known, what it may be, and what to do.
    known : str
        What holds whatever the cause; an unclear cause's sentence begins with it.
    by_audits : mapping or None
        What audits say of it, in JSON types; None without an audit.
    by_reviews : bool
        Whether reviews and complaints tell it: no audit is needed beside them.
    """

    kind: str
    kinds: tuple[str, ...]
    support: Mapping[str, float]
    sizes: Mapping[str, Size]
    windows: int
    sentence: str
    known: str = ""
    possible: tuple[str, ...] = ()
    by_audits: Mapping[str, Any] | None = None
    by_reviews: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The cause in JSON types."""
        names = ("kind", "kinds", "support", "sizes", "windows", "sentence", "known", "possible")
        by = [name for name in ("by_audits", "by_reviews") if getattr(self, name)]
        return plain_fields(self, *names, *by)
