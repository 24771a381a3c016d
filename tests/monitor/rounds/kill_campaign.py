"""Workers killed at every commit of a round, and two that take over, one of them killed as well.

Each case begins with an empty state database and an empty experiment. A first worker dies at one
point; the points of the cases are spread evenly over a whole round. Two take over, one of which
dies at a random point. Leases are those of the package: nobody waits for the dead. After one more
round ledger, MLflow and the receiver of webhooks are compared with those of an undisturbed round.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.delivery.mlflow.mlflow_history import Points, active_runs, stored_points
from tests.monitor.delivery.mlflow.mlflow_server import Server
from tests.monitor.delivery.notifications.receivers import HttpReceiver
from tests.monitor.ledger_content import ledger_content
from tests.monitor.monitored_shop import FIRST, write_shop

DAYS = 2
NOW = FIRST + timedelta(days=DAYS + 1)
KILLED = -9
WORKER = Path(__file__).with_name("campaign_worker.py")
RULES = """\
    rules:
      - {{metric: recall, below: 0.999, provisional: true, name: found}}
      - {{metric: labeled_positives, below: 1000, provisional: true, severity: warning}}
destinations:
  hook: {{webhook: "{address}", allow_private: true}}
"""


@dataclass(kw_only=True)
class Findings:
    """What a round left behind, in a form that two rounds have in common."""

    ledger: dict[str, list[str]]
    points: dict[str, Points]
    webhooks: dict[str, list[bytes]] = field(repr=False)

    def differences(self, other: Findings) -> list[str]:
        """What is not as in the other; webhooks may come more than once, each with one body."""
        found = [
            f"table {name}: {rows} and {other.ledger[name]}"
            for name, rows in self.ledger.items()
            if rows != other.ledger[name]
        ]
        if self.points != other.points:
            found.append("points in MLflow")
        if set(self.webhooks) != set(other.webhooks):
            found.append(f"webhooks: {set(self.webhooks) ^ set(other.webhooks)}")
        found += [f"bodies of {one}" for one, some in self.webhooks.items() if len(set(some)) > 1]
        return found

    @property
    def doubled(self) -> int:
        """Webhooks that came again."""
        return sum(len(bodies) - 1 for bodies in self.webhooks.values())


class Campaign:
    """Rounds of workers over one MLflow server and one receiver.

    Parameters
    ----------
    server : Server or None
        Without it nothing is sent to MLflow.
    receiver : HttpReceiver
    """

    def __init__(self, server: Server | None, receiver: HttpReceiver) -> None:
        self._server, self._receiver = server, receiver
        self._workers = subprocess.Popen(
            [sys.executable, WORKER, *([] if server is None else ["mlflow"])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "MLFLOW_DISABLE_TELEMETRY": "true"},
        )

    @cached_property
    def _client(self) -> Any:
        from mlflow import MlflowClient

        assert self._server is not None
        return MlflowClient(tracking_uri=self._server.address)

    def close(self) -> None:
        self._workers.communicate(timeout=60)

    def codes(
        self, path: Path, *fates: int, now: datetime = NOW, once: bool = False
    ) -> list[tuple[int, int]]:
        """Exit code and points reached of workers that begin together."""
        told = {
            "configuration": str(path),
            "now": now.isoformat(),
            "fates": fates,
            "once": once,
        }
        assert self._workers.stdin is not None
        assert self._workers.stdout is not None
        self._workers.stdin.write(json.dumps(told) + "\n")
        self._workers.stdin.flush()
        return [(code, points) for code, points in json.loads(self._workers.stdout.readline())]

    def undisturbed(self, state: str) -> tuple[Findings, int]:
        """Findings of one worker, and the points that it reached."""
        with self._case(state) as path:
            ((code, points),) = self.codes(path, 0)
            assert code == 0
            return self._findings(path), points

    def case(self, state: str, first: int, second: int) -> tuple[Findings, int]:
        """Findings after a worker was killed and one of two that took over, and the kills.

        A round follows, as the killed one may have been the last to commit: then nobody has
        stored yet that nothing is due. It changes nothing else.
        """
        with self._case(state) as path:
            rounds = [self.codes(path, first), self.codes(path, second, 0), self.codes(path, 0)]
            codes = [code for workers in rounds for code, _ in workers]
            assert set(codes) <= {0, KILLED}, codes
            assert codes[-1] == 0
            return self._findings(path), codes.count(KILLED)

    @contextmanager
    def _case(self, state: str) -> Iterator[Path]:
        self._receiver.requests.clear()
        with tempfile.TemporaryDirectory() as folder:
            path = write_shop(
                Path(folder),
                days=DAYS,
                state=state,
                with_versions=True,
                # No reports, which take seconds to make.
                maturity=timedelta(days=5),
                class_prior=0.1,
                tracking=None if self._server is None else self._server.address,
            )
            path.write_text(path.read_text() + RULES.format(address=self._receiver.address))
            yield path
        if self._server is None:
            return
        experiment = self._client.get_experiment_by_name("pumonitor/card-fraud")
        if experiment is not None:
            self._client.rename_experiment(
                experiment.experiment_id, f"{experiment.name} {experiment.experiment_id}"
            )

    def _findings(self, path: Path) -> Findings:
        with open_ledger(read_configuration(path).configuration) as ledger:
            content = ledger_content(ledger)
        content["outbox"] = sorted(_without_numbers(row) for row in content["outbox"])
        runs = [] if self._server is None else active_runs(self._client, "card-fraud")
        versions = [run.data.tags["pumonitor.model_version"] for run in runs]
        assert len(set(versions)) == len(versions), "one run of each version"
        webhooks: dict[str, list[bytes]] = {}
        for request in self._receiver.requests:
            webhooks.setdefault(request.headers["webhook-id"], []).append(request.body)
        return Findings(
            ledger=content,
            points={
                version: stored_points(self._server.database, run)
                for version, run in zip(versions, runs, strict=True)
                if self._server is not None
            },
            webhooks=webhooks,
        )


def _without_numbers(row: str) -> str:
    """Without what depends on when it was written: numbers of transitions and links to runs."""
    message = json.loads(row)
    for name in ("transition", "links"):
        message["payload"].pop(name, None)
    return json.dumps(message, sort_keys=True)


def kill(
    one: Campaign,
    new_state: Callable[[], str],
    *,
    shares: Sequence[float],
    seed: int,
    told: Callable[[str], None],
) -> tuple[int, int, list[str]]:
    """Kills, webhooks that came again, and what differs, of a case for each share of a round."""
    expected, points = one.undisturbed(new_state())
    chance = random.Random(seed)  # noqa: S311
    kills = doubled = 0
    wrong: list[str] = []
    for share in shares:
        first, second = 1 + int(share * points), chance.randint(1, points // 2)
        found, died = one.case(new_state(), first, second)
        kills += died
        doubled += found.doubled
        wrong += [f"points {first} and {second}: {it}" for it in found.differences(expected)]
        told(f"killed at points {first} and {second} of {points}; {kills} kills")
    return kills, doubled, wrong
