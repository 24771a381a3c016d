"""`pumonitor export counts`: what it wants, and what it says of a server that is not there."""

from __future__ import annotations

import socket

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app

CONFIGURATION = """
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions: {source: SOURCE, id: id, time: made, score: score}
    positives: {source: SOURCE, id: id, known_at: known}
    window: 1d
    maturity: 8d
    threshold: 0.5
"""


@pytest.fixture
def exported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(source):
        (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION.replace("SOURCE", source))
        return CliRunner().invoke(app, ["export", "counts", "card-fraud", "--into", "t"])

    return run


def test_rows_that_are_not_in_spark_are_refused(exported, tmp_path):
    (tmp_path / "rows.csv").write_text(
        "id,made,score,known\n1,2026-01-01T00:00Z,0.5,2026-01-02T00:00Z\n"
    )
    found = exported("rows.csv")
    assert found.exit_code == 2
    assert "must be in Spark" in found.stderr


@pytest.mark.filterwarnings("ignore:.RETRIES_EXCEEDED:UserWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_server_that_is_gone_ends_it_with_exit_status_3(exported, monkeypatch):
    monkeypatch.setattr("pumonitor.sources.windows.spark_watch._RETRIES", 0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = exported(f"{{url: 'sc://127.0.0.1:{port}', table: scored}}")
    assert found.exit_code == 3, found.stderr
    assert "the Spark server sc://127.0.0.1" in found.stderr
