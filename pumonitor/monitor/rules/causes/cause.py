"""Which of the usual things has changed, as far as the counts can tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from scipy import special

from pumonitor.monitor.rules.causes.explained import explained, marginal
from pumonitor.monitor.rules.causes.named import AUC_AT_NEW_PRIOR, KINDS, Cause, Size, is_clear
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.causes.ratios import Ratios
from pumonitor.monitor.rules.causes.sizes import (
    FEWEST_LABELED,
    LevelOf,
    auc_size,
    confirmed_size,
    delay_size,
    labels_needed,
    score_size,
)
from pumonitor.monitor.rules.causes.stories import Stories
from pumonitor.monitor.rules.causes.variation import share_variation
from pumonitor.monitor.rules.causes.words import NOTICED, Told, sentence
from pumonitor.monitor.rules.reference.what_changed import WhatChanged

__all__ = ["name_cause"]

_LEAST_SUPPORT: Final = 0.8
_SAME_RANKING: Final = 0.075
"""An interval of AUC's change within so much of 0 says that the ranking stayed."""

_NEAR: Final = 0.75
"""And that the change is no further off, as a share of the way to the interval's end; or that the
interval is within what anybody would want to see."""

_SURELY: Final = 1.5
"""So many times the way to the interval's end."""

_OF_AUC: Final = ("auc", AUC_AT_NEW_PRIOR)

_SHOWN_BY: Final[Mapping[str, str]] = {
    "class_prior": "positives",
    "ranking": "auc",
    "labeling": "auc",
    "confirmed_share": "confirmed_share",
    "label_delay": "confirmed_share",
}
"""The size that a kind is about."""


def name_cause(
    before: Period,
    now: Period,
    *,
    class_prior: float,
    label_purity: float = 1.0,
    confidence_level: float = 0.95,
    auc_of: LevelOf | None = None,
    changed: WhatChanged | None = None,
) -> Cause | None:
    """Which of the usual things has changed between two periods.

    Each cause is a model of the new counts: positives and negatives score as in the reference but
    for what the cause changes. The best is the one with the highest log likelihood, less three for
    each number it may choose. What the reference's windows differ by themselves, in how many
    positives there are and in where rows score, is allowed for.

    - "class_prior": as they scored, in other numbers.
    - "ranking": positives, or negatives, score elsewhere and the others do not.
    - "score_scale": all rows went through one monotone map, moved and stretched or any other, so
      that confirmed positives have the ranks among all rows that they had.
    - "confirmed_share": the same positives with the same delays, and a smaller or larger share of
      them gets confirmed.
    - "label_delay": the same positives, and fewer (or more) of them are confirmed by now as delays
      are others: never more than were still to come by the maturity. Not without known delays.
    - "labeling": all rows score as they did and the confirmed ones do not: other positives get
      confirmed than before, so they are no fair sample, now or then.
    - "traffic": parts of the traffic score as before and are more or less frequent. It is charged
      like one number where the mix is as before, and not at all where a tenth of it has moved.

    Where the class prior is followed over windows, its filter decides which of class prior, label
    frequency and ranking has changed, and stories tell apart what it cannot see (`explained`): so
    no cause contradicts a rule on the class prior, and several things may have changed.

    A cause is named with four fifths of the support, and where the interval of its own size leaves
    out that nothing changed; else it is "unclear", and the sentence says what is known. With the
    filter all that has a chance of a tenth is said beside it.

    Wrong, without the filter, where two things change at once: the greater is named, and the sizes
    tell of the other.
    Where more positives would not show among all rows, they and a larger share of them that gets
    confirmed look alike, and the cause is "unclear".
    A change of the ranking among positives too rare to show among all rows looks like "labeling",
    and a season of the year like any change of the class prior.

    Parameters
    ----------
    before, now : Period
        The reference and the windows since the change, on the same cells.
    class_prior : float
        Of the reference.
    label_purity : float
        Share of the confirmed that is positive.
    confidence_level : float
        Of the sizes' intervals.
    auc_of : callable, optional
        AUC of "before" or "now" at a class prior, as results show it; else it is estimated
        directly from the counts.
    changed : WhatChanged, optional
        What the filter that follows the class prior holds of changes since the reference, by the
        window that the cause is asked for in. It decides whether the class prior, the share that is
        confirmed, or where rows score has changed, and how far the first two have.

    Returns
    -------
    Cause or None
        None without a reference: no class prior below the label purity, or fewer than five
        confirmed positives in it, or without rows in either period.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([0.25, 0.5, 0.75])
    >>> def week(positives, negatives):
    ...     rows = [p + n for p, n in zip(positives, negatives)]
    ...     return [([0.1, 0.4, 0.6, 0.9], [p // 2 for p in positives], rows)] * 4
    >>> then = Period.counted(week([20, 60, 120, 200], [3000, 600, 300, 60]), edges=edges)
    >>> today = Period.counted(week([10, 30, 60, 100], [3150, 630, 315, 63]), edges=edges)
    >>> cause = name_cause(then, today, class_prior=0.092)
    >>> cause.kind, round(cause.sizes["positives"].change, 1)
    ('class_prior', 0.5)
    """
    if not 0 < class_prior < label_purity or before.labeled.sum() < FEWEST_LABELED:
        return None
    if min(before.rows.sum(), now.rows.sum()) == 0:
        return None
    reach = float(special.ndtri(0.5 + 0.5 * confidence_level))
    told = Told(
        before=before,
        now=now,
        class_prior=class_prior,
        confirmed=confirmed_size(before, now, share_variation(before, now), reach=reach),
        needed=labels_needed(
            before, class_prior, change=NOTICED, reach=reach, label_purity=label_purity
        ),
    )
    if now.labeled.sum() < FEWEST_LABELED:
        return _without_story(told, reach)
    auc_at = partial(
        auc_size,
        before,
        now,
        confidence_level=confidence_level,
        level_of=auc_of,
        label_purity=label_purity,
    )
    fits = Stories(before, now, class_prior=class_prior).fit()
    best = max(fits, key=lambda kind: fits[kind].score)
    auc, impossible = auc_at(priors=(class_prior,) * 2)
    at_held_prior = partial(_by_auc, auc=auc, reach=reach)
    if changed is None:
        by_auc = dict if fits[best].prior_free else at_held_prior
        support = explained(fits, by_auc, None)
        variation = share_variation(before, now)
        ratios = Ratios.of_fit(fits[best], variation=variation, reach=reach)
    else:
        support = explained(fits, at_held_prior, changed.explanations)
        ratios = Ratios.followed(changed)
        if "class_prior" not in max(support, key=lambda kinds: support[kinds]):
            # Confirmed positives among all rows tell it more closely, and of these windows alone.
            one = told.confirmed
            ratios = replace(ratios, confirmed_share=(one.low, one.change, one.high))
    ratios = ratios.below(0.99 * label_purity / class_prior)
    aucs = {"auc": auc}
    if "class_prior" in max(support, key=lambda kinds: support[kinds]):
        # With as many positives as before it may well be impossible.
        aucs = {"auc": auc} if math.isnan(impossible) else {}
        aucs[AUC_AT_NEW_PRIOR], impossible = auc_at(
            priors=(class_prior, class_prior * ratios.positives[1]),
            prior_error=class_prior * ratios.positives[1] * ratios.error,
        )
    sizes = _sizes(told, ratios, aucs, reach=reach)
    likely = marginal(support)
    kinds = tuple(
        kind for kind in KINDS if _is_known(kind, likely, sizes, told, followed=changed is not None)
    )
    if not math.isnan(impossible):
        sizes = {name: size for name, size in sizes.items() if name not in _OF_AUC}
    return Cause(
        kind=kinds[0] if kinds else "unclear",
        kinds=kinds,
        support={" and ".join(one): share for one, share in support.items()},
        sizes=sizes,
        windows=told.windows,
        sentence=sentence(
            kinds,
            sizes,
            told,
            support,
            impossible=impossible,
            followed=changed is not None,
        ),
    )


def _without_story(told: Told, reach: float) -> Cause:
    """Too few confirmed positives for anything but how many they are, and where rows score."""
    sizes = {"score": score_size(told.before, told.now, reach)}
    return Cause(
        kind="unclear",
        kinds=(),
        support={},
        sizes=sizes,
        windows=told.windows,
        sentence=sentence((), sizes, told, {}, impossible=math.nan),
    )


def _by_auc(support: Mapping[str, float], auc: Size, reach: float) -> dict[str, float]:
    """Support where AUC tells whether the ranking stayed or the scale of the scores.

    A few positives that score lower look like a small move of all rows. Where AUC is as before,
    within one standard error, what looks like another ranking is another shape of the scores, which
    changes what a threshold means and no more. Where a map of all scores fits best, one AUC in
    twenty is off by chance: it takes half as much again to say that the ranking changed.
    """
    reached = 2 * abs(auc.change) / (auc.high - auc.low)
    best = max(support, key=lambda kind: support[kind])
    into = None
    if reached > _SURELY or (best == "ranking" and reached > 1):
        into, other = "ranking", "score_scale"
    elif reach * reached < 1:
        into, other = "score_scale", "ranking"
    if into is None:
        return dict(support)
    return {**support, into: support[into] + support[other], other: 0.0}


def _is_known(
    kind: str,
    support: Mapping[str, float],
    sizes: Mapping[str, Size],
    told: Told,
    *,
    followed: bool,
) -> bool:
    """Whether counts tell a cause from the others, and from nothing at all."""
    if kind == "none":
        # Nothing is to be seen where little can be.
        likeliest = max(support, key=lambda one: support[one])
        return kind == likeliest and told.labeled >= told.needed
    if support.get(kind, 0.0) < _LEAST_SUPPORT:
        return False
    if kind == "score_scale":
        auc = sizes.get("auc")
        if auc is None:
            return False
        least, most = auc.low, auc.high
        near = 2 * abs(auc.change) < _NEAR * (most - least)
        within = max(-least, most) < (_SAME_RANKING if near else NOTICED)
        return within and least <= 0 <= most
    if followed and (kind == "class_prior" or (kind == "label_delay" and is_clear(sizes, "delay"))):
        # Chances, and delays themselves, say more of them than an interval's end.
        return True
    shown_by = _SHOWN_BY.get(kind)
    if shown_by == "auc" and AUC_AT_NEW_PRIOR in sizes:
        shown_by = AUC_AT_NEW_PRIOR
    return shown_by is None or is_clear(sizes, shown_by)


def _sizes(
    told: Told, ratios: Ratios, aucs: Mapping[str, Size], *, reach: float
) -> dict[str, Size]:
    before, now = told.before, told.now
    least, ratio, most = ratios.positives
    priors = (told.class_prior, told.class_prior * ratio)
    shares = [
        min(period.labeled.sum() / (prior * period.rows.sum()), 1.0)
        for period, prior in zip((before, now), priors, strict=True)
    ]
    fewer, share, more = ratios.confirmed_share
    sizes = {
        "positives": Size(before=1.0, now=ratio, change=ratio, low=least, high=most),
        **aucs,
        "score": score_size(before, now, reach),
        "confirmed_share": Size(
            before=shares[0], now=shares[1], change=share, low=fewer, high=more
        ),
    }
    delay = delay_size(before, now)
    return sizes if delay is None else {**sizes, "delay": delay}
