"""The benchmark of audits on made-up scores: what it covers, and the intervals of others."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.audits import causes, over_time, peers, runs, sections, segments, windows
from benchmarks.audits.windows import Cell, Pool
from pumonitor.audit.counts import AuditCounts
from tests.audit.made_up_audit import CONFIRMED, ROWS, bins


@pytest.fixture(autouse=True)
def normal_scores(monkeypatch):
    """Two normals, 1.8 standard deviations apart, in place of a data set."""
    middles = (np.arange(4000) + 0.5) / 4000
    scores = Pool(positives=stats.norm.ppf(middles) + 1.8, negatives=stats.norm.ppf(middles))
    for module in (windows, sections):
        monkeypatch.setattr(module, "pool", lambda _name: scores)
    windows._threshold.cache_clear()
    yield
    windows._threshold.cache_clear()


@pytest.mark.slow
def test_intervals_cover_the_truth_of_the_window():
    cell = Cell(name="normals", cases=150)
    found = runs.outcomes(cell, {"audit": runs.ours()}, runs=40)["audit"]
    for metric, share in found.covered.items():
        assert share >= 0.85, metric  # binomial(40, .95) is below in 1 of 300


def test_truth_is_that_of_the_rows():
    rows = windows.window(Cell(name="normals"), np.random.default_rng(0))
    truth = rows.truth()
    above, negative = rows.score >= rows.threshold, ~rows.positive
    assert truth["class_prior"] == rows.positive.mean()
    assert truth["precision"] == pytest.approx(rows.positive[above].mean())
    assert truth["recall"] == pytest.approx(above[rows.positive].mean())
    apart = rows.score[rows.positive][:, None] - rows.score[negative]
    assert truth["auc"] == pytest.approx((apart > 0).mean() + 0.5 * (apart == 0).mean())


def test_labels_that_favour_high_scores_keep_their_frequency():
    rows = windows.window(Cell(name="normals", favoured=10.0), np.random.default_rng(1))
    chance = rows.confirmed[rows.positive]
    half = len(chance) // 2
    assert chance.mean() == pytest.approx(0.2, abs=0.04)
    assert chance[half:].mean() > 2 * chance[:half].mean()


def test_stratified_census_is_the_truth():
    found = np.arange(12)
    census = AuditCounts.of(bins(), decided=ROWS - CONFIRMED, positive=found)
    ends = peers.stratified(census)
    assert ends["class_prior"] == pytest.approx([(CONFIRMED + found).sum() / ROWS.sum()] * 2)


def test_simple_audit_of_as_many_cases_as_it_needs_is_as_wide():
    cell = Cell(name="normals", class_prior=0.16)
    rows = windows.window(cell, np.random.default_rng(2))
    needed = peers.cases_of_simple_audit(
        windows.pool("normals"), rows.threshold, 0.16, {"precision": 0.2, "recall": 0.2}
    )
    rng, precision = np.random.default_rng(3), []
    for _ in range(300):
        drawn = rng.choice(len(rows.score), int(needed["precision"]))
        above = rows.score[drawn] >= rows.threshold
        precision.append(rows.positive[drawn][above].mean())
    assert 2 * 1.96 * np.std(precision) == pytest.approx(0.2, rel=0.15)


def test_quick_benchmark_has_a_row_for_each_claim():
    extent = sections.Extent(
        runs=1, sets=("normals",), priors=(0.05,), frequencies=(0.2,), cases=(100,)
    )
    found = [row.what for row in sections.coverage(extent)]
    assert [one.split(": ")[0] for one in found[3:]] == ["mean of cells", "lowest cell"] * 3
    assert len(list(sections.simple_audit(extent))) == 2


@pytest.mark.slow
def test_class_prior_is_covered_through_a_jump_and_months_without_an_audit():
    cell = Cell(name="normals", cases=100)
    story = over_time.Story(audited=(True,) * 3 + (False,) * 2, jumps=1.7, jumps_in=3, drift=0.1)
    found = over_time.monthly_runs(cell, story, runs=15)
    for metric in ("class_prior", "f1"):
        assert len(found.covered[metric]) == 5
        for month, share in enumerate(found.covered[metric]):
            assert share >= 0.8, (metric, month)  # binomial(15, .95) is below in 1 of 180
    assert found.width["class_prior"][2] < found.alone[2]


@pytest.mark.slow
def test_a_segment_with_twice_the_class_prior_is_covered():
    found, cases, refused = segments.segment_runs(Cell(name="normals"), runs=40)
    assert refused == 0
    assert 30 < cases < 150
    for metric, share in found.covered.items():
        assert share >= 0.85, metric  # binomial(40, .95) is below in 1 of 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [causes.Change(class_prior=1.7), causes.Change(label_frequency=1.7)]
)
def test_audits_around_a_change_name_what_changed_and_not_the_other(change):
    found = causes.named(Cell(name="normals"), change, before=1, after=1, runs=12)
    wrong = {"class_prior": "label_frequency", "label_frequency": "class_prior"}[change.right]
    assert found[change.right] >= 4
    assert found[wrong] == 0


def test_verdicts_come_in_and_are_all_read_in_the_end():
    cell, rng = Cell(name="normals", cases=100), np.random.default_rng(0)
    rows = windows.window(cell, rng)
    whole = windows.audited(windows.designed(cell, rows), rows, rng)
    partial = dict(over_time._partial(whole, rng))
    assert [int(counts.decided.sum()) for counts in partial.values()][::3] == [8, 33, 58, 83]
    assert partial[12].decided.tolist() == whole.decided.tolist()
    assert partial[12].positive.tolist() == whole.positive.tolist()
