"""The same mails with two features flipped from a day on, and what alerts say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from pumonitor.demo.audit import AUDITED_MAILS, audited_spam
from pumonitor.demo.emails import THRESHOLD
from pumonitor.demo.truth import metrics_of
from pumonitor.errors import PumonitorError

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    from pumonitor.demo.emails import ScoredMails
    from pumonitor.monitor.jobs import Jobs
    from pumonitor.monitor.ledger.records.results import PublishedResult
    from pumonitor.monitor.rules.alerts.alert import Transition

FLIPPED_FROM: Final = datetime(2012, 3, 5, tzinfo=UTC)
"""A Monday: the five weeks before are the reference."""

AS_THEY_WERE: Final = "spam-filter"
WITH_FLIPS: Final = "spam-filter-flipped"

_REFERENCE_FROM: Final = datetime(2012, 1, 30, tzinfo=UTC)
_HEAD = """\
# The mails as they were, and with two features flipped from {flipped:%Y-%m-%d} on.
state: sqlite:///alerts.db
monitors:
"""
_MONITOR = """\
  {name}:
    predictions:
      source: {predictions}
      id: mail_id
      time: arrived_at
      score: score
    positives:
      source: reports.parquet
      id: mail_id
      known_at: reported_at
    window: 1w
    maturity: 14d
    panes: []                    # each week is looked at when its reports are in
    threshold: {threshold:g}
    # Of the weeks before the flip, audited once; the share of spam is followed from there.
    class_prior: {{positives: {audited}, cases: {cases},
                  of: {{start: {begins:%Y-%m-%d}, end: {flipped:%Y-%m-%d}}}}}
    reference: {{start: {begins:%Y-%m-%d}, end: {flipped:%Y-%m-%d}}}
    rules:
      - {{metric: aul, shift: down, false_alarms_per_year: 1}}
      - {{metric: recall, below: 0.3}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipAlerts:
    """What the alerts of a monitor said, and what was so.

    Attributes
    ----------
    fired : tuple of Transition
        Every alert that began, first to last.
    before, after : mapping of str to float
        True metrics of the mails before the flip and from then on, by the scores it watched.
    spam : mapping of datetime to (value, low, high)
        Share of spam of each week, followed from the audit, by the start of the week.
    """

    fired: tuple[Transition, ...]
    before: Mapping[str, float]
    after: Mapping[str, float]
    spam: Mapping[datetime, tuple[float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """Both monitors over the same weeks.

    Attributes
    ----------
    as_they_were, with_flips : FlipAlerts
    picture : Path or None
        The series of the first alert after the flip.
    """

    as_they_were: FlipAlerts
    with_flips: FlipAlerts
    picture: Path | None

    @property
    def seen(self) -> tuple[Transition, ...]:
        """Alerts about weeks that began with the flip or after it."""
        return _seen(self.with_flips)


def audited_before_flip(mails: ScoredMails) -> int:
    """How many of 300 mails are spam that somebody checked of those before the flip."""
    return audited_spam(spam_before_flip(mails))


def spam_before_flip(mails: ScoredMails) -> NDArray[np.int64]:
    """By mail before the flip, 1 for spam: the truth."""
    spam: NDArray[np.int64] = mails.frame["spam"].to_numpy()[~_is_after(mails.frame)]
    return spam


def write_flip(mails: ScoredMails, directory: Path, *, audited: int) -> Path:
    """Predictions with the flip, and a configuration with both monitors.

    The predictions and reports of `write_monitor` are in the directory already; `audited` is what
    `audited_before_flip` found.
    """
    import pandas

    predictions = pandas.read_parquet(directory / "predictions.parquet")
    file = "predictions-flipped.parquet"
    predictions.assign(score=_with_flips(mails)).to_parquet(directory / file, index=False)
    monitors = [
        _MONITOR.format(
            name=name,
            predictions=source,
            threshold=THRESHOLD,
            audited=audited,
            cases=AUDITED_MAILS,
            begins=_REFERENCE_FROM,
            flipped=FLIPPED_FROM,
        )
        for name, source in ((AS_THEY_WERE, "predictions.parquet"), (WITH_FLIPS, file))
    ]
    path = directory / "alerts.yaml"
    path.write_text("".join([_HEAD.format(flipped=FLIPPED_FROM), *monitors]))
    # Of a demonstration that was here before: its weeks would be taken for looked at.
    (directory / "alerts.db").unlink(missing_ok=True)
    return path


def watch_flip(
    mails: ScoredMails, path: Path, *, on_progress: Callable[[str, float], None]
) -> Flip:
    """Run both monitors until the last week is mature, and hold their alerts against the truth."""
    from pumonitor.monitor.app import open_jobs
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts

    frame = mails.frame
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors[WITH_FLIPS]
    first, last = (
        monitor.windows.containing(frame["time"].iloc[place].to_pydatetime()) for place in (0, -1)
    )
    now = last.end + monitor.maturity
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        for name in jobs.monitors:
            jobs.plan(name, start=first.start, end=last.end)
        done = jobs.drain(on_progress=lambda what, ready, of: on_progress(what, ready / max(of, 1)))
        jobs.advance_alerts(done)
        if done.failures:
            raise PumonitorError("; ".join(done.failures))
        alerts = StoredAlerts(jobs.ledger.database)
        as_they_were, with_flips = (
            _watch(
                frame,
                scores,
                [one.transition for one in alerts.history(name) if one.transition.kind == "fired"],
                jobs.ledger.results(name, metrics=["class_prior"]),
            )
            for name, scores in (
                (AS_THEY_WERE, frame["score"].to_numpy()),
                (WITH_FLIPS, _with_flips(mails)),
            )
        )
        picture = _picture(jobs, _seen(with_flips), path.parent / "alert.png")
    return Flip(as_they_were=as_they_were, with_flips=with_flips, picture=picture)


def _seen(watch: FlipAlerts) -> tuple[Transition, ...]:
    return tuple(one for one in watch.fired if one.window_start >= FLIPPED_FROM)


def _is_after(frame: pandas.DataFrame) -> NDArray[np.bool_]:
    after: NDArray[np.bool_] = (frame["time"] >= FLIPPED_FROM).to_numpy()
    return after


def _with_flips(mails: ScoredMails) -> NDArray[np.float64]:
    whole = mails.frame["score"].to_numpy()
    return np.where(_is_after(mails.frame), mails.flipped_scores, whole)


def _watch(
    frame: pandas.DataFrame,
    scores: NDArray[np.float64],
    fired: list[Transition],
    spam_by_week: Sequence[PublishedResult],
) -> FlipAlerts:
    after, spam = _is_after(frame), frame["spam"].to_numpy()
    before, then = (
        metrics_of(spam[part], scores[part], threshold=THRESHOLD) for part in (~after, after)
    )
    shares = {
        one.window_start.astimezone(UTC): (one.value, one.low, one.high)
        for one in spam_by_week
        if one.value is not None and one.low is not None and one.high is not None
    }
    return FlipAlerts(fired=tuple(fired), before=before, after=then, spam=shares)


def _picture(jobs: Jobs, seen: tuple[Transition, ...], path: Path) -> Path | None:
    """The picture that a message about the first of them has."""
    from pumonitor.monitor.alerts.notifiers import series_reader
    from pumonitor.monitor.delivery.notifications.picture import draw_series

    path.unlink(missing_ok=True)
    if not seen:
        return None
    drawn = draw_series(seen[0], series_reader(jobs.ledger)(seen[0]))
    if drawn is None:
        return None
    path.write_bytes(drawn)
    return path
