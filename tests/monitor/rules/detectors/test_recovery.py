"""An alarm lasts as long as its change, and no longer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from pumonitor.monitor.rules.detectors import Observation, detect
from pumonitor.monitor.rules.detectors.watch import DetectorState

SERIES, REFERENCE = 150, 40


@dataclass(frozen=True)
class Followed:
    """Series after a change of so many standard deviations that begins at once."""

    on: np.ndarray
    ended: np.ndarray
    watch: DetectorState


def steps(
    watch: DetectorState, rng: np.random.Generator, *, shift: float, windows: int
) -> Followed:
    on, ended = watch.on, np.zeros(SERIES, dtype=bool)
    for _ in range(windows):
        watch = watch.after(rng.normal(size=SERIES) + shift, np.ones(SERIES))
        ended |= on & ~watch.on
        on = watch.on
    return Followed(on=on, ended=ended, watch=watch)


def started(rng: np.random.Generator, *, direction: str, detector: str) -> DetectorState:
    errors = np.ones((SERIES, REFERENCE))
    return DetectorState.begun_after(
        rng.normal(size=errors.shape),
        errors,
        np.ones(REFERENCE, dtype=np.intp),
        direction=direction,  # type: ignore[arg-type]
        windows_per_alarm=365.25,
        detector=detector,
    )


@pytest.mark.parametrize("detector", ["shiryaev-roberts", "cusum"])
@pytest.mark.parametrize(("shift", "direction"), [(2.0, "up"), (-4.0, "any")])
def test_an_alarm_does_not_end_while_its_change_lasts(
    shift: float, direction: str, detector: str
) -> None:
    """By chance the first windows look like a change of twice the size, which this is not."""
    rng = np.random.default_rng(5)
    watch = started(rng, direction=direction, detector=detector)
    found = steps(watch, rng, shift=shift, windows=120)
    assert found.on.mean() >= 0.95
    assert found.ended.mean() <= 0.1


@pytest.mark.parametrize(("shift", "soon"), [(-2.0, 10), (-2.8, 6), (-5.6, 3)])
def test_an_alarm_ends_soon_after_its_change(shift: float, soon: int) -> None:
    rng = np.random.default_rng(6)
    changed = steps(
        started(rng, direction="down", detector="shiryaev-roberts"), rng, shift=shift, windows=30
    )
    assert changed.on.mean() >= 0.9
    over = steps(changed.watch, rng, shift=0.0, windows=soon)
    assert over.ended[changed.on].mean() >= 0.5


def test_a_change_the_other_way_is_seen_at_once() -> None:
    """The window that ends the first alarm is evidence of the second, and teaches nothing."""
    since = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=70) + np.repeat([0.0, -3.0, 3.0], [40, 20, 10])
        found = detect(
            [Observation(index=at, value=float(one), se=1.0) for at, one in enumerate(values)],
            reference_windows=30,
            direction="any",
            false_alarms_per_year=1,
            windows_per_year=365.25,
        )
        since += [one.since for one in found[60:] if one.direction == "up"][:1]
    assert len(since) >= 18
    assert since.count(60) >= 15
