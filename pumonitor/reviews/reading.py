"""What reviews and complaints together say of a window, and what is doubtful about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from pumonitor.audit.estimates import AUDITED, AUDITED_ROWS, EstimatesByBin, Kind, widest
from pumonitor.results import Estimate, Finding
from pumonitor.reviews.believed import (
    FEW_COMPLAINTS_YET,
    UNKNOWN_COMPLAINTS,
    ComplaintRate,
    detection_of,
    normal_of_share,
)
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.estimation import DRAWS, ReviewPosterior, estimate_at_odds
from pumonitor.reviews.given import two_ends
from pumonitor.reviews.partly_reviewed import BinParts
from pumonitor.text import percent_text

__all__ = ["ReviewedEstimates", "read_reviews"]

_MUCH_STOPPED: Final = 0.2
"""Share of the flagged rows that were stopped unseen, above which precision there is a guess."""

_MUCH_SEEN: Final = 0.5
"""Share of the flagged rows with a verdict, below which precision rests on complaints."""

_MANY: Final = 10
"""Rows that all came out in one way, of which chance is no explanation."""
_UNDECIDED_ODDS: Final = {1.0: DRAWS, 0.25: 500, 4.0: 500}
"""That an undecided row is positive over those of a decided one of its bin, likeliest first, with
numbers of draws: the others only widen intervals."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewedEstimates(EstimatesByBin):
    """What reviews and complaints say of a table of scores.

    Attributes
    ----------
    by_queue : tuple of ReviewPosterior
        Along the score that filled the queue: `posteriors`, unless that is another score.
    others : tuple of ReviewPosterior
        The same where undecided rows are positive at other odds.
    cuts : tuple of float
        Scores at which the queue begins.
    rules : tuple of str
        Words of `chosen_by` that were taken for rules.
    complaint_rate : (float, float), optional
        As stated.
    """

    kind: ClassVar[Kind] = "reviews"
    posterior: ReviewPosterior
    by_queue: tuple[ReviewPosterior, ...]
    others: tuple[ReviewPosterior, ...]
    cuts: tuple[float, ...]
    rules: tuple[str, ...] = ()
    complaint_rate: tuple[float, float] | None = None

    @property
    def posteriors(self) -> tuple[ReviewPosterior, ...]:
        """Where rows are undecided, by what these may be."""
        return (self.posterior, *self.others)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """By name; where rows are undecided their intervals hold whatever those may be."""
        return widest(
            [
                super(ReviewedEstimates, reading).estimates
                for reading in (replace(self, posterior=posterior) for posterior in self.posteriors)
            ]
        )

    @property
    def is_fair(self) -> bool:
        """Complaints are not taken for a fair sample."""
        return False

    @property
    def counts(self) -> ReviewCounts:
        """Rows by score bin and by what is known of them."""
        return self.posterior.counts

    @property
    def known_parts(self) -> Mapping[str, str]:
        """Found by review, or complained."""
        return {"Found by review": "positive", "Complained": "complained"}

    def counted(self) -> list[dict[str, int]]:
        """Verdicts and complaints of each bin."""
        counts = self.counts
        positive = counts.positive_complained + counts.positive_silent + counts.drawn_positive
        undecided = counts.undecided
        complained = counts.open_complained + counts.undecided_complained
        return [
            {
                "decided": int(decided),
                "positive": int(of_positive),
                "undecided": int(left),
                "complained": int(came),
                "stopped": int(stopped),
            }
            for decided, of_positive, left, came, stopped in zip(
                counts.reviewed, positive, undecided, complained, counts.stopped, strict=True
            )
        ]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful: what nobody can know, and what contradicts what was said."""
        return (
            *_stopped(self.counts),
            *([] if self.posterior is self.by_queue[0] else _flagged_unseen(self.counts)),
            *_contradictions(self.counts),
            *_beyond(self),
            *_rules(self),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        counts = self.counts
        return {
            "reviews": self.name,
            "blocks": counts.blocks,
            "estimated": [*AUDITED, *AUDITED_ROWS],
            "target": "window",
            "cuts": list(self.cuts),
            "rules": list(self.rules),
            "complaint_rate": None if self.complaint_rate is None else list(self.complaint_rate),
            "rows": {name: int(number) for name, number in counts.totals().items()},
            "independent_draws": round(self.posterior.effective),
            "bins": self.by_bin(),
        }


def _stopped(counts: ReviewCounts) -> list[Finding]:
    above = counts.bins.above
    flagged, stopped = int(counts.bins.rows[above].sum()), int(counts.stopped[above].sum())
    if stopped == 0:
        return []
    beyond = int(counts.stopped[counts.stopped == counts.bins.rows].sum())
    share = stopped / flagged
    rest = "They are taken to be like the others of their score."
    if beyond > 0:
        rest = (
            f"{beyond} of them score above all others: how many of these are positive only the "
            "scores below tell. Let a random few of them through."
        )
    elif share > _MUCH_STOPPED:
        rest = (
            "Precision is what the others and the scores around tell: a guess by now. Let a random "
            "few of them through."
        )
    return [
        Finding(
            name="stopped_unseen",
            severity="warning" if beyond > 0 or share > _MUCH_STOPPED else "note",
            sentence=f"{percent_text(share)} of the flagged rows were stopped, so that nobody will "
            f"know what they were. {rest}",
        )
    ]


def _flagged_unseen(counts: ReviewCounts) -> list[Finding]:
    """Where the queue of another score hardly reviewed the rows that this model flags."""
    above = counts.bins.above
    seen = counts.reviewed + counts.known_positive + counts.known_negative
    share = seen[above].sum() / max(counts.bins.rows[above].sum(), 1)
    if share >= _MUCH_SEEN or not above.any():
        return []
    return [
        Finding(
            name="flagged_unseen",
            severity="warning",
            sentence=f"Another score filled the queue, which reviewed {percent_text(share)} of the "
            "rows that this model flags: what the others are only complaints tell, so that "
            "precision and all that follows from it are known roughly. Review a random few of "
            "them (chosen_by='random').",
        )
    ]


def _contradictions(counts: ReviewCounts) -> list[Finding]:
    """What does not go with what was said of labels, verdicts and blocking."""
    complained, silent = int(counts.positive_complained.sum()), int(counts.positive_silent.sum())
    elsewhere = int(counts.open_complained.sum())
    cleared = int(counts.cleared_complained.sum())
    negatives = int((counts.cleared_silent + counts.cleared_complained).sum())
    contradictions = []
    if counts.blocks and complained:
        contradictions.append(
            (
                "blocked_and_complained",
                f"{complained} rows complained after a positive verdict, which was said to block "
                "them. If labels hold the verdicts too, give complaints alone. Only if these cases "
                "did complain all the same, say that review does not block.",
            )
        )
    if not counts.blocks and complained >= _MANY and silent == 0:
        contradictions.append(
            (
                "every_positive_complained",
                f"All {complained} rows with a positive verdict have label 1. If labels hold the "
                "verdicts too, recall is far too high: give complaints alone.",
            )
        )
    if not counts.blocks and complained == 0 and min(silent, elsewhere) >= _MANY:
        contradictions.append(
            (
                "no_positive_complained",
                f"None of {silent} rows with a positive verdict complained, and {elsewhere} others "
                "did: if a positive verdict stops the case, say that review blocks.",
            )
        )
    if elsewhere + complained + int(counts.undecided_complained.sum()) == 0:
        contradictions.append(
            (
                "no_complaints",
                "No row complained (label 1), so nothing tells what lies where nobody looked: "
                "recall rests on verdicts alone. Were complaints joined, and has their time come?",
            )
        )
    if negatives == 0 and complained + silent >= _MANY:
        contradictions.append(
            (
                "no_negative_verdict",
                "No verdict is 0. If cleared cases were left out, precision is far too high: give "
                "their verdicts as well.",
            )
        )
    findings = [
        Finding(name=name, severity="warning", sentence=sentence)
        for name, sentence in contradictions
    ]
    if cleared:
        findings.append(
            Finding(
                name="cleared_and_complained",
                severity="note",
                sentence=f"{cleared} rows complained after they had been cleared: reviewers miss "
                "positives, and all estimates allow for that.",
            )
        )
    return findings


def _beyond(reading: ReviewedEstimates) -> list[Finding]:
    counts = reading.counts
    reviewed = counts.positive_complained + counts.positive_silent + counts.drawn_positive
    known = int((reviewed + counts.known_positive).sum())
    everything = float(reading.posterior.positives.sum(axis=1).mean())
    if not counts.open_silent.any():
        return []
    return [
        Finding(
            name="complaints_below_the_cut",
            severity="note",
            sentence=f"{percent_text(max(1 - known / max(everything, 1e-9), 0))} of the positives "
            "are cases that nobody reviewed. How often these complain is taken to follow the "
            "score evenly from where reviews end; if they complain far less often there, recall "
            "is lower than its interval. A week with a lower cut, or an audit, tells.",
        )
    ]


def _rules(reading: ReviewedEstimates) -> list[Finding]:
    if not reading.rules:
        return []
    named = ", ".join(reading.rules[:5]) + (", ..." if len(reading.rules) > 5 else "")
    return [
        Finding(
            name="reviewed_by_rules",
            severity="note",
            sentence=f"Rows chosen by {named} are read as chosen by rules: they are known, and "
            "tell nothing of others. If the queue, or chance, chose them, say score, or random.",
        )
    ]


def read_reviews(
    counts: ReviewCounts,
    *,
    cuts: tuple[float, ...] = (),
    rules: tuple[str, ...] = (),
    detection_rate: tuple[float, float] | None = None,
    complaint_rate: tuple[float, float] | None = None,
    is_early: bool = False,
    earlier: BinParts | None = None,
    confidence_level: float = 0.95,
    f_beta: float = 2.0,
) -> ReviewedEstimates:
    """What reviews and complaints say, from counts, and from those of earlier windows if given.

    With `is_early` complaints are still to come, and `complaint_rate` is not that of today.

    Raises
    ------
    ValueError
        If `complaint_rate` is no interval within (0, 1).
    """
    complaints = FEW_COMPLAINTS_YET if is_early else UNKNOWN_COMPLAINTS
    if complaint_rate is not None and not is_early:
        overall = normal_of_share(*_as_interval(complaint_rate), confidence_level)
        complaints = ComplaintRate(overall=overall)
    detection = detection_of(detection_rate, confidence_level)
    asked = _UNDECIDED_ODDS if counts.undecided.any() else {1.0: DRAWS}
    first, *others = estimate_at_odds(
        counts,
        asked,
        complaints=complaints,
        detection=detection,
        cuts=cuts,
        earlier=earlier,
    )
    return ReviewedEstimates(
        name="reviews",
        method="reviews",
        posterior=first,
        others=tuple(others),
        by_queue=(first, *others),
        cuts=cuts,
        rules=rules,
        complaint_rate=complaint_rate,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )


def _as_interval(complaint_rate: object) -> tuple[float, float]:
    ends = two_ends(complaint_rate)
    if ends is not None and 0 < ends[0] <= ends[1] < 1:
        return ends
    msg = (
        "complaint_rate is the share of unreviewed positives that have complained by now, (low, "
        f"high) within (0, 1); got {complaint_rate!r}"
    )
    raise ValueError(msg)
