"""One change, several alerts: the rule on the class prior and the causes tell the same of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.inspection.label_plans import plan_labels, rule_sights
from pumonitor.monitor.inspection.rule_outlook import rule_outlooks
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.rules.alerts.prior_shift import PriorShift

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS, CHANGE = 24, 15
SETTLED = FIRST + timedelta(days=DAYS + 3)
PRIOR = 0.06

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions: {source: predictions.parquet, id: prediction_id, time: scored_at, score: score}
    positives: {source: confirmations.parquet, id: prediction_id, known_at: confirmed_at}
    window: 1d
    maturity: 2d
    panes: []
    threshold: 0.5
    reference: {start: 2026-01-01, end: 2026-01-12}
    rules:
      - {metric: class_prior, shift: any}
      - {metric: auc, drop: 0.05}
      - {metric: labeled_positives, shift: any}
      - {metric: recall, drop: 0.1}
"""


def write_days(folder: Path, what: str) -> Configuration:
    """1,000 predictions a day, of which something changes."""
    rng = np.random.default_rng(4)
    rows = 1000 * DAYS
    day = np.repeat(np.arange(DAYS), 1000)
    changed = day >= CHANGE
    prior = np.where(changed & (what == "twice as many positives"), 2 * PRIOR, PRIOR)
    is_positive = rng.random(rows) < prior
    separation = np.where(changed & (what == "the ranking breaks"), 0.8, 2.5)
    scores = 1 / (1 + np.exp(1.5 - rng.normal(separation * is_positive)))
    scored_at = pd.Timestamp(FIRST) + pd.to_timedelta(day * 86_400 + 3600.0, unit="s")
    pd.DataFrame(
        {"prediction_id": np.arange(rows), "scored_at": scored_at, "score": scores}
    ).to_parquet(folder / "predictions.parquet")
    share = np.where(changed & (what == "half as many get confirmed"), 0.2, 0.4)
    confirmed = np.flatnonzero(is_positive & (rng.random(rows) < share))
    delay = pd.to_timedelta(rng.uniform(0, 86_400, len(confirmed)), unit="s")
    pd.DataFrame(
        {"prediction_id": confirmed, "confirmed_at": scored_at[confirmed] + delay}
    ).to_parquet(folder / "confirmations.parquet")
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION)
    return read_configuration(path).configuration


def alerts_of(folder: Path, what: str) -> dict[str, Transition]:
    """The first alert of each metric."""
    configuration = write_days(folder, what)
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        assert jobs.run().failures == []
        history = [one.transition for one in jobs.ledger.alerts.history()]
        told = [one for one in history if one.kind == "fired"]
    first: dict[str, Transition] = {}
    for one in sorted(told, key=lambda one: one.as_of):
        first.setdefault(one.metric, one)
    return first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "fired", "kind", "wrong"),
    [
        ("twice as many positives", {"class_prior", "labeled_positives"}, "class_prior", "ranking"),
        ("the ranking breaks", {"auc", "recall"}, "ranking", "class_prior"),
        (
            "half as many get confirmed",
            {"labeled_positives"},
            "confirmed_share",
            "class_prior",
        ),
    ],
)
def test_alerts_of_one_change_name_one_cause(tmp_path, what, fired, kind, wrong):
    alerts = alerts_of(tmp_path, what)
    assert fired <= set(alerts)
    assert ("class_prior" in alerts) == (kind == "class_prior")
    for one in alerts.values():
        assert one.window_start >= FIRST + timedelta(days=CHANGE)
        support = one.cause["support"]
        assert max(support, key=support.get) == kind
        assert one.cause["kinds"] in ([kind], [])
        assert support.get(wrong, 0.0) < 0.15
        said = one.cause.get("class_prior", "")
        assert said.startswith("Estimated as ") == (one.metric in {"class_prior", "auc"})
        assert (
            one.cause["kinds"]
            or "cannot distinguish them; an audit of about" in one.cause["sentence"]
        )
    if kind == "class_prior":
        alert = alerts["class_prior"]
        size = alert.cause["sizes"]["positives"]
        # One number for one thing: the rule, its cause and the results say how far it has moved.
        assert alert.value / alert.reference == pytest.approx(size["change"], rel=1e-9)
        assert size["low"] < 2 < size["high"]
        assert "it has risen to " in alert.sentence


@pytest.mark.slow
def test_check_tells_how_soon_a_change_is_seen_and_plan_where_to_look(tmp_path):
    configuration = write_days(tmp_path, "nothing")
    monitor = configuration.monitors["card-fraud"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        assert key_of(monitor) not in rule_sights(jobs.ledger, monitor)
        assert jobs.run().failures == []
        said = rule_sights(jobs.ledger, monitor)[key_of(monitor)]
        with pytest.raises(InputError, match=r"followed over windows.* check says how soon"):
            plan_labels(jobs.ledger, monitor, metric="class_prior", drop=0.01, within_days=14)
    found = re.fullmatch(
        r"with 2\d\.\d confirmed positives per window, the number of windows until a change is "
        r"detected: twice as many in "
        r"(\d+), half as many in (\d+)",
        said,
    )
    assert found is not None, said
    assert 2 <= int(found[1]) <= int(found[2]) <= 6
    (outlook,) = (
        one for one in rule_outlooks(monitor, first=FIRST) if one.rule == "class_prior shift any"
    )
    fires = "is above 0.826 in two windows in a row (false alarms a year: at most 1)"
    assert fires in outlook.fires
    assert outlook.first_window == FIRST + timedelta(days=11)


def key_of(monitor: Monitor) -> str:
    rules = alert_rules(monitor, configuration_hash(monitor))
    return next(one.key for one in rules if isinstance(one.condition, PriorShift))
