"""`pumonitor challenge --train`, and promotion of what it trained, with a registry of MLflow."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs, open_ledger, promoter_of
from pumonitor.monitor.challenging.automatic import promote_automatically
from pumonitor.monitor.challenging.between import audits_between
from pumonitor.monitor.challenging.challengers import RegisteredChallenger
from pumonitor.monitor.challenging.gate_answer import gate_answer
from pumonitor.monitor.challenging.judged import challengers_of, judged
from pumonitor.monitor.challenging.noted import known_without_registry
from pumonitor.monitor.challenging.seen import judged_since, series_of
from pumonitor.monitor.challenging.training import train
from pumonitor.monitor.challenging.training_rows import training_rows
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.challenging.challenged_shop import (
    DAYS,
    FIRST,
    SETTLED,
    evaluated,
    evaluated_shop,
    write_challenged_shop,
)
from tests.monitor.challenging.tracked_shop import TRACKED, called, deployed_shop


def test_a_trained_challenger_is_registered_judged_promoted_and_undone(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, old = deployed_shop(tmp_path, registry)
    ended = type(registry).set_terminated

    def said_where_the_run_is(client: Any, run: str) -> None:
        """As MLflow does of a run on a server."""
        sys.stdout.write("View run at http://mlflow.example\n")
        ended(client, run)

    monkeypatch.setattr(type(registry), "set_terminated", said_where_the_run_is)

    told = json.loads(called("challenge", "shop", "--train", "all", "--hold-out", "6", "--json"))

    trained, (found,) = told["trained"], told["challengers"]
    new = registry.get_model_version_by_alias("shop", "challenger")
    assert trained["link"] == found["scored_by"] == f"models:/shop/{new.version}"
    assert new.tags["pumonitor.trained_until"] == (FIRST + timedelta(days=2)).isoformat()
    assert len(new.tags["pumonitor.training_rows"]) == 64
    orders = pd.read_parquet(tmp_path / "predictions.parquet")
    before = orders.t < pd.Timestamp(FIRST + timedelta(days=2))
    assert (trained["windows"], trained["rows"]) == (2, before.sum())
    assert 0.6 < trained["held_out_aul"] < 0.95
    # The window of the day after the last order is mature as well, and has no rows.
    assert len(found["windows"]) == 6
    labels = pd.read_parquet(tmp_path / "positives.parquet")
    assert found["labels"] == labels.id.isin(orders.id[~before]).sum()
    assert found["verdict"] == "better"
    assert _noted(path) == (["challenger"], [], {"shop": ["challenger"]})

    called("promote", "shop", "--dry-run")
    assert registry.get_model_version_by_alias("shop", "champion").version == old
    called("promote", "shop")
    assert registry.get_model_version_by_alias("shop", "champion").version == new.version
    assert _noted(path) == ([], ["challenger"], {})
    tags = registry.get_model_version("shop", new.version).tags
    assert tags["pumonitor.promotion.labels"] == str(found["labels"])
    # What it was seen to do beside the version before says nothing of itself.
    said = called("challenge", "shop", status=1)
    assert "which is deployed by now" in said
    assert _noted(path) == ([], ["challenger"], {})
    called("promote", "shop", "--undo")
    assert registry.get_model_version_by_alias("shop", "champion").version == old
    # The version before is deployed again, and what was seen beside it counts again.
    again = json.loads(called("challenge", "shop", "--json"))
    assert again["challengers"][0]["windows"] == found["windows"]
    assert _noted(path) == (["challenger"], [], {"shop": ["challenger"]})


def _noted(path: Path) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Without the registry: which challengers can be judged, which are deployed, who is better."""
    configuration = read_configuration(path).configuration
    with open_ledger(configuration) as ledger:
        known, others, _ = known_without_registry(ledger, configuration.monitors["shop"])
        better = ledger.noted_challengers.better(["shop"])
    deployed = [one.name for one in others.values() if one.is_deployed]
    return list(known), deployed, {name: list(of) for name, of in better.items()}


@pytest.mark.parametrize(("held_out", "promoted"), [("5", False), ("6", True)])
def test_nothing_is_promoted_before_five_windows_have_labels(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch, held_out: str, promoted: bool
) -> None:
    """Neither by hand nor by a round: with fewer it cannot be seen whether windows differ."""
    monkeypatch.chdir(tmp_path)
    path, old = deployed_shop(tmp_path, registry)
    called("challenge", "shop", "--train", "all", "--hold-out", held_out, status=1 - promoted)

    said = called("promote", "shop", "--dry-run", status=1 - promoted)
    assert ("there is no verdict before 5 windows have labels" in said) != promoted

    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    automatic = monitor.challengers.model_copy(update={"promote": "automatic"})
    with open_ledger(configuration) as ledger:
        promoter = promoter_of(configuration, ledger)
        assert promoter is not None
        promote_automatically(
            configuration, monitor.model_copy(update={"challengers": automatic}), ledger, promoter
        )
    deployed = registry.get_model_version_by_alias("shop", "champion").version
    assert (deployed != old) == promoted


def test_promotion_by_rounds_is_off(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, more="promote: automatic")
    done = CliRunner().invoke(app, ["check", "--config", str(path)])
    assert done.exit_code == 2
    said = " ".join((done.output + done.stderr).split())
    assert "challengers.promote, line 1" in said
    assert "is automatic, which is off" in said
    assert "promote by pumonitor promote" in said


def test_an_alias_that_comes_back_drops_no_evidence(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, old = deployed_shop(tmp_path, registry)
    other = registry.create_model_version("shop", f"file://{tmp_path}").version
    first = json.loads(called("challenge", "shop", "--train", "all", "--hold-out", "6", "--json"))[
        "challengers"
    ]
    for version in (other, old):
        registry.set_registered_model_alias("shop", "champion", version)
        evaluated(path)
    (again,) = json.loads(called("challenge", "shop", "--json"))["challengers"]
    assert again["windows"] == first[0]["windows"]
    assert (again["verdict"], again["labels"]) == ("better", first[0]["labels"])


def test_the_first_round_of_an_alias_without_a_version_fails_nothing(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As documented, before anybody has trained a challenger."""
    monkeypatch.chdir(tmp_path)
    write_challenged_shop(tmp_path, **TRACKED)
    registry.create_registered_model("shop")
    version = registry.create_model_version("shop", f"file://{tmp_path}").version
    registry.set_registered_model_alias("shop", "champion", version)
    called("run")
    checked = json.loads(called("check", "--json"))
    assert "which the registry does not have" in str(checked["connections"])


def test_an_alias_that_somebody_moved_makes_comparisons_begin_anew(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, _ = deployed_shop(tmp_path, registry)
    other = registry.create_model_version("shop", f"file://{tmp_path}").version
    called("challenge", "shop", "--train", "all", "--hold-out", "6")
    called("promote", "shop", "--dry-run")

    registry.set_registered_model_alias("shop", "champion", other)

    called("promote", "shop", status=1)
    (found,) = json.loads(called("challenge", "shop", "--json", status=1))["challengers"]
    assert found["windows"] == []
    assert "when another version was deployed" in found["reason"]
    assert registry.get_model_version_by_alias("shop", "champion").version == other
    evaluated(path)
    again = json.loads(called("challenge", "shop", "--json", status=1))["challengers"]
    assert again[0]["reason"] == found["reason"]  # it is seen once


def test_audits_are_of_windows_that_the_challenger_was_not_trained_on(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, _ = deployed_shop(tmp_path, registry)
    called("challenge", "shop", "--train", "all", "--hold-out", "6")
    draw = ("audit", "draw", "shop", "--between", "champion", "challenger", "--cases", "10")
    refused = CliRunner().invoke(app, [*draw, "--windows", "2026-01-01", "--out", "none.csv"])
    assert refused.exit_code == 2
    assert "began before 2026-01-03 00:00 UTC, when its training rows end" in refused.stderr

    assert "in 6 windows" in called(*draw, "--windows", "2026-01", "--out", "cases.csv")

    cases = pd.read_csv(tmp_path / "cases.csv")
    orders = pd.read_parquet(tmp_path / "predictions.parquet").set_index("id")
    assert orders.t.loc[cases.id].min() >= pd.Timestamp(FIRST + timedelta(days=2))
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        challenger = challengers_of(configuration, monitor)["challenger"]
        assert isinstance(challenger, RegisteredChallenger)
        series = series_of(monitor, challenger)
        since = judged_since(jobs.ledger, monitor, challenger)
        assert len(audits_between(jobs.ledger, series, since=since)) == 1
        later = replace(since, trained_until=SETTLED)
        assert not audits_between(jobs.ledger, series, since=later)


def test_a_challenger_that_is_not_there_is_said_to_be_missing(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_challenged_shop(tmp_path, **TRACKED)
    said = "challenger is models:/shop@challenger, which the registry does not have"
    assert said in called("challenge", "shop", status=3)
    registry.create_registered_model("shop")
    assert said in called("challenge", "shop", status=3)
    other = called("challenge", "shop", "--model", "shop", status=3)
    assert "challenger shop: model 'shop' must be like models:/name@alias" in other


def test_what_cannot_be_held_out_is_refused(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluated_shop(tmp_path, **TRACKED)
    for arguments, said in (
        (("--hold-out", "3"), "--hold-out is for --train"),
        (("--hold-out", "9", "--train", "all"), "no mature window to train on beside the 9"),
    ):
        done = CliRunner().invoke(app, ["challenge", "shop", *arguments])
        assert done.exit_code == 2
        assert said in " ".join(done.stderr.split())


def test_what_is_stored_scores_as_what_was_trained(tmp_path: Path, registry: Any) -> None:
    """Read back by any process that has the package: the same scores to the last digit."""
    from pumonitor.monitor.challenging.training import register

    path = write_challenged_shop(tmp_path, **TRACKED)
    evaluated(path)
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        rows = training_rows(jobs.ledger, monitor, "all", open_source=open_monitor_source)
    model = train(rows)
    register(configuration, monitor, model, rows)

    challenger = challengers_of(configuration, monitor)["challenger"]
    assert isinstance(challenger, RegisteredChallenger)
    assert challenger.columns() == ("first", "second", "kind")
    assert challenger.trained_until == rows.until
    features = {name: rows.features[name].to_numpy() for name in rows.features.columns}
    assert challenger.scores(features).tolist() == model.decision_function(rows.features).tolist()


def test_training_rows_are_each_order_once_with_its_label(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, **TRACKED | {"tracking": ""})
    evaluated(path)
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        take = {"open_source": open_monitor_source}
        rows = training_rows(jobs.ledger, monitor, "all", **take)
        recent = training_rows(jobs.ledger, monitor, "recent", **take)
        weighted = training_rows(jobs.ledger, monitor, "weighted", **take)
        earlier = training_rows(jobs.ledger, monitor, "all", hold_out=7, **take)
    known = pd.read_parquet(tmp_path / "features.parquet").set_index("id")
    labels = set(pd.read_parquet(tmp_path / "positives.parquet").id)
    ids = rows.id.astype(int)
    assert len(set(ids)) == len(ids) == 500 * DAYS
    assert rows.features["second"].to_numpy() == pytest.approx(known.second.loc[ids].to_numpy())
    assert set(ids[rows.labels == 1]) == labels
    assert set(rows.weights) == {1.0}
    assert (recent.windows, recent.first) == (3, FIRST + timedelta(days=5))
    assert (earlier.windows, earlier.until) == (1, FIRST + timedelta(days=1))
    newest, oldest = (
        weighted.weights[weighted.time == DAYS - 1],
        weighted.weights[weighted.time == 0],
    )
    assert newest[0] > 4 * oldest[0]
    assert rows.digest == weighted.digest != earlier.digest


def test_without_features_or_registry_nothing_is_trained(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path)
    evaluated(path)
    config = ("--config", str(path))
    for more, said in (
        ({}, "has no registered model"),
        ({"model": TRACKED["model"]}, "tracking: uri"),
    ):
        write_challenged_shop(tmp_path, **more)
        done = CliRunner().invoke(app, ["challenge", "shop", "--train", "all", *config])
        assert done.exit_code == 2
        assert said in done.stderr
    monitor = read_configuration(write_challenged_shop(tmp_path)).configuration.monitors["shop"]
    configuration = read_configuration(path).configuration
    with (
        open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs,
        pytest.raises(InputError, match="names no features to train on"),
    ):
        training_rows(jobs.ledger, monitor, "all", open_source=open_monitor_source)


def test_a_column_that_nobody_named_is_not_trained_on(tmp_path: Path) -> None:
    """A table of features may have one that is known only once a case is confirmed."""
    more = "features: {source: features.parquet, id: id}"
    path = write_challenged_shop(tmp_path, **TRACKED | {"tracking": "", "more": more})
    evaluated(path)
    monitor = read_configuration(path).configuration.monitors["shop"]
    with (
        open_jobs(
            read_configuration(path).configuration, clock=lambda: SETTLED, deliver=False
        ) as jobs,
        pytest.raises(InputError, match=r"features: columns, of .* some of first, second, kind"),
    ):
        training_rows(jobs.ledger, monitor, "all", open_source=open_monitor_source)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("", r"gives 2 columns \(genuine, fraud\), and which one is its score is not said"),
        ("output: froud", "output names 'froud', which is none of them"),
        ("output: fraud", None),
        ("output: 1", None),
    ],
)
def test_of_two_columns_the_score_is_named(
    tmp_path: Path, registry: Any, output: str, said: str | None
) -> None:
    path = write_challenged_shop(
        tmp_path, **TRACKED | {"more": "features: {columns: [amount]}\n      " + output}
    )
    configuration = read_configuration(path).configuration
    registry.create_registered_model("shop")
    version = registry.create_model_version("shop", f"file://{tmp_path}").version
    registry.set_registered_model_alias("shop", "challenger", version)
    challenger = challengers_of(configuration, configuration.monitors["shop"])["challenger"]
    assert isinstance(challenger, RegisteredChallenger)
    challenger._loaded = _TwoColumns()
    amounts = np.array([0.1, 0.5, 0.9])
    if said is None:
        assert challenger.scores({"amount": amounts}).tolist() == amounts.tolist()
        return
    with pytest.raises(InputError, match=said):
        challenger.scores({"amount": amounts})


class _TwoColumns:
    """What MLflow loads of a model that gives a frame."""

    metadata = SimpleNamespace(flavors=(), get_input_schema=lambda: None)

    @staticmethod
    def predict(rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"genuine": 1 - rows.amount, "fraud": rows.amount})


def test_a_version_that_gives_classes_is_refused(tmp_path: Path, registry: Any) -> None:
    import mlflow
    from mlflow.models import infer_signature
    from sklearn.cluster import KMeans

    path = write_challenged_shop(tmp_path, **TRACKED | {"more": "entity: customer"})
    example = pd.DataFrame({"first": [-0.5, 1.0, 2.0], "second": [0.1, 0.2, 0.0]})
    model = KMeans(2, random_state=0).fit(example)
    mlflow.sklearn.save_model(model, str(tmp_path / "classes"), signature=infer_signature(example))
    registry.create_registered_model("shop")
    made = registry.create_model_version("shop", f"file://{tmp_path}/classes")
    registry.set_registered_model_alias("shop", "challenger", made.version)
    configuration = read_configuration(path).configuration
    challenger = challengers_of(configuration, configuration.monitors["shop"])["challenger"]
    assert isinstance(challenger, RegisteredChallenger)
    # Without the tag it is the time of registration, which no row of the shop comes after.
    assert challenger.trained_until is not None
    assert challenger.trained_until.timestamp() * 1000 == made.creation_timestamp
    features = {"first": np.array([-1.0, 0.5, 2.0]), "second": np.zeros(3)}
    with pytest.raises(InputError, match="gives classes, not scores"):
        challenger.scores(features)


def test_a_registry_that_is_away_is_said_and_nothing_else_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "kanarienvogel")
    away = TRACKED | {
        "tracking": "tracking: {uri: 'http://user:${SECRET}@localhost:9'}\n",
        "models": '{here: score_v7, there: "models:/shop@challenger"}',
    }
    path = write_challenged_shop(tmp_path, **away)
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        done = jobs.run()
        monitor = configuration.monitors["shop"]
        here = {
            name: one
            for name, one in challengers_of(configuration, monitor).items()
            if name == "here"
        }
        assert judged(monitor, jobs.ledger, here)["here"].judgement.labels > 100
    assert done.evaluated > DAYS
    (failure,) = done.failures
    assert "challenger there" in failure
    assert "kanarienvogel" not in failure


def test_the_gate_is_asked_of_one_and_judges_all(tmp_path: Path, registry: Any) -> None:
    """The error is shared with challengers of other kinds."""
    models = '{v7: score_v7, new: "models:/shop@challenger"}'
    path = write_challenged_shop(tmp_path, **TRACKED | {"models": models})
    evaluated(path)
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    registry.create_registered_model("shop")
    made = registry.create_model_version("shop", f"file://{tmp_path}").version
    registry.set_registered_model_alias("shop", "challenger", made)
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        answer = gate_answer(configuration, monitor, ledger=jobs.ledger, challenger="v7")
        assert answer.verdict == "better"
        assert answer.evidence is not None
        assert answer.evidence.confidence_level == pytest.approx(0.975)
        assert (answer.champion_version, answer.challenger_version) == (None, None)
        other = gate_answer(configuration, monitor, ledger=jobs.ledger, challenger="new")
        assert (other.verdict, other.evidence) == ("not yet", None)
        with pytest.raises(InputError, match="v7"):
            gate_answer(configuration, monitor, ledger=jobs.ledger, challenger="v8")
