"""A monitor whose confirmed payments share cards, run as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.special import expit
from typer.testing import CliRunner

import pumonitor
from pumonitor import audit_plan
from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes, table_to_bytes
from pumonitor.monitor.windows.class_prior.by_audits import past_audit
from pumonitor.monitor.windows.evaluation.audited_windows import read_again
from tests.metrics.test_entities import some_rows

THRESHOLD = 0.8
POSITIVES = {"source": "chargebacks.parquet", "id": "payment_id", "known_at": "reported_at"}
WHOLE = {"class_prior": None, "panes": [], "predictions": {"segments": None}}
CONFIGURATION = {
    "state": "sqlite:///state.db",
    "monitors": {
        "cards": {
            "predictions": {
                "source": "payments.parquet",
                "id": "payment_id",
                "time": "paid_at",
                "score": "score",
                "segments": ["country"],
                "entity": "card",
            },
            "positives": POSITIVES,
            "window": "1w",
            "maturity": "30d",
            "panes": ["10d"],
            "threshold": THRESHOLD,
            "class_prior": [0.2, 0.3],
        }
    },
}


@pytest.fixture(scope="module")
def payments():
    """Of one week: half of the chargebacks come after ten days."""
    labels, scores, card = some_rows(entities=80, negatives=1500)
    number = np.arange(len(labels))
    order = np.random.default_rng(2).permutation(len(labels))
    frame = pd.DataFrame(
        {
            "payment_id": number,
            "paid_at": pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(300 * number, "s"),
            "score": expit(scores[order]),
            "card": card[order],
            "country": np.where(number % 2 == 0, "de", "fr"),
        }
    )
    frame["label"] = labels[order]
    frame["late"] = number % 3 == 0
    # A row whose card nobody knows is one of its own.
    return frame.assign(card=frame["card"].where(number % 10 > 0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, payments):
    tmp_path = tmp_path_factory.mktemp("shop")
    payments.drop(columns=["label", "late"]).to_parquet(tmp_path / "payments.parquet")
    known = payments[payments["label"] == 1]
    pd.DataFrame(
        {
            "payment_id": known["payment_id"],
            "reported_at": known["paid_at"] + pd.to_timedelta(np.where(known["late"], 15, 2), "D"),
        }
    ).to_parquet(tmp_path / "chargebacks.parquet")
    return tmp_path


def configured(folder, **changes):
    monitor = CONFIGURATION["monitors"]["cards"]
    predictions = {**monitor["predictions"], **changes.pop("predictions", {})}
    predictions = {key: value for key, value in predictions.items() if value is not None}
    (folder / "pumonitor.yaml").write_text(
        yaml.safe_dump(
            {
                **CONFIGURATION,
                "monitors": {
                    "cards": {
                        key: value
                        for key, value in {
                            **monitor,
                            "predictions": predictions,
                            **changes,
                        }.items()
                        if value is not None
                    }
                },
            }
        )
    )


def run(folder, *arguments):
    return CliRunner().invoke(
        app, [*arguments, "--config", str(folder / "pumonitor.yaml")], env={"COLUMNS": "200"}
    )


def backfilled(folder):
    done = run(folder, "backfill", "cards", "--from", "2026-01-05", "--to", "2026-01-12")
    assert done.exit_code == 0, done.output
    rows = json.loads(run(folder, "results", "cards", "--format", "json").stdout)
    return {(row["segment"], row["metric"]): row for row in rows}


def width(row):
    return row["high"] - row["low"]


def test_intervals_are_those_of_the_rows_with_their_entities(folder, payments):
    configured(folder)
    found = backfilled(folder)
    for segment in ("", "country=de"):
        rows = payments[payments["country"] == "de"] if segment else payments
        table = pumonitor.ScoreTable.from_arrays(
            rows["label"], rows["score"], thresholds=(THRESHOLD,), entity=rows["card"]
        )
        expected_of_rows = pumonitor.evaluate_table(
            table, threshold=THRESHOLD, class_prior=(0.2, 0.3), curves=False
        )
        for metric in ("recall", "aul"):
            expected = expected_of_rows[metric]
            row = found[segment, metric]
            assert row["value"] == pytest.approx(expected.value, abs=0.002)
            # Draws have another seed.
            assert width(row) == pytest.approx(expected.high - expected.low, rel=0.05)
    assert found["", "labeled_positives"]["value"] == payments["label"].sum()
    assert b"card 7" not in (folder / "state.db").read_bytes()


def test_reviews_count_known_positives_by_entity(folder, payments):
    """As `evaluate` does of the same rows."""
    is_reviewed = payments["score"] >= 0.9
    complained = (payments["label"] == 1) & ~is_reviewed
    payments.loc[is_reviewed, ["payment_id", "label"]].assign(
        at=payments["paid_at"] + pd.Timedelta(days=1)
    ).to_parquet(folder / "reviews.parquet")
    pd.DataFrame({"payment_id": payments["payment_id"], "reported_at": payments["paid_at"]})[
        complained
    ].to_parquet(folder / "complaints.parquet")
    configured(
        folder,
        **WHOLE,
        positives={**POSITIVES, "source": "complaints.parquet"},
        reviews={
            "source": "reviews.parquet",
            "id": "payment_id",
            "decided_at": "at",
            "verdict": "label",
            "blocks": True,
        },
    )
    found = backfilled(folder)
    verdicts = np.where(is_reviewed, payments["label"], np.nan)
    settings = {"threshold": THRESHOLD, "reviews": pumonitor.Reviews(verdicts, blocks=True)}
    plain, shared = (
        pumonitor.evaluate(complained.astype(int), payments["score"], entity=entity, **settings)
        for entity in (None, payments["card"])
    )
    for metric in ("class_prior", "recall"):
        row, wide = found["", metric], shared[metric].high - shared[metric].low
        assert width(row) == pytest.approx(wide, rel=0.1)
        assert width(row) > 1.1 * (plain[metric].high - plain[metric].low)


def test_an_audit_counts_confirmed_positives_by_entity(folder, payments, monkeypatch):
    monkeypatch.setattr(audit_plan, "AUDITS", 2)
    configured(folder, **WHOLE, audits={"every": "30d", "cases": 100})
    done = run(folder, "backfill", "cards", "--from", "2026-01-05", "--to", "2026-01-12")
    assert done.exit_code == 0, done.output
    cases, drawn = folder / "cases.csv", ("audit", "draw", "--monitor", "cards", "--seed", "m")
    done = run(folder, *drawn, "--windows", "2026-01-05..2026-01-12", "--out", str(cases))
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(cases, dtype=str)
    # A tenth of the silent rows of the highest scores are positive, whatever their label.
    scores = payments.set_index(payments["payment_id"].astype(str))["score"]
    frame["verdict"] = (scores[frame["id"]].to_numpy() > 0.9).astype(int)
    frame.to_csv(cases, index=False)
    done = run(folder, "audit", "read", str(cases), "--monitor", "cards")
    assert done.exit_code == 0, done.output
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    with open_ledger(configuration) as ledger:
        hashed = configuration_hash(configuration.monitors["cards"])
        (audit,) = ledger.read_audits("cards", hashed)
        (extended,) = ledger.reviews.all("cards")
    labels, scores, card = (payments[name] for name in ("label", "score", "card"))
    table = pumonitor.ScoreTable.from_arrays(labels, scores, entity=card)
    assert audit.design_effect == pytest.approx(table.rank_design_effect, rel=0.02)
    assert extended.windows[0].design_effect == audit.design_effect
    assert past_audit(audit).counts.bins.design_effect == audit.design_effect
    backfilled(folder)
    start = payments["paid_at"].min().to_pydatetime()
    with open_ledger(configuration) as ledger:
        stored = ledger.evaluations("cards", start=start, segment="", configuration=hashed)[-1]
        series = next(iter(ledger.series(stored.window_key, stored.number)))
    reading = read_again(stored.evaluation, series.table())
    assert reading.method == "audit"
    assert reading.posterior.bins.design_effect == audit.design_effect


def test_a_table_with_entities_is_stored_and_read_again():
    labels, scores, card = some_rows()
    table = pumonitor.ScoreTable.from_arrays(labels, scores, entity=card)
    packed = table_to_bytes(table)
    read = table_from_bytes(packed)
    assert read.entities.number == table.entities.number
    assert read.size_design_effect == table.size_design_effect
    assert read.rank_design_effect == table.rank_design_effect
    assert table_to_bytes(read) == packed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"positives": {**POSITIVES, "propensity": "chance"}},
            "predictions.entity does not go with positives.propensity: leave one of them out",
        ),
        (
            {"predictions": {"group": "card2", "features": ["amount"]}},
            "names the entity of a row twice: leave out group, and entity serves for both",
        ),
        (
            {"predictions": {"source": "counts://counts.parquet"}},
            "entity needs a row per prediction, and counts:// has none: leave out entity",
        ),
        ({"predictions": {"entity": "score"}}, "column 'score'"),
    ],
)
def test_what_does_not_go_with_it_is_refused(folder, changes, message):
    configured(folder, **changes)
    checked = run(folder, "check")
    assert checked.exit_code == 2
    assert message in " ".join(checked.output.split())


def test_a_missing_column_is_named(folder):
    configured(folder, predictions={"entity": "cart"})
    checked = run(folder, "check")
    assert "cart" in checked.output
    assert checked.exit_code != 0


def test_challengers_count_by_the_same_entity_unless_they_name_another(folder):
    for given, expected in (({}, "card"), ({"entity": "customer"}, "customer")):
        configured(folder, challengers={"models": {"new": "new_score"}, **given})
        monitor = read_configuration(folder / "pumonitor.yaml").configuration.monitors["cards"]
        assert monitor.challengers.entity == expected
