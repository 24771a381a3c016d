"""Windows of a monitor read with those before them: coverage at and after changes, and delays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from benchmarks.reviews.changes import table_of
from benchmarks.reviews.windows import METRICS, Cell, Window, draw_window
from pumonitor.monitor.rules.detectors import Detector, Observation, scale_of
from pumonitor.results import Estimate
from pumonitor.reviews.earlier import MOST_EARLIER, EarlierWindows
from pumonitor.reviews.of_table import read_table
from pumonitor.tables import ScoreTable

__all__ = ["STREAMS", "Stream", "judge_delays", "judge_streams"]

_REFERENCE: Final = 8
_DETECTED: Final = ("recall", "aul")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A cell, and what changes.

    Attributes
    ----------
    name : str
    cell : Cell
    since : mapping of str to object
        Fields of `Cell`.
    spread : float
        Standard deviation of the log class prior from window to window.
    lower_cut : float
        Share of the rows that was reviewed in one window before; 0 for none.
    """

    name: str
    cell: Cell = field(default_factory=Cell)
    since: dict[str, Any] = field(default_factory=dict)
    spread: float = 0.0
    lower_cut: float = 0.0

    def windows(self, before: int, since: int, rng: np.random.Generator) -> list[Window]:
        """So many windows before and since the change, at one threshold."""
        cells = [self.cell] * before + [replace(self.cell, **self.since)] * since
        if self.lower_cut:
            cells[before // 2] = replace(self.cell, reviewed=self.lower_cut)
        drawn = []
        for cell in cells:
            prior = cell.class_prior * float(np.exp(self.spread * rng.standard_normal()))
            drawn.append(draw_window(replace(cell, class_prior=prior), rng))
        threshold = drawn[0].threshold
        return [replace(window, threshold=threshold) for window in drawn]


STREAMS: Final = (
    Stream(name="nothing"),
    Stream(name="weeks that differ", spread=0.2),
    Stream(name="complaints rise with the score", cell=Cell(shape="rising")),
    Stream(name="complaints fall with the score", cell=Cell(shape="falling")),
    Stream(name="one earlier lower cut", lower_cut=0.08),
    Stream(name="capacity doubled", since={"reviewed": 0.04}),
    Stream(name="class prior doubled", since={"class_prior": 0.02}),
    Stream(name="ranking broken", since={"model": "0.85"}),
    Stream(name="complaints halved", since={"complains": 0.25}),
    Stream(name="complaints doubled", cell=Cell(complains=0.4), since={"complains": 0.8}),
)


def _estimates(
    tables: list[ScoreTable], *, threshold: float, blocks: bool, alone: bool = False
) -> dict[str, Estimate]:
    """Of the last of some windows, with the others before it unless it is read alone."""
    *before, now = tables
    earlier = None if alone else EarlierWindows.of(before, now, threshold=threshold)
    reading = read_table(now, threshold=threshold, blocks=blocks, earlier=earlier)
    return dict(reading.estimates)


def judge_streams(*, runs: int, seed: int) -> Iterator[str]:
    """A line a stream: coverage and width of the first window and of the fifth since a change."""
    for blocks in (True, False):
        for stream in STREAMS:
            own = replace(stream, cell=replace(stream.cell, blocks=blocks))
            for since in (1, 5) if stream.since else (1,):
                held: dict[str, list[bool]] = {name: [] for name in METRICS}
                width: dict[str, list[float]] = {name: [] for name in METRICS}
                for run in range(runs):
                    rng = np.random.default_rng([seed, run, since])
                    windows = own.windows(MOST_EARLIER + 1 - since, since, rng)
                    estimates = _estimates(
                        [table_of(window) for window in windows],
                        threshold=windows[-1].threshold,
                        blocks=blocks,
                    )
                    truth = windows[-1].truth()
                    for name in METRICS:
                        low, high = estimates[name].low, estimates[name].high
                        held[name].append(low <= truth[name] <= high)
                        width[name].append(high - low)
                shown = ", ".join(
                    f"{name} {np.mean(held[name]):.2f} ({np.median(width[name]):.3g})"
                    for name in METRICS
                )
                at = f", window {since} since" if stream.since else ""
                yield f"{'blocks' if blocks else 'does not block'}, {stream.name}{at}: {shown}"


def judge_delays(*, runs: int, seed: int, before: int = 14, since: int = 8) -> Iterator[str]:
    """A line a regime and way of reading: when a fall of the AUC from .95 to .88 is detected.

    Weekly windows, eight of them the reference, one false alarm a year.
    """
    for blocks in (True, False):
        stream = Stream(name="fall", cell=Cell(blocks=blocks), since={"model": "0.88"})
        delays: dict[tuple[str, bool], list[int]] = {}
        early: dict[tuple[str, bool], int] = {}
        for run in range(runs):
            windows = stream.windows(before, since, np.random.default_rng([seed, run]))
            tables = [table_of(window) for window in windows]
            for alone in (True, False):
                found = [
                    _estimates(
                        tables[max(at - MOST_EARLIER, 0) : at + 1],
                        threshold=windows[0].threshold,
                        blocks=blocks,
                        alone=alone or at == 0,
                    )
                    for at in range(len(tables))
                ]
                for metric in _DETECTED:
                    first = _first_breach([estimates[metric] for estimates in found], metric)
                    key = metric, alone
                    early[key] = early.get(key, 0) + (first <= before)
                    delays.setdefault(key, []).append(first - before)
        for (metric, alone), waited in delays.items():
            after = [delay for delay in waited if delay > 0]
            missed = sum(delay > since for delay in after)
            yield (
                f"{'blocks' if blocks else 'does not block'}, {metric}, "
                f"{'alone' if alone else 'with the windows before'}: {np.median(after):g} windows "
                f"in the median, {np.mean(np.minimum(after, since + 1)):.2f} in the mean, not "
                f"within {since} in {missed} of {runs} runs, before the change in "
                f"{early[metric, alone]}"
            )


def _first_breach(estimates: list[Estimate], metric: str) -> int:
    """Which window, counted from 1, first breaches; one more than there are if none does."""
    detector = Detector(
        reference_windows=_REFERENCE,
        direction="down",
        false_alarms_per_year=1,
        windows_per_year=52,
        scale=scale_of(metric),
    )
    for at, estimate in enumerate(estimates):
        seen = Observation(index=at, value=estimate.value, se=estimate.se)
        if detector.step(seen).kind == "breach":
            return at + 1
    return len(estimates) + 1
