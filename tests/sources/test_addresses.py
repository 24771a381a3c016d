"""What an address of files means, before anything is asked over the network."""

import tomllib
from pathlib import Path

import pytest

from pumonitor.errors import InputError, SourceError
from pumonitor.monitor.config.file import configuration_meaning, read_configuration_text
from pumonitor.monitor.config.sections.sources import Source
from pumonitor.sources.reach.places import connect, place_of_files
from pumonitor.sources.reach.remote_files import remote_files

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  shop:
    predictions: {source: "ADDRESS", id: id, time: time, score: score}
    positives: {source: labels.csv, id: id, known_at: known}
    window: 1d
    maturity: 30d
    threshold: 0.5
"""
SIGNED = "https://host/scored/p.parquet?X-Amz-Credential=a/b&X-Amz-Signature=canary/c"


def test_a_pattern_in_a_store():
    files = remote_files("s3://bucket/scored/day=*/part-[01].parquet")
    assert files.name == files.files[0] == "s3://bucket/scored/day=*/part-[01].parquet"
    assert (files.is_pattern, files.directory, files.kind) == (
        True,
        "s3://bucket/scored/",
        "parquet",
    )


@pytest.mark.parametrize(
    ("address", "name", "kind"),
    [
        (SIGNED, "https://host/scored/p.parquet", "parquet"),
        ("https://me:canary@host/a/labels.csv.gz", "https://host/a/labels.csv.gz", "csv"),
        ("HTTP://host/a[1].NDJSON#canary", "http://host/a[1].NDJSON", "json"),
        ("gs://bucket/labels.csv.zst", "gs://bucket/labels.csv.zst", "csv"),
    ],
)
def test_one_file(address, name, kind):
    files = remote_files(address)
    assert (files.name, files.kind, files.is_pattern) == (name, kind, False)
    assert "canary" not in repr(files)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("ftp://me:canary@host/p.parquet?token=canary", "ftp://host/p.parquet is an address of"),
        ("https://host/labels?sig=canary", "https://host/labels must end in one of .parquet, .pq"),
        (
            "s3://bucket/day=1/",
            "which shows the format of the files; for all files in it, s3://bucket/day=1/*.par",
        ),
        ("s3://bucket", "for all files in it, s3://bucket/*.parquet"),
        ("https://host/day=*/p.parquet", "is a pattern, and web servers do not list their files"),
        ("s3://bucket/p-?.parquet", "s3://bucket/p-?.parquet has a question mark, which a store's"),
        ("s3://b/p.parquet?s3_secret_access_key=canary", "s3://b/p.parquet has a question mark"),
        ("s3://me:canary@bucket/p.parquet", "s3://bucket/p.parquet is written with a user before"),
    ],
)
def test_addresses_that_are_not_read(address, expected):
    with pytest.raises(InputError) as caught:
        remote_files(address)
    assert expected in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_new_signature_is_no_other_source():
    sources = [Source(path=SIGNED.replace("canary", mark)) for mark in ("canary1", "canary2")]
    assert sources[0].identity == sources[1].identity == {"path": "https://host/scored/p.parquet"}
    assert sources[0].name == "https://host/scored/p.parquet"
    assert Source(path="data/p?.csv?x=1").identity == {"path": "data/p?.csv?x=1"}


def test_a_signature_is_not_written_into_a_configuration():
    with pytest.raises(InputError) as caught:
        read_configuration_text(CONFIGURATION.replace("ADDRESS", SIGNED), environment={})
    assert "contains a secret (X-Amz-Signature=...): put it in the environment" in str(caught.value)
    assert "canary" not in str(caught.value)
    variable = CONFIGURATION.replace("ADDRESS", "${SCORED}")
    meanings = []
    for signature in ("canary1", "canary2"):
        signed = SIGNED.replace("canary", signature)
        file = read_configuration_text(variable, environment={"SCORED": signed})
        monitor = file.configuration.monitors["shop"]
        assert monitor.predictions.source.location == signed
        assert "canary" not in repr(file)
        meanings.append(configuration_meaning(monitor))
    assert meanings[0] == meanings[1]


@pytest.mark.parametrize("address", ["s3://bucket/p.parquet", "https://host/p.parquet"])
def test_without_the_extension(environment, address):
    environment.setattr("pumonitor.sources.reach.remote_access.find_spec", lambda _name: None)
    with pytest.raises(SourceError, match=f"^{address} is an address, which DuckDB") as caught:
        connect([place_of_files(address)], without=())
    # The package itself is on no index: the message names what is, as the extra pins it.
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    packages = project["optional-dependencies"]["remote"]
    assert len(packages) == 2
    assert all(package in str(caught.value) for package in packages)
    assert "INSTALL httpfs" in str(caught.value)
    assert "pumonitor[" not in str(caught.value)
