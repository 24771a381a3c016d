"""Decide from the stored state of the last round whether a monitor has work to do."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pumonitor import __version__
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.sources import Source
from pumonitor.monitor.ledger.standings import Standing
from pumonitor.monitor.windows.due.due_windows import end_of_windows
from pumonitor.sources.reach.locations import matching_files

_VERSION: Final = 1
"""Version of the evaluation of rules; when it changes, all alerts are folded once more."""


def all_planned(
    monitor: Monitor,
    standing: Standing,
    *,
    files: str | None,
    now: datetime,
) -> bool:
    """Whether all windows due by now are in the ledger, decided without reading tables.

    Files have to be read if they changed; other tables once a window has ended since.

    Parameters
    ----------
    monitor : Monitor
    standing : Standing
        Of its current configuration.
    files : str or None
        As `files_digest` finds them now.
    now : datetime
    """
    if standing.files != files:
        return False
    if standing.last_prediction is None or standing.planned_until is None:
        # There were none: files are as they were, others may have some by now.
        return files is not None
    if monitor.windows.containing(standing.planned_until).end > now:
        return True
    return files is not None and (
        end_of_windows(monitor, standing.last_prediction) <= standing.planned_until
    )


def is_quiet(standing: Standing | None, *, rules: str, now: datetime) -> bool:
    """Whether a monitor's alerts need no evaluation now.

    Parameters
    ----------
    standing : Standing or None
    rules : str
        As `rules_digest` says.
    now : datetime
    """
    return (
        standing is not None
        and standing.rules == rules
        and standing.quiet_until is not None
        and now < standing.quiet_until
    )


def rules_digest(monitor: Monitor, configuration: str) -> str:
    """Hash of everything but results that alerts depend on, including the version of the code."""
    meaning = {
        "version": [_VERSION, __version__],
        "configuration": configuration,
        "rules": [rule.model_dump(mode="json", exclude_defaults=True) for rule in monitor.rules],
    }
    return _hash(meaning)


def files_digest(monitor: Monitor) -> str | None:
    """Hash of the names, sizes and times of a monitor's files; None where it has other tables."""
    sources = (monitor.predictions.source, monitor.positives.source)
    if any(not is_local(source) for source in sources):
        return None
    return _hash([stamps_of(source) for source in sources])


def may_be_read(monitor: Monitor) -> bool:
    """Whether this process may read the files of a monitor, as far as it has any."""
    sources = (monitor.predictions.source, monitor.positives.source)
    return all(
        os.access(path, os.R_OK)
        for source in sources
        if is_local(source)
        for path in matching_files(Path(source.location))
    )


def is_local(source: Source) -> bool:
    """Whether a table is of files of this machine."""
    return source.path is not None and "://" not in source.location


def stamps_of(source: Source) -> list[list[Any]]:
    """Name, size, time and number of each file of a table."""
    found = []
    for path in matching_files(Path(source.location)):
        try:
            seen = os.stat(path)  # noqa: PTH116 (a tenth of the time that Path takes)
        except OSError:
            continue
        found.append([str(path), seen.st_size, seen.st_mtime_ns, seen.st_ino])
    return found


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
