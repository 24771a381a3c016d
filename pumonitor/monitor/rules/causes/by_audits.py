"""What audits say of a change: of the class prior, of the ranking, or of confirmations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Literal

from pumonitor.audit.carried import PastAudit
from pumonitor.audit.compared import Moved, Ratio, TwoAudits, audits_around, compare_audits
from pumonitor.monitor.rules.causes.explained import LEAST_SUPPORT, Support, marginal
from pumonitor.monitor.rules.causes.named import KINDS
from pumonitor.monitor.rules.causes.observed import NOTICED
from pumonitor.text import day_text, number_text, signed_text, with_interval

WORLD_OR_CONFIRMATIONS: Final = ("class_prior", "confirmed_share", "label_delay")
"""Kinds of causes that an audit before a change and one after it tell apart."""

Ranking = Literal["worse", "better", "as before"]

_ANOTHER_RANKING: Final = ("worse", "better")
_LEAVES_RANKING: Final = ("labeling", "score_scale", "none")
"""Kinds that say that the model ranks as before, or leave it open."""

_CONFIRMATIONS: Final = frozenset({"confirmed_share", "label_delay"})

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "neither": (),
    "class_prior": ("class_prior",),
    "label_frequency": ("confirmed_share",),
    "both": ("class_prior", "confirmed_share"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldByAudits:
    """What the audits of a monitor say of one change.

    Attributes
    ----------
    compared : TwoAudits or None
        None without an audit on either side of the change.
    sentence : str
    """

    compared: TwoAudits | None
    sentence: str

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """Of `WORLD_OR_CONFIRMATIONS`, what has changed; None where audits cannot tell."""
        changed = None if self.compared is None else self.compared.changed
        return None if changed is None else _KINDS[changed]

    @property
    def ranking(self) -> Ranking | None:
        """How the model ranks since the change; None where audits cannot tell."""
        auc = None if self.compared is None else self.compared.auc
        return None if auc is None else _ranking(auc)

    @property
    def decides(self) -> bool:
        """Whether audits name the change of the class prior, of confirmations or of the ranking."""
        return self.kinds is not None or self.ranks_otherwise

    @property
    def ranks_otherwise(self) -> bool:
        """Whether audits say that the model ranks worse or better."""
        return self.ranking in _ANOTHER_RANKING

    def _with_ranking(self, kinds: set[str]) -> set[str]:
        """Kinds with what audits say of the ranking."""
        if self.ranks_otherwise:
            return {*kinds, "ranking"}.difference(_LEAVES_RANKING)
        if self.ranking == "as before":
            # Confirmed positives that score elsewhere are then others than before.
            return {"labeling" if kind == "ranking" else kind for kind in kinds}
        return kinds

    def agreeing(self, support: Support) -> Support:
        """The combinations of changes that have just the kinds that the audits say."""
        support = _changed(support, self._with_ranking)
        if self.kinds is None:
            return support
        kept = {
            kinds: share
            for kinds, share in support.items()
            if ("class_prior" in kinds) == ("class_prior" in self.kinds)
            and (not _CONFIRMATIONS.isdisjoint(kinds)) == ("confirmed_share" in self.kinds)
        }
        whole = sum(kept.values())
        if not whole:
            told = _changed({self.kinds: 1.0}, self._with_ranking)
            return {kinds or ("none",): share for kinds, share in told.items()}
        return {kinds: share / whole for kinds, share in kept.items()}

    def deciding(self, known: Collection[str]) -> tuple[str, ...]:
        """What has changed, by the audits where they can tell, and by the counts besides."""
        known, told = self._with_ranking(set(known)), self.kinds
        if told is not None:
            beside = set(known).difference(WORLD_OR_CONFIRMATIONS)
            if told:
                beside.discard("none")
            if "label_delay" in known:
                told = tuple("label_delay" if kind == "confirmed_share" else kind for kind in told)
            known = {*told, *beside}
        return tuple(kind for kind in KINDS if kind in known)

    def read_anew(self, cause: Mapping[str, Any]) -> dict[str, Any]:
        """A stored cause, in JSON types, with what these audits say that it did not know yet."""
        if not (self.decides or self.ranking == "as before"):
            sentence = f"{cause['sentence']} {self.sentence}"
            return {**cause, "sentence": sentence, "by_audits": self.to_dict()}
        stored = {tuple(kinds.split(" and ")): share for kinds, share in cause["support"].items()}
        support = self.agreeing(stored)
        likely = marginal(support)
        left_open = self._with_ranking(set(cause.get("possible", ())))
        decided = {kind for kind in left_open if likely.get(kind, 0.0) >= LEAST_SUPPORT}
        kinds = self.deciding({*cause["kinds"], *decided})
        return {
            **cause,
            "kind": kinds[0] if kinds else "unclear",
            "kinds": list(kinds),
            "possible": [] if kinds else cause.get("possible", []),
            "support": {" and ".join(kinds): share for kinds, share in support.items()},
            "sentence": " ".join(filter(None, [self.sentence, cause.get("known", "")])),
            "by_audits": self.to_dict(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the ratios only where there are two audits."""
        one = self.compared
        if one is None:
            return {"sentence": self.sentence}
        return {
            "sentence": self.sentence,
            "before": one.before.name,
            "after": one.after.name,
            "class_prior": asdict(one.class_prior),
            "label_frequency": asdict(one.label_frequency),
            "support": dict(one.support),
            "auc": None if one.auc is None else asdict(one.auc),
            "ranking": self.ranking,
        }


def told_by_audits(audits: Sequence[PastAudit], *, since: datetime) -> ToldByAudits | None:
    """What audits say of a change that began at a time; None if there is no audit.

    Parameters
    ----------
    audits : sequence of PastAudit
        In the order of time, with a decided case each.
    since : datetime
        When the change began.
    """
    if not audits:
        return None
    around = audits_around(audits, since=since)
    open_question = (
        "Whether the class prior, the ranking or how often positives get confirmed changed cannot"
    )
    if not around.after:
        return ToldByAudits(
            compared=None,
            sentence=f"{open_question} be told yet: the last audit, {_named(around.before[-1])}, "
            "is of the time before the change. The next audit tells.",
        )
    if not around.before:
        return ToldByAudits(
            compared=None,
            sentence=f"{open_question} be told by audits: the first one, "
            f"{_named(around.after[0])}, is of the time after the change began.",
        )
    compared = compare_audits(around)
    return ToldByAudits(compared=compared, sentence=in_words(compared))


def _changed(support: Support, change: Callable[[set[str]], set[str]]) -> Support:
    """The support with the kinds of each combination changed."""
    found: Support = {}
    for kinds, share in support.items():
        ordered = tuple(sorted(change(set(kinds)), key=KINDS.index))
        found[ordered] = found.get(ordered, 0.0) + share
    return found


def in_words(compared: TwoAudits) -> str:
    """What two audits say of the time between them; a change of the ranking goes first."""
    told = [_world_in_words(compared)]
    if compared.auc is not None:
        at = 0 if _ranking(compared.auc) in _ANOTHER_RANKING else 1
        told.insert(at, _ranking_in_words(compared.auc))
    by = f"By the audits {_named(compared.before)} and {_named(compared.after)}"
    return " ".join([f"{by} {told[0]}", *(f"By them {one}" for one in told[1:])])


def _ranking_in_words(auc: Moved) -> str:
    found = _ranking(auc)
    moved = (
        f"AUC {number_text(auc.before)} before, {number_text(auc.after)} after, a change of "
        f"{with_interval(auc.change, auc.low, auc.high, as_text=signed_text)}."
    )
    if found is None:
        return f"it cannot be told whether the model ranks as before: {moved}"
    return f"the model ranks {found}: {moved}"


def _world_in_words(compared: TwoAudits) -> str:
    """Of the class prior and of confirmations, with both ratios."""
    positives, frequency = _times(compared.class_prior), _times(compared.label_frequency)
    more = "more" if compared.class_prior.value > 1 else "fewer"
    oftener = "more often" if compared.label_frequency.value > 1 else "less often"
    match compared.changed:
        case "class_prior":
            return (
                f"the class prior changed: there are {more} positives, {positives} as many. "
                f"That confirmations changed is not shown: positives get confirmed {frequency} as "
                "often."
            )
        case "label_frequency":
            return (
                f"confirmations changed: positives get confirmed {oftener}, {frequency} as "
                f"often. That the class prior changed is not shown: there are {positives} as many "
                "positives."
            )
        case "both":
            return (
                f"both the class prior and confirmations changed: there are {more} positives, "
                f"{positives} as many, and they get confirmed {oftener}, {frequency} as often."
            )
        case "neither":
            return (
                f"neither the class prior nor how often positives get confirmed changed "
                f"much: there are {positives} as many positives, which get confirmed {frequency} "
                "as often."
            )
        case None:
            return (
                f"it cannot be told yet whether the class prior changed or how often "
                f"positives get confirmed: there are {positives} as many positives, or they get "
                f"confirmed {frequency} as often. The next audit tells more."
            )


def _ranking(auc: Moved) -> Ranking | None:
    """How the model ranks since; None where the interval leaves it open."""
    if auc.high < 0:
        return "worse"
    if auc.low > 0:
        return "better"
    return "as before" if max(-auc.low, auc.high) < NOTICED else None


def _named(audit: PastAudit) -> str:
    return f"{audit.name} ({day_text(audit.start)} to {day_text(audit.end)})"


def _times(ratio: Ratio) -> str:
    return with_interval(ratio.value, ratio.low, ratio.high, unit=" times")
