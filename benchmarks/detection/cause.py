"""Whether the named cause is the right one: 200 incidents of five kinds, from counts to sentence.

Every stream has 60 windows of reference, 30 in which nothing happens and then one change that
stays. Five detectors watch it (AUC, recall, share of predictions above the threshold, class prior,
share of rows confirmed), each with one false alarm a year. At the first alarm after the change the
cause is named from the windows since the change's estimated start, and again a week later: by the
filter that follows the class prior from the reference on, and by hypotheses alone, as where
the class prior is not followed.

The class prior of a window is its true one with an error like that of `auto`: a part common to all
windows of a stream (15%), and a part of its own (30% at 50 confirmed positives).
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from benchmarks.detection.followed import what_changed
from benchmarks.detection.incidents import CELLS, DAY, DELAY_EDGES, EDGES, World, window
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.detectors import Observation, detect, scale_of

__all__ = ["main"]

REFERENCE, QUIET, AFTER = 60, 30, 90
THRESHOLD = int(0.6 * CELLS)
KINDS = ("class_prior", "ranking", "score_scale", "label_delay", "labeling")
WATCHED = ("auc", "recall", "predicted_positive_rate", "class_prior", "confirmed_share")


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Counts of all windows, and the estimates that are watched."""

    labeled: np.ndarray
    rows: np.ndarray
    arrivals: np.ndarray
    class_prior: np.ndarray
    series: dict[str, list[Observation]]


def incident(kind: str, rng: np.random.Generator) -> tuple[World, World]:
    """The world before and after a change of one kind and of a size that matters."""
    prior = float(np.exp(rng.uniform(np.log(0.03), np.log(0.2))))
    rows = int(rng.integers(3000, 15_000))
    labels = float(np.exp(rng.uniform(np.log(20), np.log(200))))
    before = World(
        rows=rows,
        class_prior=prior,
        separation=float(rng.uniform(1.2, 2.4)),
        # Those that come within 30 days are what the label rate counts.
        confirmed=min(labels / (0.95 * rows * prior), 0.6),
        between_windows=0.08,
    )
    after = {
        "class_prior": replace(before, class_prior=prior / 2),
        "ranking": replace(before, separation=worse(before.separation, rng.uniform(0.05, 0.1))),
        "score_scale": replace(
            before, shift=float(rng.uniform(0.3, 0.6)), stretch=float(rng.uniform(0.9, 1.2))
        ),
        "label_delay": replace(before, mean_delay=float(rng.uniform(25, 45)) * DAY),
        "labeling": replace(before, easier_first=float(rng.uniform(0.7, 1.2))),
    }
    return before, after[kind]


def worse(separation: float, drop: float) -> float:
    auc = special.ndtr(separation / np.sqrt(2)) - drop
    return float(np.sqrt(2) * special.ndtri(auc))


def stream(before: World, after: World, rng: np.random.Generator) -> Stream:
    """All windows of one stream."""
    worlds = [before] * (REFERENCE + QUIET) + [after] * AFTER
    counted = [window(world, rng) for world in worlds]
    labeled, rows, arrivals = (np.array(some) for some in zip(*counted, strict=True))
    true_prior = np.array([world.class_prior for world in worlds])
    number = np.maximum(labeled.sum(axis=1), 1)
    own = rng.normal(size=len(worlds)) * 0.3 * np.sqrt(50 / number)
    prior = np.minimum(true_prior * np.exp(0.15 * rng.normal() + own), 0.9)
    return Stream(
        labeled=labeled,
        rows=rows,
        arrivals=arrivals,
        class_prior=prior,
        series=_series(labeled, rows, prior),
    )


def _series(
    labeled: np.ndarray, rows: np.ndarray, prior: np.ndarray
) -> dict[str, list[Observation]]:
    number, total = labeled.sum(axis=1), rows.sum(axis=1)
    used = np.maximum(number, 1)
    placement = (np.cumsum(rows, axis=1) - 0.5 * rows) / total[:, np.newaxis]
    aul = (labeled * placement).sum(axis=1) / used
    spread = (labeled * (placement - aul[:, np.newaxis]) ** 2).sum(axis=1) / used
    # Pooled over a week, as the monitor pools over earlier windows.
    pooled = np.array([np.median(prior[max(0, k - 6) : k + 1]) for k in range(len(prior))])
    auc = (aul - pooled / 2) / (1 - pooled)
    recall = labeled[:, THRESHOLD:].sum(axis=1) / used
    flagged = rows[:, THRESHOLD:].sum(axis=1) / total
    confirmed = number / total
    values = {
        "auc": (auc, np.sqrt(spread / used) / (1 - pooled)),
        "recall": (recall, np.sqrt((recall * (1 - recall) + 0.25 / used) / used)),
        "predicted_positive_rate": (flagged, np.sqrt(flagged * (1 - flagged) / total)),
        "class_prior": (prior, prior * 0.3 * np.sqrt(50 / used)),
        "confirmed_share": (confirmed, np.sqrt(confirmed / total)),
    }
    return {
        name: [
            Observation(index=k, value=float(value[k]), se=float(se[k]), n_labeled=int(number[k]))
            if number[k] > 1
            else Observation(index=k, value=None)
            for k in range(len(value))
        ]
        for name, (value, se) in values.items()
    }


def first_alarm(found: Stream) -> tuple[str, int, int] | None:
    """The metric, the window of the alarm and the window since which, after the change."""
    change = REFERENCE + QUIET
    alarms = []
    for name, series in found.series.items():
        detections = detect(
            series,
            reference_windows=REFERENCE,
            direction="any",
            false_alarms_per_year=1.0,
            windows_per_year=365.25,
            scale=scale_of(name) if name != "confirmed_share" else "plain",
        )
        before = detections[change - 1].kind == "breach"
        for detection in detections[change:]:
            if detection.kind == "breach" and not before:
                since = detection.since if detection.since is not None else detection.index
                alarms.append((detection.index, name, max(since, REFERENCE)))
                break
            before = before and detection.kind == "breach"
    if not alarms:
        return None
    at, name, since = min(alarms)
    return name, at, since


def named(found: Stream, since: int, at: int, *, followed: bool) -> str:
    """The cause from the windows since the change."""
    middles = (np.arange(CELLS) + 0.5) / CELLS

    def period(start: int, end: int) -> Period:
        return Period.counted(
            [
                (middles, one, rows)
                for one, rows in zip(found.labeled[start:end], found.rows[start:end], strict=True)
            ],
            edges=EDGES,
            arrivals=found.arrivals[start:end].sum(axis=0),
            delay_edges=DELAY_EDGES,
        )

    prior = float(np.median(found.class_prior[:REFERENCE]))
    changed = None
    if followed:
        windows = list(zip(found.labeled, found.rows, strict=True))
        changed = what_changed(windows[:REFERENCE], windows[REFERENCE : at + 1], class_prior=prior)
    cause = name_cause(
        period(0, REFERENCE),
        period(since, at + 1),
        class_prior=prior if changed is None else changed.reference,
        changed=changed,
    )
    return "(too few)" if cause is None else " and ".join(cause.kinds) or "unclear"


def main(*, quick: bool = False) -> None:
    """Print who was named, by what really happened."""
    each = 4 if quick else 40
    rng = np.random.default_rng(20)
    tables: dict[tuple[bool, str], dict[str, Counter[str]]] = {
        (followed, when): defaultdict(Counter)
        for followed in (True, False)
        for when in ("at the alarm", "a week later")
    }
    by_metric: dict[str, Counter[str]] = defaultdict(Counter)
    waited: dict[str, list[int]] = defaultdict(list)
    for kind in KINDS:
        for _ in range(each):
            found = stream(*incident(kind, rng), rng)
            alarm = first_alarm(found)
            if alarm is None:
                for table in tables.values():
                    table[kind]["(no alarm)"] += 1
                continue
            metric, at, since = alarm
            by_metric[kind][metric] += 1
            waited[kind].append(at - REFERENCE - QUIET + 1)
            ends = {"at the alarm": at, "a week later": min(at + 7, len(found.rows) - 1)}
            for (followed, when), table in tables.items():
                table[kind][named(found, since, ends[when], followed=followed)] += 1
    for (followed, when), table in tables.items():
        right = sum(table[kind][kind] for kind in KINDS)
        how = "with the class prior followed" if followed else "by hypotheses alone"
        print(f"\nNamed cause {when}, {how}: {right} of {each * len(KINDS)} right")
        for kind in KINDS:
            told = ", ".join(f"{name} {number}" for name, number in table[kind].most_common())
            print(f"  {kind:12} -> {told}")
    print("\nWhich metric fired first, and after how many windows (median)")
    for kind in KINDS:
        told = ", ".join(f"{name} {number}" for name, number in by_metric[kind].most_common())
        print(f"  {kind:12} -> {told}; {np.median(waited[kind]) if waited[kind] else '-'}")
    _ranking_alerts_when_the_prior_changes(rng, streams=10 if quick else 200)


def _ranking_alerts_when_the_prior_changes(rng: np.random.Generator, *, streams: int) -> None:
    """How often an alert on AUC is raised in the windows after the prior alone has halved."""
    raised = 0
    for _ in range(streams):
        found = stream(*incident("class_prior", rng), rng)
        detections = detect(
            found.series["auc"],
            reference_windows=REFERENCE,
            direction="down",
            false_alarms_per_year=1.0,
            windows_per_year=365.25,
            scale=scale_of("auc"),
        )
        kinds = [one.kind for one in detections[REFERENCE + QUIET - 1 :]]
        raised += sum(
            now == "breach" and then != "breach" for then, now in itertools.pairwise(kinds)
        )
    years = streams * AFTER / 365.25
    error = np.sqrt(max(raised, 1)) / years
    print(
        f"\nThe prior halves and nothing else: {raised / years:.2f} ± {error:.2f} alerts on AUC "
        "going down a year (chosen: 1)"
    )
