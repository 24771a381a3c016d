"""Rounds note where challengers were found and what the gate said, for those who ask nobody."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.gate import ERROR, MeanEvidence
from pumonitor.monitor.app import open_jobs, open_ledger
from pumonitor.monitor.challenging import noted
from pumonitor.monitor.challenging.challengers import AlreadyDeployedError, ColumnChallenger
from pumonitor.monitor.challenging.noted import (
    gate_hash,
    judge_and_note,
    known_without_registry,
    note_found,
)
from pumonitor.monitor.challenging.seen import judged_windows, series_of
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import challenger_windows
from pumonitor.monitor.ledger.records.promotions import NewPromotion
from tests.monitor.challenging.challenged_shop import SETTLED, write_challenged_shop

MODELS = "{v7: score_v7, next: 'models:/shop@challenger'}"


@pytest.fixture
def shop(tmp_path: Path) -> Any:
    path = write_challenged_shop(tmp_path, models=MODELS, more="gate: {better: aul}")
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        done = jobs.run()
        assert ["challenger next is" in one for one in done.failures] == [True]
        yield jobs.ledger, configuration.monitors["shop"], path


def test_each_window_leaves_the_differences_of_all_up_to_it(shop: Any) -> None:
    ledger, monitor, _ = shop
    series = series_of(monitor, ColumnChallenger(name="v7", column="score_v7"))
    stored = ledger.challengers.differences(series)
    seen = [found for _, found in judged_windows(ledger, monitor, series)]
    assert len(stored) == len(seen) > 3
    for place, window in enumerate(stored):
        pooled = np.concatenate([one.recall for one in seen[: place + 1]])
        assert window.labels == seen[place].positives
        assert window.differences["recall"]["value"] == pytest.approx(pooled.mean())
        evidence = MeanEvidence.of([one.aul for one in seen[: place + 1]])
        assert window.differences["aul"]["low"] == evidence.lower(error=ERROR)
        assert window.differences["aul"]["high"] == evidence.upper(error=ERROR)


def test_a_round_notes_who_is_better_and_judges_again_when_something_changed(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, monitor, path = shop
    better = {"shop": {"v7": gate_hash(monitor)}}
    assert ledger.noted_challengers.better(["shop"]) == better

    asked = []
    judged = noted.judged
    monkeypatch.setattr(noted, "judged", lambda *of: asked.append(of) or judged(*of))
    judge_and_note(ledger, monitor)
    assert asked == []
    with ledger.database.writing() as connection:
        newest = max(one.start for one in _windows(ledger, monitor))
        connection.execute(
            update(challenger_windows)
            .where(challenger_windows.c.window_start == newest)
            .values(found=None)
        )
    judge_and_note(ledger, monitor)
    assert len(asked) == 1
    # What else is asked of the gate is another verdict.
    path.write_text(path.read_text().replace("better: aul", "better: recall"))
    other = read_configuration(path).configuration.monitors["shop"]
    assert gate_hash(other) != gate_hash(monitor)
    judge_and_note(ledger, other)
    assert len(asked) == 2
    assert ledger.noted_challengers.better(["shop"]) != better


def _windows(ledger: Any, monitor: Any) -> Any:
    return ledger.challengers.windows(
        series_of(monitor, ColumnChallenger(name="v7", column="score_v7"))
    )


def test_a_link_leads_where_it_was_found_last(shop: Any) -> None:
    ledger, monitor, _ = shop
    known, others, _ = known_without_registry(ledger, monitor)
    assert list(known) == ["v7"]
    assert "has no tracking: uri" in others["next"].reason

    eight = noted.KnownChallenger(name="next", scored_by="models:/shop/8", trained_until=SETTLED)
    v7 = ColumnChallenger(name="v7", column="score_v7")
    note_found(ledger, monitor, {"v7": v7, "next": eight})
    note_found(ledger, monitor, {"v7": v7, "next": InputError("away")})
    known, others, kept = known_without_registry(ledger, monitor)
    assert (known, others, kept["next"].problem) == ({"v7": v7, "next": eight}, {}, "away")

    note_found(ledger, monitor, {"v7": v7, "next": AlreadyDeployedError("deployed by now")})
    known, others, _ = known_without_registry(ledger, monitor)
    assert list(known) == ["v7"]
    assert (others["next"].is_deployed, others["next"].reason) == (True, "deployed by now")


def test_what_was_found_of_another_link_does_not_count(shop: Any) -> None:
    ledger, monitor, path = shop
    eight = noted.KnownChallenger(name="next", scored_by="models:/shop/8", trained_until=None)
    note_found(ledger, monitor, {"next": eight})
    path.write_text(path.read_text().replace("shop@challenger", "shop@candidate"))
    other = read_configuration(path).configuration.monitors["shop"]
    assert list(known_without_registry(ledger, monitor)[0]) == ["v7", "next"]
    known, others, _ = known_without_registry(ledger, other)
    assert (list(known), others["next"].link) == (["v7"], "models:/shop@candidate")


def test_of_a_note_and_a_promotion_the_newer_one_knows_what_is_deployed(shop: Any) -> None:
    ledger, monitor, _ = shop
    eight = noted.KnownChallenger(name="next", scored_by="models:/shop/8", trained_until=None)
    v7 = ColumnChallenger(name="v7", column="score_v7")

    def promoted(action: Any, to: str) -> None:
        wanted = NewPromotion(
            monitor="shop",
            model="shop",
            alias="champion",
            action=action,
            from_version="6",
            to_version=to,
            actor="ana",
        )
        ledger.promotions.settle(
            ledger.promotions.begin(wanted, lease=timedelta(minutes=1)), "done"
        )

    def judged() -> list[str]:
        return list(known_without_registry(ledger, monitor)[0])

    note_found(ledger, monitor, {"v7": v7, "next": eight})
    assert judged() == ["v7", "next"]
    promoted("promote", "8")
    assert judged() == ["v7"]
    why = known_without_registry(ledger, monitor)[1]["next"]
    assert (why.is_deployed, "models:/shop/8, which is deployed by now" in why.reason) == (
        True,
    ) * 2
    # Somebody has moved the alias back in the registry, and a round has seen it.
    note_found(ledger, monitor, {"v7": v7, "next": eight})
    assert judged() == ["v7", "next"]
    note_found(ledger, monitor, {"v7": v7, "next": AlreadyDeployedError("deployed by now")})
    assert judged() == ["v7"]
    promoted("undo", "6")
    assert judged() == ["v7", "next"]


def test_before_any_round_columns_alone_are_known(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, models=MODELS)
    configuration = read_configuration(path).configuration
    with open_ledger(configuration) as ledger:
        known, others, _ = known_without_registry(ledger, configuration.monitors["shop"])
    assert list(known) == ["v7"]
    assert "only the registry knows, and no round has asked it" in others["next"].reason


def test_a_version_of_nobodys_choice_is_not_noted(shop: Any) -> None:
    """`--model` judges what the configuration does not name: pages go on without it."""
    ledger, _, path = shop
    before = ledger.noted_challengers.all("shop")
    told = CliRunner().invoke(
        app, ["challenge", "shop", "--model", "models:/shop/3", "--config", str(path)]
    )
    assert told.exit_code == 3
    assert ledger.noted_challengers.all("shop") == before
