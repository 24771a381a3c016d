"""Of promoters at work at the same time one wins, in threads and in processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.promotions import PromotionUnderWayError
from pumonitor.monitor.promotion.promoter import Promoter, PromotionRefusedError
from tests.monitor.promotion.promotion_worker import (
    EVIDENCE,
    MONITOR,
    PROMOTED,
    REFUSED,
    UNDER_WAY,
    registered,
)
from tests.monitor.promotion.registered_models import aliases

SCRIPT = str(Path(__file__).with_name("promotion_worker.py"))
MANY = 6


def run_worker(*arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", SCRIPT, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def one_has_won(ledger: Ledger, client: Any, model: str, ends: list[int]) -> None:
    assert ends.count(PROMOTED) == 1
    assert set(ends) <= {PROMOTED, UNDER_WAY, REFUSED}
    version = str(2 + ends.index(PROMOTED))
    assert aliases(client, model) == {"champion": version, "previous": "1"}
    made = [one for one in ledger.promotions.all(MONITOR) if one.model == model]
    assert [one.to_version for one in made if one.state == "done"] == [version]
    assert {one.state for one in made} <= {"done", "refused"}
    assert len(made) == ends.count(PROMOTED) + ends.count(REFUSED)
    assert ledger.outbox.waiting()["alerts:hook"].messages == 1


def test_threads(
    make_promoter: Callable[..., Promoter], ledger: Ledger, client: Any, model: str
) -> None:
    client.create_model_version(model, "s3://nowhere/model")
    ready, ends = Barrier(3), [-1] * 3

    def promote(place: int) -> None:
        promoter = make_promoter()
        ready.wait(30)
        try:
            promoter.promote(
                MONITOR, model, compared_with="1", version=str(2 + place), evidence=EVIDENCE,
                actor=f"thread {place}",
            )  # fmt: skip
            ends[place] = PROMOTED
        except PromotionUnderWayError as error:
            assert f"model {model} is being promoted from version 1 to" in str(error)  # noqa: PT017
            ends[place] = UNDER_WAY
        except (PromotionRefusedError, InputError) as error:
            assert "compare again" in str(error)  # noqa: PT017
            ends[place] = REFUSED

    threads = [Thread(target=promote, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    one_has_won(ledger, client, model, ends)


def test_processes(
    ledger: Ledger, address: str, registry_address: str, client: Any, model: str
) -> None:
    many = registered(client, f"{model}-many", versions=MANY + 1)
    ends = run_worker("race", address, registry_address, many, str(MANY))
    one_has_won(ledger, client, many, ends)
