"""Name the cause of a change: fit the hypotheses, add up their support, measure the sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from scipy import special

from pumonitor.monitor.rules.causes.by_audits import ToldByAudits
from pumonitor.monitor.rules.causes.explained import (
    LEAST_SUPPORT,
    Support,
    explained,
    marginal,
    possible_kinds,
)
from pumonitor.monitor.rules.causes.hypotheses import Hypotheses
from pumonitor.monitor.rules.causes.named import AUC_AT_NEW_PRIOR, KINDS, Cause, Size, is_clear
from pumonitor.monitor.rules.causes.observed import NOTICED, Observed
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
from pumonitor.monitor.rules.causes.variation import share_variation
from pumonitor.monitor.rules.causes.words import known_in_words, sentence
from pumonitor.monitor.rules.reference.what_changed import WhatChanged

_SAME_RANKING: Final = 0.075
"""The ranking counts as unchanged when the interval of AUC's change lies within this of 0."""

_NEAR: Final = 0.75
"""For that, the change itself must be smaller than this share of the interval's half-width.

A larger change needs an interval within `NOTICED` of 0."""

_CLEAR_CHANGE: Final = 1.5
"""A change of AUC is clear when it exceeds this many half-widths of its interval."""

_BY_AUC: Final = ("ranking", "score_scale")
_OF_AUC: Final = ("auc", AUC_AT_NEW_PRIOR)

_SHOWN_BY: Final[Mapping[str, str]] = {
    "class_prior": "positives",
    "ranking": "auc",
    "labeling": "auc",
    "confirmed_share": "confirmed_share",
    "label_delay": "confirmed_share",
}
"""Kind of cause to the size that measures it."""


def name_cause(
    before: Period,
    now: Period,
    *,
    class_prior: float,
    label_purity: float = 1.0,
    confidence_level: float = 0.95,
    auc_of: LevelOf | None = None,
    changed: WhatChanged | None = None,
    audited: ToldByAudits | None = None,
) -> Cause | None:
    """Find what changed between two periods, and by how much.

    Each hypothesis predicts the counts of the new period from those of the reference: positives and
    negatives score as before except for what the hypothesis changes. The best has the highest log
    likelihood less a penalty of three per free parameter. The reference's windows differ from each
    other in the number of positives and in where rows score; the likelihood allows for both.

    - "class_prior": scores are distributed as before; the share of positives is another one.
    - "ranking": the scores of positives moved, or of negatives, or both so that all rows score as
      before (a wrong join). Then positives like the confirmed ones must not exceed all rows at any
      score.
    - "score_scale": one monotone map was applied to all scores (a shift and a stretch, or any
      other). Confirmed positives keep their ranks among all rows.
    - "confirmed_share": positives and delays are as before; another share of positives is
      confirmed.
    - "label_delay": positives are as before; another share of them is confirmed by now because
      delays changed. Confirmations cannot rise by more than used to come after the maturity. Needs
      known delays.
    - "labeling": all rows score as before and confirmed rows do not. Other positives are confirmed
      than before; they must not exceed the reference's positives at any score.
    - "traffic": each part of the traffic scores as before; their shares changed. The penalty is
      that of one parameter while the mix is unchanged, and none once a tenth of it has moved.

    Where neither bound breaks, the last two explain the counts equally well, and both are said.

    When the class prior is followed over windows, its filter decides whether class prior, label
    frequency or ranking changed. The hypotheses then only separate what the filter cannot see
    (`explained`). A cause therefore never contradicts a rule on the class prior, and several things
    may have changed at once.

    Audits before and after the change decide before the filter and the hypotheses whether the class
    prior changed, the ranking, or how often positives get confirmed, where they can.

    A cause is named when it has four fifths of the support and the interval of its size excludes no
    change. Otherwise the kind is "unclear", and `possible` has the two likeliest kinds that explain
    what shows most. More positives beside another ranking also need another number confirmed.

    It errs in these cases:

    - Two changes at once, without the filter: the larger is named; the sizes show the other.
    - More positives that do not show among all rows look like a larger confirmed share: "unclear".
    - Where only high scores were reviewed in the reference and all are now, "labeling" looks like a
      worse "ranking".
    - A season of the year looks like a change of the class prior.

    Parameters
    ----------
    before, now : Period
        The reference, and the windows since the change, on the same score cells.
    class_prior : float
        Of the reference.
    label_purity : float
        Share of the confirmed rows that are positive.
    confidence_level : float
        Of the intervals of the sizes.
    auc_of : callable, optional
        Returns the AUC that the results show for "before" or "now" at a class prior. Without it AUC
        is estimated from the counts.
    changed : WhatChanged, optional
        Posterior of the filter that follows the class prior, at the window for which the cause is
        wanted. It decides whether class prior, label frequency or scores changed, and gives the
        size of the first two.
    audited : ToldByAudits, optional
        What audits say of the change.

    Returns
    -------
    Cause or None
        None when there is nothing to compare with: the class prior is not between 0 and the label
        purity, the reference has fewer than five confirmed positives, or a period has no rows.

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
    observed = Observed(
        before=before,
        now=now,
        class_prior=class_prior,
        confirmed=confirmed_size(before, now, share_variation(before, now), reach=reach),
        needed=labels_needed(
            before, class_prior, change=NOTICED, reach=reach, label_purity=label_purity
        ),
    )
    if now.labeled.sum() < FEWEST_LABELED:
        return _too_few_confirmed(observed, audited, reach)
    auc_at = partial(
        auc_size,
        before,
        now,
        confidence_level=confidence_level,
        level_of=auc_of,
        label_purity=label_purity,
    )
    auc, impossible = auc_at(priors=(class_prior,) * 2)
    support, ratios = _support(observed, auc, changed, reach=reach)
    if audited is not None and audited.compared is not None:
        support = audited.agreeing(support)
        if audited.kinds is not None:
            ratios = Ratios.of_audits(audited.compared)
    ratios = ratios.below(0.99 * label_purity / class_prior)
    aucs = {"auc": auc}
    if _prior_changed(support):
        # At the reference's class prior AUC may well be impossible.
        aucs = {"auc": auc} if math.isnan(impossible) else {}
        aucs[AUC_AT_NEW_PRIOR], impossible = auc_at(
            priors=(class_prior, class_prior * ratios.positives[1]),
            prior_error=class_prior * ratios.positives[1] * ratios.error,
        )
    sizes = _sizes(observed, ratios, aucs, reach=reach)
    kinds = _kinds(support, sizes, observed, audited, followed=changed is not None)
    if not math.isnan(impossible):
        sizes = {name: size for name, size in sizes.items() if name not in _OF_AUC}
    return _written(
        kinds,
        sizes,
        observed,
        support,
        audited,
        impossible=impossible,
        followed=changed is not None,
    )


def _written(
    kinds: tuple[str, ...],
    sizes: Mapping[str, Size],
    observed: Observed,
    support: Support,
    audited: ToldByAudits | None,
    *,
    impossible: float = math.nan,
    followed: bool = False,
) -> Cause:
    """The cause with its words."""
    shown = observed.shows_most(sizes)
    # Without the filter a few confirmed rows make the likelihoods of all hypotheses say too much.
    is_open = not kinds and (followed or shown is not None or observed.labeled >= observed.needed)
    possible = possible_kinds(support, shown) if is_open else ()
    return Cause(
        kind=kinds[0] if kinds else "unclear",
        kinds=kinds,
        possible=possible,
        support={" and ".join(one): share for one, share in support.items()},
        sizes=sizes,
        windows=observed.windows,
        known=known_in_words(sizes, observed),
        sentence=sentence(
            kinds,
            sizes,
            observed,
            support,
            possible,
            impossible=impossible,
            followed=followed,
            audited=audited,
        ),
        by_audits=None if audited is None else audited.to_dict(),
    )


def _too_few_confirmed(observed: Observed, audited: ToldByAudits | None, reach: float) -> Cause:
    """An "unclear" cause: with so few confirmed positives only the move of all scores is known."""
    sizes = {"score": score_size(observed.before, observed.now, reach)}
    return _written((), sizes, observed, {}, audited)


def _support(
    observed: Observed, auc: Size, changed: WhatChanged | None, *, reach: float
) -> tuple[Support, Ratios]:
    """Support of each combination of changes, and the ratios that go with the likeliest one."""
    before, now = observed.before, observed.now
    fits = Hypotheses(before, now, class_prior=observed.class_prior).fit()
    at_held_prior = partial(_by_auc, auc=auc, reach=reach)
    if changed is None:
        best = max(fits.values(), key=lambda fit: fit.score)
        support = explained(fits, dict if best.prior_free else at_held_prior, None)
        variation = share_variation(before, now)
        return support, Ratios.of_fit(best, variation=variation, reach=reach)
    support = explained(fits, at_held_prior, changed.explanations)
    ratios = Ratios.followed(changed)
    if not _prior_changed(support):
        # The counts of these windows alone give the confirmed share more precisely.
        one = observed.confirmed
        ratios = replace(ratios, confirmed_share=(one.low, one.change, one.high))
    return support, ratios


def _prior_changed(support: Support) -> bool:
    """Whether the likeliest combination has a change of the class prior."""
    return "class_prior" in max(support, key=lambda kinds: support[kinds])


def _by_auc(support: Mapping[str, float], auc: Size, reach: float) -> dict[str, float]:
    """Move support between "ranking" and "score_scale" according to the change of AUC.

    A few positives with lower scores look like a small shift of all rows, so likelihood alone
    confuses the two.

    - AUC changed by less than one standard error: support of "ranking" goes to "score_scale". The
      distribution of scores changed, and with it only the meaning of a threshold.
    - AUC changed clearly: support of "score_scale" goes to "ranking". The change must be outside
      its interval, or, when another hypothesis than "ranking" fits best, half as large again, as
      one AUC in twenty is outside its interval by chance.
    - Between the two, both get half of what they have together.
    """
    reached = 2 * abs(auc.change) / (auc.high - auc.low)
    best = max(support, key=lambda kind: support[kind])
    into = None
    if reached > _CLEAR_CHANGE or (best == "ranking" and reached > 1):
        into, other = "ranking", "score_scale"
    elif reach * reached < 1:
        into, other = "score_scale", "ranking"
    if into is None:
        both = 0.5 * (support["ranking"] + support["score_scale"])
        # A change of AUC that is hardly clear leaves both open, whatever the scores look like.
        return {**support, **dict.fromkeys(_BY_AUC, both)} if reached > 1 else dict(support)
    return {**support, into: support[into] + support[other], other: 0.0}


def _kinds(
    support: Support,
    sizes: Mapping[str, Size],
    observed: Observed,
    audited: ToldByAudits | None,
    *,
    followed: bool,
) -> tuple[str, ...]:
    """The causes that are known, the most important one first."""
    likely = marginal(support)
    known = [kind for kind in KINDS if _is_known(kind, likely, sizes, observed, followed=followed)]
    return tuple(known) if audited is None else audited.deciding(known)


def _is_known(
    kind: str,
    support: Mapping[str, float],
    sizes: Mapping[str, Size],
    observed: Observed,
    *,
    followed: bool,
) -> bool:
    """Whether the counts distinguish a cause from the other hypotheses and from no change."""
    if kind == "none":
        # With few labels a change would not show, so "none" needs enough of them.
        likeliest = max(support, key=lambda one: support[one])
        return kind == likeliest and observed.labeled >= observed.needed
    if support.get(kind, 0.0) < LEAST_SUPPORT:
        return False
    if kind == "score_scale":
        auc = sizes.get("auc")
        if auc is None:
            return False
        least, most = auc.low, auc.high
        near = 2 * abs(auc.change) < _NEAR * (most - least)
        within = max(-least, most) < (_SAME_RANKING if near else NOTICED)
        return within and least <= 0 <= most
    ranks_otherwise = support.get("ranking", 0.0) >= LEAST_SUPPORT
    if kind == "class_prior" and ranks_otherwise and not observed.is_confirmed_otherwise:
        # It then rests on the scores alone, which a broken model moves as well.
        return False
    if followed and (kind == "class_prior" or (kind == "label_delay" and is_clear(sizes, "delay"))):
        # The filter's probabilities, and the delays themselves, are stronger evidence than an
        # interval that excludes no change.
        return True
    shown_by = _SHOWN_BY.get(kind)
    if shown_by == "auc" and AUC_AT_NEW_PRIOR in sizes:
        shown_by = AUC_AT_NEW_PRIOR
    return shown_by is None or is_clear(sizes, shown_by)


def _sizes(
    observed: Observed, ratios: Ratios, aucs: Mapping[str, Size], *, reach: float
) -> dict[str, Size]:
    before, now = observed.before, observed.now
    least, ratio, most = ratios.positives
    priors = (observed.class_prior, observed.class_prior * ratio)
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
