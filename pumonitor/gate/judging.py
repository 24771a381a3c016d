"""The gate: whether a challenger is surely better than the champion, on all windows so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pumonitor.gate.audited_pairs import AuditedBetween, AuditEvidence
from pumonitor.gate.chosen_labels import ChosenBy, chosen_by
from pumonitor.gate.labels_needed import labels_needed
from pumonitor.gate.mean_evidence import MeanEvidence
from pumonitor.gate.paired_labels import GateMetric, PairedLabels
from pumonitor.gate.possible_reviews import PossibleReviews, Review
from pumonitor.gate.reviewed_pairs import ReviewedEvidence, ReviewedPair
from pumonitor.gate.window_evidence import evidence_of, labels_of
from pumonitor.text import percent_text, signed_text, with_interval

Verdict = Literal["better", "worse", "not yet", "cannot be judged"]

ERROR: Final = 0.025
"""Of each side: intervals are of 95%."""
ENOUGH_WINDOWS: Final = 5
"""Windows with labels from which on it can be seen whether windows differ; before, no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """When a challenger is better.

    Attributes
    ----------
    better : "recall" or "aul"
        What has to be surely better.
    capacity : float
        Share of the rows that can be looked at, for recall.
    not_worse : mapping of "recall" or "aul" to float
        What must surely not be worse by this much or more.
    threshold : float, optional
        The champion's, where labels may stop.
    least_class_prior : float, optional
        Lower end of its interval, for the test of impossible values.
    """

    better: GateMetric = "recall"
    capacity: float = 0.05
    not_worse: Mapping[GateMetric, float] = field(default_factory=dict)
    threshold: float | None = None
    least_class_prior: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A difference, challenger less champion, and the value that it has to be above.

    Attributes
    ----------
    metric : str
        "recall", "aul", or "precision" at equal capacity, from an audit.
    value : float or None
    low, high : float
        Interval that holds at all times together, at the level of this challenger's turn.
    above : float
        0, or minus the margin of `not_worse`.
    """

    metric: str
    value: float | None
    low: float
    high: float
    above: float

    @property
    def holds(self) -> bool:
        """Whether the difference is surely above."""
        return self.low > self.above

    @property
    def fails(self) -> bool:
        """Whether it is surely not."""
        return self.high < self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the gate says of one challenger.

    Attributes
    ----------
    challenger : str
    verdict : "better", "worse", "not yet" or "cannot be judged"
    reason : str
        In a sentence.
    conditions : tuple of Condition
        The first is what has to be better.
    error : float
        Probability, on each side, that an interval misses at any time.
    labels, windows : int
        Confirmed positives, or cases of an audit, and windows or audits they are from.
    labels_needed : int or None
        For "not yet": how many labels in all, as far as it can be told.
    chosen_by : str or None
        The model whose scores seem to have decided which rows were reviewed.
    by_audit : bool
        Whether an audit decided, since labels could not.
    possible_review : Review or None
        A review of one model's highest rows that labels do not rule out, and under which the
        difference need not be there.
    """

    challenger: str
    verdict: Verdict
    reason: str
    conditions: tuple[Condition, ...] = ()
    error: float = ERROR
    labels: int = 0
    windows: int = 0
    labels_needed: int | None = None
    chosen_by: str | None = None
    by_audit: bool = False
    possible_review: Review | None = None


def judge(
    challengers: Mapping[str, Sequence[PairedLabels | ReviewedPair]],
    settings: GateSettings,
    *,
    audits: Mapping[str, Sequence[AuditedBetween]] | None = None,
) -> dict[str, Judgement]:
    """Judge challengers on the labels of all windows so far.

    A challenger is better if the difference of one metric is surely above 0, and each one of
    `not_worse` surely above minus its margin. Evidence is that of bets, so that the error, 2.5% on
    each side, is that of all windows at which anybody looks (`MeanEvidence`), and of all
    challengers together (Holm: the one with most evidence is asked for the most). It has to be so
    under every review of either model's highest rows that labels do not rule out
    (`PossibleReviews`), and in five windows with labels. Wrong where labels favour a model in
    another way, and where what came before says nothing of what comes.

    With reviews nothing is taken for a fair sample: the difference is that of positives as reviews
    and complaints tell them (`ReviewedEvidence`), and neither a possible review nor an audit is
    asked for.

    Parameters
    ----------
    challengers : mapping of str to sequence of PairedLabels or ReviewedPair
        One of each window.
    settings : GateSettings
    audits : mapping of str to sequence of AuditedBetween, optional
        They decide where labels were chosen by one of the models.

    Returns
    -------
    dict of str to Judgement

    References
    ----------
    Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting";
    Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    asked = [
        _Asked.of(name, windows, settings, (audits or {}).get(name, ()))
        for name, windows in challengers.items()
    ]
    found: dict[str, Judgement] = {}
    stopped: float | None = None
    # Those that labels cannot judge take part too: which they are depends on the same labels.
    for rank, one in enumerate(sorted(asked, key=lambda one: -one.capital)):
        error = ERROR / (len(asked) - rank) if stopped is None else stopped
        judgement = one.judged(error)
        if judgement.verdict != "better" and stopped is None:
            stopped = error
        found[one.name] = judgement
    return {name: found[name] for name in challengers}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """A condition before its level is known."""

    metric: str
    above: float
    evidence: MeanEvidence | AuditEvidence | ReviewedEvidence

    @property
    def capital(self) -> float:
        return self.evidence.capital(self.above)

    def at(self, error: float) -> Condition:
        return Condition(
            metric=self.metric,
            value=self.evidence.mean,
            low=self.evidence.lower(error=error),
            high=self.evidence.upper(error=error),
            above=self.above,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One challenger with all that speaks for and against it."""

    name: str
    tests: tuple[_Test, ...]
    labels: int
    windows: int
    chosen: ChosenBy | None
    seen: tuple[PairedLabels | ReviewedPair, ...]
    by_audit: bool
    settings: GateSettings

    @classmethod
    def of(
        cls,
        name: str,
        windows: Sequence[PairedLabels | ReviewedPair],
        settings: GateSettings,
        audits: Sequence[AuditedBetween],
    ) -> _Asked:
        labels = labels_of(windows)
        chosen = chosen_by(
            labels,
            capacity=settings.capacity,
            threshold=settings.threshold,
            least_class_prior=settings.least_class_prior,
        )
        reviewed = sum(audit.reviewed for audit in audits)
        by_audit = (
            reviewed > 0 and settings.better == "recall" and _needs_audit(chosen, labels, settings)
        )
        if by_audit:
            tests = [_Test(metric="precision", above=0.0, evidence=AuditEvidence.of(audits))]
        else:
            asked: list[tuple[GateMetric, float]] = [(settings.better, 0.0)]
            asked += [(metric, -margin) for metric, margin in settings.not_worse.items()]
            tests = [
                _Test(
                    metric=metric,
                    above=above,
                    evidence=evidence_of(windows, metric),
                )
                for metric, above in asked
            ]
        return cls(
            name=name,
            tests=tuple(tests),
            labels=reviewed if by_audit else sum(one.positives for one in windows),
            windows=len(audits) if by_audit else sum(len(one.recall) > 0 for one in windows),
            chosen=chosen,
            seen=tuple(windows),
            by_audit=by_audit,
            settings=settings,
        )

    @property
    def by_reviews(self) -> bool:
        """Whether reviews and complaints say where positives are."""
        return any(isinstance(window, ReviewedPair) for window in self.seen)

    @property
    def capital(self) -> float:
        """Of the condition with least evidence: all of them have to hold."""
        return min(one.capital for one in self.tests)

    def judged(self, error: float) -> Judgement:
        conditions = tuple(one.at(error) for one in self.tests)
        why_not = self._why_not()
        lies = _where_it_lies(conditions)
        review = (
            None
            if why_not or self.by_audit or self.by_reviews
            else self._possible_review(lies, conditions, error)
        )
        is_early = self.windows < ENOUGH_WINDOWS and not self.by_audit
        verdict: Verdict = lies if review is None and not is_early else "not yet"
        needed = self._labels_needed(conditions, error) if lies == "not yet" else None
        if review is not None:
            needed = review.labels_needed
        return Judgement(
            challenger=self.name,
            verdict="cannot be judged" if why_not else verdict,
            reason=why_not or self._reason(lies, conditions, needed, review, error),
            conditions=conditions,
            error=error,
            labels=self.labels,
            windows=self.windows,
            labels_needed=None if why_not else needed,
            chosen_by=None if self.chosen is None else self.chosen.model,
            by_audit=self.by_audit,
            possible_review=review,
        )

    def _labels_needed(self, conditions: Sequence[Condition], error: float) -> int | None:
        """Until all conditions hold, as far as it can be told."""
        numbers = [
            labels_needed(test.evidence, above=test.above, error=error, labels=self.labels)
            if isinstance(test.evidence, MeanEvidence)
            else None
            for test, condition in zip(self.tests, conditions, strict=True)
            if not condition.holds
        ]
        known = [number for number in numbers if number is not None]
        return max(known) if len(known) == len(numbers) else None

    def _sooner_by_aul(self, error: float, needed: int | None) -> str:
        """That a gate of AUL takes fewer labels than one of recall, where it does."""
        evidence = evidence_of(self.seen, "aul")
        if (
            self.by_audit
            or self.settings.better != "recall"
            or not isinstance(evidence, MeanEvidence)
        ):
            return ""
        sooner = labels_needed(evidence, above=0.0, error=error, labels=self.labels)
        if sooner is None or (needed is not None and 2 * sooner > needed):
            return ""
        return (
            f"; AUL differs by {signed_text(evidence.mean or 0.0)}, and with gate: "
            f"{{better: aul}} some {sooner:,} labels in all would tell"
        )

    def _possible_review(
        self, lies: Verdict, conditions: Sequence[Condition], error: float
    ) -> Review | None:
        """A review that is not ruled out and under which the difference need not be there."""
        if lies == "not yet":
            return None
        is_worse = lies == "worse"
        asked = (
            [condition for condition in conditions if condition.fails] if is_worse else conditions
        )
        reviews = PossibleReviews.of(labels_of(self.seen), capacity=self.settings.capacity)
        undecided = [
            reviews.undecided(
                "recall" if condition.metric == "recall" else "aul",
                above=-condition.above if is_worse else condition.above,
                error=error,
                is_reversed=is_worse,
            )
            for condition in asked
        ]
        # All have to hold; one that surely does not is enough.
        if is_worse and None in undecided:
            return None
        return next((review for review in undecided if review is not None), None)

    def _why_not(self) -> str:
        """Why it cannot be judged; empty if it can."""
        metrics = ", ".join(self.settings.not_worse)
        if self.by_audit:
            if not metrics:
                return ""
            return (
                f"{self.chosen.sentence if self.chosen else 'labels cannot decide'}; an audit "
                f"between the models says nothing of {metrics}, which the gate asks for as well: "
                "leave out not_worse, or give propensities"
            )
        if self.chosen is None:
            return ""
        if self.chosen.may_be_leak:
            return (
                f"{self.chosen.sentence}; so it was given something that was known only "
                "afterwards, as a feature that changes once a case is confirmed, or it chose which "
                "rows were reviewed: train it on features as they were at the prediction, and keep "
                "them in a table with known_at"
            )
        return (
            f"{self.chosen.sentence}; so they say which model chose them, not which one is better. "
            "Draw an audit between the two models (pumonitor audit draw MONITOR --between champion "
            "CHALLENGER), or give propensities"
        )

    def _reason(
        self,
        lies: Verdict,
        conditions: Sequence[Condition],
        needed: int | None,
        review: Review | None,
        error: float,
    ) -> str:
        main = conditions[0]
        if main.value is None:
            return (
                "no case of each side has a verdict yet"
                if self.by_audit
                else "there are no confirmed positives yet"
            )
        highest = f"among the highest {percent_text(self.settings.capacity)} of rows"
        what = "AUL" if main.metric == "aul" else f"{main.metric} {highest}"
        text = f"{what} differs by {_signed(main)}"
        others = [
            condition
            for condition in conditions[1:]
            if (condition.fails if lies == "worse" else not condition.holds)
        ]
        for condition in others:
            text += (
                f"; {condition.metric} has to be above {signed_text(condition.above)} and is "
                f"{_signed(condition)}"
            )
        if lies == "not yet":
            unit = "cases" if self.by_audit else "labels"
            if self.by_reviews:
                unit = "positives known by reviews and complaints"
            text += f"; there are {self.labels:,} {unit}"
            if needed is not None:
                text += f", and some {needed:,} in all would tell in 4 of 5 cases"
            elif self.by_reviews:
                text += (
                    ", and what would tell is a week with a lower cut, or reviews of rows drawn at "
                    "random"
                )
            elif main.value <= 0:
                text += ", and as it looks more of them will not tell"
            text += self._sooner_by_aul(error, needed)
        if review is not None:
            text += f"; but with {self.labels:,} labels {review.sentence}"
        if self.windows < ENOUGH_WINDOWS and not self.by_audit:
            text += (
                f"; there is no verdict before {ENOUGH_WINDOWS} windows have labels, so that it "
                f"can be seen whether windows differ: {self.windows} "
                f"{'has' if self.windows == 1 else 'have'}"
            )
        return text


def _needs_audit(
    chosen: ChosenBy | None, windows: Sequence[PairedLabels], settings: GateSettings
) -> bool:
    """Whether labels cannot decide, and an audit between the models can."""
    if chosen is not None:
        # It counts confirmed positives as they are, and a leak finds just those.
        return not chosen.may_be_leak
    reviews = PossibleReviews.of(windows, capacity=settings.capacity)
    return not reviews.are_ruled_out(error=ERROR)


def _where_it_lies(conditions: Sequence[Condition]) -> Verdict:
    """What intervals say, whoever chose the labels."""
    if any(condition.fails for condition in conditions):
        return "worse"
    return "better" if all(condition.holds for condition in conditions) else "not yet"


def _signed(difference: Condition) -> str:
    value = difference.value or 0.0
    return with_interval(value, difference.low, difference.high, as_text=signed_text)
