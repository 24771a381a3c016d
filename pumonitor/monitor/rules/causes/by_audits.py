"""What audits say of a change: of the class prior, or of how often positives get confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from pumonitor.audit.carried import PastAudit
from pumonitor.audit.compared import Ratio, TwoAudits, audits_around, compare_audits
from pumonitor.monitor.rules.causes.explained import Support

__all__ = ["WORLD_OR_CONFIRMATIONS", "ToldByAudits", "in_words", "told_by_audits"]

WORLD_OR_CONFIRMATIONS: Final = ("class_prior", "confirmed_share", "label_delay")
"""Kinds of causes that an audit before a change and one after it tell apart."""

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

    def agreeing(self, support: Support) -> Support:
        """The combinations of changes that have just the kinds that the audits say."""
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
            return {self.kinds or ("none",): 1.0}
        return {kinds: share / whole for kinds, share in kept.items()}

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
    open_question = "Whether the class prior changed or how often positives get confirmed cannot"
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


def in_words(compared: TwoAudits) -> str:
    """What two audits say of the time between them, with both ratios."""
    by = f"By the audits {_named(compared.before)} and {_named(compared.after)}"
    positives, frequency = _times(compared.class_prior), _times(compared.label_frequency)
    more = "more" if compared.class_prior.value > 1 else "fewer"
    oftener = "more often" if compared.label_frequency.value > 1 else "less often"
    match compared.changed:
        case "class_prior":
            return (
                f"{by} the class prior changed: there are {more} positives, {positives} as many. "
                f"That confirmations changed is not shown: positives get confirmed {frequency} as "
                "often."
            )
        case "label_frequency":
            return (
                f"{by} confirmations changed: positives get confirmed {oftener}, {frequency} as "
                f"often. That the class prior changed is not shown: there are {positives} as many "
                "positives."
            )
        case "both":
            return (
                f"{by} both changed: there are {more} positives, {positives} as many, and they get "
                f"confirmed {oftener}, {frequency} as often."
            )
        case "neither":
            return (
                f"{by} neither the class prior nor how often positives get confirmed changed "
                f"much: there are {positives} as many positives, which get confirmed {frequency} "
                "as often."
            )
        case None:
            return (
                f"{by} it cannot be told yet whether the class prior changed or how often "
                f"positives get confirmed: there are {positives} as many positives, or they get "
                f"confirmed {frequency} as often. The next audit tells more."
            )


def _named(audit: PastAudit) -> str:
    return f"{audit.name} ({audit.start:%Y-%m-%d} to {audit.end:%Y-%m-%d})"


def _times(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} times ({ratio.low:.2f} to {ratio.high:.2f})"
