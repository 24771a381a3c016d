"""Where people see more of what an alert is about: pages of MLflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit, urlunsplit

from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.ports import RunIds

__all__ = ["LinksOf", "links_to_runs", "no_links"]

LinksOf = Callable[[str, str], Mapping[str, str]]
"""From a monitor and model version to addresses by what is there."""


def no_links(monitor: str, model_version: str) -> Mapping[str, str]:
    """There is nothing to see."""
    del monitor, model_version
    return {}


def links_to_runs(
    tracking: Tracking, run_ids: RunIds, configurations: Mapping[str, str]
) -> LinksOf:
    """Addresses of the run that has a series, for browsers.

    `configurations` are hashes by monitor: a run is of one of them.

    None before MLflow has the run, and none where results go to a file or a database and no
    address of its pages is given.
    """
    pages = _pages(tracking)
    if pages is None:
        return no_links

    def links_of(monitor: str, model_version: str) -> Mapping[str, str]:
        from pumonitor.monitor.delivery.mlflow.runs import run_key

        run_id = run_ids.get(run_key(monitor, model_version, configurations.get(monitor, "")))
        return {} if run_id is None else {"mlflow": f"{pages}/#/runs/{run_id}"}

    return links_of


def _pages(tracking: Tracking) -> str | None:
    """Where MLflow's pages begin, without a login."""
    parts = urlsplit(tracking.ui or tracking.address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
