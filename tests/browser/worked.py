"""A folder with a configuration and a ledger worked until today, for servers of pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.challenging.judged import challengers_of, score_challengers
from pumonitor.monitor.challenging.noted import judge_and_note, note_found
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.promotions import NewPromotion
from pumonitor.monitor.windows.opening import open_monitor_source

DAYS = 7
BREAKS_ON = 4
"""From this day on the scores of one monitor say nothing."""

BROKEN = "card-fraud"
FINE = "churn"
EMPTY = "no-results-yet"
FAILING = "x" * 100
"""Its windows cannot be counted; the longest name that the configuration takes."""

HOSTILE_RULE = "<script>alert('rule')</script> \"quoted\" 'so' ../.. \u202ereversed 🦊 " + "w" * 200
HOSTILE_VERSION = "<script>alert('version')</script>/../\"quoted\" \u202ereversed 🦊\n2"
HOSTILE_SEGMENT = "<img src=x onerror=alert('segment')>\n\u202e🦊" + "s" * 300
HOSTILE_COLUMN = "<script>alert('column')</script> \"quoted\" 🦊 " + "c" * 200
"""With the scores of a challenger."""
NUL = "a\x00b<script>alert('nul')</script>"
"""No database stores it: windows with it fail, with a message that shows it."""
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  {broken}:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      score: score
      model_version: version
      segments: [country]
    positives: &positives
      {{source: confirmations.parquet, id: prediction_id, known_at: confirmed_at}}
    window: 1d
    maturity: 2d
    panes: [0d]
    threshold: 0.5
    class_prior: 0.1
    reference: &reference {{start: {start}, end: {end}}}
    rules:
      - {{metric: aul, below: 0.7}}
      - {{metric: recall, below: 0.9, severity: warning, name: {rule}}}
    challengers:
      models: {{better: {column}, gone: no_such_column, other: "models:/elsewhere@champion"}}
      gate: {{not_worse: {{aul: 0.05}}}}
  {fine}:
    predictions:
      {{source: predictions.parquet, id: prediction_id, time: scored_at, score: fine_score}}
    positives: *positives
    window: 1d
    maturity: 2d
    panes: [0d]
    threshold: 0.5
    class_prior: 0.1
    reference: *reference
    rules:
      - {{metric: aul, below: 0.7}}
  {failing}:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      score: score
      segments: [nul]
    positives: *positives
    window: 1d
    maturity: 2d
    panes: []
    threshold: 0.5
    class_prior: 0.1
  {empty}:
    predictions: {{source: predictions.parquet, id: prediction_id, time: scored_at, score: score}}
    positives: *positives
    window: 1d
    maturity: 2d
    threshold: 0.5
"""


def first_day() -> datetime:
    """Midnight of the first day with predictions; today is the day after the last."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=DAYS)


def write_worked(folder: Path) -> Path:
    """Write tables and configuration, do all work that is due, and return the configuration."""
    import json

    first = first_day()
    _write_tables(folder, first)
    path = folder / "pumonitor.yaml"
    path.write_text(
        CONFIGURATION.format(
            broken=BROKEN,
            fine=FINE,
            failing=FAILING,
            empty=EMPTY,
            rule=json.dumps(HOSTILE_RULE, ensure_ascii=False),
            column=json.dumps(HOSTILE_COLUMN, ensure_ascii=False),
            start=first.date(),
            end=(first + timedelta(days=2)).date(),
        )
    )
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, deliver=False) as jobs:
        for name, days in ((BROKEN, DAYS), (FINE, DAYS), (FAILING, 1)):
            jobs.plan(name, start=first, end=first + timedelta(days=days))
        done = jobs.drain()
        jobs.advance_alerts(done)
        _challenge(configuration, jobs.ledger)
    assert all(FAILING in one for one in done.failures), done.failures
    return path


def _challenge(configuration: Configuration, ledger: Ledger) -> None:
    """Have challengers score the windows of one monitor, and promote what was never there."""
    monitor = configuration.monitors[BROKEN]
    known = challengers_of(configuration, monitor)
    note_found(ledger, monitor, known)
    score_challengers(
        configuration, monitor, ledger, open_source=open_monitor_source, challengers=known
    )
    judge_and_note(ledger, monitor)
    wanted = NewPromotion(
        monitor=BROKEN,
        model=HOSTILE_RULE,
        alias="champion",
        action="undo",
        from_version="2",
        to_version="1",
        actor=HOSTILE_RULE,
        undoes=7,
    )
    begun = ledger.promotions.begin(wanted, lease=timedelta(minutes=1))
    ledger.promotions.settle(begun, "refused", reason=HOSTILE_RULE)


def _write_tables(folder: Path, first: datetime) -> None:
    rng = np.random.default_rng(5)
    rows = 500 * DAYS
    is_positive = rng.random(rows) < 0.1
    scored_at = first + pd.to_timedelta(np.sort(rng.uniform(0, DAYS * 86_400, rows)), unit="s")
    good, useless = (1 / (1 + np.exp(-rng.normal(size * is_positive - 1.5))) for size in (3.0, 0.0))
    is_broken = scored_at >= first + timedelta(days=BREAKS_ON)
    pd.DataFrame(
        {
            "prediction_id": np.arange(rows),
            "scored_at": scored_at,
            "score": np.where(is_broken, useless, good),
            "fine_score": good,
            HOSTILE_COLUMN: good,
            "country": rng.choice(["DE", HOSTILE_SEGMENT], rows, p=[0.8, 0.2]),
            "nul": NUL,
            "version": np.where(is_broken, HOSTILE_VERSION, "1"),
        }
    ).to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_positive & (rng.random(rows) < 0.6))
    delay = pd.to_timedelta(rng.exponential(6 * 3600, len(confirmed)), unit="s")
    pd.DataFrame(
        {"prediction_id": confirmed, "confirmed_at": scored_at[confirmed] + delay}
    ).to_parquet(folder / "confirmations.parquet")
