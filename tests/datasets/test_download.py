"""Fetching a file, against a server on this machine that breaks off, lies, and is silent."""

import errno
import hashlib
import os
import shutil
import socket
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.datasets.download import download
from benchmarks.datasets.errors import FetchError

CONTENT = np.random.default_rng(0).bytes(200_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def address(archive):
    archive.files["/set.zip"] = CONTENT
    return f"{archive.address}/set.zip"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_arrives_whole_and_nothing_else_is_left(address, tmp_path):
    seen = []
    to = tmp_path / "new" / "set.zip"
    download(address, to, sha256=DIGEST, report=lambda here, all_: seen.append((here, all_)))
    assert to.read_bytes() == CONTENT
    assert names_in(to.parent) == ["set.zip"]
    assert seen[-1] == (200_000, 200_000)
    assert [here for here, _ in seen] == sorted({here for here, _ in seen})


def test_what_an_earlier_call_left_is_taken_up(archive, address, tmp_path):
    (tmp_path / "set.zip.part").write_bytes(CONTENT[:150_000])
    seen = []
    to = download(
        address, tmp_path / "set.zip", sha256=DIGEST, report=lambda *bytes_: seen.append(bytes_)
    )
    assert archive.asked == ["bytes=150000-"]
    assert to.read_bytes() == CONTENT
    assert seen[0] == (200_000, 200_000)


def test_all_of_it_was_there_already(archive, address, tmp_path):
    (tmp_path / "set.zip.part").write_bytes(CONTENT)
    assert download(address, tmp_path / "set.zip", sha256=DIGEST).read_bytes() == CONTENT
    assert archive.asked == ["bytes=200000-"]


def test_a_transfer_that_breaks_off_goes_on_by_itself(archive, address, tmp_path):
    archive.cut_after = [65_536, 65_536]
    assert download(address, tmp_path / "set.zip", sha256=DIGEST).read_bytes() == CONTENT
    assert archive.asked == ["", "bytes=65536-", "bytes=131072-"]


def test_a_server_that_sends_nothing_more_is_given_up_and_what_is_here_is_kept(
    archive, address, tmp_path
):
    archive.cut_after = [65_536, 0]
    with pytest.raises(FetchError, match="broke off after 65,536 bytes") as caught:
        download(address, tmp_path / "set.zip", sha256=DIGEST)
    assert str(caught.value).endswith("run it again to continue from there")
    assert (tmp_path / "set.zip.part").read_bytes() == CONTENT[:65_536]
    assert download(address, tmp_path / "set.zip", sha256=DIGEST).read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_of_it_again(archive, address, tmp_path):
    archive.ranges = False
    (tmp_path / "set.zip.part").write_bytes(CONTENT[:1000])
    assert download(address, tmp_path / "set.zip", sha256=DIGEST).read_bytes() == CONTENT


def test_the_size_of_the_table_stands_in_for_a_server_that_does_not_say(archive, address, tmp_path):
    archive.with_length = False
    seen = []
    download(
        address,
        tmp_path / "set.zip",
        sha256=DIGEST,
        size=200_000,
        report=lambda *bytes_: seen.append(bytes_),
    )
    assert seen[-1] == (200_000, 200_000)


def test_remains_of_another_version_are_thrown_away_once(archive, address, tmp_path):
    (tmp_path / "set.zip.part").write_bytes(b"x" * 1000)
    assert download(address, tmp_path / "set.zip", sha256=DIGEST).read_bytes() == CONTENT
    assert archive.asked == ["bytes=1000-", ""]


def test_a_file_with_another_digest_is_refused_and_the_old_one_stays(archive, address, tmp_path):
    (tmp_path / "set.zip").write_bytes(b"old")
    expected = "0" * 64
    with pytest.raises(FetchError) as caught:
        download(address, tmp_path / "set.zip", sha256=expected)
    assert str(caught.value) == (
        f"{address}: the file has SHA-256 {DIGEST} (200,000 bytes), expected {expected}; "
        "it is another version, or was changed on its way. Nothing was kept"
    )
    assert names_in(tmp_path) == ["set.zip"]
    assert (tmp_path / "set.zip").read_bytes() == b"old"
    assert archive.asked == [""]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (404, "HTTP 404 Not Found; the archive has moved the file, look for it by its title"),
        (503, "HTTP 503 Service Unavailable; the archive is out of order or busy, try again later"),
        (403, "HTTP 403 Forbidden"),
    ],
)
def test_what_the_archive_answers_is_told(archive, address, tmp_path, status, told):
    archive.status = status
    with pytest.raises(FetchError) as caught:
        download(address, tmp_path / "set.zip", sha256=DIGEST)
    assert str(caught.value) == f"{address}: {told}"
    assert caught.value.unreachable is None
    assert names_in(tmp_path) == []


def test_a_host_that_does_not_answer_is_named(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(FetchError) as caught:
            download(f"http://{host}/set.zip", tmp_path / "set.zip")
    assert str(caught.value) == (
        f"{host} cannot be reached ([Errno 111] Connection refused): check the network, and "
        "whether a proxy is needed (HTTPS_PROXY)"
    )
    assert caught.value.unreachable == host


def test_a_host_that_stays_silent_is_given_up(archive, address, tmp_path):
    archive.silent = threading.Event()
    with pytest.raises(FetchError, match="broke off after 0 bytes"):
        download(address, tmp_path / "set.zip", timeout=(1.0, 0.05))


def test_a_full_disk_is_said_before_anything_is_written(address, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_100_000))
    with pytest.raises(FetchError) as caught:
        download(address, tmp_path / "set.zip", sha256=DIGEST, size=200_000)
    assert str(caught.value) == (
        f"no room left in {tmp_path}: 200,000 bytes are needed; make room, or name another: "
        "PUMONITOR_DATA=/path"
    )
    assert names_in(tmp_path) == []


def test_a_disk_that_fills_up_meanwhile_is_said(address, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(FetchError, match=f"no room left in {tmp_path}; make room"):
        download(address, tmp_path / "set.zip", sha256=DIGEST)


def test_a_folder_that_cannot_be_written_is_named(address, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FetchError) as caught:
        download(address, tmp_path / "file" / "set.zip")
    assert str(caught.value) == (
        f"cannot write in {tmp_path / 'file'} (File exists); name another: PUMONITOR_DATA=/path"
    )
