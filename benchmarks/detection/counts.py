"""Half of the positives gone, and twice as many, seen in the number confirmed: `--only counts`.

200 streams of daily counts in each world: Poisson numbers about a level of 4, 10, 40 or 400 a day,
times what days differ by (log-normal), weekdays, a season of the year, or a level that wanders
(AR(1) of .9 a day). The detector learns from 30 days. False alarms are those of 180 further days in
which nothing happens; where a season moves the level they are alarms of a change that is there. The
level halves or doubles after 60 days; delays are those of streams in which no alarm was on by then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.judging import onsets
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.detectors import Direction, Scale
from pumonitor.monitor.rules.detectors.scales import on_scale
from pumonitor.monitor.rules.detectors.watch import DetectorState

__all__ = ["WORLDS", "World", "counts", "main"]

FloatArray = NDArray[np.float64]

_REFERENCE, _QUIET, _CHANGE, _AFTER, _SOON = 30, 180, 60, 60, 30
_SCALES: tuple[Scale, ...] = ("plain", "log")


@dataclass(frozen=True, kw_only=True)
class World:
    """What the level of a day is multiplied by; standard deviations and amplitudes in logs."""

    days: float = 0.0
    wandering: float = 0.0
    season: float = 0.0
    weekend: float = 1.0


WORLDS = {
    "chance alone": World(),
    "days differ": World(days=0.3),
    "weekends at half": World(days=0.2, weekend=0.5),
    "season, times 2 in a year": World(days=0.2, season=0.35),
    "season, times 9 in a year": World(days=0.2, season=1.1),
    "days like those before": World(days=0.1, wandering=0.3),
    "all of them": World(days=0.2, wandering=0.2, season=0.35, weekend=0.6),
}


def counts(
    world: World,
    *,
    level: float,
    streams: int,
    days: int,
    rng: np.random.Generator,
    change: int | None = None,
    factor: float = 1.0,
) -> FloatArray:
    """Of shape (streams, days); the level is multiplied by `factor` from day `change` on."""
    day = np.arange(days)
    week = np.where(day % 7 >= 5, world.weekend, 1.0)
    course = np.zeros((streams, days))
    course[:, 0] = world.wandering * rng.normal(size=streams)
    for at in range(1, days):
        step = np.sqrt(1 - 0.81) * world.wandering * rng.normal(size=streams)
        course[:, at] = 0.9 * course[:, at - 1] + step
    course += world.days * rng.normal(size=(streams, days))
    phase = rng.uniform(0, 2 * np.pi, (streams, 1))
    course += world.season * np.sin(2 * np.pi * day / 365.25 + phase)
    expected = level * week / np.mean(week[:7]) * np.exp(course)
    if change is not None:
        expected[:, change:] *= factor
    return rng.poisson(expected).astype(float)


def _alarms(found: FloatArray, scale: Scale, direction: Direction) -> NDArray[np.bool_]:
    """Whether the alarm is on, from the end of the reference on; as `Detector` reads counts."""
    usual = np.std(found[:, :_REFERENCE], axis=1, ddof=1, keepdims=True)
    errors = np.broadcast_to(np.maximum(usual, 1e-9), found.shape)
    values, errors = on_scale(found, errors, scale)
    watch = DetectorState.begun_after(
        values[:, :_REFERENCE],
        errors[:, :_REFERENCE],
        np.ones(_REFERENCE, dtype=np.intp),
        direction=direction,
        windows_per_alarm=365.25,
        detector="shiryaev-roberts",
    )
    on = []
    for day in range(_REFERENCE, found.shape[1]):
        watch = watch.after(values[:, day], errors[:, day])
        on.append(watch.on)
    return np.array(on).T


def main(*, quick: bool) -> None:
    """Print the table."""
    streams = 20 if quick else 200
    rows = []
    for level in (10.0,) if quick else (4.0, 10.0, 40.0, 400.0):
        for name, world in WORLDS.items():
            row = [f"{level:g} a day, {name}"]
            for scale in _SCALES:
                row += [_told(world, level, scale, way, streams) for way in ("down", "up")]
            rows.append(row)
    show(
        "False alarms a year where one is asked for; changes seen in 30 days, median delay",
        [
            "",
            *(
                f"{scale}, {of}"
                for scale in _SCALES
                for of in ("half as many (down)", "twice as many (up)")
            ),
        ],
        rows,
    )


def _told(world: World, level: float, scale: Scale, direction: Direction, streams: int) -> str:
    quiet = counts(
        world,
        level=level,
        streams=streams,
        days=_REFERENCE + _QUIET,
        rng=np.random.default_rng(1),
    )
    years = streams * _QUIET / 365.25
    alarms = onsets(_alarms(quiet, scale, direction)).sum() / years
    changed = counts(
        world,
        level=level,
        streams=streams,
        days=_REFERENCE + _CHANGE + _AFTER,
        rng=np.random.default_rng(2),
        change=_REFERENCE + _CHANGE,
        factor=0.5 if direction == "down" else 2.0,
    )
    on = _alarms(changed, scale, direction)
    on = on[~on[:, _CHANGE - 1], _CHANGE:]
    delays = np.where(on.any(axis=1), np.argmax(on, axis=1) + 1.0, np.inf)
    return f"{alarms:.1f}; {np.mean(delays <= _SOON):.0%}, {np.median(delays):.0f}"
