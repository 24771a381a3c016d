"""Write a cause as one or two sentences: what is known with its interval, and what is not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pumonitor.monitor.rules.causes.amounts import change, ratio, span, traffic
from pumonitor.monitor.rules.causes.by_audits import WORLD_OR_CONFIRMATIONS, ToldByAudits
from pumonitor.monitor.rules.causes.explained import Support, marginal
from pumonitor.monitor.rules.causes.named import AUC_AT_NEW_PRIOR, Size, is_clear
from pumonitor.monitor.rules.causes.observed import NOTICED, Observed
from pumonitor.stats.cases_to_distinguish import cases_to_distinguish

__all__ = ["sentence"]

_LEAST_LIKELY: Final = 0.1
_WITH_RANKING: Final = frozenset({"class_prior", "ranking", "confirmed_share", "label_delay"})
"""With no other kinds than these, the sentence on the class prior also covers the ranking."""
_WITHOUT_AUC: Final = frozenset({"confirmed_share", "label_delay", "traffic"})


def sentence(
    kinds: Sequence[str],
    sizes: Mapping[str, Size],
    observed: Observed,
    support: Support,
    *,
    impossible: float,
    followed: bool = False,
    audited: ToldByAudits | None = None,
) -> str:
    """What changed, over which windows, and what may have changed.

    Parameters
    ----------
    kinds : sequence of str
        Named changes; empty when the cause is unclear.
    sizes, observed, support
    impossible : float
        An AUC above 1 that cannot be right, or NaN. If given, `sizes` has no AUC.
    followed : bool
        Whether the class prior is followed, so that supports are probabilities.
    audited : ToldByAudits, optional
        What audits say. Where they decide, they replace what is said of the class prior, of the
        ranking and of confirmations. Two that do not decide are added; without one on either side
        that is said where one of these may have changed.
    """
    decided = audited is not None and (audited.kinds is not None or audited.ranks_otherwise)
    if audited is not None and decided:
        said = _by_audits(audited, kinds, sizes, observed)
    elif not kinds:
        said = _unclear(sizes, observed, support, followed=followed)
    else:
        same = audited is not None and audited.ranking == "as before"
        parts = [_of_kind(kind, kinds, sizes, observed, ranks_as_before=same) for kind in kinds]
        others = _others(kinds, sizes, observed, support) if followed else ()
        said = " ".join([*filter(None, parts), *others])
    if (
        audited is not None
        and not decided
        and (audited.compared is not None or _is_for_audits(kinds, observed))
    ):
        said = f"{said} {audited.sentence}"
    if math.isnan(impossible) or (kinds and set(kinds) <= _WITHOUT_AUC):
        return said
    return f"{said} {_cannot_be(observed, impossible)}"


def _by_audits(
    audited: ToldByAudits, kinds: Sequence[str], sizes: Mapping[str, Size], observed: Observed
) -> str:
    """What audits say, how the model ranks at their share of positives, and what else changed."""
    parts = [audited.sentence]
    told = {"ranking"} if audited.ranks_otherwise else set()
    if audited.kinds is not None:
        told |= {"class_prior", "confirmed_share"}
        if "class_prior" in kinds and set(kinds) <= _WITH_RANKING and audited.ranking is None:
            parts.append(_ranking_at_new_prior(sizes, observed))
    same = audited.ranking == "as before"
    parts += [
        _of_kind(kind, kinds, sizes, observed, ranks_as_before=same)
        for kind in kinds
        if kind not in told
    ]
    return " ".join(filter(None, parts))


def _is_for_audits(kinds: Sequence[str], observed: Observed) -> bool:
    """Whether the class prior or confirmations may have changed."""
    confirmed = observed.confirmed
    return (
        not kinds
        or not {*WORLD_OR_CONFIRMATIONS, "labeling"}.isdisjoint(kinds)
        or not confirmed.low <= 1 <= confirmed.high
    )


def _of_kind(
    kind: str,
    kinds: Sequence[str],
    sizes: Mapping[str, Size],
    observed: Observed,
    *,
    ranks_as_before: bool = False,
) -> str:
    auc = sizes.get(AUC_AT_NEW_PRIOR) if "class_prior" in kinds else sizes.get("auc")
    ranking = f" (AUC {change(auc)})" if auc is not None else ""
    if kind == "class_prior":
        return _class_prior(sizes, observed, alone=set(kinds) <= _WITH_RANKING)
    if kind == "ranking":
        return "" if "class_prior" in kinds else _worse_or_better(sizes, observed)
    if kind == "score_scale":
        return (
            f"{_moved(sizes, observed)}, and {_stays(auc)}{ranking}: the same threshold now "
            "selects other cases than before."
        )
    if kind == "confirmed_share":
        return _confirmed_share(sizes)
    if kind == "label_delay":
        return _label_delay(sizes)
    if kind == "labeling":
        return _labeling(observed, ranking, ranks_as_before=ranks_as_before)
    if kind == "traffic":
        return (
            f"The mix of the traffic has changed: {traffic(observed.before, observed.now)}. "
            "Scores within each segment are as before."
        )
    return (
        f"Scores, confirmations and delays show no change: there are {ratio(sizes['positives'])} "
        f"times as many positives as in the reference{ranking}."
    )


def _others(
    kinds: Sequence[str], sizes: Mapping[str, Size], observed: Observed, support: Support
) -> Iterator[str]:
    """Sentences on what may have changed in addition to the named kinds, or instead of them."""
    named = set(kinds)
    for kind, share in sorted(marginal(support).items(), key=lambda one: -one[1]):
        if kind in named or share < _LEAST_LIKELY:
            continue
        beside = sum(one for also, one in support.items() if kind in also and named <= set(also))
        what = _named(kind, sizes)
        yield (
            f"Perhaps also {what} ({share:.0%})."
            if beside > 0.5 * share
            else f"Instead it may be {what} ({share:.0%})."
        )
    ranking = sizes.get(AUC_AT_NEW_PRIOR)
    if "class_prior" in named and "confirmed_share" not in named and not _stayed(ranking):
        # Scores separate the class prior from the confirmed share only if positives rank as before.
        also = "smaller" if observed.confirmed.change < 1 else "larger"
        when = "As" if is_clear(sizes, AUC_AT_NEW_PRIOR) else "If"
        yield (
            f"{when} the ranking changed too, a {also} share of the positives being confirmed "
            "explains the counts equally well."
        )
        yield (
            f"An audit of about {_audit(sizes, observed)} rows would show whether the class "
            "prior changed."
        )
    elif _is_prior_open(support):
        yield (
            f"An audit of about {_audit(sizes, observed)} rows would show whether the class "
            "prior changed."
        )


def _is_prior_open(support: Support) -> bool:
    """Whether the class prior changed under some likely hypotheses and not under others."""
    likely = [kinds for kinds, share in support.items() if share >= _LEAST_LIKELY]
    return len({"class_prior" in kinds for kinds in likely}) > 1


def _audit(sizes: Mapping[str, Size], observed: Observed) -> str:
    """Audited cases needed to distinguish the class priors before and after the change."""
    ratio = next(
        (
            one
            for one in (sizes["positives"].change, observed.confirmed.change)
            if _by_a_quarter(one)
        ),
        2.0,
    )
    return (
        f"{cases_to_distinguish(observed.class_prior, min(observed.class_prior * ratio, 0.99)):,}"
    )


def _by_a_quarter(ratio: float) -> bool:
    return not 1 / 1.25 < ratio < 1.25


def _stayed(auc: Size | None) -> bool:
    """Whether the interval of AUC's change lies within `NOTICED` of 0."""
    return auc is not None and max(-auc.low, auc.high) < NOTICED


def _stays(auc: Size | None) -> str:
    return "the ranking has not changed" if _stayed(auc) else "the ranking shows no change"


def _worse_or_better(sizes: Mapping[str, Size], observed: Observed) -> str:
    how = "better" if observed.ranks_higher else "worse"
    if "auc" not in sizes:
        return f"The model ranks {how} than in the reference, {_over(observed)}."
    return (
        f"The model ranks {how} than in the reference: {_over(observed)}, AUC changed by "
        f"{change(sizes['auc'])} at the same class prior."
    )


def _labeling(observed: Observed, ranking: str, *, ranks_as_before: bool) -> str:
    how, ranks = ("higher", "better") if observed.ranks_higher else ("lower", "worse")
    if ranks_as_before:
        return (
            f"Confirmed positives score {how}{ranking} while all rows score about as they did: "
            "other positives get confirmed than before, and estimates from confirmations alone "
            "are biased. Check how cases get confirmed."
        )
    return (
        f"Confirmed positives score {how}{ranking} while all rows score about as they did. Either "
        "other positives get confirmed than before, so that recall, AUC and F1 are biased although "
        f"the model has not changed; or the model ranks {ranks}, and the positives are too few to "
        "change the scores of all rows. Check how cases get confirmed."
    )


def _class_prior(sizes: Mapping[str, Size], observed: Observed, *, alone: bool) -> str:
    positives = sizes["positives"]
    fewer = "fewer" if positives.change < 1 else "more"
    positives_changed = (
        f"There are {fewer} positives: {_over(observed)}, {ratio(positives)} times as many as in "
        "the reference."
    )
    ranking = _ranking_at_new_prior(sizes, observed) if alone else ""
    return f"{positives_changed} {ranking}".rstrip()


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
        f"may have changed by anything from {auc.low:+.3f} to {auc.high:+.3f}."
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
    median = ""
    if is_clear(sizes, "delay"):
        median = f"; {_delays(sizes)}"
    return (
        f"Confirmations arrive {how} than before: {share.change:.0%} ({share.low:.0%} to "
        f"{share.high:.0%}) of the usual number have arrived{median}. Scores are as before."
    )


def _delays(sizes: Mapping[str, Size]) -> str:
    return f"median delay {span(sizes['delay'].before)}, now {span(sizes['delay'].now)}"


def _unclear(
    sizes: Mapping[str, Size], observed: Observed, support: Support, *, followed: bool
) -> str:
    """Sentences for an unclear cause: likely hypotheses, what is known, what is not."""
    likely = [
        (" with ".join(_named(kind, sizes) for kind in kinds), share)
        for kinds, share in sorted(support.items(), key=lambda one: -one[1])
        if share >= _LEAST_LIKELY
    ]
    said = _why_unclear(likely, sizes, observed, support, followed=followed)
    known = []
    if not observed.confirmed.low <= 1 <= observed.confirmed.high:
        known.append(
            f"{observed.confirmed.change:.2g} times ({observed.confirmed.low:.2g} to "
            f"{observed.confirmed.high:.2g}) as many of all rows are confirmed as in the reference"
        )
    if is_clear(sizes, "score"):
        known.append(f"all scores have moved by {change(sizes['score'])} standard deviations")
    if is_clear(sizes, "auc"):
        known.append(f"AUC changed by {change(sizes['auc'])} if the class prior did not")
    elif "auc" in sizes:
        auc = sizes["auc"]
        return (
            f"{_with_known(said, known)} It is not known whether the model ranks as before: AUC "
            f"may have changed by anything from {auc.low:+.3f} to {auc.high:+.3f}."
        )
    return _with_known(said, known)


def _why_unclear(
    likely: Sequence[tuple[str, float]],
    sizes: Mapping[str, Size],
    observed: Observed,
    support: Support,
    *,
    followed: bool,
) -> str:
    """Why no cause is named: few confirmations, or several hypotheses that fit."""
    too_few = (
        f"{observed.labeled} {_over(observed)}; about {observed.needed} would show a change of AUC "
        f"by {NOTICED:g}"
    )
    if observed.labeled < observed.needed and not (followed and likely):
        return f"Too few confirmations to find the cause: {too_few}."
    if followed and likely:
        *others, last = [f"{what} ({share:.0%})" for what, share in likely]
        one_of = f"{', '.join(others)} or {last}" if others else f"most likely {last}"
        said = f"The cause is uncertain: {one_of}."
        if _is_prior_open(support):
            said += (
                f" Scores cannot distinguish them; an audit of about {_audit(sizes, observed)} "
                "rows would show whether the class prior changed."
            )
        elif observed.labeled < observed.needed:
            said += f" Confirmations are few: {too_few}."
        return said
    if len(likely) > 1:
        named = [what for what, _ in likely]
        return (
            f"The cause cannot be found: {', '.join(named[:-1])} and {named[-1]} explain the "
            "counts about equally well."
        )
    return "The cause cannot be found."


def _with_known(said: str, known: list[str]) -> str:
    return f"{said} Known: {'; '.join(known)}." if known else said


def _named(kind: str, sizes: Mapping[str, Size]) -> str:
    fewer = "fewer" if sizes["positives"].change < 1 else "more"
    smaller = "smaller" if sizes["confirmed_share"].change < 1 else "larger"
    later = "later" if sizes["confirmed_share"].change < 1 else "earlier"
    return {
        "class_prior": f"{fewer} positives",
        "ranking": "another ranking",
        "score_scale": "another scale of the scores",
        "confirmed_share": f"a {smaller} share of the positives being confirmed",
        "label_delay": f"confirmations that arrive {later}",
        "labeling": "other positives being confirmed",
        "traffic": "another mix of the traffic",
        "none": "chance alone",
    }[kind]


def _moved(sizes: Mapping[str, Size], observed: Observed) -> str:
    score = sizes["score"]
    if is_clear(sizes, "score"):
        return (
            f"All scores have moved, {_over(observed)} by {score.change:+.2f} standard deviations"
        )
    return f"The distribution of scores has changed {_over(observed)}"


def _cannot_be(observed: Observed, impossible: float) -> str:
    return (
        f"The change of AUC cannot be estimated: at the class prior of {observed.class_prior:.3g} "
        f"it would be {impossible:.3f}, which is impossible: that class prior is too high, or "
        "the confirmed positives are too few or no fair sample."
    )


def _over(observed: Observed) -> str:
    if observed.windows == 1:
        return "in the alert's window"
    return f"over the {observed.windows} windows since it began"
