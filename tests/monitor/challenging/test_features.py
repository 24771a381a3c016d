"""Features of challengers: found by their id, checked, never taken for anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.challenging.challengers import TRAINED_UNTIL_TAG
from pumonitor.monitor.challenging.judged import challengers_of
from pumonitor.monitor.challenging.seen import mature_panes
from pumonitor.monitor.challenging.shadow import feature_rows, scored_rows
from pumonitor.monitor.challenging.training_rows import training_rows
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.challenging.challenged_shop import (
    DAYS,
    FIRST,
    SETTLED,
    evaluated,
    write_challenged_shop,
)
from tests.monitor.challenging.tracked_shop import TRACKED, called


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("kind]", "knid]", "has no column 'knid'; did you mean 'kind'?"),
        ("id: id, columns", "id: order, columns", "has no column 'order'"),
        ("source: features", "source: featrues", "did you mean"),
        ("kind]", "kind]", "4 columns, one of them the id"),
    ],
)
def test_check_finds_the_table_of_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_challenged_shop(tmp_path, more=TRACKED["more"])
    path.write_text(path.read_text().replace(before, after))
    found = json.loads(called("check", "--json", status=0 if before == after else 2))
    assert said in found["connections"]["shop.challengers.features"]["message"]


def test_a_place_of_features_can_stand_in_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, reading commands work, and what needs features names the variable."""
    more = str(TRACKED["more"]).replace("source: features.parquet", "source: '${FEATURES}'")
    path = write_challenged_shop(tmp_path, **TRACKED | {"tracking": "", "more": more})
    monkeypatch.setenv("FEATURES", str(tmp_path / "features.parquet"))
    evaluated(path)
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
    evaluated(path)
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


def test_a_prediction_is_given_what_was_known_when_it_was_made(tmp_path: Path) -> None:
    """Of several rows the last one by then, and never one that was computed once it was known."""
    more = "features: {source: features.parquet, id: id, columns: [second], known_at: computed}"
    path = write_challenged_shop(tmp_path, more=more)
    evaluated(path)
    made = pd.read_parquet(tmp_path / "predictions.parquet").t
    rows = pd.read_parquet(tmp_path / "features.parquet")
    versions = [
        rows.assign(second=value, computed=made + pd.Timedelta(offset))
        for value, offset in ((1.0, "-2h"), (2.0, "0s"), (3.0, "1us"))
    ]
    pd.concat(versions).to_parquet(tmp_path / "features.parquet")
    configuration = read_configuration(path).configuration
    monitor = configuration.monitors["shop"]
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        pane = mature_panes(jobs.ledger, monitor, configuration=configuration_hash(monitor))[0]
    _, found = feature_rows(monitor, pane, ["second"], open_source=open_monitor_source)
    assert set(found["second"]) == {2.0}
    versions[2].to_parquet(tmp_path / "features.parquet")
    with pytest.raises(InputError, match=r"have no row in .* that was known by the time of the"):
        feature_rows(monitor, pane, ["second"], open_source=open_monitor_source)
