"""The gate: verdicts, several challengers, labels that one model chose, audits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from pumonitor.diagnostics.review_cut import review_cut
from pumonitor.errors import InputError
from pumonitor.gate import (
    AuditedBetween,
    GateSettings,
    MeanEvidence,
    PairedLabels,
    Side,
    judge,
    window_from_bytes,
)
from pumonitor.gate.audited_pairs import AuditEvidence
from pumonitor.gate.chosen_labels import chosen_by
from pumonitor.gate.score_counts import ScoreCounts


def _seen(differences: list[float], *, aul: list[float] | None = None) -> PairedLabels:
    return PairedLabels(
        recall=np.array(differences),
        aul=np.array(differences if aul is None else aul),
        weights=np.ones(len(differences)),
        counts={},
        positives=len(differences),
        rows=1000,
    )


def _dealt(seen: PairedLabels) -> list[PairedLabels]:
    """As five windows, which do not differ."""
    return [
        replace(
            seen,
            recall=seen.recall[at::5],
            aul=seen.aul[at::5],
            weights=seen.weights[at::5],
            positives=len(seen.recall[at::5]),
        )
        for at in range(5)
    ]


_BETTER = _seen([1.0] * 30 + [0.0] * 70 + [-1.0] * 2)
_EQUAL = _seen([1.0] * 10 + [0.0] * 80 + [-1.0] * 10)
_WORSE = _seen([-1.0] * 30 + [0.0] * 70 + [1.0] * 2)


@pytest.mark.parametrize(
    ("seen", "verdict"), [(_BETTER, "better"), (_EQUAL, "not yet"), (_WORSE, "worse")]
)
def test_a_verdict_is_where_the_interval_lies(seen: PairedLabels, verdict: str) -> None:
    found = judge({"one": _dealt(seen)}, GateSettings())["one"]
    (condition,) = found.conditions
    assert found.verdict == verdict
    assert condition.low == MeanEvidence.of([seen.recall]).lower(error=0.025)
    assert (condition.low > 0, condition.high < 0) == (verdict == "better", verdict == "worse")


def test_not_worse_holds_back_and_condemns() -> None:
    settings = GateSettings(not_worse={"aul": 0.01})
    held = replace(_BETTER, aul=np.zeros(102) + np.tile([0.3, -0.3], 51))
    assert judge({"one": _dealt(held)}, settings)["one"].verdict == "not yet"
    condemned = replace(_BETTER, aul=np.full(102, -0.3))
    found = judge({"one": _dealt(condemned)}, settings)["one"]
    assert found.verdict == "worse"
    assert "aul has to be above -0.0100" in found.reason
    fine = _seen([1.0] * 250 + [0.0] * 600, aul=[0.0] * 850)
    assert judge({"one": _dealt(fine)}, settings)["one"].verdict == "better"


def test_several_challengers_share_the_error() -> None:
    """The one with most evidence is asked for it at a third of the error, the next at a half."""
    seen = {
        "equal": _dealt(_EQUAL),
        "better": _dealt(_BETTER),
        "also": _dealt(_seen([1.0] * 12 + [0.0] * 90)),
    }
    found = judge(seen, GateSettings())
    assert list(found) == list(seen)
    assert found["better"].error == pytest.approx(0.025 / 3)
    assert found["also"].error == pytest.approx(0.025 / 2)
    assert found["equal"].error == pytest.approx(0.025)
    alone = MeanEvidence.of([_BETTER.recall]).lower(error=0.025 / 3)
    assert found["better"].conditions[0].low == alone


def test_who_stands_behind_one_that_is_not_better_is_not_better() -> None:
    almost = _seen([1.0] * 9 + [0.0] * 60)
    assert judge({"one": _dealt(almost)}, GateSettings())["one"].verdict == "better"
    both = judge(
        {"one": _dealt(almost), "two": _dealt(almost), "three": _dealt(almost)}, GateSettings()
    )
    assert {one.verdict for one in both.values()} == {"not yet"}
    assert {one.error for one in both.values()} == {0.025 / 3}


def test_one_that_cannot_be_judged_costs_the_others_its_share_only() -> None:
    """It takes part in sharing the error, however much evidence it seems to have."""
    found = judge(
        {"chosen": [_reviewed(0.0)], "better": _dealt(_BETTER), "equal": _dealt(_EQUAL)},
        GateSettings(),
    )
    assert found["chosen"].verdict == "cannot be judged"
    assert found["better"].verdict == "better"
    assert {found[name].error for name in ("better", "equal")} <= {0.025 / 3, 0.025 / 2}


def test_not_yet_tells_how_many_labels_would_do() -> None:
    found = judge({"one": _dealt(_seen([1.0] * 6 + [0.0] * 60 + [-1.0] * 2))}, GateSettings())[
        "one"
    ]
    assert found.labels_needed is not None
    assert found.labels_needed > 68
    assert f"some {found.labels_needed:,} in all" in found.reason
    assert judge({"one": _dealt(_EQUAL)}, GateSettings())["one"].labels_needed is None


def test_there_is_no_verdict_before_five_windows_have_labels() -> None:
    """Windows without labels do not show how windows differ."""
    found = judge({"one": [*_dealt(_BETTER)[:4], *[_seen([])] * 9]}, GateSettings())["one"]
    assert found.conditions[0].holds
    assert (found.verdict, found.windows) == ("not yet", 4)
    assert found.reason.endswith(
        "there is no verdict before 5 windows have labels, so that it can be seen whether windows "
        "differ: 4 have"
    )
    assert judge({"one": _dealt(_BETTER)}, GateSettings())["one"].verdict == "better"


def test_without_labels_it_says_so() -> None:
    found = judge({"one": []}, GateSettings())["one"]
    assert (found.verdict, found.reason) == ("not yet", "there are no confirmed positives yet")


def _reviewed(share_below: float, *, seed: int = 0, rows: int = 12_000) -> PairedLabels:
    """Positives of the champion's highest 5% of rows are all confirmed, of the rest a share."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.1
    hidden = rng.normal(1.2 * positive)
    champion = 1 / (1 + np.exp(-hidden))
    challenger = 1 / (1 + np.exp(-(0.7 * hidden + rng.normal(0.9 * positive, 0.7))))
    top = champion >= np.quantile(champion, 0.95)
    labels = positive & (rng.random(rows) < np.where(top, 1.0, share_below))
    return PairedLabels.of_window(labels.astype(int), champion, challenger, capacity=0.05)


@pytest.mark.parametrize("share_below", [0.0, 0.1])
def test_labels_that_the_champion_chose_judge_nobody(share_below: float) -> None:
    found = judge({"one": [_reviewed(share_below)]}, GateSettings())["one"]
    assert found.verdict == "cannot be judged"
    assert found.chosen_by == "champion"
    assert "audit draw MONITOR --between champion CHALLENGER" in found.reason


def _queue(*, weeks: int = 14) -> list[PairedLabels]:
    """Labels of the challenger's highest rows, more or fewer each week; it is truly worse."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(weeks):
        positive = rng.random(1200) < 0.015
        shared = rng.normal(size=1200)
        scores = [0.6 * shared + 0.8 * rng.normal(size=1200) + d * positive for d in (2.3, 2.1)]
        top = scores[1] >= np.quantile(scores[1], 1 - rng.uniform(0.02, 0.1))
        labels = positive & top
        found.append(PairedLabels.of_window(labels.astype(int), *scores, capacity=0.05))
    return found


def test_few_labels_of_the_challengers_queue_do_not_call_it_better() -> None:
    """Too few for a cut to be seen, and far fewer than would rule it out."""
    weeks = _queue()
    found = judge({"one": weeks}, GateSettings())["one"]
    assert found.conditions[0].holds
    assert found.verdict == "not yet"
    review = found.possible_review
    assert review is not None
    assert review.model == "challenger"
    assert 0.01 <= review.depth <= 0.1
    assert "it is not ruled out that mainly the challenger's highest " in found.reason
    assert "pumonitor audit draw MONITOR --between champion CHALLENGER" in found.reason


def test_few_labels_of_the_champions_queue_do_not_call_the_other_worse() -> None:
    weeks = [
        replace(
            week, recall=-week.recall, aul=-week.aul, champion_below=week.share_below("challenger")
        )
        for week in _queue()
    ]
    swapped = [
        replace(
            week,
            counts={"champion": week.counts["challenger"], "challenger": week.counts["champion"]},
        )
        for week in weeks
    ]
    found = judge({"one": swapped}, GateSettings())["one"]
    assert found.conditions[0].fails
    assert (found.verdict, found.possible_review.model) == ("not yet", "champion")


def test_an_audit_decides_where_labels_do_not_rule_out_a_review() -> None:
    weeks = _queue(weeks=5)
    found = judge({"one": weeks}, GateSettings(), audits={"one": [_audit(5, 60)]})["one"]
    assert (found.verdict, found.by_audit, found.chosen_by) == ("worse", True, None)


def test_stored_windows_come_back_with_ranks_and_old_ones_rule_out_no_more() -> None:
    (week,) = _queue(weeks=1)
    again = window_from_bytes(week.to_bytes())
    assert again.champion_below.tolist() == week.champion_below.tolist()
    assert again.share_below("challenger") == pytest.approx(week.champion_below + week.aul)
    old = [replace(one, champion_below=np.zeros(0)) for one in _queue()]
    assert judge({"one": old}, GateSettings())["one"].verdict == "not yet"


def test_a_challenger_that_finds_more_than_there_is_cannot_be_judged() -> None:
    """One that was given what is known once a case is confirmed: no audit makes it better."""
    rng = np.random.default_rng(4)
    weeks = []
    for _ in range(5):
        positive = rng.random(2000) < 0.15
        labels = (positive & (rng.random(2000) < 0.3)).astype(int)
        champion = rng.normal(1.5 * positive)
        leaked = np.where((labels == 1) & (rng.random(2000) < 0.9), 9.0, 0.0) + rng.normal(
            size=2000
        )
        weeks.append(PairedLabels.of_window(labels, champion, leaked, capacity=0.05))
    settings = GateSettings(least_class_prior=0.1)
    for audits in ([], [_audit(60, 10)]):
        found = judge({"one": weeks}, settings, audits={"one": audits})["one"]
        assert (found.verdict, found.chosen_by) == ("cannot be judged", "challenger")
        assert "are among the challenger's highest" in found.reason
        assert "was given something that was known only afterwards" in found.reason
    assert judge({"one": weeks}, GateSettings())["one"].verdict != "worse"


def test_a_gate_of_aul_is_proposed_where_it_tells_sooner() -> None:
    aul = list(np.tile([0.1, 0.0, -0.05], 40))
    seen = _seen([1.0] * 7 + [0.0] * 108 + [-1.0] * 5, aul=aul)
    found = judge({"one": _dealt(seen)}, GateSettings())["one"]
    assert found.verdict == "not yet"
    assert "with gate: {better: aul} some " in found.reason
    assert (
        "gate: {better: aul}"
        not in judge({"one": _dealt(seen)}, GateSettings(better="aul"))["one"].reason
    )


def test_fair_labels_are_not_taken_for_chosen_ones() -> None:
    rng = np.random.default_rng(2)
    for seed in range(10):
        rows = 12_000
        positive = rng.random(rows) < 0.1
        scores = [1 / (1 + np.exp(-rng.normal(1.5 * positive))) for _ in range(2)]
        labels = (positive & (rng.random(rows) < 0.3)).astype(int)
        seen = PairedLabels.of_window(labels, *scores, capacity=0.05)
        assert chosen_by([seen], capacity=0.05, threshold=0.5) is None, seed


def _weeks(
    labeled: Callable[[np.ndarray, np.ndarray], np.ndarray], *, steep: float, seed: int
) -> list[PairedLabels]:
    """Twelve small windows, whose shares of positives differ; labels as a function says."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(12):
        positive = rng.random(1500) < rng.uniform(0.03, 0.12)
        champion = 1 / (1 + np.exp(-rng.normal(steep * positive)))
        labels = positive & labeled(champion, rng.random(1500))
        challenger = 1 / (1 + np.exp(-rng.normal(1.0 * positive)))
        found.append(
            PairedLabels.of_window(labels.astype(int), champion, challenger, capacity=0.05)
        )
    return found


def test_labels_of_the_highest_rows_of_each_week_judge_nobody() -> None:
    """They end at another score in each window, and at the same rank."""
    weeks = _weeks(lambda score, _: score >= np.quantile(score, 0.95), steep=1.2, seed=0)
    found = chosen_by(weeks, capacity=0.05)
    assert found is not None
    assert found.model == "champion"
    table = ScoreCounts.together([one.counts["champion"] for one in weeks]).table()
    assert review_cut(table, level=0.01) is None


@pytest.mark.parametrize("steep", [1.2, 3.0, 6.0])
def test_fair_labels_of_weeks_that_differ_are_not_taken_for_chosen_ones(steep: float) -> None:
    for seed in range(5):
        weeks = _weeks(lambda _, chance: chance < 0.4, steep=steep, seed=seed)
        assert chosen_by(weeks, capacity=0.05, threshold=0.5) is None, seed


def test_more_positives_than_rows_are_impossible() -> None:
    """All confirmed positives among 5% of the rows, of which 20% are positive."""
    found = chosen_by([_reviewed(0.02)], capacity=0.3, least_class_prior=0.8)
    assert found is not None
    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.05
    labels = (positive & (rng.random(4000) < 0.3)).astype(int)
    perfect = np.where(positive, 0.9, 0.1) + rng.uniform(0, 0.05, 4000)
    seen = PairedLabels.of_window(labels, perfect, perfect, capacity=0.06)
    assert chosen_by([seen], capacity=0.06, least_class_prior=0.04) is None
    impossible = chosen_by([seen], capacity=0.06, least_class_prior=0.2)
    assert impossible is not None
    assert "highest 6.45% of rows, which cannot hold more than 32.2%" in impossible.sentence


def test_rows_that_score_alike_are_counted_where_they_are_too_many() -> None:
    """All rows of the highest score are above, though that is more than the capacity."""
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.1
    points = np.clip(np.floor(rng.normal(1.5 * positive)) / 10 + 0.4, 0, 1)
    labels = (positive & (rng.random(20_000) < 0.3)).astype(int)
    seen = PairedLabels.of_window(labels, points, points, capacity=0.02)
    assert chosen_by([seen], capacity=0.02, least_class_prior=0.08) is None
    impossible = chosen_by([seen], capacity=0.02, least_class_prior=0.3)
    assert impossible is not None
    assert "highest 5.32% of rows, which cannot hold more than 17.7%" in impossible.sentence


def test_windows_add_up_to_what_one_window_would_be() -> None:
    rng = np.random.default_rng(1)
    scores, labels = rng.random(3000), (rng.random(3000) < 0.1).astype(np.int8)
    one = ScoreCounts.of(labels, scores)
    parts = [ScoreCounts.of(labels[at::3], scores[at::3]) for at in range(3)]
    both = ScoreCounts.together(parts)
    assert both is not None
    for name in ("cell", "lower", "upper", "unlabeled", "labeled", "negative"):
        assert getattr(both, name).tolist() == getattr(one, name).tolist()


# -- audits between the models ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positives", "rows"), [((2, 2), (4, 4)), ((1, 1), (3, 5)), ((3, 3), (4, 6))]
)
def test_bets_on_an_audit_of_equal_models_gain_nothing_on_average(
    positives: tuple[int, int], rows: tuple[int, int]
) -> None:
    """Over all samples without replacement, in all orders."""
    sides = [
        [
            tuple(int(place in where) for place in range(of))
            for where in combinations(range(of), many)
        ]
        for many, of in zip(positives, rows, strict=True)
    ]
    pairs = min(rows) - 1
    capitals = [
        AuditEvidence.of(
            [
                AuditedBetween(
                    flagged=20,
                    challenger=Side(unlabeled=rows[0], confirmed=1, verdicts=first[:pairs]),
                    champion=Side(unlabeled=rows[1], confirmed=1, verdicts=second[:pairs]),
                )
            ]
        ).capital()
        for first, second in product(*sides)
    ]
    assert np.mean(capitals) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("rows", "confirmed"), [((3, 3), (0, 0)), ((3, 4), (0, 1)), ((4, 3), (2, 0))]
)
@pytest.mark.parametrize("difference", [-1.0, 0.0, 0.5, 2.0])
def test_bets_gain_nothing_whatever_the_positives_are_that_the_difference_allows(
    rows: tuple[int, int], confirmed: tuple[int, int], difference: float
) -> None:
    """Over all samples without replacement of each number of positives, up to the last row."""
    tried = 0
    for positives in product(*(range(one + 1) for one in rows)):
        found = positives[0] + confirmed[0] - positives[1] - confirmed[1]
        if found > difference:
            continue
        tried += 1
        for pairs in range(1, min(rows) + 1):
            orders = [
                [
                    tuple(int(place in where) for place in range(of))[:pairs]
                    for where in combinations(range(of), many)
                ]
                for many, of in zip(positives, rows, strict=True)
            ]
            gains = [
                np.exp(
                    AuditedBetween(
                        flagged=20,
                        challenger=Side(unlabeled=rows[0], confirmed=confirmed[0], verdicts=first),
                        champion=Side(unlabeled=rows[1], confirmed=confirmed[1], verdicts=second),
                    ).log_gains(difference)
                )
                for first, second in product(*orders)
            ]
            assert np.mean(gains, axis=0).max() <= 1 + 1e-9, (positives, pairs)
    assert tried


def _audit(won: int, lost: int, cases: int = 100) -> AuditedBetween:
    def verdicts(positive: int) -> tuple[int, ...]:
        return tuple(
            np.random.default_rng(0).permutation([1] * positive + [0] * (cases - positive))
        )

    return AuditedBetween(
        flagged=1000,
        challenger=Side(unlabeled=300, confirmed=0, verdicts=tuple(map(int, verdicts(won)))),
        champion=Side(unlabeled=280, confirmed=20, verdicts=tuple(map(int, verdicts(lost)))),
    )


def test_an_audit_decides_where_labels_cannot() -> None:
    seen = {"one": [_reviewed(0.0)]}
    better = judge(seen, GateSettings(), audits={"one": [_audit(60, 10)]})["one"]
    assert (better.verdict, better.by_audit, better.labels) == ("better", True, 200)
    (condition,) = better.conditions
    # 180 positives of the challenger's 300 rows; of the champion's 28 and the 20 confirmed ones.
    assert condition.value == pytest.approx((180 - 48) / 1000)
    assert condition.metric == "precision"
    worse = judge(seen, GateSettings(), audits={"one": [_audit(5, 60)]})["one"]
    assert worse.verdict == "worse"
    equal = judge(seen, GateSettings(), audits={"one": [_audit(20, 14)]})["one"]
    assert equal.verdict == "not yet"


def test_an_audit_says_nothing_of_aul() -> None:
    settings = GateSettings(not_worse={"aul": 0.01})
    found = judge({"one": [_reviewed(0.0)]}, settings, audits={"one": [_audit(60, 10)]})["one"]
    assert found.verdict == "cannot be judged"
    assert "says nothing of aul" in found.reason


def test_where_all_rows_are_reviewed_the_difference_is_known() -> None:
    audit = AuditedBetween(
        flagged=50,
        challenger=Side(unlabeled=6, confirmed=0, verdicts=(1, 0, 1, 1, 0, 1)),
        champion=Side(unlabeled=6, confirmed=0, verdicts=(0, 0, 1, 0, 0, 0)),
    )
    found = AuditEvidence.of([audit])
    assert found.mean == pytest.approx(3 / 50)
    assert found.lower(error=0.025) <= 3 / 50 <= found.upper(error=0.025)


def test_what_was_reviewed_of_few_rows_says_more_of_them() -> None:
    """The same verdicts, of 60 rows a side and of 60,000."""
    verdicts = (1, 0, 1, 0) * 12, (0, 0, 1, 0) * 12

    def width(rows: int) -> float:
        sides = [Side(unlabeled=rows, confirmed=0, verdicts=one) for one in verdicts]
        audit = AuditedBetween(flagged=rows, challenger=sides[0], champion=sides[1])
        found = AuditEvidence.of([audit])
        return found.upper(error=0.025) - found.lower(error=0.025)

    assert width(60) < 0.7 * width(60_000)


def test_scores_that_are_no_probabilities_are_told_apart() -> None:
    scores = np.concatenate([np.linspace(-40, 0, 200), np.linspace(2, 9, 200)])
    found = ScoreCounts.of(np.zeros(400, dtype=np.int8), scores)
    assert not found.is_probability
    assert len(found.cell) > 150
    assert found.lower[0] == -40
    assert found.upper[-1] == 9
    cut = found.cut(0.25)
    assert cut is not None
    assert abs((scores >= cut).mean() - 0.25) < 0.02


def test_verdicts_that_are_none_are_refused() -> None:
    audit = AuditedBetween(
        flagged=10,
        challenger=Side(unlabeled=3, confirmed=0, verdicts=(1, 2)),
        champion=Side(unlabeled=3, confirmed=0, verdicts=(0, 0)),
    )
    with pytest.raises(InputError, match="1 of 4 are neither"):
        AuditEvidence.of([audit])
