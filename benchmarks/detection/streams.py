"""Daily streams in which days differ by themselves (`daily.py`), and real ones through the monitor.

The real ones go through files, backfill and alerts with their causes.

A boosted-tree model is trained on half of a data set; the other half comes as predictions of 110
days. 40% of the positives get confirmed, three days later on average, and are awaited for ten. From
day 80 on nothing changes, or a third of the features arrives shuffled (a broken join), or half of
the positives stay away. Needs the data beside the repository.

And the e-mails of `pumonitor demo`, week by week, as they were and with two features flipped from
a day on, over twenty sets of simulated reports.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.datasets import prepare
from benchmarks.detection.daily import report_days
from benchmarks.prior.tasks import REPORTED, Task
from pumonitor.demo.emails import score_later_mails
from pumonitor.demo.flip import FLIPPED_FROM, Flip, audited_before_flip, watch_flip, write_flip
from pumonitor.demo.weeks import write_monitor
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts

__all__ = ["main"]

NAMES = ("spambase", "bank", "pendigits")
CHANGES = ("nothing", "a third of the features shuffled", "half of the positives")
SETS_OF_REPORTS = 20
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS, REFERENCE_DAYS, CHANGE, PER_DAY, PRIOR = 110, 50, 80, 1500, 0.12
CONFIRMED, MEAN_DELAY_DAYS = 0.4, 3

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  stream:
    predictions: {source: predictions.parquet, id: id, time: at, score: score}
    positives: {source: confirmations.parquet, id: id, known_at: known}
    window: 1d
    maturity: 10d
    panes: []
    threshold: 0.5
    reference: {start: 2026-01-01, end: 2026-02-20}
    rules:
      - {metric: auc, shift: down}
      - {metric: class_prior, shift: any}
      - {metric: recall, shift: down}
      - {metric: predicted_positive_rate, shift: any}
      - {metric: labeled_positives, shift: down}
"""


def main(*, quick: bool = False) -> None:
    """Print false alarms and delays, then what fired in real streams and what was said of it."""
    report_days(quick=quick)
    report_mails([watch_mails(seed) for seed in range(2 if quick else SETS_OF_REPORTS)])
    tasks = {task.name: task for task in REPORTED}
    names = NAMES[:1] if quick else NAMES
    absent = {one.name for one in prepare(names, fetching=False)}
    for name in (one for one in names if one not in absent):
        for change in CHANGES[1:2] if quick else CHANGES:
            with tempfile.TemporaryDirectory() as folder:
                write_stream(Path(folder), tasks[name], change, np.random.default_rng(7))
                report(name, change, Path(folder))


def write_stream(folder: Path, task: Task, change: str, rng: np.random.Generator) -> None:
    """Predictions, confirmations and a configuration."""
    features, is_positive = task.rows()
    order = rng.permutation(len(features))
    learn, rest = order[: len(order) // 2], order[len(order) // 2 :]
    model = HistGradientBoostingClassifier(max_iter=100, random_state=0)
    model.fit(features[learn], is_positive[learn])
    positive, negative = rest[is_positive[rest]], rest[~is_positive[rest]]
    chosen, days = [], []
    for day in range(DAYS):
        changed = change == CHANGES[2] and day >= CHANGE
        count = rng.binomial(PER_DAY, PRIOR / (2 if changed else 1))
        chosen.append(
            np.concatenate([rng.choice(positive, count), rng.choice(negative, PER_DAY - count)])
        )
        days.append(np.full(PER_DAY, day))
    rows, day = np.concatenate(chosen), np.concatenate(days)
    seen = features[rows]
    if change == CHANGES[1]:
        columns = rng.choice(features.shape[1], features.shape[1] // 3, replace=False)
        late = np.flatnonzero(day >= CHANGE)
        for column in columns:
            seen[late, column] = rng.permutation(seen[late, column])
    at = pd.Timestamp(FIRST) + pd.to_timedelta(
        day * 86_400.0 + rng.uniform(0, 86_399, len(day)), "s"
    )
    pd.DataFrame(
        {"id": np.arange(len(rows)), "at": at, "score": model.predict_proba(seen)[:, 1]}
    ).to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_positive[rows] & (rng.random(len(rows)) < CONFIRMED))
    delay = pd.to_timedelta(rng.exponential(MEAN_DELAY_DAYS * 86_400, len(confirmed)), "s")
    pd.DataFrame({"id": confirmed, "known": at[confirmed] + delay}).to_parquet(
        folder / "confirmations.parquet"
    )
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)


def report(name: str, change: str, folder: Path) -> None:
    """Run the monitor over everything and print its alerts."""
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    now = FIRST + timedelta(days=DAYS + 10, hours=1)
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        done = jobs.run()
        stored = StoredAlerts(jobs.ledger.database).history("stream")
        events = [one.transition for one in stored]
    print(f"\n{name}, from day {CHANGE}: {change}. {done.evaluated} windows")
    for failure in done.failures[:3]:
        print(f"  failed: {failure}")
    if not events:
        print("  no alert")
    for one in events:
        day = (one.window_start - FIRST).days
        cause = one.cause.get("sentence", "")
        print(
            f"  {one.kind} on the window of day {day}: {one.rule}" + (f"; {cause}" if cause else "")
        )


def watch_mails(reports_seed: int) -> Flip:
    """The last part of the demo, with other reports of the same mails."""
    with tempfile.TemporaryDirectory() as folder:
        mails = score_later_mails(reports_seed=reports_seed)
        write_monitor(mails.frame, Path(folder))
        path = write_flip(mails, Path(folder), audited=audited_before_flip(mails))
        return watch_flip(mails, path, on_progress=lambda what, share: None)


def report_mails(flips: list[Flip]) -> None:
    """How often the weeks after the flip are named, which first, and with which cause."""
    named = [one.seen[0] for one in flips if one.seen]
    weeks = Counter((alert.window_start - FLIPPED_FROM).days // 7 for alert in named)
    causes = Counter(alert.cause.get("kind", "not told") for alert in named)
    before = sum(len(one.with_flips.fired) > len(one.seen) for one in flips)
    for_nothing = sum(bool(one.as_they_were.fired) for one in flips)
    print(f"\ne-mails, two features flipped from {FLIPPED_FROM:%d %B} on: {len(flips)} simulations")
    print(f"  the weeks since are named: {len(named)}")
    print("  first named, of four weeks:", ", ".join(str(weeks[week]) for week in range(4)))
    print("  cause:", ", ".join(f"{kind} {times}" for kind, times in causes.most_common()))
    print(f"  an alert of a week before: {before}; of the mails as they were: {for_nothing}")
