"""How many confirmed positives it takes: the plan against what the noise allows."""

import math

import numpy as np
import pytest
from scipy import special

from pumonitor.monitor.rules.detectors import Detector, Observation
from pumonitor.monitor.rules.detectors import labels_needed as planned
from pumonitor.monitor.rules.detectors.labels_needed import Noise, labels_needed, seen_after

NOISE = Noise(per_label=0.22)


def test_more_confirmed_positives_are_seen_sooner():
    few, some, many = (seen_after(labels, drop=0.05, noise=NOISE) for labels in (10, 40, 640))
    assert few.median > some.median > many.median
    assert few.most > few.median


def test_a_drop_of_many_standard_errors_is_seen_in_its_first_window():
    seen = seen_after(1000, drop=0.1, noise=NOISE)
    assert (seen.median, seen.most) == (1, 1)


def test_the_delay_is_near_what_theory_gives_for_a_known_shift():
    """Of half a standard error: log(365) / (d^2 / 2) = 47 windows, less what a low limit saves."""
    labels = round((0.5 * 0.22 / 0.02) ** 2)
    seen = seen_after(labels, drop=0.02, noise=NOISE)
    assert 12 < seen.median < 40


def test_windows_that_differ_by_themselves_make_it_hard_whatever_the_number(monkeypatch):
    monkeypatch.setattr(planned, "LABELS", (20, 200, 5000))
    needed, tried = labels_needed(
        drop=0.02, noise=Noise(per_label=0.22, between_windows=0.08), within=3
    )
    assert needed is None
    assert all(one.median > 3 for one in tried)


def test_the_least_number_is_reported():
    needed, tried = labels_needed(drop=0.05, noise=NOISE, within=5)
    by_number = {one.labels: one.median for one in tried}
    assert by_number[needed] <= 5
    assert all(median > 5 for labels, median in by_number.items() if labels < needed)


def test_what_is_not_seen_in_120_windows_is_infinite():
    assert math.isinf(seen_after(5, drop=0.002, noise=NOISE).median)


def test_noise_is_read_off_windows():
    rng = np.random.default_rng(0)
    labeled = rng.integers(50, 150, 2000)
    errors = 0.3 / np.sqrt(labeled)
    values = 0.8 + rng.normal(0, np.hypot(errors, 0.04))
    noise = Noise.of_windows(values, errors, labeled)
    assert noise.per_label == pytest.approx(0.3)
    assert noise.between_windows == pytest.approx(0.04, abs=0.003)


def test_errors_that_all_windows_share_do_not_make_them_vary():
    """Stated errors are three times what windows differ by: the rest is that of a given prior."""
    rng = np.random.default_rng(1)
    labeled = np.full(60, 100)
    noise = Noise.of_windows(rng.normal(0.8, 0.02, 60), np.full(60, 0.06), labeled)
    assert 0.18 < noise.per_label < 0.3
    assert noise.between_windows == 0.0
    right = Noise.of_windows(rng.normal(0.8, 0.02, 60), np.full(60, 0.02), labeled)
    assert right.per_label == pytest.approx(0.2, rel=0.1)
    assert Noise.of_windows(np.full(9, 0.8), np.full(9, 0.02), np.full(9, 100)).per_label == 0.2


def test_a_short_reference_costs_windows():
    short, long = (
        seen_after(20, drop=0.05, noise=NOISE, reference_windows=windows) for windows in (6, 60)
    )
    assert short.most > 1.5 * long.most


def test_the_plan_is_what_the_detector_does_with_placements():
    """AUC of two normals falls by .05; windows are real placements, errors stated from them."""
    rng = np.random.default_rng(2)
    labels, reference, quiet, runs = 50, 20, 20, 60
    before, after = (math.sqrt(2) * special.ndtri(auc) for auc in (0.9, 0.85))
    delays = []
    for _ in range(runs):
        detector = Detector(
            reference_windows=reference,
            direction="down",
            false_alarms_per_year=1,
            windows_per_year=365.25,
        )
        for at in range(reference + quiet + 60):
            mean = before if at < reference + quiet else after
            placed = special.ndtr(rng.normal(mean, 1, labels))
            found = detector.step(
                Observation(
                    index=at,
                    value=float(placed.mean()),
                    se=float(placed.std() / math.sqrt(labels)),
                    n_labeled=labels,
                )
            )
            if found.kind == "breach":
                break
        if at >= reference + quiet:
            delays.append(at - reference - quiet + 1)
    per_label = float(special.ndtr(rng.normal(before, 1, 100_000)).std())
    planned = seen_after(
        labels, drop=0.05, noise=Noise(per_label=per_label), reference_windows=reference
    )
    assert len(delays) > 0.9 * runs
    assert abs(np.median(delays) - planned.median) <= 1
    assert np.mean(np.array(delays) <= planned.most) == pytest.approx(0.9, abs=0.12)


def test_bets_are_not_planned():
    with pytest.raises(ValueError, match="betting depends on more"):
        seen_after(50, drop=0.05, noise=NOISE, detector="betting")


@pytest.mark.parametrize(("drop", "labels"), [(0.0, 10), (-0.1, 10), (0.1, 0)])
def test_what_makes_no_sense_is_refused(drop, labels):
    with pytest.raises(ValueError, match="above 0"):
        seen_after(labels, drop=drop, noise=NOISE)
