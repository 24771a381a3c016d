"""`pumonitor export sql`, as people use it."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app

CONFIGURATION = """
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      {predictions}
      id: id
      time: made
      score: score
      segments: [country]
    positives:
      {positives}
      id: id
      known_at: known
    window: 1d
    maturity: 8d
    threshold: 0.5
"""
NOW = "2026-03-12T06:00Z"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "source: counts://counts.parquet"
    (tmp_path / "pumonitor.yaml").write_text(
        CONFIGURATION.format(predictions=source, positives=source), encoding="utf-8"
    )
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["export", "sql", *arguments])


def test_its_counts_are_read_by_the_next_round(folder):
    made = run(
        "card-fraud", "--engine", "duckdb", "--predictions", "scored", "--positives", "fraud",
        "--now", NOW, "--since", "2026-03-10T12:00Z", "--output", "count.sql",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    with duckdb.connect() as session:
        session.execute(
            "CREATE TABLE scored AS SELECT 'id' || i AS id, i % 100 / 100 AS score, "
            "'DE' AS country, "
            "TIMESTAMPTZ '2026-03-10 00:00:00+00' + i * INTERVAL 1 MINUTE AS made "
            "FROM range(1440) AS numbers(i)"
        )
        session.execute(
            "CREATE TABLE fraud AS SELECT id, made + INTERVAL 1 HOUR AS known FROM scored "
            "WHERE score > 0.9"
        )
        sql = (folder / "count.sql").read_text(encoding="utf-8")
        session.execute(f"COPY ({sql}) TO 'counts.parquet'")
        counted = session.execute(
            "SELECT window_start, sum(n) FROM 'counts.parquet' WHERE name = 'predictions' "
            "GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    days = {datetime.fromtimestamp(start / 1e6, UTC).date().isoformat(): n for start, n in counted}
    # The last windows and earlier ones, of which later moments came since; rows are in one.
    assert {day: n for day, n in days.items() if n} == {"2026-03-10": 1440}
    assert {"2026-03-08", "2026-03-09", "2026-03-11"} < set(days)
    assert "2026-03-12" not in days


def test_a_table_is_made_and_added_to(folder):
    made = run(
        "card-fraud", "--engine", "snowflake", "--predictions", "risk.scored", "--positives",
        "risk.fraud", "--now", NOW, "--into", "risk.counts",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    assert made.output.startswith('CREATE TABLE IF NOT EXISTS "RISK"."COUNTS" (')
    assert '\n\nINSERT INTO "RISK"."COUNTS" WITH pumonitor_rows AS' in made.output
    assert made.output.rstrip().endswith(";")


def test_a_model_of_dbt_adds_to_its_own_table(folder):
    made = run(
        "card-fraud", "--engine", "bigquery", "--predictions", "p.scored", "--positives", "p.fraud",
        "--now", NOW, "--dbt",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    first, second, *_ = made.output.splitlines()
    assert first == "{{ config(materialized='incremental', incremental_strategy='append') }}"
    assert second == "{% raw %}"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "oracle"], "--engine must be one of snowflake, bigquery, redshift"),
        (["--engine", "trino"], "say which one is counted, --predictions TABLE"),
        (["--engine", "trino", "--dbt", "--into", "a"], "--dbt and --into exclude each other"),
        (["--engine", "trino", "--kind", "made"], "--kind is COLUMN=KIND with a kind of boolean"),
        (["--engine", "trino", "--since", NOW], "no window of card-fraud had a moment between"),
    ],
)
def test_what_cannot_be_written_is_said(folder, arguments, told):
    made = run("card-fraud", "--now", NOW, *arguments)
    assert made.exit_code == 2
    assert told in " ".join(made.output.split())
