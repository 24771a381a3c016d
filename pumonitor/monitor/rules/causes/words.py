"""Write a cause in words: what is known, at most two things that it may be, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from pumonitor.monitor.rules.causes.amounts import change, ratio, traffic
from pumonitor.monitor.rules.causes.by_audits import WORLD_OR_CONFIRMATIONS, ToldByAudits
from pumonitor.monitor.rules.causes.explained import LEAST_LIKELY, LEAST_SUPPORT, Support, marginal
from pumonitor.monitor.rules.causes.named import AUC_AT_NEW_PRIOR, Size, is_clear
from pumonitor.monitor.rules.causes.observed import NOTICED, Observed
from pumonitor.stats.cases_to_distinguish import cases_to_distinguish
from pumonitor.text import (
    count_text,
    interval_text,
    number_text,
    percent_text,
    signed_text,
    span_text,
)

_WITH_RANKING: Final = frozenset({"class_prior", "ranking", "confirmed_share", "label_delay"})
"""With no other kinds than these, the sentence on the class prior also covers the ranking."""
_WITHOUT_AUC: Final = frozenset({"confirmed_share", "label_delay", "traffic"})
_MOST_ALTERNATIVES: Final = 2
_FEWEST_POSITIVES: Final = 5
_LEAST_SHOWN: Final = 0.01


def sentence(
    kinds: Sequence[str],
    sizes: Mapping[str, Size],
    observed: Observed,
    support: Support,
    possible: Sequence[str] = (),
    *,
    impossible: float,
    followed: bool = False,
    audited: ToldByAudits | None = None,
) -> str:
    """What is known, in at most 20 words a change; what else it may be, at most two; what to do.

    Parameters
    ----------
    kinds : sequence of str
        Named changes; empty when the cause is unclear.
    sizes, observed, support
    possible : sequence of str
        What an unclear cause may be, the likeliest first.
    impossible : float
        An AUC above 1 that cannot be right, or NaN. If given, `sizes` has no AUC.
    followed : bool
        Whether the class prior is followed, so that supports are probabilities.
    audited : ToldByAudits, optional
        What audits say. Where they decide, they replace what is said of the class prior, of the
        ranking and of confirmations. Two that do not decide are added; without one on either side
        that is said where one of these may have changed.
    """
    decided = audited is not None and audited.decides
    if audited is not None and decided:
        parts = [audited.sentence, *_beside_audits(audited, kinds, sizes, observed)]
    elif kinds:
        parts = [_of_kind(kind, kinds, sizes, observed) for kind in kinds]
        parts += _others(kinds, sizes, observed, support) if followed else ()
    else:
        parts = [
            known_in_words(sizes, observed),
            *_unclear(possible, sizes, observed, support),
        ]
    if (
        audited is not None
        and not decided
        and (audited.compared is not None or _is_for_audits(kinds, observed))
    ):
        parts.append(audited.sentence)
    if not math.isnan(impossible) and not (kinds and set(kinds) <= _WITHOUT_AUC):
        parts.append(_cannot_be(observed, impossible))
    return " ".join(filter(None, parts))


def known_in_words(sizes: Mapping[str, Size], observed: Observed) -> str:
    """What is known whatever the cause: of all that the counts show the clearest change."""
    over = _over(observed)
    shown = observed.shows_most(sizes)
    if shown == "auc":
        how = "higher" if observed.ranks_higher else "lower"
        return (
            f"Confirmed positives score {how} than before: AUC changed by {change(sizes['auc'])} "
            f"{over}."
        )
    if shown == "confirmed":
        times = ratio(observed.confirmed)
        return f"{times} times as many of all rows are confirmed {over}."
    if shown == "score":
        return f"All scores have moved by {change(sizes['score'])} standard deviations {over}."
    if observed.labeled < observed.needed:
        return (
            f"Too few confirmations to find the cause: {observed.labeled} {over}; about "
            f"{observed.needed} are needed."
        )
    return f"Neither scores nor confirmations show a clear change {over}."


def _beside_audits(
    audited: ToldByAudits, kinds: Sequence[str], sizes: Mapping[str, Size], observed: Observed
) -> Iterator[str]:
    """How the model ranks at the share of positives that audits say, and what else changed."""
    told = {"ranking"} if audited.ranks_otherwise else set()
    if audited.kinds is not None:
        told |= {"class_prior", "confirmed_share"}
        if "class_prior" in kinds and set(kinds) <= _WITH_RANKING and audited.ranking is None:
            yield _ranking_at_new_prior(sizes, observed)
    for kind in kinds:
        if kind not in told:
            yield _of_kind(kind, kinds, sizes, observed)


def _is_for_audits(kinds: Sequence[str], observed: Observed) -> bool:
    """Whether the class prior or confirmations may have changed."""
    return (
        not kinds
        or not {*WORLD_OR_CONFIRMATIONS, "labeling"}.isdisjoint(kinds)
        or observed.is_confirmed_otherwise
    )


def _of_kind(kind: str, kinds: Sequence[str], sizes: Mapping[str, Size], observed: Observed) -> str:
    auc = sizes.get(AUC_AT_NEW_PRIOR) if "class_prior" in kinds else sizes.get("auc")
    ranking = f" (AUC {change(auc)})" if auc is not None else ""
    if kind == "class_prior":
        return _class_prior(sizes, observed, alone=set(kinds) <= _WITH_RANKING)
    if kind == "ranking":
        return "" if "class_prior" in kinds else _worse_or_better(sizes, observed)
    if kind == "score_scale":
        return (
            f"{_moved(sizes, observed)}; {_stays(auc)}{ranking}. The same threshold now selects "
            "other cases than before."
        )
    if kind == "confirmed_share":
        return _confirmed_share(sizes)
    if kind == "label_delay":
        return _label_delay(sizes)
    if kind == "labeling":
        how = "higher" if observed.ranks_higher else "lower"
        return (
            f"Other positives get confirmed than before: they score {how}{ranking}, all rows as "
            "before. Estimates from confirmations alone are biased. Check how cases get confirmed."
        )
    if kind == "traffic":
        return (
            f"The mix of the traffic has changed: {traffic(observed.before, observed.now)}. "
            "Scores within each segment are as before."
        )
    return (
        f"Scores, confirmations and delays show no change: there are {ratio(sizes['positives'])} "
        f"times as many positives{ranking}."
    )


def _others(
    kinds: Sequence[str], sizes: Mapping[str, Size], observed: Observed, support: Support
) -> Iterator[str]:
    """The two likeliest things that may have changed besides the named kinds, or instead."""
    named = set(kinds)
    likely = sorted(marginal(support).items(), key=lambda entry: -entry[1])
    others = [
        (kind, share) for kind, share in likely if kind not in named and share >= LEAST_LIKELY
    ]
    for kind, share in others[:_MOST_ALTERNATIVES]:
        if kind == "class_prior" and share >= LEAST_SUPPORT:
            # A model that ranks otherwise moves the scores that suggest it.
            what = _named(kind, sizes, observed)
            yield f"Scores suggest {what} as well, but as many rows are confirmed as before."
            continue
        beside = sum(one for also, one in support.items() if kind in also and named <= set(also))
        how = "Perhaps also" if beside > 0.5 * share else "Instead it may be"
        yield f"{how} {_named(kind, sizes, observed)} ({percent_text(share)})."
    ranking = sizes.get(AUC_AT_NEW_PRIOR)
    hides = "class_prior" in named and "confirmed_share" not in named and not _stayed(ranking)
    if hides and not others:
        # Scores separate the class prior from the confirmed share only if positives rank as before.
        yield f"Instead it may be {_named('confirmed_share', sizes, observed)}."
    if hides or _is_prior_open(support) or "class_prior" in dict(others[:_MOST_ALTERNATIVES]):
        yield _audit_of_prior(sizes, observed)


def _unclear(
    possible: Sequence[str], sizes: Mapping[str, Size], observed: Observed, support: Support
) -> Iterator[str]:
    """What it may be, and what would tell."""
    if not possible:
        return
    shares = marginal(support)
    named = [
        f"{_named(kind, sizes, observed)} ({percent_text(max(shares[kind], _LEAST_SHOWN))})"
        for kind in possible
    ]
    yield f"It may be {' or '.join(named)}."
    if "class_prior" in possible:
        yield _audit_of_prior(sizes, observed)
    elif {"ranking", "labeling"} <= set(possible):
        yield (
            "Look for a broken input or a wrong join, and ask who gets reviewed. An audit of about "
            f"{_audit_of_ranking(sizes, observed)} rows would show which of the two it is."
        )
    elif observed.labeled < observed.needed:
        yield f"About {observed.needed} confirmations would show a change of AUC by {NOTICED:g}."


def _is_prior_open(support: Support) -> bool:
    """Whether the class prior changed under some likely hypotheses and not under others."""
    likely = [kinds for kinds, share in support.items() if share >= LEAST_LIKELY]
    return len({"class_prior" in kinds for kinds in likely}) > 1


def _audit_of_prior(sizes: Mapping[str, Size], observed: Observed) -> str:
    """Audited cases needed to distinguish the class priors before and after the change."""
    by = (sizes["positives"].change, observed.confirmed.change)
    times = next((factor for factor in by if not 1 / 1.25 < factor < 1.25), 2.0)
    rows = cases_to_distinguish(observed.class_prior, min(observed.class_prior * times, 0.99))
    return f"An audit of about {rows:,} rows would show whether the class prior changed."


def _audit_of_ranking(sizes: Mapping[str, Size], observed: Observed) -> str:
    """Audited cases among which there are enough positives to show the change of AUC."""
    auc = sizes.get("auc")
    by = NOTICED if auc is None else max(abs(auc.change), NOTICED)
    positives = max(observed.needed * (NOTICED / by) ** 2, _FEWEST_POSITIVES)
    rows = positives / observed.class_prior
    return count_text(round(rows, 1 - math.floor(math.log10(rows))))


def _stayed(auc: Size | None) -> bool:
    """Whether the interval of AUC's change lies within `NOTICED` of 0."""
    return auc is not None and max(-auc.low, auc.high) < NOTICED


def _stays(auc: Size | None) -> str:
    return "the ranking has not changed" if _stayed(auc) else "the ranking shows no change"


def _worse_or_better(sizes: Mapping[str, Size], observed: Observed) -> str:
    how = "better" if observed.ranks_higher else "worse"
    if "auc" not in sizes:
        return f"The model ranks {how} than in the reference, {_over(observed)}."
    return f"The model ranks {how}: AUC changed by {change(sizes['auc'])} {_over(observed)}."


def _class_prior(sizes: Mapping[str, Size], observed: Observed, *, alone: bool) -> str:
    positives = sizes["positives"]
    fewer = "fewer" if positives.change < 1 else "more"
    changed = f"There are {fewer} positives: {ratio(positives)} times as many {_over(observed)}."
    return f"{changed} {_ranking_at_new_prior(sizes, observed) if alone else ''}".rstrip()


def _ranking_at_new_prior(sizes: Mapping[str, Size], observed: Observed) -> str:
    auc = sizes.get(AUC_AT_NEW_PRIOR)
    if auc is None:
        return ""
    allowing = f"AUC changed by {change(auc)} at this share of positives"
    if is_clear(sizes, AUC_AT_NEW_PRIOR):
        how = "worse" if auc.change < 0 else "better"
        return f"The model ranks {how} as well ({allowing})."
    if _stayed(auc):
        return f"The model ranks as before ({allowing})."
    return (
        f"Whether the model ranks as before is unknown from {observed.labeled} confirmations: AUC "
        "may have changed by anything from "
        f"{interval_text(auc.low, auc.high, as_text=signed_text)}."
    )


def _confirmed_share(sizes: Mapping[str, Size]) -> str:
    share = sizes["confirmed_share"]
    which = "A smaller" if share.change < 1 else "A larger"
    if is_clear(sizes, "delay"):
        stays = (
            f"Delays changed ({_delays(sizes)}), which does not explain it. Scores are as before."
        )
    elif "delay" in sizes:
        stays = "Scores and delays are as before."
    else:
        stays = "Scores are as before; the label delay is not known."
    return (
        f"{which} share of the positives gets confirmed: {ratio(share)} times the usual one. "
        f"{stays}"
    )


def _label_delay(sizes: Mapping[str, Size]) -> str:
    share = sizes["confirmed_share"]
    how = "later" if share.change < 1 else "earlier"
    median = f"; {_delays(sizes)}" if is_clear(sizes, "delay") else ""
    return (
        f"Confirmations arrive {how}: {ratio(share)} times the usual number have arrived{median}. "
        "Scores are as before."
    )


def _delays(sizes: Mapping[str, Size]) -> str:
    before, now = (
        span_text(timedelta(seconds=seconds))
        for seconds in (sizes["delay"].before, sizes["delay"].now)
    )
    return f"median delay {before}, now {now}"


def _named(kind: str, sizes: Mapping[str, Size], observed: Observed) -> str:
    fewer = "fewer" if sizes["positives"].change < 1 else "more"
    # As an alternative it explains how many are confirmed.
    by_count = observed.is_confirmed_otherwise
    larger = (observed.confirmed if by_count else sizes["confirmed_share"]).change >= 1
    return {
        "class_prior": f"{fewer} positives",
        "ranking": f"a model that ranks {'better' if observed.ranks_higher else 'worse'}",
        "score_scale": "another scale of the scores",
        "confirmed_share": (
            f"a {'larger' if larger else 'smaller'} share of the positives being confirmed"
        ),
        "label_delay": f"confirmations that arrive {'earlier' if larger else 'later'}",
        "labeling": "other positives being confirmed",
        "traffic": "another mix of the traffic",
        "none": "chance alone",
    }[kind]


def _moved(sizes: Mapping[str, Size], observed: Observed) -> str:
    score = sizes["score"]
    if is_clear(sizes, "score"):
        return f"All scores have moved by {signed_text(score.change)} standard deviations"
    return f"The distribution of scores has changed {_over(observed)}"


def _cannot_be(observed: Observed, impossible: float) -> str:
    return (
        "The change of AUC cannot be estimated: at the class prior of "
        f"{number_text(observed.class_prior)} it would be {number_text(impossible)}, which is "
        "impossible: that class prior is too high, or the confirmed positives are too few or no "
        "fair sample."
    )


def _over(observed: Observed) -> str:
    if observed.windows == 1:
        return "in the alert's window"
    return f"over the {observed.windows} windows since it began"
