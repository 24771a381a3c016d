"""What is said of tables of lakes that cannot be read: what is wrong, and no secret."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pumonitor.errors import ExtraMissingError, InputError, PumonitorError, SourceError
from pumonitor.sources.lakes import failures, iceberg
from pumonitor.sources.lakes.opening import open_lake
from pumonitor.sources.lakes.table import TimeRange
from tests.sources.iceberg_commits import Deleted, commit
from tests.sources.lake_tables import delta_table, iceberg_catalog, iceberg_table

ROWS = pa.table({"id": [1, 2, 3], "at": [1_800_000_000] * 3, "score": [0.1, 0.2, 0.3]})
SECRET = "canary/secret+key"  # noqa: S105 (nobody's)


def message_of(kind, address, **how):
    with pytest.raises(kind) as caught:
        open_lake(address, **how)
    return str(caught.value)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("delta://", "delta:// must be followed by the path or address of the table's folder"),
        (
            "delta://ftp://host/p",
            "delta://ftp://host/p is in a store of the scheme ftp, and Delta tables are read from "
            "folders and s3, s3a, gs, az, azure, abfs, abfss",
        ),
        (
            f"delta://s3://me:{SECRET}@bucket/p",
            "delta://s3://bucket/p is written with a user, a password or what follows a question "
            "mark: leave it out, credentials are read from the environment",
        ),
        (
            f"delta://s3://bucket/p?sig={SECRET}",
            "delta://s3://bucket/p is written with a user, a password or what follows a question "
            "mark: leave it out, credentials are read from the environment",
        ),
        (
            "iceberg://lake",
            "iceberg://lake must be iceberg://CATALOG/NAMESPACE.TABLE: a catalog of pyiceberg's "
            "configuration, and the table's name in it",
        ),
        (
            "iceberg://lake/table",
            "iceberg://lake/table must be iceberg://CATALOG/NAMESPACE.TABLE: a catalog of "
            "pyiceberg's configuration, and the table's name in it",
        ),
    ],
)
def test_an_address_that_is_none(address, said):
    assert message_of(InputError, address) == said


def test_a_folder_that_is_no_delta_table(tmp_path):
    nowhere = f"delta://{tmp_path / 'p'}"
    assert message_of(InputError, nowhere) == f"{nowhere}: there is no folder {tmp_path / 'p'}"
    (tmp_path / "p").mkdir()
    assert message_of(InputError, nowhere) == (
        f"{nowhere} is no Delta table: {tmp_path / 'p'} has no folder _delta_log"
    )
    (tmp_path / "p" / "_delta_log").mkdir()
    assert message_of(InputError, nowhere) == (
        f"{nowhere} is no Delta table: it has no _delta_log with a first version"
    )


def test_features_that_are_not_read(tmp_path):
    address = delta_table(tmp_path / "p", ROWS)
    log = tmp_path / "p" / "_delta_log" / f"{1:020d}.json"
    log.write_text('{"protocol": {"minReaderVersion": 99, "minWriterVersion": 99}}')
    said = message_of(PumonitorError, address)
    assert said.startswith(address)
    assert "99" in said


def test_a_catalog_or_table_that_is_not_there(tmp_path, monkeypatch):
    catalog = iceberg_catalog(tmp_path, monkeypatch)
    iceberg_table(catalog, "made", ROWS)
    assert message_of(InputError, "iceberg://lane/fraud.made") == (
        "iceberg://lane/fraud.made: there is no catalog 'lane' in .pyiceberg.yaml (in "
        "PYICEBERG_HOME, the home or the current folder), nor PYICEBERG_CATALOG__LANE__URI in the "
        "environment; did you mean 'lake'?"
    )
    assert message_of(InputError, "iceberg://lake/fraud.males") == (
        "iceberg://lake/fraud.males: the catalog 'lake' has no table fraud.males"
    )
    file = tmp_path / "none.db"
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{file}")
    assert message_of(InputError, "iceberg://lake/fraud.made") == (
        f"iceberg://lake/fraud.made: there is no file {file}, the catalog 'lake'"
    )
    assert not file.exists()


def test_a_catalog_is_configured_in_a_file_as_well(tmp_path, monkeypatch):
    iceberg_table(iceberg_catalog(tmp_path, monkeypatch), "made", ROWS)
    monkeypatch.delenv("PYICEBERG_CATALOG__LAKE__URI")
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    text = f"catalog:\n  lake:\n    uri: sqlite:///{tmp_path / 'catalog.db'}\n"
    (tmp_path / ".pyiceberg.yaml").write_text(text)
    assert open_lake("iceberg://lake/fraud.made").version.rows == 3


def message_of_rows(address):
    with pytest.raises(PumonitorError) as caught:
        list(open_lake(address).version.batches(["id"], None))
    return str(caught.value)


@pytest.mark.parametrize("counted", [True, False])
def test_deletes_by_values_are_refused_until_a_rewrite(tmp_path, monkeypatch, counted):
    catalog = iceberg_catalog(tmp_path, monkeypatch)
    address = iceberg_table(catalog, "made", ROWS, files=1)
    table = catalog.load_table("fraud.made")
    # Its own times lie elsewhere than those of the row: to leave it out would count that row.
    gone = pa.table({"id": [1], "at": [0], "score": [0.5]})
    deleted = Deleted(rows=gone, fields=[1, 2, 3], compared=[1])
    commit(table, values=[deleted, deleted], counted=counted)
    said = (
        f"{address} has rows that are deleted by their values (2 files of equality deletes, as "
        "Flink writes them), which pyiceberg does not apply: rewrite its data files, in Spark by "
        "CALL system.rewrite_data_files with the option delete-file-threshold = 1, or have Spark "
        "count it (source: sc://HOST:15002)"
    )
    assert message_of_rows(address) == said
    of_time = TimeRange(column="at", low=1_800_000_000, high=1_800_000_001)
    with pytest.raises(InputError, match="2 files of equality deletes"):
        list(open_lake(address).version.batches(["id"], of_time))
    with pytest.raises(InputError, match="2 files of equality deletes"):
        open_lake(address).scan(["id"], "at", (1_800_000_000, 1_800_000_001))
    table.refresh()
    table.overwrite(ROWS.slice(1))
    batches = open_lake(address).version.batches(["id"], None)
    assert [one for batch in batches for one in batch["id"].to_pylist()] == [2, 3]


def test_another_version_of_the_library_is_told_by_what_it_lacks(tmp_path, monkeypatch):
    catalog = iceberg_catalog(tmp_path, monkeypatch)
    address = iceberg_table(catalog, "made", ROWS, files=1)
    monkeypatch.delattr("pyiceberg.io.pyarrow._read_all_delete_files")
    monkeypatch.setattr(iceberg, "version", lambda _: "0.14.1")
    said = message_of_rows(address)
    assert said.startswith("pyiceberg 0.14.1 reads tables otherwise than 0.12 does (")
    assert said.endswith(": pip install 'pyiceberg==0.12.*'")


@pytest.mark.parametrize(
    ("address", "package", "extra"),
    [
        ("delta:///p", "deltalake", "delta"),
        ("iceberg://lake/fraud.made", "pyiceberg", "iceberg"),
    ],
)
def test_a_missing_extra_is_one_error_with_its_line(monkeypatch, address, package, extra):
    for name in list(sys.modules):
        if name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert message_of(ExtraMissingError, address) == (
        f"{address} is read with the package {package}, which is not installed: "
        f"pip install 'pumonitor[{extra}]'"
    )


def test_a_store_out_of_reach_is_said_without_a_key(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    said = message_of(SourceError, "delta://s3://bucket/p")
    assert said.startswith("delta://s3://bucket/p cannot be read: ")
    assert SECRET not in said
    assert "\x1b" not in said
    assert "\n" not in said


def test_a_catalog_out_of_reach_is_said_without_a_password(monkeypatch):
    uri = f"postgresql+psycopg://me:{SECRET.replace('/', '')}@127.0.0.1:9/none"
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", uri)
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    said = message_of(SourceError, "iceberg://lake/fraud.made")
    assert said.startswith("iceberg://lake/fraud.made cannot be read: ")
    assert "canary" not in said


def test_what_a_store_answers_is_masked(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    error = OSError(
        f"denied for {SECRET} at https://me:pw@host/p?sig=abc\n"
        "<Error><AWSAccessKeyId>AKID</AWSAccessKeyId></Error>"
    )
    said = str(failures.in_our_words(error, name="delta://s3://bucket/p", secrets=["denied"]))
    assert said == "delta://s3://bucket/p cannot be read: *** for *** at https://host/p"


def test_a_path_may_be_relative(tmp_path, monkeypatch):
    delta_table(tmp_path / "lake" / "made", ROWS)
    monkeypatch.chdir(tmp_path)
    assert open_lake("delta://lake/made").version.rows == 3
    assert Path("lake/made/_delta_log").is_dir()
