"""Take a file out of an archive's download: a zip, a zip in a zip, gzip, Unix compress, or bare."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from benchmarks.datasets.errors import DatasetWrongError
from benchmarks.datasets.lzw import MAGIC, decompressed

__all__ = ["LARGEST", "member"]

LARGEST: Final = 100_000_000
"""Bytes that a file may have when unpacked; the largest of the table has 30 million."""


def member(path: Path, name: str) -> bytes:
    """The content of a file in a download.

    Parameters
    ----------
    path : Path
        The download.
    name : str
        Name of the file in it, without folders and without an ending .gz or .Z. A download that is
        no zip is that file itself.

    Raises
    ------
    DatasetWrongError
        If the file is not there, is damaged, or is larger than `LARGEST` when unpacked.
    """
    try:
        found = _found(path.read_bytes(), name)
    except (zipfile.BadZipFile, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise DatasetWrongError(f"{path} is damaged: {error}; remove it") from None
    except DatasetWrongError as error:
        raise DatasetWrongError(f"{path}: {error}") from None
    if found is None:
        raise DatasetWrongError(f"{path} holds no file {name}")
    return found


def _found(data: bytes, name: str) -> bytes | None:
    if not data.startswith(b"PK"):
        return _unpacked(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        for entry in entries:
            if entry.file_size > LARGEST:
                raise DatasetWrongError(f"{entry.filename} has {entry.file_size:,} bytes unpacked")
        for entry in entries:
            if PurePosixPath(entry.filename).name in (name, f"{name}.gz", f"{name}.Z"):
                return _unpacked(archive.read(entry))
        for entry in entries:
            if entry.filename.endswith(".zip"):
                inner = _found(archive.read(entry), name)
                if inner is not None:
                    return inner
    return None


def _unpacked(data: bytes) -> bytes:
    if data.startswith(MAGIC):
        return decompressed(data)
    if not data.startswith(b"\x1f\x8b"):
        return data
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        content = packed.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DatasetWrongError(f"more than {LARGEST:,} bytes unpacked")
    return content
