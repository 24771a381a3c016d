"""The likelihood of a bin against the table of cells, and its slopes against differences."""

import numpy as np
import pytest
from scipy import optimize, special

from pumonitor.reviews.likelihood import ReviewLikelihood
from tests.oracles.review_cells import chances, log_likelihood, rows_by_outcome
from tests.reviews.made_up_queue import ALL_KINDS, counts_of

P_LOGIT = np.array([-3.1, -0.7, 1.2])
V = np.array([1.4, -0.3, -1.1])
S_LOGIT = np.array([1.7])
CERTAIN = np.array([40.0])
STEP = 1e-5
AXES = np.eye(3)

WITHOUT_MISTAKES = {**ALL_KINDS, "cleared_complained": [0, 0, 0]}


def case(*, blocks, errs):
    rows = {name: np.array(row) for name, row in (ALL_KINDS if errs else WITHOUT_MISTAKES).items()}
    return rows, ReviewLikelihood(counts=counts_of(rows, blocks=blocks), errs=errs)


def _slope_of_chance(group, name, moves, s_logit, blocks):
    up, down = (
        chances(
            P_LOGIT + step * moves[0], V + step * moves[1], s_logit + step * moves[2], blocks=blocks
        )[group][name]
        for step in (STEP, -STEP)
    )
    return (up - down) / (2 * STEP)


@pytest.mark.parametrize("blocks", [True, False])
def test_the_chances_of_a_group_are_one_together(blocks):
    for outcomes in chances(P_LOGIT, V, S_LOGIT, blocks=blocks).values():
        assert sum(outcomes.values()) == pytest.approx(np.ones(3), abs=1e-12)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("errs", [True, False])
def test_the_likelihood_is_that_of_the_table_of_cells(blocks, errs):
    rows, likelihood = case(blocks=blocks, errs=errs)
    s_logit = S_LOGIT if errs else CERTAIN
    value = likelihood.value(P_LOGIT, V, s_logit[0] * np.ones(()))
    expected = log_likelihood(rows, P_LOGIT, V, s_logit, blocks=blocks).sum()
    assert value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("errs", [True, False])
def test_slopes_are_those_of_the_likelihood(blocks, errs):
    rows, likelihood = case(blocks=blocks, errs=errs)
    s_logit = S_LOGIT if errs else CERTAIN

    def by_bin(p_move=0.0, v_move=0.0, s_move=0.0):
        return log_likelihood(rows, P_LOGIT + p_move, V + v_move, s_logit + s_move, blocks=blocks)

    gradient = likelihood.slopes(P_LOGIT, V, s_logit[0] * np.ones(())).gradient
    for row, name in enumerate(("p_move", "v_move", "s_move")[: 3 if errs else 2]):
        difference = (by_bin(**{name: STEP}) - by_bin(**{name: -STEP})) / (2 * STEP)
        assert gradient[row] == pytest.approx(difference, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("errs", [True, False])
def test_information_is_the_expected_outer_product_of_the_slopes_of_every_outcome(blocks, errs):
    rows, likelihood = case(blocks=blocks, errs=errs)
    s_logit = S_LOGIT if errs else CERTAIN
    size = 3 if errs else 2
    at = chances(P_LOGIT, V, s_logit, blocks=blocks)
    expected = np.zeros((3, 3, 3))
    for group, counted in rows_by_outcome(rows, blocks=blocks).items():
        number = sum(counted.values())
        for name in counted:
            slopes = [
                _slope_of_chance(group, name, moves, s_logit, blocks) for moves in AXES[:size]
            ]
            for row in range(size):
                for column in range(size):
                    expected[row, column] += (
                        number * slopes[row] * slopes[column] / np.maximum(at[group][name], 1e-300)
                    )
    information = likelihood.slopes(P_LOGIT, V, s_logit[0] * np.ones(())).information
    assert information == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("errs", [True, False])
def test_slopes_and_value_are_the_same_for_many_points_at_once(blocks, errs):
    _, likelihood = case(blocks=blocks, errs=errs)
    p_logit, v = np.stack([P_LOGIT, P_LOGIT + 0.4]), np.stack([V, V - 0.2])
    s_logit = np.array([1.7, 0.5])
    together = likelihood.slopes(p_logit, v, s_logit)
    for at in range(2):
        alone = likelihood.slopes(p_logit[at], v[at], s_logit[at])
        assert together.gradient[:, at] == pytest.approx(alone.gradient)
        assert together.information[:, :, at] == pytest.approx(alone.information)
        assert likelihood.value(p_logit, v, s_logit)[at] == pytest.approx(
            float(likelihood.value(p_logit[at], v[at], s_logit[at]))
        )


@pytest.mark.parametrize("errs", [True, False])
def test_hidden_positives_are_those_of_rows_without_knowledge(errs):
    rows, likelihood = case(blocks=True, errs=errs)
    p, e, s = special.expit(P_LOGIT), special.expit(-V), special.expit(S_LOGIT)
    expected = (rows["open_silent"] + rows["undecided_silent"]) * p * (1 - e) / (1 - p * e)
    expected = expected + rows["stopped"] * p
    if errs:
        missed = p * (1 - s) * (1 - e)
        expected = expected + rows["cleared_silent"] * missed / (missed + 1 - p)
    hidden = likelihood.hidden(P_LOGIT, V, S_LOGIT[0] * np.ones(()))
    assert sum(number * share for number, share in hidden) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["known_positive", "known_negative", "stopped"])
def test_rows_that_rules_chose_or_that_were_stopped_tell_nothing_of_others(kind):
    rows, likelihood = case(blocks=False, errs=True)
    more = {**rows, kind: rows[kind] + np.array([7, 70, 700])}
    other = ReviewLikelihood(counts=counts_of(more, blocks=False), errs=True)
    at = (P_LOGIT, V, S_LOGIT[0] * np.ones(()))
    assert other.value(*at) == likelihood.value(*at)
    assert np.array_equal(other.slopes(*at).gradient, likelihood.slopes(*at).gradient)


def _decided_and_undecided(p, part, odds):
    """Share of positives among either, by a root of what both are together."""

    def undecided(decided):
        return odds * decided / (1 - decided + odds * decided)

    decided = optimize.brentq(
        lambda share: (1 - part) * share + part * undecided(share) - p, 0, 1, xtol=1e-15
    )
    return decided, undecided(decided)


def _log_likelihood_by_odds(rows, p_logit, v, s_logit, *, odds, blocks):
    """Of all bins, where undecided rows are likelier or less likely positive."""
    decided_rows = sum(
        rows[name]
        for name in (
            "positive_complained",
            "positive_silent",
            "cleared_complained",
            "cleared_silent",
        )
    )
    undecided_rows = rows["undecided_complained"] + rows["undecided_silent"]
    shares = [
        _decided_and_undecided(p, left / (left + decided), odds)
        for p, left, decided in zip(
            special.expit(p_logit), undecided_rows, decided_rows, strict=True
        )
    ]
    among_decided, among_undecided = special.logit(np.array(shares).T)
    verdicts = {name: rows[name] for name in rows if name.startswith(("positive", "cleared"))}
    others = {name: rows[name] for name in rows if name.startswith(("open", "drawn"))}
    undecided = {name: rows[name] for name in rows if name.startswith("undecided")}
    parts = ((verdicts, among_decided), (undecided, among_undecided), (others, p_logit))
    return sum(
        log_likelihood(some, share, v, s_logit, blocks=blocks).sum() for some, share in parts
    )


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("odds", [0.25, 4.0])
def test_undecided_rows_may_be_likelier_positive_and_slopes_know_it(blocks, odds):
    rows, usual = case(blocks=blocks, errs=True)
    likelihood = ReviewLikelihood(counts=usual.counts, errs=True, odds=odds)

    def expected(p_logit=P_LOGIT, v=V, s_logit=S_LOGIT):
        return _log_likelihood_by_odds(rows, p_logit, v, s_logit, odds=odds, blocks=blocks)

    at = (P_LOGIT, V, S_LOGIT[0] * np.ones(()))
    assert likelihood.value(*at) == pytest.approx(expected(), rel=1e-10)
    assert likelihood.value(*at) != pytest.approx(float(usual.value(*at)), rel=1e-3)
    gradient = likelihood.slopes(*at).gradient
    assert gradient[2].sum() == pytest.approx(
        (expected(s_logit=S_LOGIT + STEP) - expected(s_logit=S_LOGIT - STEP)) / (2 * STEP), rel=1e-5
    )
    for bin_moved, move in enumerate(AXES * STEP):
        by_p = (expected(p_logit=P_LOGIT + move) - expected(p_logit=P_LOGIT - move)) / (2 * STEP)
        by_v = (expected(v=V + move) - expected(v=V - move)) / (2 * STEP)
        assert gradient[:2, bin_moved] == pytest.approx([by_p, by_v], rel=1e-5)


def test_undecided_rows_hide_more_positives_where_they_are_likelier_positive():
    rows, usual = case(blocks=True, errs=False)
    at = (P_LOGIT, V, np.full((), np.inf))
    hidden = [
        sum(
            (number * share).sum()
            for number, share in ReviewLikelihood(
                counts=usual.counts, errs=False, odds=odds
            ).hidden(*at)
        )
        for odds in (0.25, 1.0, 4.0)
    ]
    assert hidden == sorted(hidden)
    assert hidden[2] - hidden[0] > 0.1 * (rows["undecided_silent"].sum())
