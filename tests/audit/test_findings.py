"""Warnings about who was left undecided, by score and by place in the list."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pumonitor.audit import AuditCounts, Case, DrawnAudit, Fairness
from pumonitor.audit.findings import PATTERN_LEVEL, audit_findings
from pumonitor.audit.verdicts import Audit
from pumonitor.results import Finding
from tests.audit.made_up_audit import bins

CASES = 120
FAIR = Fairness(p_value=1.0, favoured=1.0)


@cache
def drawn() -> DrawnAudit:
    """120 cases, ten from each of twelve score bins, in an order that has nothing to do with it."""
    rng = np.random.default_rng(5)
    of_bins = bins()
    cases = tuple(
        Case(id=f"c{place}", bin=int(at))
        for place, at in enumerate(rng.permutation(np.repeat(np.arange(12), CASES // 12)))
    )
    return DrawnAudit(
        name="abcd1234",
        seed="s",
        threshold=9.0,
        edges=tuple(of_bins.edges.tolist()),
        rows=tuple(of_bins.rows.tolist()),
        labeled=tuple(of_bins.labeled.tolist()),
        planned=(CASES // 12,) * 12,
        cases=cases,
    )


def names(verdicts: dict[str, int | None]) -> set[str]:
    return {one.name for one in patterns(verdicts)}


def patterns(verdicts: dict[str, int | None]) -> list[Finding]:
    audit = Audit(design=drawn(), verdicts=verdicts)
    decided, positive, undecided = audit.by_bin()
    counts = AuditCounts.of(bins(), decided=decided, positive=positive, undecided=undecided)
    found = audit_findings(audit, counts, FAIR)
    return [one for one in found if one.name.startswith("audit_undecided_follows")]


def chances(slope_of_score: float, slope_of_place: float) -> np.ndarray:
    score = np.array([case.bin for case in drawn().cases]) / 11 - 0.5
    place = np.arange(CASES) / (CASES - 1) - 0.5
    return 1 / (1 + np.exp(2.0 - slope_of_score * score - slope_of_place * place))


@pytest.mark.parametrize(
    ("slopes", "expected"),
    [
        ((12.0, 0.0), {"audit_undecided_follows_score"}),
        ((-12.0, 0.0), {"audit_undecided_follows_score"}),
        ((0.0, 12.0), {"audit_undecided_follows_order"}),
        ((0.0, -12.0), {"audit_undecided_follows_order"}),
        ((0.0, 0.0), set()),
    ],
)
def test_who_is_left_undecided_is_seen(slopes: tuple[float, float], expected: set[str]) -> None:
    left = np.random.default_rng(3).random(CASES) < chances(*slopes)
    assert 5 < left.sum() < 60
    said = {case.id: None if out else 0 for case, out in zip(drawn().cases, left, strict=True)}
    assert names(said) == expected


@pytest.mark.parametrize(
    ("slopes", "said"),
    [
        ((12.0, 0.0), "Cases of high scores are left undecided more often"),
        ((-12.0, 0.0), "Cases of low scores"),
        ((0.0, 12.0), "Cases that stand late in the list"),
        ((0.0, -12.0), "Cases that stand early in the list"),
    ],
)
def test_the_warning_says_where(slopes: tuple[float, float], said: str) -> None:
    left = np.random.default_rng(3).random(CASES) < chances(*slopes)
    verdicts = {case.id: None if out else 0 for case, out in zip(drawn().cases, left, strict=True)}
    (found,) = patterns(verdicts)
    assert found.sentence.startswith(said)


def test_chance_alone_is_seldom_taken_for_a_pattern() -> None:
    rng, runs, seen = np.random.default_rng(11), 150, 0
    for _ in range(runs):
        left = rng.random(CASES) < 0.15
        said = {case.id: None if out else 0 for case, out in zip(drawn().cases, left, strict=True)}
        seen += len(names(said))
    # Two checks a run: 3 expected; more than 9 has a chance of one in a thousand.
    assert seen <= 9
    assert PATTERN_LEVEL == 0.01


@pytest.mark.parametrize("left", [0, CASES - 1])
def test_none_and_nearly_all_undecided_are_no_pattern(left: int) -> None:
    said = {case.id: None if at < left else 1 for at, case in enumerate(drawn().cases)}
    assert names(said) == set()


def test_many_new_confirmations_are_said_even_if_there_were_none() -> None:
    design = drawn()
    audit = Audit(design=design, verdicts={case.id: 0 for case in design.cases})
    decided, positive, undecided = audit.by_bin()
    more = AuditCounts.of(
        bins(labeled=np.array(design.labeled) * 2), decided=decided, positive=positive
    )
    assert undecided.sum() == 0
    found = audit_findings(audit, more, FAIR)
    assert "audit_labels_changed" in {one.name for one in found}
