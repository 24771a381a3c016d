"""How soon later labels are seen: `python -m benchmarks.monitoring.label_delay`.

Daily windows with 10, 20 or 50 confirmations a day within the maturity of 9 days, the first 28
windows tell what is usual. Delays are exponential or lognormal, told as they are, with nobody
confirming on weekends, or with confirmations once a week; days differ in how many positives they
have. Predictions from one day on have delays 2, 1.5, 1.2 or 0.5 times as long.

Printed for each: how many lasting changes a year are seen where there is none (quiet), also where
the positives halve (fewer); of the streams that are silent at the change, the share in which it is
seen within twice the maturity, and the median days until then, for a rule on later and sooner
labels. The last table puts `change: 50%` and `shift: up` through the rules themselves.
"""

from __future__ import annotations

import argparse
import itertools
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.rules.alerts.label_delay import LabelDelay, LabelDelayDetector
from pumonitor.monitor.rules.alerts.rule import WindowView
from pumonitor.monitor.rules.detectors.watch import DetectorState
from pumonitor.monitor.rules.labels.label_delays import Arrived, UsualDelays
from pumonitor.ports import Window

FloatArray = NDArray[np.float64]
Rhythm = Literal["daily", "no weekends", "weekly"]

MATURITY: Final = 9
STEPS: Final = 24
TAUGHT_BY: Final = 28
QUIET: Final = 100
RHYTHMS: Final[tuple[Rhythm, ...]] = ("daily", "no weekends", "weekly")
_YEAR: Final = 365.25
# As `LabelDelayDetector` asks of its detector.
_BOTH_DIRECTIONS: Final = 1.25


def delays(kind: str, size: int, *, times: float, rng: np.random.Generator) -> FloatArray:
    """In days."""
    if kind == "lognormal 2.5":
        return np.asarray(times * 2.5 * np.exp(0.8 * rng.standard_normal(size)))
    return rng.exponential(times * float(kind.split()[1]), size)


def told(made: FloatArray, delay: FloatArray, rhythm: Rhythm) -> FloatArray:
    """Delays until a confirmation is written down."""
    known = made + delay
    if rhythm == "no weekends":
        # Saturday's and Sunday's come on Monday morning.
        weekend = np.floor(known) % 7 >= 5
        known = np.where(weekend, 7 * np.floor(known / 7) + 7 + 0.3 * (known % 1), known)
    if rhythm == "weekly":
        known = 7 * np.ceil(known / 7)
    return known - made


def streams(
    kind: str,
    rhythm: Rhythm,
    *,
    per_day: float,
    times: float,
    days: int,
    change: int,
    runs: int,
    fewer_from: int | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Labels by run, day and step of the maturity."""
    day = np.arange(days)
    usual = delays(kind, 20_000, times=1.0, rng=rng)
    seen = float(np.mean(told(rng.uniform(0, 7, len(usual)), usual, rhythm) < MATURITY))
    mean = np.full(days, per_day / max(seen, 0.05))
    if fewer_from is not None:
        mean = np.where(day >= fewer_from, 0.5 * mean, mean)
    # Days differ by themselves, by a third.
    number = rng.poisson(mean * rng.gamma(9, 1 / 9, size=(runs, days)))
    run, when = (np.repeat(one, number.ravel()) for one in np.indices((runs, days)).reshape(2, -1))
    made = when + rng.random(len(when))
    delay = delays(kind, len(when), times=1.0, rng=rng) * np.where(when >= change, times, 1.0)
    step = np.floor(told(made, delay, rhythm) / MATURITY * STEPS).astype(np.intp)
    kept = step < STEPS
    counts = np.zeros((runs, days, STEPS))
    np.add.at(counts, (run[kept], when[kept], step[kept]), 1.0)
    return counts


def alarms(counts: FloatArray, *, direction: Literal["any", "up"]) -> NDArray[np.bool_]:
    """Whether an alarm is on, by run and day after the first 28."""
    runs, days, _ = counts.shape
    values, errors = np.full((2, runs, days), np.nan)
    for run in range(runs):
        windows = [_arrived(counts[run, day], day) for day in range(days)]
        usual = UsualDelays.of(windows[:TAUGHT_BY])
        for day, window in enumerate(windows):
            found = None if usual is None else usual.mean_of(window)
            if found is not None:
                values[run, day], errors[run, day] = found.value, found.se
    # Streams in which the same days tell something are watched together.
    told = ~np.isnan(values)
    on = np.zeros((runs, days - TAUGHT_BY), dtype=bool)
    for days_told in np.unique(told, axis=0):
        alike = (told == days_told).all(axis=1)
        on[alike] = _on(values[alike], errors[alike], direction=direction)
    return on


def _on(
    values: FloatArray, errors: FloatArray, *, direction: Literal["any", "up"]
) -> NDArray[np.bool_]:
    """Whether an alarm is on, after the first 28 windows, of streams with the same days."""
    told = np.flatnonzero(~np.isnan(values[0]))
    first = told[told < TAUGHT_BY]
    watch = DetectorState.begun_after(
        values[:, first],
        errors[:, first],
        np.diff(first, prepend=0),
        direction=direction,
        windows_per_alarm=_YEAR / (_BOTH_DIRECTIONS if direction == "any" else 1.0),
        detector="shiryaev-roberts",
    )
    on = np.zeros(values.shape, dtype=bool)
    for before, day in itertools.pairwise(told[told >= first[-1]]):
        watch = watch.after(values[:, day], errors[:, day], gap=int(day - before))
        on[:, day:] = watch.on[:, np.newaxis]
    return on[:, TAUGHT_BY:]


def _arrived(counts: FloatArray, day: int) -> Arrived:
    return Arrived(index=day, counts=tuple(counts.tolist()), complete=STEPS, weekday=day % 7)


def per_year(on: NDArray[np.bool_]) -> float:
    """Alarms a year, of streams in which nothing changes."""
    begun = np.count_nonzero(on[:, 1:] & ~on[:, :-1]) + np.count_nonzero(on[:, 0])
    return begun / on.size * _YEAR


def seen(on: NDArray[np.bool_]) -> tuple[float, float]:
    """Share of changes seen within twice the maturity, and the median days until then."""
    silent = on[~on[:, QUIET - 1], QUIET:]
    # The window of day k is mature at the end of day k + 9.
    after = np.where(silent.any(axis=1), silent.argmax(axis=1) + 1 + MATURITY, np.inf)
    return float(np.mean(after <= 2 * MATURITY)), float(np.median(after))


def by_the_rule(counts: FloatArray, *, rule: LabelDelay) -> float:
    """Share of streams in which a rule fires in the windows of the change, and not before."""
    start, day = datetime(2026, 1, 5, tzinfo=UTC), timedelta(days=1)
    found = []
    for of_run in counts:
        views = [
            WindowView(
                window=Window(start=start + at * day, end=start + (at + 1) * day, index=at),
                pane=3,
                as_of=start + (at + 1 + MATURITY) * day,
                health={"arrivals": (*map(int, labels), 0)},
            )
            for at, labels in enumerate(of_run)
        ]
        watch = LabelDelayDetector(rule)
        kinds = [watch.evidence(views, at).kind for at in range(len(views))]
        if kinds[-MATURITY - 1] != "breach":
            found.append("breach" in kinds[-MATURITY:])
    return float(np.mean(found))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="streams per cell")
    parser.add_argument("--labels", type=float, nargs="*", default=[10, 20, 50])
    kinds = ["exponential 2", "exponential 3", "lognormal 2.5"]
    parser.add_argument("--delays", nargs="*", choices=kinds, default=kinds)
    arguments = parser.parse_args()
    print(f"{arguments.runs} streams a cell; alarms a year, and share seen in {2 * MATURITY} days")
    print("delays         confirmed    a day | quiet fewer | 2 times    1.5 times  half")
    shape = {"days": TAUGHT_BY + QUIET + MATURITY, "change": TAUGHT_BY + QUIET}
    for kind in arguments.delays:
        for rhythm in RHYTHMS:
            for per_day in arguments.labels:
                cells = []
                rates: list[float] = []
                for number, (times, fewer) in enumerate(
                    [(2.0, None), (1.5, TAUGHT_BY + 10), (0.5, None)]
                ):
                    rng = np.random.default_rng([number, int(per_day), len(kind), len(rhythm)])
                    on = alarms(
                        streams(
                            kind,
                            rhythm,
                            per_day=per_day,
                            times=times,
                            runs=arguments.runs,
                            fewer_from=fewer,
                            rng=rng,
                            **shape,
                        ),
                        direction="any",
                    )
                    rates.append(per_year(on[:, :QUIET]))
                    share, days = seen(on)
                    cells.append(f"{share:.3f} {days:3.0f} d")
                quiet = 0.5 * (rates[0] + rates[2])
                print(
                    f"{kind:14s} {rhythm:12s} {per_day:5.0f} | {quiet:5.2f} {rates[1]:5.2f} | "
                    f"{'  '.join(cells)}",
                    flush=True,
                )
    _print_rules(arguments.runs // 4)


def _print_rules(runs: int) -> None:
    print("\nrules, 20 a day  | 2 times  1.5 times  1.2 times  as before")
    for name, direction, change in (("change: 50%", "any", 0.5), ("shift: up", "up", 0.0)):
        rule = LabelDelay(
            direction=direction,  # type: ignore[arg-type]
            change=change,
            maturity=timedelta(days=MATURITY),
            false_alarms_per_year=1.0,
            windows_per_year=_YEAR,
            reference_windows=TAUGHT_BY,
            windows_per_day=1,
        )
        days = TAUGHT_BY + 60 + MATURITY
        shares = [
            by_the_rule(
                streams(
                    "exponential 3",
                    "daily",
                    per_day=20,
                    times=times,
                    days=days,
                    change=days - MATURITY,
                    runs=runs,
                    fewer_from=None,
                    rng=np.random.default_rng([7, round(10 * times)]),
                ),
                rule=rule,
            )
            for times in (2.0, 1.5, 1.2, 1.0)
        ]
        print(f"{name:16s} | " + "      ".join(f"{share:.3f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
