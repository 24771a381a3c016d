"""Links of a message to pages of MLflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit, urlunsplit

from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.ports import RunIds

__all__ = ["LinksOf", "links_to_runs", "no_links"]

LinksOf = Callable[[str, str], Mapping[str, str]]
"""Returns the links (label to address) for a monitor and model version."""


def no_links(monitor: str, model_version: str) -> Mapping[str, str]:
    """Return no links."""
    del monitor, model_version
    return {}


def links_to_runs(
    tracking: Tracking, run_ids: RunIds, configurations: Mapping[str, str]
) -> LinksOf:
    """Make links to the MLflow run of a series.

    `configurations` maps a monitor to the hash of its configuration, which is part of a run's key.

    There is no link before MLflow has the run, and none if results go to a file or database without
    a configured address of MLflow's pages.
    """

    def links_of(monitor: str, model_version: str) -> Mapping[str, str]:
        from pumonitor.monitor.delivery.mlflow.runs import run_key

        pages = _pages(tracking)
        if pages is None:
            return {}
        run_id = run_ids.get(run_key(monitor, model_version, configurations.get(monitor, "")))
        return {} if run_id is None else {"mlflow": f"{pages}/#/runs/{run_id}"}

    return links_of


def _pages(tracking: Tracking) -> str | None:
    """Base address of MLflow's pages, without credentials; None if unknown."""
    parts = urlsplit(tracking.address if tracking.ui is None else tracking.ui.get())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
