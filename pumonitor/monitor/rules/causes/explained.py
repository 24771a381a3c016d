"""What explains the counts: combinations of changes, each with its support."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Final

import numpy as np
from scipy import special

from pumonitor.monitor.rules.causes.named import KINDS
from pumonitor.monitor.rules.causes.stories import Fit
from pumonitor.prior.over_time import Explanation

__all__ = ["Support", "explained", "marginal"]

Support = dict[tuple[str, ...], float]
"""Of each combination of kinds, in the order of `KINDS`; adding up to 1."""

_Shares = Callable[[Mapping[str, float]], dict[str, float]]

_COUNTED: Final = ("confirmed_share", "label_delay")
_PLACED: Final = ("ranking", "score_scale", "labeling")
_TOO_SMALL: Final = ("none", *_PLACED, "label_delay")
_MOST_BY_DELAYS: Final = 3.0


def explained(
    fits: Mapping[str, Fit],
    by_auc: _Shares,
    followed: Iterable[Explanation] | None,
) -> Support:
    """Support of what may have changed.

    Parameters
    ----------
    fits : mapping of str to Fit
        The stories.
    by_auc : callable
        Of supports of stories those that AUC leaves.
    followed : iterable of Explanation or None
        Of the filter that follows the class prior; None where it is not followed.

    Notes
    -----
    Without the filter each story is an explanation, supported by its likelihood. With it the chance
    that the class prior, the label frequency or where rows score has changed is the filter's, and
    stories say what it cannot see, each by its share of their likelihoods: whether fewer
    are confirmed or later; whether the model ranks otherwise, or all scores went through one map,
    or others get confirmed; and what is too small to count for the filter, where nothing has
    changed by its measure. That delays are others is no evidence for it and is for "label_delay",
    up to a factor of 20: labels may come later and something else have changed as well. The mix of
    the traffic explains where rows score and how many are confirmed, its support being that among
    all stories; that there are more positives for it stays the filter's to say.
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
    """Support of each kind, whatever else has changed.

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


def _shares(fits: Mapping[str, Fit], kinds: Iterable[str]) -> dict[str, float]:
    """Of stories among these, by their likelihoods."""
    there = [kind for kind in kinds if kind in fits]
    shares = special.softmax(np.array([fits[kind].score for kind in there]))
    return dict(zip(there, shares.tolist(), strict=True))


def _by_delays(fits: Mapping[str, Fit], *, against: Iterable[str]) -> float:
    """How much likelier counts are for delays that the filter does not look at."""
    if "label_delay" not in fits:
        return 1.0
    gain = fits["label_delay"].score - max(fits[one].score for one in against)
    return math.exp(min(max(gain, 0.0), _MOST_BY_DELAYS))
