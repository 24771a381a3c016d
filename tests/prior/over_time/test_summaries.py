import dataclasses

import numpy as np
import pytest

from pumonitor.prior.over_time import Cells, Level, Summariser
from pumonitor.prior.over_time.summaries import _between
from pumonitor.tables import ScoreTable


def rows_of(rng, rows=2000, prior=0.1, frequency=0.3):
    positive = rng.random(rows) < prior
    scores = np.round(rng.normal(size=rows) + 2.0 * positive, 3)
    return scores, positive & (rng.random(rows) < frequency)


def cells_of(scores, labeled):
    at, cell = np.unique(scores, return_inverse=True)
    return Cells.of_counts(at, np.bincount(cell, labeled), np.bincount(cell))


def reference(rng, windows=12, **more):
    return [cells_of(*rows_of(rng, **more)) for _ in range(windows)]


def test_a_summary_is_of_the_rows():
    rng = np.random.default_rng(1)
    summariser = Summariser.learned(reference(rng))
    scores, labeled = rows_of(rng)
    summary, later = summariser.after(cells_of(scores, labeled), arrived=0.5)
    index = summariser.index.of(scores)
    assert (summary.rows, summary.confirmed) == (2000, labeled.sum())
    assert summary.all_mean == pytest.approx(index.mean())
    assert summary.confirmed_mean == pytest.approx(index[labeled].mean())
    assert later.variance == pytest.approx(0.8 * summariser.variance + 0.2 * index.var())
    assert summary.all_variance == pytest.approx(later.variance / 2000)
    count = labeled.sum()
    within = (20 * summariser.variance_of_positives + count * index[labeled].var()) / (20 + count)
    expected = within / count + summariser.between_of_positives
    assert summary.confirmed_variance == pytest.approx(expected)
    assert summary.arrived == 0.5


def test_a_score_table_says_the_same_as_its_rows():
    rng = np.random.default_rng(2)
    summariser = Summariser.learned(reference(rng))
    scores, labeled = rows_of(rng)
    table = ScoreTable.from_arrays(labeled.astype(int), scores).compress(2048)
    of_rows, _ = summariser.after(cells_of(scores, labeled))
    of_table, _ = summariser.after(Cells.of_table(table))
    assert dataclasses.astuple(of_table) == pytest.approx(dataclasses.astuple(of_rows), rel=0.01)


def test_weighted_rows_tell_less_and_the_share_confirmed_stays():
    rng = np.random.default_rng(3)
    scores, labeled = rows_of(rng)
    alike = Cells.of_table(ScoreTable.from_arrays(labeled.astype(int), scores))
    weight = rng.choice([0.5, 3.0], size=len(scores))
    uneven = Cells.of_table(
        ScoreTable.from_arrays(labeled.astype(int), scores, sample_weight=weight)
    )
    assert uneven.confirmed < 0.8 * alike.confirmed
    assert uneven.confirmed / uneven.total == pytest.approx(
        weight[labeled].sum() / weight.sum(), rel=1e-9
    )
    assert uneven.effective_rows == pytest.approx(weight.sum() ** 2 / (weight**2).sum())


def test_positives_score_where_propensities_say_and_are_counted_as_rows():
    rng = np.random.default_rng(4)
    scores, labeled = rows_of(rng, frequency=1.0)
    propensity = np.where(scores > 2, 0.8, 0.2)
    labeled = labeled & (rng.random(len(scores)) < propensity)
    cells = Cells.of_table(
        ScoreTable.from_arrays(labeled.astype(int), scores, propensity=propensity)
    )
    lifted = 1 / propensity[labeled]
    assert cells.confirmed == pytest.approx(labeled.sum())
    assert cells.positives @ cells.scores / cells.positives.sum() == pytest.approx(
        lifted @ scores[labeled] / lifted.sum(), abs=0.01
    )
    assert cells.effective_positives == pytest.approx(lifted.sum() ** 2 / (lifted**2).sum())


def test_variances_beyond_errors_are_those_of_what_is_measured():
    rng = np.random.default_rng(5)
    values = rng.normal(scale=2.0, size=4000) + rng.normal(scale=3.0, size=4000)
    assert _between(values, np.full(4000, 9.0)) == pytest.approx(4.0, rel=0.2)
    assert _between(values[:1], np.full(1, 9.0)) == 0.0


def test_days_that_differ_by_themselves_set_off_nothing():
    """Weekends with a third of the label frequency, followed for eight weeks of days."""
    rng = np.random.default_rng(6)

    def day(number):
        return cells_of(*rows_of(rng, frequency=0.1 if number % 7 > 4 else 0.3))

    summariser = Summariser.learned([day(number) for number in range(28)])
    followed = summariser.begun(Level.given(0.1, 0.08, 0.12))
    moved = []
    for number in range(28, 84):
        summary, summariser = summariser.after(day(number))
        followed = followed.after(summary)
        moved.append(followed.moved())
    assert max(moved) < 0.5
    low, high = followed.quantiles([0.025, 0.975])
    assert low < 0.1 < high


def test_a_stored_summariser_goes_on_to_the_very_same_numbers():
    rng = np.random.default_rng(7)
    straight = stored = Summariser.learned(reference(rng))
    for _ in range(3):
        shown = cells_of(*rows_of(rng))
        of_straight, straight = straight.after(shown)
        of_stored, stored = Summariser.from_bytes(stored.to_bytes()).after(shown)
        assert of_stored == of_straight
    assert stored.to_bytes() == straight.to_bytes()
    assert len(stored.to_bytes()) < 3000


def test_a_window_without_confirmations_or_with_one_score_is_a_window():
    rng = np.random.default_rng(8)
    summariser = Summariser.learned(reference(rng, windows=1))
    followed = summariser.begun(Level.given(0.1, 0.08, 0.12))
    for labeled in (0, 3):
        summary, summariser = summariser.after(Cells.of_counts([1.0], [labeled], [500]))
        followed = followed.after(summary)
    assert np.isfinite(followed.quantiles([0.025, 0.975])).all()


def test_a_reference_without_confirmations_is_refused():
    with pytest.raises(ValueError, match="found none in 1 windows"):
        Summariser.learned([Cells.of_counts([0.0, 1.0], [0, 0], [50, 50])])
