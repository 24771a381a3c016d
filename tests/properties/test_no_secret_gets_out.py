"""No secret of an address gets into a message, log, row, tag or page, whatever it is like."""

from __future__ import annotations

import io
import json
import logging
import tempfile
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from unittest import mock
from urllib.parse import quote, unquote

import pandas as pd
import pytest
import sqlalchemy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import PumonitorError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.sources.engines.registry import engine_kinds
from pumonitor.sources.engines.spark_connect import SparkConnectEngine
from tests.monitor.ledger_content import ledger_content
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

NOW = FIRST + timedelta(days=3)
CANARY = "kanarienvogel"
SECRETS = st.builds(
    lambda before, after: before + CANARY + after,
    *[st.text(alphabet="aB7%+&=?#@:/ '\"\\;,$~é", max_size=6)] * 2,
)
"""Whatever is before and after, the middle is found however a driver writes it."""

NOWHERE = {
    "user info": "{url: 'postgresql+psycopg://ada:${SECRET}@127.0.0.1:1/w', table: t}",
    "query string": "{url: 'postgresql+psycopg://ada@127.0.0.1:1/w?password=${SECRET}', table: t}",
    "key": "{url: 'postgresql+psycopg://ada@127.0.0.1:1/w?sslpassword=${SECRET}', table: t}",
    "no port": "{url: 'postgresql+psycopg://ada:${SECRET}@127.0.0.1:x/w', table: t}",
    "no such setting": "{url: 'postgresql+psycopg://127.0.0.1:1/w?api_key=${SECRET}', table: t}",
    "sqlite": "{url: 'sqlite:///none.db?token=${SECRET}', table: t}",
    "web": "http://127.0.0.1:1/rows.parquet?sig=${SECRET}",
    "web, user info": "http://ada:${SECRET}@127.0.0.1:1/rows.parquet",
    "store": "s3://bucket/rows.parquet?secret_access_key=${SECRET}",
    "no such scheme": "ftp://ada:${SECRET}@127.0.0.1:1/rows.parquet",
    "lake": "delta://http://ada:${SECRET}@127.0.0.1:1/rows?token=${SECRET}",
    "catalog": "iceberg://here/fraud.known?token=${SECRET}",
}


def of_engine(name):
    """Addresses of an engine with a secret where it has one, at a port that nobody listens to."""
    place = "127.0.0.1:1"
    urls = {
        "user info": f"{name}://ada:${{SECRET}}@{place}/w",
        "query string": f"{name}://ada@{place}/w?password=${{SECRET}}",
        "token": f"{name}://{place}/;token=${{SECRET}}",
    }
    return {form: f"{{url: '{url}', table: t}}" for form, url in urls.items()}


ENGINES = {
    f"{name}, {form}": source for name in engine_kinds() for form, source in of_engine(name).items()
}


@contextmanager
def heard():
    """Everything that is logged, also by drivers."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@contextmanager
def shop(source, secret, **options):
    """A shop whose predictions are there; its address has the secret, percent-encoded."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict("os.environ", {"SECRET": quote(secret, safe=""), "COLUMNS": "250"}),
    ):
        path = write_shop(Path(folder), days=1, panes="[]", class_prior=0.1, **options)
        path.write_text(
            path.read_text().replace("source: predictions.parquet", f"source: {source}")
        )
        yield path


@contextmanager
def spark_that_repeats_its_address():
    """A client that does not try for minutes, and says all that it was given."""

    def opened(url, **_):
        def connect():
            raise RuntimeError(f"no answer: {url}, {unquote(url)}")

        return SparkConnectEngine(connect, url=url)

    with mock.patch("pumonitor.sources.engines.spark_connect.open_spark_connect", opened):
        yield


def all_that_is_said(path):
    """Of a round, of commands, and of what reads the ledger afterwards."""
    said = []
    with heard() as logged:
        runner = CliRunner()
        for command in (["run"], ["check", "--json"]):
            done = runner.invoke(app, [*command, "--config", str(path)])
            said += [done.stdout, done.stderr, repr(done.exception)]
        try:
            configuration = read_configuration(path).configuration
            said += of_ledger(configuration)
        except PumonitorError as error:
            said.append(str(error))
    return "\n".join([*said, logged.getvalue()])


def of_ledger(configuration):
    said = [repr(configuration)]
    with open_jobs(configuration, clock=lambda: NOW, deliver=False) as jobs:
        said += jobs.run().failures
        said.append(json.dumps(ledger_content(jobs.ledger)))
        said += map(str, examine(configuration, now=NOW))
        said.append(exposition(jobs.ledger, monitors=jobs.monitors, clock=lambda: NOW)().decode())
        site = Site(monitors=configuration.monitors, ledger=jobs.ledger, clock=lambda: NOW)
        client = make_app(site, is_host=lambda host: True).test_client()
        for page in ("/", "/monitors/card-fraud", "/alerts", "/api/v1/monitors"):
            said.append(client.get(page).get_data(as_text=True))
    return said


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(NOWHERE))
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(secret=SECRETS)
def test_of_tables_that_cannot_be_read(kind, secret):
    with shop(NOWHERE[kind], secret) as path:
        said = all_that_is_said(path)
    assert "card-fraud" in said
    assert CANARY not in said


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(ENGINES))
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(secret=SECRETS)
def test_of_every_engine(kind, secret):
    with shop(ENGINES[kind], secret) as path, spark_that_repeats_its_address():
        said = all_that_is_said(path)
    assert "card-fraud" in said
    assert CANARY not in said


@pytest.mark.slow
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(secret=SECRETS)
def test_of_tables_that_are_read(tables, secret):
    """Messages for MLflow, with their tags, wait in the ledger; nobody is there to take them."""
    # The server lets everybody in, whatever the password.
    address = sqlalchemy.make_url(tables).set(username="postgres", password=None)
    shown = address.render_as_string(hide_password=False)
    source = f"{{url: '{shown.replace('postgres@', 'postgres:${SECRET}@')}', table: predictions}}"
    with shop(source, secret, tracking="http://ada:${SECRET}@127.0.0.1:1") as path:
        engine = sqlalchemy.create_engine(tables)
        pd.read_parquet(path.parent / "predictions.parquet").to_sql(
            "predictions", engine, index=False, if_exists="replace"
        )
        engine.dispose()
        with heard() as logged:
            configuration = read_configuration(path).configuration
            said = of_ledger(configuration)
        assert (path.parent / "state.db").stat().st_size > 0
        text = "\n".join([*said, logged.getvalue()])
    assert "mlflow-files" in text
    assert CANARY not in text


@pytest.fixture(scope="module")
def tables(postgres):
    return postgres.new_database()
