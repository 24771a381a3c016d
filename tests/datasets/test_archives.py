"""Files out of downloads: zips in zips, compressed members, what is damaged or too large."""

import gzip
import io
import zipfile

import pytest

from benchmarks.datasets import archives
from benchmarks.datasets.archives import member
from benchmarks.datasets.errors import DatasetWrongError


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    "download",
    [
        zipped({"Index": b"no", "a.data": b"aba"}),
        zipped({"folder/a.data": b"aba", "b.data": b"no"}),
        zipped({"a.data.gz": gzip.compress(b"aba", mtime=0)}),
        zipped({"a.data.Z": bytes.fromhex("1f9d9061c48401")}),
        zipped({"other.zip": zipped({"b": b"no"}), "inner.zip": zipped({"x/a.data": b"aba"})}),
        gzip.compress(b"aba", mtime=0),
        b"aba",
    ],
    ids=["zip", "folder", "gz in zip", "Z in zip", "zip in zip", "gz", "plain"],
)
def test_the_file_is_found_wherever_it_is(tmp_path, download):
    (tmp_path / "set").write_bytes(download)
    assert member(tmp_path / "set", "a.data") == b"aba"


def test_a_file_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "set.zip"
    path.write_bytes(zipped({"data.a.data": b"1", "b.zip": zipped({"c": b"2"})}))
    with pytest.raises(DatasetWrongError, match=rf"{path} holds no file a\.data"):
        member(path, "a.data")


@pytest.mark.parametrize(
    "download",
    [
        zipped({"a.data": b"aba" * 1000})[:-30],
        gzip.compress(b"aba" * 1000, mtime=0)[:-12],
        zipped({"a.data.gz": gzip.compress(b"aba" * 1000, mtime=0)[:-12]}),
        zipped({"a.data.Z": bytes.fromhex("1f9d9061fe03")}),
    ],
    ids=["zip", "gz", "gz in zip", "Z in zip"],
)
def test_a_damaged_download_is_refused_by_name(tmp_path, download):
    path = tmp_path / "set.zip"
    path.write_bytes(download)
    with pytest.raises(DatasetWrongError, match=rf"^{path}( is|:) damaged"):
        member(path, "a.data")


@pytest.mark.parametrize("inside", ["a.data", "a.data.gz"])
def test_what_would_fill_the_memory_is_not_unpacked(tmp_path, monkeypatch, inside):
    monkeypatch.setattr(archives, "LARGEST", 5000)
    path = tmp_path / "set.zip"
    content = b"a" * 6000
    path.write_bytes(zipped({inside: gzip.compress(content) if inside.endswith("gz") else content}))
    with pytest.raises(DatasetWrongError, match=r"(6,000|more than 5,000) bytes unpacked"):
        member(path, "a.data")
