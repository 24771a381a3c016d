"""Fetch a file over HTTP: taken up where it stopped, checked, and there whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from benchmarks.datasets.errors import FetchError

if TYPE_CHECKING:
    import requests

__all__ = ["Report", "download"]

Report = Callable[[int, int | None], None]
"""Called with the bytes that are here and the bytes there will be, None when nobody says."""

_CONNECT_SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 60.0
_BLOCK: Final = 1 << 16
_SPARE: Final = 1 << 20


def download(
    address: str,
    to: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    report: Report = lambda here, all_: None,
    timeout: tuple[float, float] = (_CONNECT_SECONDS, _SILENT_SECONDS),
) -> Path:
    """Fetch the file of an address.

    Parameters
    ----------
    address : str
        http or https.
    to : Path
        Where the file will be. Until it is whole it is ``<to>.part``, which a later call takes up.
    sha256 : str, optional
        That the file must have.
    size : int, optional
        Bytes the file has, for servers that do not say.
    report : callable
        Is told how far it is.
    timeout : (float, float)
        Seconds to wait for a connection, and for the next bytes.

    Returns
    -------
    Path
        `to`.

    Raises
    ------
    FetchError
        If the host does not answer, has no such file, sends another file than the digest says, or
        there is no room for it. The message names the address and what to do.
    """
    part = to.with_name(f"{to.name}.part")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        _transfer(address, part, size=size, report=report, timeout=timeout, sha256=sha256)
        part.replace(to)
    except OSError as error:
        raise FetchError(_of_the_disk(error, to.parent, size)) from error
    return to


def _transfer(
    address: str,
    part: Path,
    *,
    size: int | None,
    report: Report,
    timeout: tuple[float, float],
    sha256: str | None,
) -> None:
    import requests

    began_with = _size(part)
    while True:
        before = _size(part)
        try:
            _append(address, part, size=size, report=report, timeout=timeout)
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ReadTimeout) as error:
            # Each try must bring something, so that this comes to an end.
            if _size(part) > before:
                continue
            raise FetchError(
                f"{address}: the transfer broke off after {before:,} bytes ({_reason(error)}); "
                "run it again to continue from there"
            ) from None
        except requests.exceptions.RequestException as error:
            host = urlsplit(address).netloc
            raise FetchError(
                f"{host} cannot be reached ({_reason(error)}): check the network, and whether a "
                "proxy is needed (HTTPS_PROXY)",
                unreachable=host,
            ) from None
        digest = hashlib.sha256(part.read_bytes()).hexdigest()
        if sha256 in (None, digest):
            return
        length = _size(part)
        part.unlink()
        if not began_with:
            raise FetchError(
                f"{address}: the file has SHA-256 {digest} ({length:,} bytes), expected {sha256}; "
                "it is another version, or was changed on its way. Nothing was kept"
            )
        began_with = 0  # what an earlier call left was of another file: once more from the start


def _append(
    address: str, part: Path, *, size: int | None, report: Report, timeout: tuple[float, float]
) -> None:
    import requests

    here = _size(part)
    # Bytes as stored: compressed ones could not be counted on from where the file stops.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={here}-"} if here else {})
    with requests.get(address, headers=headers, stream=True, timeout=timeout) as answer:
        if answer.status_code == requests.codes.requested_range_not_satisfiable:
            return  # all of it is here, or more; the digest tells
        if not answer.ok:
            raise FetchError(_of_the_status(answer, address))
        goes_on = answer.headers.get("Content-Range", "").startswith(f"bytes {here}-")
        if not goes_on:
            here = 0
        length = answer.headers.get("Content-Length", "")
        total = here + int(length) if length.isdigit() else size
        _refuse_without_room(part.parent, (total or 0) - here)
        with part.open("ab" if here else "wb") as file:
            for block in answer.iter_content(_BLOCK):
                file.write(block)
                here += len(block)
                report(here, total)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _refuse_without_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed + _SPARE > free:
        raise OSError(errno.ENOSPC, "No space left on device")


def _of_the_disk(error: OSError, folder: Path, size: int | None) -> str:
    if error.errno == errno.ENOSPC:
        needed = f": {size:,} bytes are needed" if size else ""
        return f"no room left in {folder}{needed}; make room, or name another: PUMONITOR_DATA=/path"
    return f"cannot write in {folder} ({error.strerror}); name another: PUMONITOR_DATA=/path"


def _of_the_status(answer: requests.Response, address: str) -> str:
    status = f"{address}: HTTP {answer.status_code} {answer.reason}"
    if answer.status_code in (404, 410):
        return f"{status}; the archive has moved the file, look for it by its title"
    if answer.status_code == 429 or answer.status_code >= 500:
        return f"{status}; the archive is out of order or busy, try again later"
    return status


def _reason(error: Exception) -> str:
    """What is at the bottom of nested errors of the network, in a few words."""
    while True:
        inner = getattr(error, "reason", None) or (error.args[0] if error.args else None)
        if not isinstance(inner, Exception):
            break
        error = inner
    return str(error).rpartition(": ")[2] or type(error).__name__
