"""`pumonitor challenge --train`, and promotion of what it trained, with a registry of MLflow."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs, open_ledger
from pumonitor.monitor.challenging.challengers import TRAINED_UNTIL_TAG, RegisteredChallenger
from pumonitor.monitor.challenging.gate_answer import gate_answer
from pumonitor.monitor.challenging.judged import challengers_of, judged
from pumonitor.monitor.challenging.noted import known_without_registry
from pumonitor.monitor.challenging.seen import mature_panes
from pumonitor.monitor.challenging.shadow import scored_rows
from pumonitor.monitor.challenging.training import train
from pumonitor.monitor.challenging.training_rows import training_rows
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.challenging.challenged_shop import DAYS, FIRST, SETTLED, write_challenged_shop

TRACKED = {
    "models": '["models:/shop@challenger"]',
    "model": "model: models:/shop@champion\n    ",
    "tracking": "tracking: {uri: 'sqlite:///mlflow.db'}\n",
    "more": "features: {source: features.parquet, id: id, columns: [first, second, kind]}\n"
    "      entity: customer\n      gate: {better: aul}",
}


def _evaluated(path: Path) -> None:
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        jobs.run()


def _called(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == status, done.output + str(done.exception)
    return done.stdout


def test_a_trained_challenger_is_registered_judged_promoted_and_undone(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_challenged_shop(tmp_path, **TRACKED)
    _evaluated(path)
    registry.create_registered_model("shop")
    old = registry.create_model_version("shop", f"file://{tmp_path}").version
    registry.set_registered_model_alias("shop", "champion", old)

    told = json.loads(_called("challenge", "shop", "--train", "all", "--hold-out", "3", "--json"))

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
    assert len(found["windows"]) == 3
    labels = pd.read_parquet(tmp_path / "positives.parquet")
    assert found["labels"] == labels.id.isin(orders.id[~before]).sum()
    assert found["verdict"] == "better"
    assert _noted(path) == (["challenger"], [], {"shop": ["challenger"]})

    _called("promote", "shop", "--dry-run")
    assert registry.get_model_version_by_alias("shop", "champion").version == old
    _called("promote", "shop")
    assert registry.get_model_version_by_alias("shop", "champion").version == new.version
    assert _noted(path) == ([], ["challenger"], {})
    tags = registry.get_model_version("shop", new.version).tags
    assert tags["pumonitor.promotion.labels"] == str(found["labels"])
    # What it was seen to do beside the version before says nothing of itself.
    said = _called("challenge", "shop", status=1)
    assert "which is deployed by now" in said
    assert _noted(path) == ([], ["challenger"], {})
    _called("promote", "shop", "--undo")
    assert registry.get_model_version_by_alias("shop", "champion").version == old
    again = json.loads(_called("challenge", "shop", "--json", status=1))
    assert again["challengers"][0]["windows"] == []
    assert _noted(path) == (["challenger"], [], {})


def _noted(path: Path) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Without the registry: which challengers can be judged, which are deployed, who is better."""
    configuration = read_configuration(path).configuration
    with open_ledger(configuration) as ledger:
        known, others, _ = known_without_registry(ledger, configuration.monitors["shop"])
        better = ledger.noted_challengers.better(["shop"])
    deployed = [one.name for one in others.values() if one.is_deployed]
    return list(known), deployed, {name: list(of) for name, of in better.items()}


def test_what_is_stored_scores_as_what_was_trained(tmp_path: Path, registry: Any) -> None:
    """Read back by any process that has the package: the same scores to the last digit."""
    from pumonitor.monitor.challenging.training import register

    path = write_challenged_shop(tmp_path, **TRACKED)
    _evaluated(path)
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
    _evaluated(path)
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        take = {"open_source": open_monitor_source}
        rows = training_rows(jobs.ledger, monitor, "all", **take)
        recent = training_rows(jobs.ledger, monitor, "recent", **take)
        weighted = training_rows(jobs.ledger, monitor, "weighted", **take)
        earlier = training_rows(jobs.ledger, monitor, "all", hold_out=4, **take)
    known = pd.read_parquet(tmp_path / "features.parquet").set_index("id")
    labels = set(pd.read_parquet(tmp_path / "positives.parquet").id)
    ids = rows.id.astype(int)
    assert len(set(ids)) == len(ids) == 500 * DAYS
    assert rows.features["second"].to_numpy() == pytest.approx(known.second.loc[ids].to_numpy())
    assert set(ids[rows.labels == 1]) == labels
    assert set(rows.weights) == {1.0}
    assert (recent.windows, recent.first) == (2, FIRST + timedelta(days=3))
    assert (earlier.windows, earlier.until) == (1, FIRST + timedelta(days=1))
    newest, oldest = (
        weighted.weights[weighted.time == DAYS - 1],
        weighted.weights[weighted.time == 0],
    )
    assert newest[0] > 4 * oldest[0]
    assert rows.digest == weighted.digest != earlier.digest


def test_without_features_or_registry_nothing_is_trained(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path)
    _evaluated(path)
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


def test_a_place_of_features_can_stand_in_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, reading commands work, and what needs features names the variable."""
    more = str(TRACKED["more"]).replace("source: features.parquet", "source: '${FEATURES}'")
    path = write_challenged_shop(tmp_path, **TRACKED | {"tracking": "", "more": more})
    monkeypatch.setenv("FEATURES", str(tmp_path / "features.parquet"))
    _evaluated(path)
    for is_set in (True, False):
        if not is_set:
            monkeypatch.delenv("FEATURES")
        configuration = read_configuration(path, needs="ledger").configuration
        monitor = configuration.monitors["shop"]
        take = {"open_source": open_monitor_source}
        with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
            if is_set:
                rows = training_rows(jobs.ledger, monitor, "all", **take)
                assert len(rows.id) == 500 * DAYS
            else:
                assert monitor.missing == ()  # its own tables can be opened
                with pytest.raises(InputError, match="FEATURES"):
                    training_rows(jobs.ledger, monitor, "all", **take)


def test_a_feature_called_like_the_score_is_not_taken_for_it(tmp_path: Path, registry: Any) -> None:
    import mlflow
    from mlflow.models import infer_signature
    from sklearn.linear_model import LogisticRegression

    path = write_challenged_shop(
        tmp_path,
        **TRACKED
        | {"more": "features: {source: features.parquet, id: id, columns: [score, second]}"},
    )
    features = pd.read_parquet(tmp_path / "features.parquet")
    features.assign(score=-features["first"]).to_parquet(tmp_path / "features.parquet")
    example = pd.DataFrame({"score": [-0.5, 1.0, 2.0], "second": [0.1, 0.2, 0.0]})
    model = LogisticRegression().fit(example, [0, 0, 1])
    mlflow.sklearn.save_model(
        model,
        str(tmp_path / "model"),
        signature=infer_signature(example),
        pyfunc_predict_fn="predict_proba",
    )
    registry.create_registered_model("shop")
    made = registry.create_model_version(
        "shop", f"file://{tmp_path}/model", tags={TRAINED_UNTIL_TAG: FIRST.isoformat()}
    )
    registry.set_registered_model_alias("shop", "challenger", made.version)
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    challenger = challengers_of(configuration, monitor)["challenger"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        jobs.run()
        pane = mature_panes(jobs.ledger, monitor, configuration=configuration_hash(monitor))[0]
    found = scored_rows(monitor, challenger, pane, open_source=open_monitor_source)
    used = pd.read_parquet(tmp_path / "predictions.parquet").set_index("id").score
    assert found.champion.tolist() == used.loc[found.id.astype(int)].tolist()
    given = features.set_index("id").loc[found.id.astype(int)]
    expected = model.predict_proba(
        pd.DataFrame({"score": -given["first"], "second": given.second})
    )[:, 1]
    assert found.challenger == pytest.approx(expected)


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda rows: rows[rows.id != 7], "predictions have no row in features"),
        (lambda rows: pd.concat([rows, rows[:3]]), "have more than one row in features"),
        (lambda rows: rows.drop(columns=["kind"]), "kind"),
    ],
)
def test_features_that_are_not_there_are_named(tmp_path: Path, write: Any, said: str) -> None:
    path = write_challenged_shop(tmp_path, **TRACKED | {"tracking": ""})
    _evaluated(path)
    rows = pd.read_parquet(tmp_path / "features.parquet")
    write(rows).to_parquet(tmp_path / "features.parquet")
    configuration = read_configuration(path).configuration
    with (
        open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs,
        pytest.raises(InputError, match=said),
    ):
        training_rows(
            jobs.ledger, configuration.monitors["shop"], "all", open_source=open_monitor_source
        )


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
    _evaluated(path)
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
