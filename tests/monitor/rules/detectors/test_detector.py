from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

from pumonitor.monitor.rules.detectors import (
    DETECTORS,
    Detection,
    Detector,
    Observation,
    auc_bounds,
    detect,
    scale_of,
)
from pumonitor.monitor.rules.detectors.scales import on_scale, steadied, usual_error
from pumonitor.monitor.rules.detectors.watch import DetectorState

DAILY: dict[str, Any] = {
    "reference_windows": 30,
    "direction": "down",
    "false_alarms_per_year": 1.0,
    "windows_per_year": 365.0,
}


def series(
    windows: int,
    *,
    drop: float = 0.0,
    at: int = 0,
    until: int = 10**6,
    seed: int = 0,
    level: float = 0.8,
    se: float = 0.02,
) -> list[Observation]:
    rng = np.random.default_rng(seed)
    errors = se * np.exp(rng.normal(0.0, 0.1, windows))
    when = np.arange(windows)
    values = level + errors * rng.normal(size=windows)
    values -= drop * ((when >= at) & (when < until))
    return [
        Observation(
            index=index, value=float(value), se=float(error), n_labeled=60, bounds=(0.0, 1.0)
        )
        for index, (value, error) in enumerate(zip(values, errors, strict=True))
    ]


def kinds(found: Sequence[Detection]) -> list[str]:
    return [one.kind for one in found]


def first_breach(found: Sequence[Detection]) -> Detection:
    return next(one for one in found if one.kind == "breach")


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_drop_is_found_and_named(detector: str) -> None:
    found = detect(series(130, drop=0.1, at=60), detector=detector, **DAILY)
    assert kinds(found[:60]) == ["learning"] * 30 + ["good"] * 30
    assert kinds(found[-30:]) == ["breach"] * 30
    first, last = first_breach(found), found[-1]
    assert 60 <= first.index <= (62 if detector != "betting" else 100)
    assert first.since is not None
    assert abs(first.since - 60) <= 1
    assert last.direction == "down"
    assert last.size_low is not None
    assert last.size_high is not None
    assert last.size_low < -0.1 < last.size_high < 0
    assert last.size_high - last.size_low < 0.05
    assert last.expected == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("detector", DETECTORS)
def test_step_by_step_is_the_same_as_at_once_from_any_copy(detector: str) -> None:
    observations = series(80, drop=0.08, at=50, until=65)
    whole = detect(observations, detector=detector, **DAILY)
    detector_now = Detector(detector=detector, **DAILY)
    for at, observation in enumerate(observations):
        if at % 20 == 13:  # a copy goes another way, and leaves no trace
            branch = detector_now.copy()
            rest = [branch.step(one) for one in observations[at:]]
            assert rest == whole[at:]
            other = detector_now.copy()
            other.step(replace(observation, value=0.1))
        assert detector_now.step(observation) == whole[at]


def test_many_series_at_once_are_the_same_as_each_alone() -> None:
    drawn = [series(60, drop=0.06, at=45, seed=seed) for seed in range(4)]
    values = np.array([[one.value for one in row] for row in drawn], dtype=float)
    errors = np.array([[one.se for one in row] for row in drawn], dtype=float)
    errors = steadied(
        errors,
        np.full(errors.shape, 60.0),
        usual_error(errors[:, :30], np.full((4, 30), 60.0))[:, None],
    )
    watch = DetectorState.begun_after(
        values[:, :30],
        errors[:, :30],
        np.ones(30, dtype=np.intp),
        direction="down",
        windows_per_alarm=365.0,
        detector="shiryaev-roberts",
    )
    alone = [detect(row, **DAILY) for row in drawn]
    for at in range(30, 60):
        watch = watch.after(values[:, at], errors[:, at])
        assert watch.expected is not None
        for one in range(4):
            assert watch.on[one] == (alone[one][at].kind == "breach")
            if at == 30 or alone[one][at - 1].kind == "good":
                assert watch.expected.z[one] == pytest.approx(alone[one][at].z, abs=1e-9)


def test_a_breach_is_over_when_windows_are_as_before() -> None:
    found = detect(series(110, drop=0.1, at=50, until=70), **DAILY)
    assert kinds(found[52:70]) == ["breach"] * 18
    over = [one.index for one in found if one.index >= 70 and one.kind == "good"]
    assert 71 <= over[0] <= 76
    assert kinds(found[over[0] :]) == ["good"] * (110 - over[0])
    left = [one.statistic for one in found[69 : over[0]]]
    # Less and less of it, but for what speaks for a smaller change.
    assert left[0] == pytest.approx(found[69].limit)
    assert left[-1] is not None
    assert left[-1] < 0.1 * found[69].limit
    assert found[-1].since is None
    assert found[-1].size is None


def test_a_second_change_is_dated_by_itself() -> None:
    observations = series(140, drop=0.1, at=50, until=70)
    observations[110:] = [
        replace(one, value=(one.value or 0.0) - 0.1) for one in observations[110:]
    ]
    found = detect(observations, **DAILY)
    assert found[-1].kind == "breach"
    assert found[-1].since is not None
    assert abs(found[-1].since - 110) <= 1


def test_a_breach_that_lasts_does_not_become_the_reference() -> None:
    found = detect(series(220, drop=0.06, at=60), **DAILY)
    assert set(kinds(found[80:])) == {"breach"}
    assert found[-1].size == pytest.approx(-0.06, abs=0.015)
    assert found[-1].expected == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("direction", "drop", "named"),
    [
        ("down", 0.1, "down"),
        ("down", -0.1, None),
        ("up", -0.1, "up"),
        ("up", 0.1, None),
        ("any", 0.1, "down"),
        ("any", -0.1, "up"),
    ],
)
def test_direction(direction: str, drop: float, named: str | None) -> None:
    found = detect(series(70, drop=drop, at=50), **(DAILY | {"direction": direction}))
    last = found[-1]
    assert last.kind == ("good" if named is None else "breach")
    assert last.direction == named
    if named is not None:
        assert last.size == pytest.approx(-drop, abs=0.03)


def test_units_do_not_matter() -> None:
    plain = detect(series(80, drop=0.08, at=50), **DAILY)
    scaled = [
        replace(one, value=1e4 * (one.value or 0.0) - 7.0, se=1e4 * (one.se or 0.0))
        for one in series(80, drop=0.08, at=50)
    ]
    for one, other in zip(plain, detect(scaled, **DAILY), strict=True):
        assert one.kind == other.kind
        assert one.since == other.since
        if one.z is not None:
            assert other.z == pytest.approx(one.z, abs=1e-6)
        if one.size is not None:
            assert other.size == pytest.approx(1e4 * one.size, rel=1e-6)


def test_missing_windows_change_nothing_but_distances() -> None:
    observations = series(70, drop=0.1, at=50)
    gone = {3, 10, 35, 36, 52}
    absent = [
        replace(one, value=None if one.index % 2 else math.nan) if one.index in gone else one
        for one in observations
    ]
    left_out = [one for one in observations if one.index not in gone]
    found = detect(absent, **DAILY)
    assert [one.index for one in found if one.kind == "missing"] == sorted(gone)
    assert [one for one in found if one.index not in gone] == detect(left_out, **DAILY)
    assert kinds(found).count("learning") == 30
    closer = [replace(one, index=one.index - 2) if one.index > 36 else one for one in left_out]
    assert detect(closer, **DAILY)[37].z != detect(left_out, **DAILY)[37].z


@pytest.mark.parametrize("se", [0.0, None])
def test_constant_series_without_errors(se: float | None) -> None:
    observations = [Observation(index=at, value=42.0, se=se) for at in range(50)]
    found = detect(observations, **DAILY)
    assert kinds(found[30:]) == ["good"] * 20
    jump = [*observations, Observation(index=50, value=41.0, se=se)]
    after = detect(jump, **DAILY)[-1]
    assert after.kind == "breach"
    assert after.size == pytest.approx(-1.0)
    assert after.since == 50


def test_counts_learn_how_much_they_vary() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(400.0, 120).astype(float)
    counts[100:] *= 0.7
    found = detect(
        [Observation(index=at, value=float(one), se=0.0) for at, one in enumerate(counts)], **DAILY
    )
    z = [one.z for one in found[30:100] if one.z is not None]
    assert np.std(z) == pytest.approx(1.0, abs=0.2)
    assert kinds(found[30:100]) == ["good"] * 70
    assert found[101].kind == "breach"


@pytest.mark.parametrize("jump", [1e3, -1e3, 1e9, -1e9])
@pytest.mark.parametrize("detector", ["shiryaev-roberts", "cusum"])
def test_huge_jumps_stay_finite(jump: float, detector: str) -> None:
    observations = series(70)
    observations[50:] = [replace(one, value=(one.value or 0.0) + jump) for one in observations[50:]]
    found = detect(observations, **(DAILY | {"direction": "any", "detector": detector}))
    assert kinds(found[50:]) == ["breach"] * 20
    for one in found[50:]:
        numbers = [one.z, one.statistic, one.size, one.size_low, one.size_high, one.expected]
        assert all(number is not None and math.isfinite(number) for number in numbers)
    assert found[-1].size == pytest.approx(jump, rel=1e-3)


def test_one_gross_error_on_the_other_side_does_not_blind() -> None:
    observations = series(70, drop=0.1, at=52)
    observations[45] = replace(observations[45], value=50.0)
    found = detect(observations, **DAILY)
    clean = detect(series(70, drop=0.1, at=52), **DAILY)
    assert first_breach(found).index == first_breach(clean).index


def test_tiny_reference_is_uncertain_and_not_wild() -> None:
    five = DAILY | {"reference_windows": 5}
    alarms = sum("breach" in kinds(detect(series(60, seed=seed), **five)) for seed in range(30))
    assert alarms <= 7  # 55 windows are .15 years
    assert kinds(detect(series(30, drop=0.2, at=20), **five))[-5:] == ["breach"] * 5


def test_size_holds_the_truth_as_often_as_it_says() -> None:
    held = []
    for seed in range(50):
        last = detect(series(62, drop=0.08, at=50, seed=seed), **DAILY)[-1]
        if last.kind == "breach" and last.size_low is not None and last.size_high is not None:
            held.append(last.size_low <= -0.08 <= last.size_high)
    assert len(held) >= 48
    assert np.mean(held) >= 0.88


def test_shares_are_judged_on_the_logit_scale() -> None:
    rng = np.random.default_rng(3)
    logits = special.logit(0.03) + 0.2 * rng.normal(size=80)
    logits[60:] += 1.0
    shares = special.expit(logits)
    observations = [
        Observation(index=at, value=float(one), se=float(0.2 * one * (1 - one)))
        for at, one in enumerate(shares)
    ]
    found = detect(observations, **(DAILY | {"direction": "up", "scale": "logit"}))
    last = found[-1]
    truth = special.expit(special.logit(0.03) + 1.0) - 0.03
    assert last.kind == "breach"
    assert last.size_low is not None
    assert last.size_high is not None
    assert last.size_low < truth < last.size_high
    assert last.expected == pytest.approx(0.03, abs=0.004)
    named = ("class_prior", "aul", "labeled_positives", "predicted_positive_rate")
    assert [scale_of(name) for name in named] == ["logit", "plain", "log", "logit"]


def test_values_at_the_ends_of_the_logit_scale_are_held_inside() -> None:
    value, error = on_scale(np.array([-0.1, 0.0, 0.5, 1.0, 1.2]), np.full(5, 0.04), "logit")
    assert value[0] == value[1] == pytest.approx(-value[3])
    assert value[3] == value[4]
    assert np.isfinite([*value, *error]).all()
    assert error[2] == pytest.approx(0.16)
    exact = on_scale(np.array([0.0, 1.0]), np.zeros(2), "logit")
    assert np.isfinite(exact[0]).all()


def test_a_change_of_counts_is_told_in_rows() -> None:
    rng = np.random.default_rng(5)
    numbers = [*rng.poisson(40, 60), *rng.poisson(20, 30), 0]
    observations = [
        Observation(index=at, value=float(one), se=0.0, n_labeled=int(one))
        for at, one in enumerate(numbers)
    ]
    found = detect(observations, **(DAILY | {"direction": "down", "scale": "log"}))[-1]
    assert found.kind == "breach"
    assert found.since is not None
    assert 52 <= found.since <= 61
    assert found.expected == pytest.approx(40, rel=0.05)
    assert found.size_low is not None
    assert found.size_high is not None
    assert found.size_low < -20 < found.size_high < -10


def test_counts_of_nothing_are_expected_to_be_nothing() -> None:
    observations = [Observation(index=at, value=0.0, se=0.0, n_labeled=0) for at in range(70)]
    found = detect(observations, **(DAILY | {"direction": "up", "scale": "log"}))[-1]
    assert (found.kind, found.expected) == ("good", pytest.approx(0.0, abs=1e-9))


def test_errors_are_steadied_by_the_number_of_labels() -> None:
    usual = usual_error(np.array([[0.1, 0.05, 0.05]]), np.array([[25.0, 100.0, 100.0]]))
    assert usual[0] == pytest.approx(0.5)
    assert steadied(np.array([0.05]), np.array([100.0]), usual)[0] == pytest.approx(0.05)
    assert steadied(np.array([0.2]), np.array([100.0]), usual)[0] == pytest.approx(0.1)


def test_more_false_alarms_allowed_means_sooner() -> None:
    observations = series(120, drop=0.02, at=50)
    limits = [
        detect(observations[:31], **(DAILY | {"false_alarms_per_year": rate}))[-1].limit
        for rate in (0.5, 1.0, 4.0)
    ]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == pytest.approx(2 * limits[1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"detector": "page"}, "detector must be one of shiryaev-roberts, cusum, betting"),
        ({"direction": "sideways"}, "direction must be one of down, up, any"),
        ({"scale": "rank"}, "scale must be one of log, logit, plain"),
        ({"reference_windows": 4}, "reference_windows must be at least 5, got 4"),
        ({"false_alarms_per_year": 0.0}, "false_alarms_per_year must be positive"),
        ({"windows_per_year": math.inf}, "windows_per_year must be positive and finite"),
    ],
)
def test_options_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Detector(**(DAILY | wrong))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"index": 4}, "indices must ascend, got window 4 after window 4"),
        ({"value": math.inf}, "window 5: value must be finite"),
        ({"se": -1.0}, "se finite and not negative"),
        ({"bounds": None}, "window 5: betting needs bounds"),
        ({"value": 3.0}, r"window 5: value must lie within its bounds, got 3 not in \[0, 1\]"),
    ],
)
def test_observations_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    observations = series(6)
    detector = Detector(detector="betting", **DAILY)
    for one in observations[:5]:
        detector.step(one)
    before = detector.copy()
    with pytest.raises(ValueError, match=message):
        detector.step(replace(observations[5], **wrong))
    assert detector.step(observations[5]) == before.step(observations[5])


def test_bounds_of_auc() -> None:
    low, high = auc_bounds(0.5)
    assert (low, high) == (-0.5, 1.5)
