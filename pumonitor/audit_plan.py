"""plan_audit and draw_audit: how many cases to review from which scores, and which ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor._validate import as_scores, as_threshold, check_same_index
from pumonitor.audit.allocation import design_audit
from pumonitor.audit.bins import ScoreBins, score_bins
from pumonitor.audit.counts import AuditDesign
from pumonitor.audit.drawn import DrawnAudit, draw_cases
from pumonitor.audit.frequency import FAIR, UNKNOWN
from pumonitor.audit.plan import AuditPlan
from pumonitor.audit.planning import simple_widths, simulated_widths
from pumonitor.audit.verdicts import Fair
from pumonitor.errors import InputError
from pumonitor.prior import GivenOrEstimated
from pumonitor.prior.assumed import assumed_of
from pumonitor.prior.labels.label_frequency import LabelFrequency
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text

__all__ = ["AuditPlan", "draw_audit", "plan_audit", "plan_audit_bins", "plan_audit_table"]

CASES: Final = 300

AUDITS: Final = 15
"""How many audits are simulated for the widths of one design, each for another class prior."""

_HIGH: Final = 0.9
_UNFAIR: Final = 1.0
"""Standard deviation of the log of how many times as often flagged positives are confirmed."""
_REACH: Final = 1.96
_MOST_CONFIRMED: Final = 0.99

_TRIES: Final = 6
_CLOSE: Final = 0.03

_OF_BOTH_SIDES: Final = ("mcc", "recall", "specificity")
"""Metrics that are known, or undefined, where every row is predicted positive."""
_WITHOUT_THRESHOLD: Final = ("class_prior", "unlabeled_prior", "label_frequency", "auc", "aul")

Step = Callable[[str, float | None], None]


def plan_audit(
    labels: Any,
    scores: Any,
    *,
    threshold: float,
    cases: int | None = None,
    width: Mapping[str, float] | None = None,
    metrics: Sequence[str] | None = None,
    class_prior: GivenOrEstimated = "auto",
    label_frequency: LabelFrequency | None = None,
    fair: Fair = "check",
    above: float | None = None,
    progress: Step | None = None,
) -> AuditPlan:
    """Plan an audit: how many unconfirmed cases to review, from which scores, and what it gives.

    The plan rests on today's class prior. A wrong one makes the intervals wider than planned, not
    wrong.

    Parameters
    ----------
    labels : array-like of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : array-like of shape (n,)
    threshold : float
        ``score >= threshold`` is predicted positive.
    cases : int, optional
        How many can be reviewed; 300 by default.
    width : mapping of str to float, optional
        In place of `cases`: how wide the 95% interval of each metric may be.
    metrics : sequence of str, optional
        For which cases are spread; those of `width`, or "f1".
    class_prior, label_frequency
        Today's estimate, as in `evaluate`.
    fair : {"check", "assume"}
        Whether the audit shall allow for confirmations that follow the score. "assume" takes fewer
        cases and is wrong where they do.
    above : float, optional
        Share of the cases that shall score at or above the threshold, where a team reviews these
        anyway: .85 for 85%. The rest lies below. It costs width, which `AuditPlan.free_widths`
        tells, and no coverage.
    progress : callable, optional
        Called with a step's name and the share of it that is done.

    Returns
    -------
    AuditPlan

    Raises
    ------
    InputError
        If rows cannot be used, a metric is not known, or a width cannot be reached.
    ValueError
        If cases and width are both given, or unless 0 < above < 1.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> positive = rng.random(5000) < 0.05
    >>> scores = rng.normal(2.0 * positive)
    >>> labels = positive & (rng.random(5000) < 0.3)
    >>> plan = pumonitor.plan_audit(labels, scores, threshold=2.0, cases=200, class_prior=0.05)
    >>> sum(plan.planned), plan.widths["f1"] < plan.simple_widths["f1"]
    (200, True)
    """
    check_same_index(labels, scores)
    values = as_scores(scores)
    threshold = as_threshold(threshold, values)
    return plan_audit_table(
        ScoreTable.from_arrays(labels, values, thresholds=(threshold,)),
        threshold=threshold,
        cases=cases,
        width=width,
        metrics=metrics,
        class_prior=class_prior,
        label_frequency=label_frequency,
        fair=fair,
        above=above,
        progress=progress,
    )


def plan_audit_table(
    table: ScoreTable,
    *,
    threshold: float,
    cases: int | None = None,
    width: Mapping[str, float] | None = None,
    metrics: Sequence[str] | None = None,
    class_prior: GivenOrEstimated = "auto",
    label_frequency: LabelFrequency | None = None,
    fair: Fair = "check",
    above: float | None = None,
    progress: Step | None = None,
) -> AuditPlan:
    """The same as `plan_audit`, from a ScoreTable."""
    prior, _, _ = assumed_of(
        table,
        class_prior=class_prior,
        label_frequency=label_frequency,
        label_purity=1.0,
        scenario="single-training-set",
        target="process",
        confidence_level=0.95,
        rng=None,
    )
    return plan_audit_bins(
        score_bins(table, threshold=threshold),
        threshold=threshold,
        class_prior=prior,
        cases=cases,
        width=width,
        metrics=metrics,
        fair=fair,
        above=above,
        progress=progress,
    )


def plan_audit_bins(
    bins: ScoreBins,
    *,
    threshold: float,
    class_prior: ClassPriorEstimate,
    cases: int | None = None,
    width: Mapping[str, float] | None = None,
    metrics: Sequence[str] | None = None,
    fair: Fair = "check",
    above: float | None = None,
    drawn: Sequence[int] | None = None,
    progress: Step | None = None,
) -> AuditPlan:
    """The same as `plan_audit`, from score bins and today's class prior.

    With `drawn`, cases by bin that were drawn before, they stay: `cases` counts them.
    """
    if cases is not None and width is not None:
        msg = "give cases or width, not both: each follows from the other"
        raise ValueError(msg)
    if fair not in ("check", "assume"):
        msg = f"fair must be 'check' or 'assume', got {fair!r}"
        raise ValueError(msg)
    chosen = tuple(metrics if metrics is not None else (width or ("f1",)))
    for name in chosen:
        if not bins.above.any() and name not in _WITHOUT_THRESHOLD:
            msg = (
                f"no row scores at or above the threshold {threshold:g}, so there is nothing to "
                f"plan for {name}: give another threshold, or one of "
                f"{', '.join(_WITHOUT_THRESHOLD)}"
            )
            raise InputError(msg)
        if bins.above.all() and name in _OF_BOTH_SIDES:
            msg = (
                f"every row scores at or above the threshold {threshold:g}, so there is nothing to "
                f"plan for {name}: give another threshold"
            )
            raise InputError(msg)
    # Of a class prior at what is confirmed, or below by chance, hardly any positive is hidden.
    confirmed = float(bins.labeled.sum() / bins.rows.sum())
    frequency = min(confirmed / class_prior.value, _MOST_CONFIRMED)
    planner = _Planner(
        bins=bins,
        metrics=chosen,
        label_frequency=frequency,
        possible=_possible_frequencies(class_prior, confirmed),
        fair=fair,
        above=above,
        drawn=tuple(drawn or (0,) * len(bins.rows)),
        progress=progress,
    )
    if width is None:
        design, simulated = planner.tried(CASES if cases is None else cases)
    else:
        design, simulated = planner.reaching(width)
    taken = int(design.planned.sum())
    free = None if above is None else _medians(replace(planner, above=None).tried(taken)[1])
    return AuditPlan(
        cases=taken,
        threshold=threshold,
        metrics=chosen,
        widths=_medians(simulated),
        high_widths={name: float(np.quantile(each, _HIGH)) for name, each in simulated.items()},
        simple_widths=simple_widths(bins, cases=taken, label_frequency=frequency, metrics=chosen),
        class_prior=class_prior,
        fair=fair,
        bins=bins,
        planned=tuple(design.planned.tolist()),
        label_frequency=frequency,
        above=above,
        free_widths=free,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Planner:
    """Designs of some number of cases, and the widths they lead to."""

    bins: ScoreBins
    metrics: tuple[str, ...]
    label_frequency: float
    possible: tuple[float, ...]
    fair: Fair
    above: float | None
    drawn: tuple[int, ...]
    progress: Step | None

    def tried(self, cases: int) -> tuple[AuditDesign, Mapping[str, FloatArray]]:
        """A design and its widths, over all that the class prior can be."""
        if self.progress is not None:
            self.progress(f"Simulating audits of {cases} cases", None)
        design = design_audit(
            self.bins,
            cases=cases,
            label_frequency=self.label_frequency,
            metrics=self.metrics,
            drawn=self.drawn,
            above=self.above,
        )
        widths = simulated_widths(
            design,
            label_frequencies=self.possible,
            lifted=() if self.fair == "assume" else _possible_lifts(),
            metrics=self.metrics,
            believed=FAIR if self.fair == "assume" else UNKNOWN,
        )
        return design, widths

    def reaching(self, wanted: Mapping[str, float]) -> tuple[AuditDesign, Mapping[str, FloatArray]]:
        """About the fewest cases whose intervals are no wider: widths fall with their root."""
        for name, one in wanted.items():
            if not 0 < one < 1 or name not in self.metrics:
                msg = f"width must satisfy 0 < width < 1 for a metric planned for, got {name}={one}"
                raise ValueError(msg)
        most = int(self.bins.unlabeled.sum())
        cases, best = min(CASES, most), None
        for _ in range(_TRIES):
            design, simulated = self.tried(cases)
            widths = _medians(simulated)
            over = max(widths[name] / one for name, one in wanted.items())
            if over <= 1 and (best is None or cases < best[0].planned.sum()):
                best = design, simulated
            if 1 - _CLOSE <= over <= 1:
                break
            # A little more than the root says, so that the next try is on the right side.
            following = min(max(int(cases * (over * (1 + _CLOSE / 2)) ** 2) + 1, 10), most)
            if following == cases:
                break
            cases = following
        if best is None:
            name = max(wanted, key=lambda one: widths[one] / wanted[one])
            msg = (
                f"a width of {wanted[name]:g} for {name} was not reached: {cases} cases of the "
                f"{most} unconfirmed rows give about {number_text(widths[name])}; ask for a wider "
                "one"
            )
            raise InputError(msg)
        return best


def _medians(widths: Mapping[str, FloatArray]) -> dict[str, float]:
    return {name: float(np.median(each)) for name, each in widths.items()}


def _possible_frequencies(class_prior: ClassPriorEstimate, confirmed: float) -> tuple[float, ...]:
    """Label frequencies that go with what the class prior can be: quantiles of its logarithm.

    It is normal to either side of the value, as wide as the interval. What is promised would
    otherwise rest on one number, which is where it is least sure too low: an estimate near the
    share confirmed leaves hardly a positive for an audit to find.
    """
    place = special.ndtri((np.arange(AUDITS) + 0.5) / AUDITS)
    up, down = np.log(
        [class_prior.high / class_prior.value, class_prior.value / max(class_prior.low, 1e-9)]
    )
    log_prior = np.log(class_prior.value) + place / _REACH * np.where(place > 0, up, down)
    frequency = np.minimum(confirmed / np.exp(log_prior), _MOST_CONFIRMED)
    return tuple(np.random.default_rng(0).permutation(frequency).tolist())


def _possible_lifts() -> tuple[float, ...]:
    """How many more hidden positives there may be below the threshold: labels may be unfair."""
    lifts = np.exp(_UNFAIR * special.ndtri((np.arange(AUDITS) + 0.5) / AUDITS))
    return tuple(np.random.default_rng(1).permutation(lifts).tolist())


def draw_audit(
    ids: Any, labels: Any, scores: Any, *, plan: AuditPlan, seed: str | int
) -> DrawnAudit:
    """Draw the cases of a plan.

    Rows are taken in the order of SHA-256(seed:id) within their score bin: the same seed draws
    the same cases, a larger plan of the same bins adds to them, and nobody without the seed can
    tell which rows are drawn.

    Parameters
    ----------
    ids : array-like of shape (n,)
        One for each row, all different.
    labels, scores : array-like of shape (n,)
        Those the plan was made of.
    plan : AuditPlan
    seed : str or int
        Any text, kept secret until the review is over.

    Returns
    -------
    DrawnAudit
        ``.cases`` for the reviewers, by id in random order; all the rest is kept from them.

    Raises
    ------
    InputError
        If ids are missing or not all different, or the plan was made from other rows.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> positive = rng.random(5000) < 0.05
    >>> scores = rng.normal(2.0 * positive)
    >>> labels = positive & (rng.random(5000) < 0.3)
    >>> plan = pumonitor.plan_audit(labels, scores, threshold=2.0, cases=200, class_prior=0.05)
    >>> drawn = pumonitor.draw_audit(range(5000), labels, scores, plan=plan, seed="March")
    >>> verdicts = {case.id: int(positive[int(case.id)]) for case in drawn.cases}
    >>> audit = pumonitor.read_verdicts(drawn, verdicts)
    >>> ev = pumonitor.evaluate(labels, scores, threshold=2.0, audit=audit)
    >>> ev["recall"].low < 0.5 < ev["recall"].high
    True
    """
    if str(seed) == "":
        msg = "seed must not be empty: who knows it can tell which rows are drawn"
        raise ValueError(msg)
    design = AuditDesign(bins=plan.bins, planned=np.array(plan.planned), seed=str(seed))
    return draw_cases(ids, labels, scores, design=design, threshold=plan.threshold)
