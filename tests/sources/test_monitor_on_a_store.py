"""`init`, `check`, `backfill` and `results` on files in an object store and on a web server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.monitored_shop import write_shop
from tests.sources.file_servers import SECRET, FileServer

pytestmark = pytest.mark.usefixtures("httpfs")

FILES = ("predictions.parquet", "confirmations.parquet")
PERIOD = ("--from", "2026-01-01", "--to", "2026-01-02")
DRAWN = ("low", "high", "unclipped_value", "unclipped_low", "unclipped_high")
"""Seeded by where the data are."""


def run(*arguments):
    runner = CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    assert "canary" not in done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return write_shop(tmp_path_factory.mktemp("shop"), days=1)


@pytest.fixture(scope="module")
def expected(shop):
    return results(shop)


def results(path):
    """What is found of every window at every moment, but what is drawn at random."""
    run("backfill", *PERIOD, "--config", path)
    rows = json.loads(run("results", "card-fraud", "--format", "json", "--config", path))
    assert rows
    return [{name: value for name, value in row.items() if name not in DRAWN} for row in rows]


def test_a_store(store: FileServer, shop: Path, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.bucket("shop", {f"day=1/{file}": shop.parent / file for file in FILES})
    made, known = (f"s3://shop/day=*/{file.replace('s.', '*.')}" for file in FILES)
    run("init", made, known, "--yes", "--name", "shop")
    written = Path("pumonitor.yaml").read_text(encoding="utf-8")
    assert f'source: "{made}"' in written
    assert "No check failed" in run("check")
    path = tmp_path / "shop.yaml"
    text = shop.read_text(encoding="utf-8").replace(FILES[0], made).replace(FILES[1], known)
    path.write_text(text, encoding="utf-8")
    assert results(path) == expected
    assert no_file_holds(tmp_path, SECRET)


def test_signed_addresses(web_server: FileServer, environment, shop, tmp_path):
    web_server.bucket("web", {file: shop.parent / file for file in FILES})
    text = shop.read_text(encoding="utf-8")
    for file, name in zip(FILES, ("MADE", "KNOWN"), strict=True):
        signed = (
            f"{web_server.address}/web/{file}?X-Amz-Credential=a/b&X-Amz-Signature=canary/{name}"
        )
        environment.setenv(name, signed)
        text = text.replace(file, f"${{{name}}}")
    path = tmp_path / "shop.yaml"
    path.write_text(text, encoding="utf-8")
    assert "No check failed" in run("check", "--config", path)
    (web_server.folder / "web" / FILES[1]).unlink()
    failed = CliRunner().invoke(app, ["backfill", *PERIOD, "--config", str(path)])
    assert failed.exit_code == 2, failed.output
    assert f"{web_server.address}/web/{FILES[1]}" in failed.output.replace("\n", "")
    assert "canary" not in failed.output
    assert no_file_holds(tmp_path, "canary")


def test_what_is_signed_is_not_written(web_server: FileServer, environment, shop, tmp_path):
    environment.chdir(tmp_path)
    web_server.bucket("web", {file: shop.parent / file for file in FILES})
    signed = [f"{web_server.address}/web/{file}?X-Amz-Signature=canary" for file in FILES]
    failed = CliRunner().invoke(app, ["init", *signed, "--yes"])
    assert failed.exit_code == 2
    assert "afterwards put the whole address in the environment" in " ".join(
        failed.output.replace("│", " ").split()
    )
    assert "canary" not in failed.output
    assert not list(tmp_path.iterdir())


def test_a_pattern_that_fits_nothing(store: FileServer, shop, tmp_path):
    failed = CliRunner().invoke(app, ["init", "s3://bucket/no*.csv", "s3://bucket/no*.parquet"])
    assert failed.exit_code == 2
    assert "no file matches s3://bucket/no*.csv" in failed.output


def no_file_holds(folder, secret):
    """Not the ledger either, which is one of them."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert any(file.name == "state.db" for file in files)
    return all(secret.encode() not in file.read_bytes() for file in files)
