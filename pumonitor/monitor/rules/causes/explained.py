"""Support of each combination of changes: from the hypotheses' likelihoods and the filter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Final

import numpy as np
from scipy import special

from pumonitor.monitor.rules.causes.hypotheses import Fit
from pumonitor.monitor.rules.causes.named import KINDS
from pumonitor.prior.over_time import Explanation

Support = dict[tuple[str, ...], float]
"""Combination of kinds (in the order of `KINDS`) to its support; supports add up to 1."""

_Shares = Callable[[Mapping[str, float]], dict[str, float]]

_COUNTED: Final = ("confirmed_share", "label_delay")
_PLACED: Final = ("ranking", "score_scale", "labeling")
_TOO_SMALL: Final = ("none", *_PLACED, "label_delay")
_MOST_BY_DELAYS: Final = 3.0
LEAST_SUPPORT: Final = 0.8
"""Support from which a kind is named as known."""

LEAST_LIKELY: Final = 0.1
"""Support from which a hypothesis is told of."""

_MOST_POSSIBLE: Final = 2
_SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "auc": _PLACED,
    "confirmed": ("class_prior", *_COUNTED),
}
"""What shows most to the kinds that explain it."""


def explained(
    fits: Mapping[str, Fit],
    by_auc: _Shares,
    followed: Iterable[Explanation] | None,
) -> Support:
    """Support of each combination of changes.

    Parameters
    ----------
    fits : mapping of str to Fit
        The fitted hypotheses by kind.
    by_auc : callable
        Corrects the supports of hypotheses by the change of AUC.
    followed : iterable of Explanation or None
        Posterior of the filter that follows the class prior; None when it is not followed.

    Notes
    -----
    Without the filter each hypothesis stands alone and its support is its share of the likelihoods.

    With the filter, its probabilities decide whether class prior, label frequency or scores
    changed. The hypotheses divide each of these among the kinds that the filter cannot separate, by
    their shares of the likelihoods:

    - label frequency: a smaller confirmed share, or later confirmations;
    - scores: another ranking, one map of all scores, or other positives being confirmed;
    - no change: any of the last four, too small for the filter.

    The filter ignores delays. Changed delays therefore raise the support of "label_delay" by their
    likelihood ratio, by a factor of at most 20, as something else may have changed as well.
    "traffic" explains both scores and the number confirmed; its support is its share among all
    hypotheses. Whether the number of positives changed with it is left to the filter.
    """
    if followed is None:
        return {(kind,): share for kind, share in by_auc(_shares(fits, fits)).items()}
    found: Support = {}
    by_traffic = _shares(fits, fits).get("traffic", 0.0)
    for one in followed:
        parts: list[dict[str, float]] = []
        weight = one.chance
        if "class prior" in one.changed:
            parts.append({"class_prior": 1.0})
        if "label frequency" in one.changed:
            parts.append(_shares(fits, _COUNTED))
            weight *= _by_delays(fits, against=("confirmed_share",))
        if {"ranking", "negatives"} & set(one.changed):
            parts.append(by_auc(_shares(fits, _PLACED)))
        if not one.changed:
            parts.append(by_auc(_shares(fits, _TOO_SMALL)))
            weight *= _by_delays(fits, against=("none", *_PLACED))
        chosen = [
            (tuple(kind for kind, _ in some), (1 - by_traffic) * math.prod(one for _, one in some))
            for some in product(*(part.items() for part in parts))
        ]
        if by_traffic:
            moved = ("class_prior",) if "class prior" in one.changed else ()
            chosen.append(((*moved, "traffic"), by_traffic))
        for kinds, share in chosen:
            ordered = tuple(sorted(kinds, key=KINDS.index))
            found[ordered] = found.get(ordered, 0.0) + weight * share
    whole = sum(found.values())
    return {kinds: share / whole for kinds, share in found.items()}


def marginal(support: Support) -> dict[str, float]:
    """Support of each kind, summed over the combinations that contain it.

    Examples
    --------
    >>> marginal({("ranking",): 0.75, ("class_prior", "ranking"): 0.25})
    {'ranking': 1.0, 'class_prior': 0.25}
    """
    found: dict[str, float] = {}
    for kinds, share in support.items():
        for kind in kinds:
            found[kind] = found.get(kind, 0.0) + share
    return found


def possible_kinds(support: Support, shown: str | None) -> tuple[str, ...]:
    """The two likeliest kinds that explain what shows most, as of `Observed.shows_most`.

    Examples
    --------
    >>> support = {("class_prior", "ranking"): 0.4, ("labeling",): 0.35, ("ranking",): 0.25}
    >>> possible_kinds(support, "auc"), possible_kinds(support, "confirmed")
    (('ranking', 'labeling'), ('class_prior',))
    """
    shares = marginal(support)
    explain = _SHOWN_BY.get(shown or "", ())
    is_told = max((shares.get(kind, 0.0) for kind in explain), default=0.0) >= LEAST_LIKELY
    # What shows clearly has a cause: where just one is likely and not sure, the next is told too.
    among = [
        kind
        for kind, share in shares.items()
        if (kind in explain if is_told else share >= LEAST_LIKELY)
    ]
    return tuple(sorted(among, key=lambda kind: -shares[kind])[:_MOST_POSSIBLE])


def _shares(fits: Mapping[str, Fit], kinds: Iterable[str]) -> dict[str, float]:
    """Share of each of these hypotheses in the sum of their likelihoods."""
    there = [kind for kind in kinds if kind in fits]
    shares = special.softmax(np.array([fits[kind].score for kind in there]))
    return dict(zip(there, shares.tolist(), strict=True))


def _by_delays(fits: Mapping[str, Fit], *, against: Iterable[str]) -> float:
    """Likelihood ratio of changed delays to these hypotheses, between 1 and exp(3)."""
    if "label_delay" not in fits:
        return 1.0
    gain = fits["label_delay"].score - max(fits[one].score for one in against)
    return math.exp(min(max(gain, 0.0), _MOST_BY_DELAYS))
