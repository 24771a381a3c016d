"""Links from runs and experiments of MLflow to the pages: a tag, and a line in the note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pumonitor.monitor.delivery.mlflow.notes import NOTE_TAG, with_page
from pumonitor.monitor.delivery.mlflow.runs import EXPERIMENT_PREFIX, LongRuns
from pumonitor.monitor.page_addresses import PageAddresses

if TYPE_CHECKING:
    from mlflow import MlflowClient

PAGE_TAG: Final = "pumonitor.page"


def page_tags(tags: Mapping[str, str], address: str) -> dict[str, str]:
    """The tag with the address, and the note with its line, beside what the note says already."""
    return {PAGE_TAG: address, NOTE_TAG: with_page(tags.get(NOTE_TAG, ""), address)}


def link_experiment(
    client: MlflowClient, runs: LongRuns, monitor: str, pages: PageAddresses
) -> None:
    """Link a monitor's experiment to its page; if the address has changed, all its runs as well."""
    experiment = client.get_experiment_by_name(EXPERIMENT_PREFIX + monitor)
    if experiment is None:
        return
    wanted = _changed(experiment.tags, pages.monitor(monitor))
    if PAGE_TAG in wanted:
        for run in runs.all_of(monitor):
            version = run.data.tags.get("pumonitor.model_version", "")
            address = pages.monitor(monitor, version=version)
            for name, value in _changed(run.data.tags, address).items():
                client.set_tag(run.info.run_id, name, value, synchronous=True)
    # The experiment last: where this is cut short, it begins again.
    for name, value in wanted.items():
        client.set_experiment_tag(experiment.experiment_id, name, value)


def _changed(tags: Mapping[str, str], address: str) -> dict[str, str]:
    wanted = page_tags(tags, address)
    return {name: value for name, value in wanted.items() if tags.get(name) != value}
