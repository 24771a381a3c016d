"""Class priors of windows pooled: against a multivariate normal, limits, jumps, tables."""

import json
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from pumonitor import ScoreTable
from pumonitor.prior import estimate_from_table, pool_class_priors, pool_tables, resolve_class_prior
from pumonitor.prior.local_level import LocalLevel, TwoPieceNormal
from pumonitor.results import ClassPriorEstimate

Z = stats.norm.ppf(0.975)


def normal(level, error):
    """A window whose estimate is normal on the arcsine scale."""
    ends = (level, level - Z * error, level + Z * error)
    return tuple(float(np.sin(end) ** 2) for end in ends)


def root(prior):
    return math.asin(math.sqrt(prior))


# -- the model against brute force ------------------------------------------------------------


def exact(levels, errors, times, *, at, upto, common, jump_chance=1e-12):
    """Quantiles of the level at `at` given windows up to `upto`: normals of every drift, mixed.

    A level with a flat prior is one with an enormous variance. Written from the covariance matrix
    of all levels, without recursion.
    """
    drifts = np.geomspace(0.001, 0.2, 9)
    seen = [index for index in range(upto + 1) if levels[index] is not None]
    y = np.array([levels[index] for index in seen])
    own = np.array([errors[index] for index in seen])
    when = np.array(times, dtype=float)
    centres, spreads, weights = [], [], []
    for drift in drifts:
        covariance = 1e4 + drift**2 * np.minimum.outer(when, when)
        of_seen = covariance[np.ix_(seen, seen)] + np.diag((1 - common) * own**2)
        to_seen = covariance[at, seen]
        centres.append(np.pi / 4 + to_seen @ np.linalg.solve(of_seen, y - np.pi / 4))
        spreads.append(covariance[at, at] - to_seen @ np.linalg.solve(of_seen, to_seen))
        weights.append(
            drift
            * np.exp(-drift / 0.02)
            * stats.multivariate_normal.pdf(y, np.full(len(y), np.pi / 4), of_seen)
        )
    weights = np.array(weights) / np.sum(weights)
    spreads = np.sqrt(np.array(spreads) + common * own.min() ** 2)
    return [
        optimize.brentq(
            lambda x, chance=chance: weights @ stats.norm.cdf(x, centres, spreads) - chance,
            -2.0,
            4.0,
        )
        for chance in (0.025, 0.5, 0.975)
    ]


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("common", [0.0, 0.4])
def test_pooled_priors_are_those_of_a_multivariate_normal(smooth, common):
    levels = [0.70, 0.74, None, 0.69, 0.78, 0.83, 0.80]
    errors = [0.03, 0.05, None, 0.02, 0.04, 0.03, 0.06]
    times = [0.0, 1.0, 2.0, 3.5, 4.0, 7.0, 8.0]
    windows = [
        None if level is None else normal(level, error)
        for level, error in zip(levels, errors, strict=True)
    ]
    pooled = pool_class_priors(
        windows, times=times, smooth=smooth, common_error=common, jump_chance=1e-12
    )
    for at, found in enumerate(pooled.estimates):
        upto = len(levels) - 1 if smooth else at
        wanted = exact(levels, errors, times, at=at, upto=upto, common=common)
        got = [root(found.low), root(found.value), root(found.high)]
        assert got == pytest.approx(wanted, abs=2e-4)


def test_a_reference_takes_off_the_error_common_to_the_windows():
    # Known level .5, then 20 windows at .6 that cannot all drift: most of the .1 is common error.
    # Gaussian oracle: x_0 = .5; y_t = x_t + sqrt(k) b + ..., b of the first window's spread.
    error, common, windows = 0.08, 0.5, 12
    pooled = pool_class_priors(
        [normal(0.6, error)] * windows,
        reference=normal(0.5, 0.001),
        common_error=common,
        jump_chance=1e-12,
    )
    when = np.arange(windows + 1.0)
    y = np.concatenate([[0.5], np.full(windows, 0.6)]) - 0.5
    centres, spreads, weights = [], [], []
    for drift in np.geomspace(0.001, 0.2, 9):
        level = 1e4 + drift**2 * np.minimum.outer(when, when)
        noise = common * error**2 * np.ones_like(level)
        noise[0], noise[:, 0] = 0.0, 0.0
        noise += np.diag([0.001**2] + [(1 - common) * error**2] * windows)
        centres.append(0.5 + level[-1] @ np.linalg.solve(level + noise, y))
        spreads.append(
            np.sqrt(level[-1, -1] - level[-1] @ np.linalg.solve(level + noise, level[-1]))
        )
        likelihood = stats.multivariate_normal.pdf(y, np.zeros(windows + 1), level + noise)
        weights.append(drift * np.exp(-drift / 0.02) * likelihood)
    weights = np.array(weights) / np.sum(weights)
    wanted = [
        optimize.brentq(
            lambda x, chance=chance: weights @ stats.norm.cdf(x, centres, spreads) - chance, -1, 2
        )
        for chance in (0.025, 0.5, 0.975)
    ]
    last = pooled.estimates[-1]
    # Between its nodes the common error is taken as unknown, which widens a little.
    assert [root(last.low), root(last.value), root(last.high)] == pytest.approx(wanted, abs=0.003)
    alone = pool_class_priors([normal(0.6, error)] * windows, common_error=common)
    assert last.value < alone.estimates[-1].value - 0.01


@pytest.mark.parametrize("place", [0.35, 0.45, 0.5, 0.6])
def test_a_two_piece_normal_has_the_quantiles_asked_for(place):
    middle = 0.2 + 0.3 * place
    said = TwoPieceNormal.with_quantiles(0.2, middle, 0.5, tail=0.025)

    def density(x):
        side = said.above if x > said.mode else said.below
        return math.exp(-0.5 * ((x - said.mode) / side) ** 2)

    def mass(end):
        return integrate.quad(density, -2.0, end, points=[said.mode], epsabs=1e-12)[0]

    total = mass(3.0)
    shares = [mass(end) / total for end in (0.2, middle, 0.5)]
    assert shares == pytest.approx([0.025, 0.5, 0.975], abs=1e-4)


def test_a_value_at_an_end_of_its_interval_leaves_the_ends_where_they_are():
    said = TwoPieceNormal.with_quantiles(0.2, 0.5, 0.5, tail=0.025)
    assert 0.2 < said.mode < 0.55
    assert said.below > 100 * said.above > 0


def test_narrow_and_equal_ends_are_no_trouble():
    found = pool_class_priors([0.1, 0.1, (0.1, 0.05, 0.2), 0.3]).estimates
    for one, known in zip(found, (0.1, 0.1, 0.1, 0.3), strict=True):
        assert one.value == pytest.approx(known, abs=5e-4)
        assert one.low <= one.value <= one.high


# -- how much a window counts -----------------------------------------------------------------


@pytest.mark.parametrize(
    "own", [(0.1, 0.05, 0.17), (0.5, 0.4, 0.6), (0.02, 0.015, 0.03), (0.9, 0.8, 0.95)]
)
@pytest.mark.parametrize("smooth", [False, True])
def test_a_single_window_stays_what_it_is(own, smooth):
    (found,) = pool_class_priors([own], smooth=smooth).estimates
    assert [found.value, found.low, found.high] == pytest.approx(own, rel=0.06)


def test_a_window_that_tells_nothing_has_what_its_neighbours_say():
    pooled = pool_class_priors([(0.1, 0.09, 0.11)] * 5 + [(0.5, 0.001, 0.999)])
    assert pooled.estimates[-1].value == pytest.approx(0.1, abs=0.003)
    assert pooled.own_share[-1] < 0.1


def test_a_window_that_tells_much_has_its_own():
    pooled = pool_class_priors([(0.1, 0.02, 0.25)] * 5 + [(0.2, 0.19, 0.21)])
    last = pooled.estimates[-1]
    assert [last.value, last.low, last.high] == pytest.approx([0.2, 0.19, 0.21], abs=6e-4)
    assert pooled.own_share[-1] > 0.97


def test_the_share_of_its_own_is_how_far_the_value_follows():
    windows = [normal(level, 0.05) for level in (0.60, 0.64, 0.57, 0.62)]
    share = pool_class_priors(windows).own_share[-1]
    step = 0.002
    ends = [
        pool_class_priors([*windows[:-1], normal(0.62 + change, 0.05)]).estimates[-1].value
        for change in (-step, step)
    ]
    assert (root(ends[1]) - root(ends[0])) / (2 * step) == pytest.approx(share, abs=0.05)


def test_windows_that_agree_tell_more_together_and_that_nothing_moves():
    still = pool_class_priors([normal(0.5, 0.05)] * 30)
    moving = pool_class_priors([normal(0.5 + 0.2 * (at % 2), 0.02) for at in range(30)])
    assert still.own_share[-1] < 0.3
    assert moving.own_share[-1] > 0.8
    assert still.drift_per_window[2] < moving.drift_per_window[1]


def test_errors_common_to_all_windows_do_not_average_out():
    rng = np.random.default_rng(1)
    scattered = [normal(0.5 + 0.05 * noise, 0.05) for noise in rng.standard_normal(60)]
    own = root(scattered[0][2]) - root(scattered[0][1])

    def width(windows, **options):
        last = pool_class_priors(windows, **options).estimates[-1]
        return root(last.high) - root(last.low)

    assert width(scattered, common_error=0.0) < 0.4 * own
    assert width(scattered) > math.sqrt(0.1) * own
    assert width(scattered, common_error=0.6) > math.sqrt(0.6) * own
    # Estimates that scatter less than their intervals say have an error in common.
    alike = pool_class_priors([normal(0.5 + 0.002 * noise, 0.05) for noise in range(-30, 30)][::7])
    assert alike.common_error > pool_class_priors(scattered).common_error


# -- jumps, gaps, missing windows -------------------------------------------------------------


def test_a_jump_is_not_shrunk_away():
    windows = [normal(root(0.05), 0.015)] * 20 + [normal(root(0.15), 0.02)] * 4
    after = pool_class_priors(windows).estimates[20]
    assert after.value == pytest.approx(0.15, abs=0.01)
    assert after.low > 0.11
    slow = pool_class_priors(windows, jump_chance=1e-12).estimates[20]
    assert abs(slow.value - 0.15) > abs(after.value - 0.15)
    before = pool_class_priors(windows, smooth=True).estimates[19]
    assert before.value == pytest.approx(0.05, abs=0.01)


def test_one_wild_window_does_not_move_the_next():
    usual = [normal(level, 0.03) for level in (0.27, 0.31, 0.33, 0.29, 0.34, 0.26, 0.28, 0.32)]
    found = pool_class_priors([*usual, normal(0.54, 0.12), *usual]).estimates
    assert root(found[8].value) == pytest.approx(0.3, abs=0.03)
    assert root(found[10].value) == pytest.approx(0.3, abs=0.02)


def test_what_was_said_of_a_window_never_changes_afterwards():
    rng = np.random.default_rng(3)
    windows = [normal(0.4 + 0.05 * noise, 0.05) for noise in rng.standard_normal(12)]
    whole = pool_class_priors(windows).estimates
    for length in (1, 5, 9):
        some = pool_class_priors(windows[:length]).estimates
        assert [one.value for one in some] == pytest.approx(
            [one.value for one in whole[:length]], abs=1e-12
        )
    # A later window so exact that the grid becomes finer changes no more than the fifth digit.
    finer = pool_class_priors([*windows, normal(0.4, 0.002)]).estimates
    assert [one.low for one in finer[:12]] == pytest.approx([one.low for one in whole], abs=3e-5)


def test_a_missing_window_is_a_longer_gap():
    first, last = normal(0.5, 0.02), normal(0.6, 0.03)
    missing = pool_class_priors([first, None, None, last])
    apart = pool_class_priors([first, last], times=[10.0, 13.0])
    assert missing.estimates[3].value == pytest.approx(apart.estimates[1].value, abs=1e-3)
    widths = [one.high - one.low for one in missing.estimates[:3]]
    assert widths[0] < widths[1] < widths[2]
    assert missing.own_share[1] == 0.0
    assert missing.estimates[1].diagnostics["own_value"] is None


def test_before_the_first_estimate_there_is_nothing_to_say():
    undefined = ClassPriorEstimate(value=math.nan, low=math.nan, high=math.nan)
    windows = [None, undefined, (0.1, 0.05, 0.2)]
    assert [one is None for one in pool_class_priors(windows).estimates] == [True, True, False]
    assert None not in pool_class_priors(windows, smooth=True).estimates
    assert None not in pool_class_priors(windows, reference=(0.1, 0.2)).estimates
    assert pool_class_priors([None]).estimates == (None,)


def test_a_reference_speaks_for_the_first_windows():
    wide = (0.3, 0.05, 0.6)
    alone = pool_class_priors([wide]).estimates[0]
    beside = pool_class_priors([wide], reference=(0.1, 0.09, 0.11)).estimates[0]
    assert abs(beside.value - 0.1) < 0.5 * abs(alone.value - 0.1)
    assert beside.high - beside.low < 0.5 * (alone.high - alone.low)


# -- intervals --------------------------------------------------------------------------------


@pytest.mark.parametrize("drift", [0.0, 0.03])
@pytest.mark.parametrize("smooth", [False, True])
def test_intervals_cover(drift, smooth):
    held = []
    for seed in range(40):
        rng = np.random.default_rng([seed, int(100 * drift)])
        truth = 0.6 + np.cumsum(drift * rng.standard_normal(15))
        errors = rng.uniform(0.03, 0.1, 15)
        seen = truth + errors * rng.standard_normal(15)
        windows = [normal(*pair) for pair in zip(seen.tolist(), errors.tolist(), strict=True)]
        found = pool_class_priors(windows, smooth=smooth, common_error=0.0).estimates
        held.append(
            [one.low <= np.sin(x) ** 2 <= one.high for one, x in zip(found, truth, strict=True)]
        )
    # Where nothing moves the drift is not known to be 0, which widens intervals.
    assert 0.92 <= np.mean(held) <= (0.99 if drift else 1.0)


def test_confidence_levels_are_read_and_stated():
    loose = ClassPriorEstimate(value=0.1, low=0.07, high=0.14, confidence_level=0.8)
    (same,) = pool_class_priors([loose]).estimates
    assert same.confidence_level == 0.8
    assert (same.low, same.high) == pytest.approx((0.07, 0.14), rel=0.02)
    (wider,) = pool_class_priors([loose], confidence_level=0.95).estimates
    assert wider.low < 0.06
    assert wider.confidence_level == 0.95


# -- what a pooled estimate says of the window's rows -----------------------------------------


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
def test_the_unlabeled_prior_is_that_of_the_windows_rows(scenario):
    tables = [simulated(0.2, seed=seed, labeled=60, unlabeled=900) for seed in range(3)]
    own = [estimate_from_table(table, method="bbe", scenario=scenario) for table in tables]
    pooled = pool_class_priors(own).estimates
    for found, table in zip(pooled, tables, strict=True):
        tied = resolve_class_prior(
            found, table, scenario=scenario, label_purity=1.0, confidence_level=0.95, rng=0
        )
        assert found.unlabeled_prior == pytest.approx(tied.unlabeled_prior, abs=1e-9)
        assert found.unlabeled_prior_interval == pytest.approx(
            tied.unlabeled_prior_interval, abs=1e-9
        )
        assert found.label_frequency == pytest.approx(tied.label_frequency, nan_ok=True)
        assert found.method == "pooled bbe"


def test_the_result_is_json_and_the_same_every_time():
    windows = [None, (0.1, 0.05, 0.2), None, (0.12, 0.08, 0.2)]
    found = pool_class_priors(windows)
    written = json.dumps(found.to_dict(), allow_nan=False)
    assert written == json.dumps(pool_class_priors(windows).to_dict(), allow_nan=False)
    assert json.loads(written)["estimates"][0] is None


@pytest.mark.parametrize(
    ("estimates", "options", "says"),
    [
        ([], {}, "at least one window"),
        ([0.1, 1.2], {}, r"estimates\[1\]: class_prior must satisfy"),
        ([0.1], {"reference": (0.3, 0.2)}, "reference: an interval"),
        ([ClassPriorEstimate(value=0.1, low=0.2, high=0.3)], {}, r"estimates\[0\] must satisfy"),
        ([0.1, 0.2], {"times": [1.0]}, r"got shape \(1,\) for 2 windows"),
        ([0.1, 0.2, 0.3], {"times": [1.0, 1.0, 0.0]}, r"2 of 3 do not, first times\[1\]=1"),
        ([0.1, 0.2], {"times": [0.0, math.nan]}, r"first times\[1\]=nan"),
        ([0.1], {"common_error": 1.0}, "common_error"),
        ([0.1], {"jump_chance": 0.0}, "jump_chance"),
        ([0.1], {"confidence_level": 95}, "confidence_level"),
    ],
)
def test_what_cannot_be_pooled_is_refused(estimates, options, says):
    with pytest.raises(ValueError, match=says):
        pool_class_priors(estimates, **options)
    with pytest.raises(TypeError, match=r"estimates\[0\]: class_prior must be"):
        pool_class_priors(["many"])


def test_density_is_kept_whatever_comes():
    model = LocalLevel.fine_enough_for(
        [None, TwoPieceNormal(mode=0.0, median=0.0, below=1e-12, above=1e-12)],
        longest=0.5 * math.pi,
        common_share=None,
        jump_chance=0.02,
    )
    far = TwoPieceNormal(mode=1.57, median=1.57, below=1e-9, above=1e-9)
    near = TwoPieceNormal(mode=0.001, median=0.001, below=1e-9, above=1e-9)
    for density in model.filtered([near, far, near], np.array([0.0, 1.0, 1.0])):
        assert np.isfinite(density).all()
        assert density.sum() == pytest.approx(1.0)


# -- tables -----------------------------------------------------------------------------------

EDGES = np.linspace(-5.0, 7.0, 41)


def simulated(prior, *, seed, labeled, unlabeled, binned=False):
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(labeled, bool), rng.random(unlabeled) < prior])
    labels = np.repeat([1, 0], [labeled, unlabeled])
    scores = np.clip(rng.normal(2.0 * positive), -4.9, 6.9)
    if not binned:
        return ScoreTable.from_arrays(labels, scores)
    counts = [np.histogram(scores[labels == state], EDGES)[0] for state in (1, 0)]
    lower, upper = EDGES[:-1], np.nextafter(EDGES[1:], -np.inf)
    return ScoreTable.from_counts(*(side + 1 for side in counts), lower=lower, upper=upper)


def test_tables_of_equal_bins_add_by_their_discounts():
    tables = [simulated(0.1, seed=at, labeled=20, unlabeled=500, binned=True) for at in range(3)]
    pooled = pool_tables(tables, labeled_discount=0.5, unlabeled_discount=0.5)
    for name in ("labeled", "unlabeled", "negative"):
        first, second, third = (getattr(table, name) for table in tables)
        assert getattr(pooled, name) == pytest.approx(0.25 * first + 0.5 * second + third)
    squares = tables[0].labeled / 16 + tables[1].labeled / 4 + tables[2].labeled
    assert pooled.labeled_squares == pytest.approx(squares)
    assert not pooled.has_propensities


def test_labeled_rows_of_before_leave_the_labeled_fraction_alone():
    tables = [
        simulated(0.1, seed=at, labeled=labeled, unlabeled=500, binned=True)
        for at, labeled in enumerate((300, 20))
    ]
    pooled = pool_tables(tables)
    assert pooled.labeled_mass.sum() == pytest.approx(tables[1].labeled.sum())
    assert np.array_equal(pooled.unlabeled, tables[1].unlabeled)
    every = tables[0].labeled + tables[1].labeled
    assert pooled.labeled / pooled.labeled.sum() == pytest.approx(every / every.sum())
    effective = pooled.labeled.sum() ** 2 / pooled.labeled_squares.sum()
    assert effective == pytest.approx(every.sum())
    assert pooled.labeled_mass_squares.sum() == pytest.approx(tables[1].labeled.sum())
    assert (pooled.n_labeled, pooled.n_unlabeled) == (400, 540)


def test_one_table_stays_what_it_is():
    table = simulated(0.1, seed=0, labeled=50, unlabeled=500, binned=True)
    for scenario in ("single-training-set", "case-control"):
        found, wanted = (
            estimate_from_table(one, method="bbe", scenario=scenario)
            for one in (pool_tables([table]), table)
        )
        assert found.value == pytest.approx(wanted.value)
        assert found.high == pytest.approx(wanted.high)


def test_rows_of_other_cells_are_laid_on_common_ones():
    tables = [simulated(0.1, seed=at, labeled=80, unlabeled=1500) for at in range(4)]
    pooled = pool_tables(tables, unlabeled_discount=1.0)
    assert len(pooled) <= 512
    assert (pooled.lower[1:] > pooled.upper[:-1]).all()
    assert pooled.unlabeled.sum() == pytest.approx(6000)
    # Shares at or above a score, counted row by row.
    for cut in (0.0, 1.0, 2.5):
        cell = np.searchsorted(pooled.lower, cut)
        for name in ("labeled", "unlabeled"):
            counted = sum(
                getattr(one, name)[one.lower >= pooled.lower[cell]].sum() for one in tables
            )
            here = getattr(pooled, name)[cell:].sum()
            assert here == pytest.approx(counted, abs=0.003 * getattr(pooled, name).sum())


def test_tied_scores_stay_in_their_cells():
    first = ScoreTable.from_arrays([1, 1, 0, 0, 0], [0.5, 1.0, 0.0, 0.5, 0.0])
    second = ScoreTable.from_arrays([1, 1, 0, 0], [1.0, 1.0, 0.5, 0.0])
    pooled = pool_tables([first, second], unlabeled_discount=1.0)
    assert pooled.lower.tolist() == [0.0, 0.5, 1.0]
    assert pooled.labeled == pytest.approx([0.0, 1.0, 3.0])
    assert pooled.unlabeled == pytest.approx([3.0, 2.0, 0.0])


def test_propensities_keep_what_labeled_rows_stand_for():
    rng = np.random.default_rng(0)
    labels, scores = np.repeat([1, 0], [30, 200]), rng.normal(size=230)
    tables = [
        ScoreTable.from_arrays(labels, scores + at, propensity=np.where(labels == 1, 0.25, np.nan))
        for at in range(2)
    ]
    pooled = pool_tables(tables)
    assert pooled.has_propensities
    assert pooled.labeled.sum() == pytest.approx(120)
    assert pooled.labeled_mass.sum() == pytest.approx(30)
    assert pooled.labeled.sum() ** 2 / pooled.labeled_squares.sum() == pytest.approx(60)


def test_shared_labeled_rows_make_small_windows_exact():
    error = []
    for seed in range(6):
        tables = [
            simulated(0.1, seed=100 * seed + at, labeled=20, unlabeled=2000) for at in range(12)
        ]
        alone, shared = (
            estimate_from_table(table, method="dedpul", scenario="case-control")
            for table in (tables[-1], pool_tables(tables))
        )
        error.append([abs(alone.value - 0.1), abs(shared.value - 0.1)])
    alone, shared = np.mean(error, axis=0)
    assert shared < 0.03
    assert shared < 0.7 * alone


@pytest.mark.parametrize(
    ("count", "options", "says"),
    [
        (0, {}, "at least one window"),
        (1, {"labeled_discount": 1.1}, "labeled_discount must satisfy"),
        (1, {"unlabeled_discount": -0.1}, "unlabeled_discount must satisfy"),
    ],
)
def test_tables_that_cannot_be_pooled_are_refused(count, options, says):
    table = simulated(0.1, seed=0, labeled=20, unlabeled=100)
    with pytest.raises(ValueError, match=says):
        pool_tables([table] * count, **options)
