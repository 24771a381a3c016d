"""Alerts leave as soon as they are committed, whatever MLflow does and whatever is still to do."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.mlflow.limits import Limits
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.delivery.mlflow.faulty_proxy import Answer, Request
from tests.monitor.delivery.notifications.receivers import http_receiver
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = [pytest.mark.filterwarnings(accepted) for accepted in WARNINGS_OF_MLFLOW]

DAYS = 3
RULES = """\
    rules:
      - {{metric: auc, below: 0.99}}
destinations:
  hook: {{webhook: "{address}", allow_private: true}}
"""


def write_alarming_shop(folder: Path, *, mlflow: str, hook: str) -> Path:
    """Its first mature window fires; the prior is given, which saves estimating it."""
    path = write_shop(
        folder, days=DAYS, tracking=mlflow, maturity=timedelta(days=1), panes="[]", class_prior=0.1
    )
    path.write_text(path.read_text() + RULES.format(address=hook))
    return path


def test_alerts_leave_while_mlflow_hangs_and_windows_are_still_to_be_evaluated(
    tmp_path: Path,
) -> None:
    posted, arrived = Event(), []
    with http_receiver() as mlflow, http_receiver() as hook:
        mlflow.react = mlflow.too_late

        def react(_: Request) -> Answer:
            posted.set()
            return Answer(200)

        hook.react = react
        path = write_alarming_shop(tmp_path, mlflow=mlflow.address, hook=hook.address)

        def on_step(step: str) -> None:
            """In the middle of the work on later windows."""
            if step == "claimed to evaluate" and jobs.ledger.alerts.history():
                arrived.append(posted.wait(10))

        with open_jobs(
            read_configuration(path).configuration,
            clock=lambda: FIRST + timedelta(days=DAYS + 1),
            limits=Limits(timeout_seconds=1, retries=0),
            on_step=on_step,
        ) as jobs:
            done = jobs.run(budget=timedelta(seconds=20))
            mlflow.held.set()
    assert done.failures == []
    assert arrived == [True], "the alert waited for MLflow, or for the end of the round"
    assert done.deliveries["alerts:hook"].delivered == 1
    assert done.deliveries["mlflow"].failed >= 1
