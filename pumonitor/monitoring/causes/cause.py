"""The cause of a change, with its size, and one sentence for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.monitoring.causes.period import Period
from pumonitor.monitoring.causes.stories import Fit, Stories, variation

__all__ = ["KINDS", "Cause", "Size", "name_cause"]

FloatArray = NDArray[np.float64]

KINDS: Final = (
    "class_prior",
    "ranking",
    "score_scale",
    "label_delay",
    "labeling",
    "traffic",
    "none",
)
"""What a change may come from."""

_DAY: Final = 86_400.0
_HOUR: Final = 3_600.0
_FEWEST_LABELED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A quantity in both periods, and its change with an interval.

    Attributes
    ----------
    before, now : float
    change, low, high : float
        `now - before`, except for "confirmed_share": the ratio of the shares.
    """

    before: float
    now: float
    change: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why the new windows differ from the reference.

    Attributes
    ----------
    kind : str
        One of `KINDS`: the story that fits best; "none" when nothing has to be told to explain
        the counts.
    support : mapping of str to float
        Of each story, between 0 and 1 and summing to 1: its likelihood among theirs, less what its
        numbers are charged. A move of all scores that changes AUC counts as "ranking", another
        ranking that leaves AUC where it was as "score_scale".
    sizes : mapping of str to Size
        "class_prior", "auc", "score" (mean, in standard deviations of the reference's rows),
        "confirmed_share" (of the positives, as a ratio), and "delay" (median, seconds) where known.
    sentence : str
    """

    kind: str
    support: Mapping[str, float]
    sizes: Mapping[str, Size]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "kind": self.kind,
            "support": dict(self.support),
            "sizes": {name: asdict(size) for name, size in self.sizes.items()},
            "sentence": self.sentence,
        }


def name_cause(
    before: Period, now: Period, *, class_prior: float, confidence_level: float = 0.95
) -> Cause | None:
    """Which of the usual things has changed between two periods.

    Each cause is a model of the new counts: positives and negatives score as in the reference but
    for what the cause changes. The best is the one with the highest log likelihood, less three for
    each number it may choose. With less of a charge causes are found where nothing has changed: in
    29% of the cases at two and in 63% at one, as Akaike has it, where three has 6%.

    - "class_prior": as they scored, in other numbers.
    - "ranking": positives, or negatives, score elsewhere and the others do not.
    - "score_scale": all rows were moved and stretched, or spread otherwise, and the ranking stays.
    - "label_delay": the same positives, but fewer (or more) of them are confirmed by now.
    - "labeling": all rows score as they did and the confirmed ones do not: other positives get
      confirmed than before, so they are no fair sample, now or then.
    - "traffic": parts of the traffic score as before and are more or less frequent. It is charged
      like one number where the mix is as before, and not at all where a tenth of it has moved.

    Wrong where two things change at once: the greater is named, and the sizes tell of the other.
    A change of the ranking among positives too rare to show among all rows looks like "labeling".

    Parameters
    ----------
    before, now : Period
        The reference and the windows since the change, on the same cells.
    class_prior : float
        Of the reference.
    confidence_level : float
        Of the sizes' intervals.

    Returns
    -------
    Cause or None
        None with fewer than five confirmed positives in either period, or without other rows.

    Examples
    --------
    >>> edges = np.array([0.25, 0.5, 0.75])
    >>> def week(positives, negatives):
    ...     rows = [p + n for p, n in zip(positives, negatives)]
    ...     return [([0.1, 0.4, 0.6, 0.9], [p // 2 for p in positives], rows)] * 4
    >>> then = Period.counted(week([20, 60, 120, 200], [3000, 600, 300, 60]), edges=edges)
    >>> today = Period.counted(week([10, 30, 60, 100], [3150, 630, 315, 63]), edges=edges)
    >>> cause = name_cause(then, today, class_prior=0.092)
    >>> cause.kind, round(cause.sizes["class_prior"].now, 3)
    ('class_prior', 0.046)
    """
    if min(before.labeled.sum(), now.labeled.sum()) < _FEWEST_LABELED:
        return None
    if not 0 < class_prior < 1 or min(before.rows.sum(), now.rows.sum()) == 0:
        return None
    fits = Stories(before, now, class_prior=class_prior).fit()
    reach = float(special.ndtri(0.5 + 0.5 * confidence_level))
    best = max(fits, key=lambda kind: fits[kind].score)
    sizes = _sizes(before, now, fits[best], class_prior=class_prior, reach=reach)
    kind = _judged(best, sizes["auc"], reach)
    scores = np.array([fit.score for fit in fits.values()])
    weights = np.exp(scores - special.logsumexp(scores))
    support = dict(zip(fits, map(float, weights), strict=True))
    if kind != best:
        support[kind], support[best] = support[kind] + support[best], 0.0
    return Cause(
        kind=kind, support=support, sizes=sizes, sentence=_sentence(kind, sizes, before, now)
    )


def _judged(fit: str, auc: Size, reach: float) -> str:
    """What the story that fits best amounts to, by AUC, which tells whether the ranking stayed.

    A few positives that score lower look like a small move of all rows. Where AUC is as before,
    within one standard error, what looks like another ranking is another shape of the scores, which
    changes what a threshold means and no more.
    """
    if fit == "score_scale" and not auc.low <= 0 <= auc.high:
        return "ranking"
    if fit == "ranking" and 2 * reach * abs(auc.change) < auc.high - auc.low:
        return "score_scale"
    return fit


# -- sizes ------------------------------------------------------------------------------------


def _sizes(
    before: Period, now: Period, fit: Fit, *, class_prior: float, reach: float
) -> dict[str, Size]:
    log_prior, log_share = map(float, fit.parameters[:2])
    prior_error, share_error = np.sqrt(np.diag(fit.covariance)[:2])
    # What windows differ by anyway is no change.
    prior_error = math.hypot(prior_error, variation(before) * math.sqrt(_apart(before, now)))
    ends = [math.exp(log_prior + sign * reach * prior_error) for sign in (-1, 0, 1)]
    priors = [min(class_prior * one, 0.99) for one in ends]
    ratio = math.exp(log_share)
    shares = [
        min(period.labeled.sum() / (prior * period.rows.sum()), 1.0)
        for period, prior in ((before, class_prior), (now, priors[1]))
    ]
    sizes = {
        "class_prior": Size(
            before=class_prior,
            now=priors[1],
            change=priors[1] - class_prior,
            low=priors[0] - class_prior,
            high=priors[2] - class_prior,
        ),
        # Where the class prior is as before it is so in AUC too.
        "auc": _auc(before, now, class_prior, priors[1] if fit.prior_free else class_prior, reach),
        "score": _score(before, now, reach),
        "confirmed_share": Size(
            before=shares[0],
            now=shares[1],
            change=ratio,
            low=math.exp(log_share - reach * share_error),
            high=math.exp(log_share + reach * share_error),
        ),
    }
    delay = _delay(before, now)
    return sizes if delay is None else {**sizes, "delay": delay}


def _auc(before: Period, now: Period, prior_before: float, prior_now: float, reach: float) -> Size:
    found = []
    variance = 0.0
    for period, prior in ((before, prior_before), (now, prior_now)):
        labeled, rows = period.labeled.sum(axis=0), period.rows.sum(axis=0)
        placement = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
        number = labeled.sum()
        mean = float((labeled * placement).sum() / number)
        spread = float((labeled * (placement - mean) ** 2).sum() / number)
        variance += spread / number / (1 - prior) ** 2
        found.append((mean - prior / 2) / (1 - prior))
    error = math.sqrt(variance)
    change = found[1] - found[0]
    return Size(
        before=found[0],
        now=found[1],
        change=change,
        low=change - reach * error,
        high=change + reach * error,
    )


def _apart(before: Period, now: Period) -> float:
    """Variance of the difference of two means over windows, in that of a single window."""
    sizes = (period.rows.sum(axis=1) for period in (before, now))
    return sum(float((size**2).sum() / size.sum() ** 2) for size in sizes)


def _score(before: Period, now: Period, reach: float) -> Size:
    """Mean of the scores on the scale on which the reference's rows are normal."""
    rows = before.rows.sum(axis=0)
    scale = special.ndtri(
        np.clip((np.cumsum(rows) - 0.5 * rows) / rows.sum(), 0.5 / rows.sum(), 1 - 0.5 / rows.sum())
    )
    means, variance = [], 0.0
    for period in (before, now):
        some = period.rows.sum(axis=0)
        means.append(float((some * scale).sum() / some.sum()))
        variance += float((some * (scale - means[-1]) ** 2).sum() / some.sum() ** 2)
    sizes = before.rows.sum(axis=1)
    if (sizes > 0).sum() > 1:
        own = (before.rows @ scale)[sizes > 0] / sizes[sizes > 0]
        variance = max(variance, float(np.var(own, ddof=1)) * _apart(before, now))
    change, error = means[1] - means[0], math.sqrt(variance)
    return Size(
        before=means[0],
        now=means[1],
        change=change,
        low=change - reach * error,
        high=change + reach * error,
    )


def _delay(before: Period, now: Period) -> Size | None:
    medians = []
    for period in (before, now):
        inside = period.arrivals[: len(period.delay_edges)]
        if inside.sum() < _FEWEST_LABELED:
            return None
        shares = np.concatenate([[0.0], np.cumsum(inside) / inside.sum()])
        ends = np.concatenate([[0.0], period.delay_edges])
        rank = 0.5 * inside.sum()
        reach = math.sqrt(rank / 2) / inside.sum()
        medians.append([float(np.interp(0.5 + step, shares, ends)) for step in (-reach, 0, reach)])
    (low_then, then, high_then), (low_now, today, high_now) = medians
    change = today - then
    return Size(
        before=then,
        now=today,
        change=change,
        low=change - 2 * math.hypot(today - low_now, high_then - then),
        high=change + 2 * math.hypot(high_now - today, then - low_then),
    )


# -- words ------------------------------------------------------------------------------------


def _sentence(kind: str, sizes: Mapping[str, Size], before: Period, now: Period) -> str:
    prior, auc, score = sizes["class_prior"], sizes["auc"], sizes["score"]
    share = sizes["confirmed_share"]
    fewer = "fewer" if prior.change < 0 else "more"
    ranking = f"AUC {_change(auc)}"
    if kind == "class_prior":
        return (
            f"There are {fewer} positives: the class prior went from {prior.before:.3g} to "
            f"{prior.now:.3g} ({prior.before + prior.low:.3g} to {prior.before + prior.high:.3g}). "
            f"The model ranks {_how(auc)} ({ranking})."
        )
    if kind == "ranking":
        how = "worse" if auc.change < 0 else "better"
        return f"The model ranks {how} than in the reference: {ranking}, now {auc.now:.3f}."
    if kind == "score_scale":
        moved = (
            f"All scores have moved, by {score.change:+.2f} standard deviations"
            if score.low > 0 or score.high < 0
            else "Scores are spread otherwise than they were"
        )
        stays = f"the ranking stays ({ranking})"
        return f"{moved}, and {stays}: the threshold no longer means what it did."
    if kind == "label_delay":
        how = "later" if share.change < 1 else "earlier"
        delay = sizes.get("delay")
        median = (
            "" if delay is None else f"; median delay {_span(delay.before)}, now {_span(delay.now)}"
        )
        return (
            f"Confirmations come {how} than they did: {share.change:.0%} ({share.low:.0%} to "
            f"{share.high:.0%}) of the usual number are in{median}. Scores are as before."
        )
    if kind == "labeling":
        how, ranks = ("higher", "better") if auc.change > 0 else ("lower", "worse")
        return (
            f"Confirmed positives score {how} ({ranking}) while all rows score about as they did. "
            "Either other positives get confirmed than before, so that recall, AUC and F1 are off "
            f"though the model is the same; or it ranks {ranks} among positives that are too few "
            "to show among all rows. Look at how cases come to be confirmed."
        )
    if kind == "traffic":
        return (
            f"The traffic is made up differently: {_traffic(before, now)}. Each part scores as "
            "before."
        )
    return (
        f"Nothing in scores, confirmations and delays stands out: class prior {_change(prior)}, "
        f"{ranking}."
    )


def _how(auc: Size) -> str:
    """How a model ranks where something else is the cause: that may not be all."""
    if auc.high < 0:
        return "worse as well"
    return "better as well" if auc.low > 0 else "as before"


def _change(size: Size) -> str:
    return f"{size.change:+.3f} ({size.low:+.3f} to {size.high:+.3f})"


def _span(seconds: float) -> str:
    return f"{seconds / _DAY:.1f} days" if seconds >= _DAY else f"{seconds / _HOUR:.1f} hours"


def _traffic(before: Period, now: Period) -> str:
    """The part whose share changed most."""
    totals = [
        sum(float(part[1].sum()) for part in period.traffic.values()) for period in (before, now)
    ]

    def shares(name: str) -> list[float]:
        return [
            float(period.traffic[name][1].sum()) / total if name in period.traffic else 0.0
            for period, total in zip((before, now), totals, strict=True)
        ]

    name = max(
        sorted({*before.traffic, *now.traffic}),
        key=lambda one: abs(shares(one)[1] - shares(one)[0]),
    )
    then, today = shares(name)
    return f"{name} went from {then:.0%} to {today:.0%} of all rows"
