"""Links of a message: to the page of its window, and to the run of its series in MLflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit, urlunsplit

from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.monitor.delivery_ports import RunIds
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.alert import Transition

LinksOf = Callable[[Transition], Mapping[str, str]]
"""Returns the links (label to address) of what happened to an alert."""


def no_links(about: Transition) -> Mapping[str, str]:
    """Return no links."""
    del about
    return {}


def all_links(*kinds: LinksOf) -> LinksOf:
    """Make all links that the given functions make, in their order."""
    return lambda about: {
        label: address for links_of in kinds for label, address in links_of(about).items()
    }


def links_to_pages(at: PageAddresses) -> LinksOf:
    """Make links to the page of the window of which a message is."""

    def links_of(about: Transition) -> Mapping[str, str]:
        return {
            "page": at.window(about.monitor, about.window_start, about.model_version, about.segment)
        }

    return links_of


def links_to_runs(
    tracking: Tracking, run_ids: RunIds, configurations: Mapping[str, str]
) -> LinksOf:
    """Make links to the MLflow run of a series.

    `configurations` maps a monitor to the hash of its configuration, which is part of a run's key.

    There is no link before MLflow has the run, and none if results go to a file or database without
    a configured address of MLflow's pages.
    """

    def links_of(about: Transition) -> Mapping[str, str]:
        from pumonitor.monitor.delivery.mlflow.runs import run_key

        pages = _pages(tracking)
        if pages is None:
            return {}
        configuration = configurations.get(about.monitor, "")
        run_id = run_ids.get(run_key(about.monitor, about.model_version, configuration))
        return {} if run_id is None else {"mlflow": f"{pages}/#/runs/{run_id}"}

    return links_of


def _pages(tracking: Tracking) -> str | None:
    """Base address of MLflow's pages, without credentials; None if unknown."""
    parts = urlsplit(tracking.address if tracking.ui is None else tracking.ui.get())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
