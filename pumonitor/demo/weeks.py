"""The same mails as a monitor sees them: week by week, with reports that arrive late."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pumonitor.demo.emails import THRESHOLD
from pumonitor.demo.truth import metrics_of
from pumonitor.errors import PumonitorError

if TYPE_CHECKING:
    import pandas

    from pumonitor.monitor.jobs import Jobs
    from pumonitor.monitor.ledger.records.results import PublishedResult
    from pumonitor.monitor.round import Round

MONITOR: Final = "spam-filter"
MEAN_DELAY_DAYS: Final = 4
"""Of reports, which are simulated: exponential from the mail's arrival."""

SHOWN: Final = ("class_prior", "recall", "f1", "aul")
_UNTIL_FINAL = timedelta(days=40)
_DELIVERY_BUDGET = timedelta(seconds=30)
_FOR_REPORTS = timedelta(seconds=1)
"""One is made, which takes seconds; the next run makes the others."""
_DELAYS_SEED = 2013
_CONFIGURATION = """\
# What `pumonitor demo` monitors: change it and run `pumonitor run` in this folder.
state: sqlite:///pumonitor.db
tracking: {{uri: "sqlite:///mlflow.db"}}
monitors:
  {monitor}:
    predictions:
      source: predictions.parquet
      id: mail_id
      time: arrived_at
      score: score
    positives:
      source: reports.parquet
      id: mail_id
      known_at: reported_at
    window: 1w
    maturity: 14d
    threshold: {threshold:g}
    class_prior: auto            # of all weeks so far together, followed after ten
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """One week: as estimated in the end and, where it was seen earlier, at first; and in truth.

    Attributes
    ----------
    start : datetime
    state : str
    mails, reported_at_first, reported : int
        Mails; reports known when the week ended, and in the end.
    naive_at_first, naive : float
        F1 with every mail that is not reported taken for good.
    estimates : mapping of str to (value, low, high) or None
    truth : mapping of str to float
    """

    start: datetime
    state: str
    mails: int
    reported_at_first: int
    reported: int
    naive_at_first: float
    naive: float
    estimates: Mapping[str, tuple[float, float, float] | None]
    truth: Mapping[str, float]


def write_monitor(frame: pandas.DataFrame, directory: Path) -> Path:
    """Predictions, reports with the time at which they arrived, and a configuration."""
    rng = np.random.default_rng(_DELAYS_SEED)
    mails = frame.assign(mail_id=np.arange(len(frame)))
    predictions = mails.rename(columns={"time": "arrived_at"})[["mail_id", "arrived_at", "score"]]
    predictions.to_parquet(directory / "predictions.parquet", index=False)
    reported = mails[mails["reported"] == 1]
    days = rng.exponential(MEAN_DELAY_DAYS, len(reported))
    known = reported["time"].to_numpy("datetime64[us]") + (days * 86_400e6).astype(
        "timedelta64[us]"
    )
    import pandas

    pandas.DataFrame(
        {
            "mail_id": reported["mail_id"].to_numpy(),
            "reported_at": pandas.DatetimeIndex(known, tz="UTC"),
        }
    ).to_parquet(directory / "reports.parquet", index=False)
    path = directory / "pumonitor.yaml"
    path.write_text(_CONFIGURATION.format(monitor=MONITOR, threshold=THRESHOLD))
    return path


def settled(frame: pandas.DataFrame) -> datetime:
    """A moment at which all weeks are final."""
    last: datetime = frame["time"].iloc[-1].to_pydatetime()
    return last + _UNTIL_FINAL


def backfill_weeks(
    jobs: Jobs, frame: pandas.DataFrame, *, on_progress: Callable[[str, float], None]
) -> Round:
    """Do all that is due of the weeks with mails."""
    first, last = (frame["time"].iloc[place].to_pydatetime() for place in (0, -1))
    windows = jobs.monitors[MONITOR].windows
    jobs.plan(MONITOR, start=windows.containing(first).start, end=windows.containing(last).end)
    return jobs.drain(on_progress=lambda what, ready, of: on_progress(what, ready / max(of, 1)))


def monitor_weeks(
    frame: pandas.DataFrame, path: Path, *, on_progress: Callable[[str, float], None]
) -> list[Week]:
    """Run the monitor until all weeks are final, and compare with the truth."""
    from pumonitor.monitor.app import open_jobs
    from pumonitor.monitor.config.file import read_configuration

    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: settled(frame)) as jobs:
        done = backfill_weeks(jobs, frame, on_progress=on_progress)
        jobs.deliver(budget=_DELIVERY_BUDGET, for_files=_FOR_REPORTS)
        if done.failures:
            raise PumonitorError("; ".join(done.failures))
        rows = jobs.ledger.results(MONITOR, revisions="all")
    weeks: list[Week] = []
    for start in sorted({row.window_start for row in rows}):
        of_week = [row for row in rows if row.window_start == start]
        first, last = (
            {row.metric: row for row in of_week if row.revision == revision}
            for revision in (
                min(row.revision for row in of_week),
                max(row.revision for row in of_week),
            )
        )
        some = last["f1"]
        inside = (frame["time"] >= start) & (frame["time"] < some.window_end)
        week = frame[inside]
        truth = metrics_of(week["spam"], week["score"], threshold=THRESHOLD)
        weeks.append(
            Week(
                start=start.astimezone(UTC),
                state=some.state,
                mails=len(week),
                reported_at_first=round(first["labeled_positives"].value or 0),
                reported=round(last["labeled_positives"].value or 0),
                naive_at_first=first["f1_pu"].value or 0.0,
                naive=last["f1_pu"].value or 0.0,
                estimates={name: _interval(last[name]) for name in SHOWN},
                truth={**truth, "class_prior": float(week["spam"].mean())},
            )
        )
    return weeks


def _interval(row: PublishedResult) -> tuple[float, float, float] | None:
    if row.value is None or row.low is None or row.high is None:
        return None
    return row.value, row.low, row.high
