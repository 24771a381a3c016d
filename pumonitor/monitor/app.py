"""Composition root: builds ledger, worker and sinks from a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from pumonitor.errors import InputError, no_such
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery_ports import Sink
from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.shared_clock import SharedClock
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.ports import Clock, PredictionSource

if TYPE_CHECKING:
    from pumonitor.monitor.alerts.links import LinksOf
    from pumonitor.monitor.challenging.judged import Scored
    from pumonitor.monitor.delivery.mlflow.limits import Limits
    from pumonitor.monitor.delivery.sending.delivery import Deliverer, Patience
    from pumonitor.monitor.jobs import Jobs
    from pumonitor.monitor.promotion.promoter import Promoter


def utc_now() -> datetime:
    """The time now."""
    return datetime.now(UTC)


def chosen_monitors(configuration: Configuration, name: str | None) -> dict[str, Monitor]:
    """One monitor by its name, or all.

    Raises
    ------
    InputError
        If no monitor has that name.
    """
    if name is None:
        return dict(configuration.monitors)
    if name not in configuration.monitors:
        raise InputError(no_such("monitor", name, configuration.monitors))
    return {name: configuration.monitors[name]}


def open_ledger(
    configuration: Configuration, *, rules: WorkRules | None = None, migrates: bool = False
) -> Ledger:
    """Open the ledger in the state database, which is created if needed.

    Parameters
    ----------
    configuration : Configuration
    rules : WorkRules, optional
    migrates : bool
        Whether tables of an older version of pumonitor are brought up to date; only workers do.
    """
    return Ledger.open(
        configuration.state_address, rules=rules, mask=configuration.mask, migrates=migrates
    )


def shared_clock(ledger: Ledger) -> SharedClock:
    """The clock that decides what is due, and knows whether this machine's can be trusted."""
    return SharedClock(ledger.database, own=utc_now)


def promoter_of(
    configuration: Configuration,
    ledger: Ledger,
    *,
    limits: Limits | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Promoter | None:
    """What promotes models of the configured registry; None without one.

    Parameters
    ----------
    configuration : Configuration
    ledger : Ledger
    limits : Limits, optional
        Of one request to the registry.
    on_step : callable, optional
        As in `Promoter`.
    """
    tracking = configuration.tracking
    if tracking is None:
        return None
    from pumonitor.monitor.promotion.promoter import Promoter
    from pumonitor.monitor.promotion.registry import Registry

    return Promoter(
        ledger.promotions,
        Registry(tracking.registry_address, limits=limits, mask=configuration.mask),
        destinations=configuration.destinations,
        pages=configuration.page_addresses,
        on_step=on_step,
    )


@contextmanager
def open_jobs(
    configuration: Configuration,
    *,
    monitor: str | None = None,
    clock: Clock | None = None,
    as_of: datetime | None = None,
    deliver: bool = True,
    notify: bool = True,
    rules: WorkRules | None = None,
    patience: Patience | None = None,
    limits: Limits | None = None,
    open_source: Callable[[Monitor], PredictionSource] = open_monitor_source,
    on_step: Callable[[str], None] = lambda step: None,
    migrates: bool = True,
) -> Iterator[Jobs]:
    """Context with a worker for all monitors or one; it is closed at the end.

    Parameters
    ----------
    configuration : Configuration
    monitor : str, optional
        By default all monitors.
    clock : Clock, optional
        Decides which panes are due. Leases use the database's clock.
    as_of : datetime, optional
        Of tables in lakes the version is read that was the newest then; by default the newest.
        Another `open_source` decides that for itself.
    deliver : bool
        Whether this worker delivers messages of the outbox.
    notify : bool
        Whether notifications of alerts are sent; never for history.
    rules, patience, limits
        Settings of the ledger, of delivery and of one request to MLflow.
    open_source, on_step
        As in `Jobs`.
    migrates : bool
        Whether a state database of an older version is brought up to date.
    """
    # Imported here, so that commands that only read results start fast.
    from pumonitor.monitor.jobs import Jobs
    from pumonitor.monitor.windows.due.settled import files_digest

    monitors, tracking = chosen_monitors(configuration, monitor), configuration.tracking
    is_configured = open_source is open_monitor_source
    opening = partial(open_monitor_source, as_of=as_of) if is_configured else open_source
    with ExitStack() as stack:
        ledger = stack.enter_context(open_ledger(configuration, rules=rules, migrates=migrates))
        shared = shared_clock(ledger)
        if deliver and tracking is not None:
            from pumonitor.monitor.delivery.mlflow.limits import Limits

            stack.enter_context((limits or Limits()).around_threads())
        jobs = Jobs(
            monitors,
            ledger,
            open_source=opening,
            clock=clock or shared,
            check_clock=shared.check if clock is None else lambda: "",
            deliverer=_deliverer(configuration, ledger, patience=patience, limits=limits)
            if deliver
            else None,
            segment_metrics=None if tracking is None else tracking.segment_metrics,
            destinations=configuration.destinations,
            configured=tuple(configuration.monitors),
            place=configuration.place,
            links_of=_links_of(configuration, monitors, ledger),
            notify=notify,
            keep_delivered=configuration.keep_delivered,
            keep_evaluations=configuration.keep_evaluations,
            on_step=on_step,
            score_challengers=partial(_score_challengers, configuration),
            # Another `open_source` may not read the configured files, so their digest is no use.
            files_of=files_digest if is_configured else lambda monitor: None,
        )
        stack.callback(jobs.close)
        yield jobs


def _score_challengers(
    configuration: Configuration, monitor: Monitor, ledger: Ledger, **how: Any
) -> Scored:
    """Score and, where that is configured, promote; first of all settle what was interrupted.

    Loads statistics and MLflow with it, which monitors without challengers do without.
    """
    from dataclasses import replace

    from pumonitor.monitor.challenging.automatic import promote_automatically
    from pumonitor.monitor.challenging.judged import challengers_of, score_challengers
    from pumonitor.monitor.challenging.noted import judge_and_note, note_found

    promoter = promoter_of(configuration, ledger)
    if promoter is not None:
        promoter.heal()
    known = challengers_of(configuration, monitor)
    note_found(ledger, monitor, known)
    scored = score_challengers(configuration, monitor, ledger, challengers=known, **how)
    if promoter is not None:
        failed = promote_automatically(configuration, monitor, ledger, promoter)
        scored = replace(scored, failures=(*scored.failures, *failed))
    judge_and_note(ledger, monitor)
    return scored


def _links_of(
    configuration: Configuration, monitors: Mapping[str, Monitor], ledger: Ledger
) -> LinksOf:
    """What messages link to: pages and runs, as far as it is known where they are."""
    from pumonitor.monitor.alerts.links import all_links, links_to_pages, links_to_runs
    from pumonitor.monitor.config.file import configuration_hash

    kinds = []
    if configuration.page_addresses is not None:
        kinds.append(links_to_pages(configuration.page_addresses))
    if configuration.tracking is not None:
        hashes = {name: configuration_hash(one) for name, one in monitors.items()}
        kinds.append(links_to_runs(configuration.tracking, ledger.run_ids, hashes))
    return all_links(*kinds)


def notifier_of(
    configuration: Configuration,
    ledger: Ledger,
    *,
    patience: Patience | None = None,
    beside: Mapping[str, Sink] | None = None,
) -> Deliverer | None:
    """What sends notifications of the outbox to destinations; None without destinations.

    Parameters
    ----------
    configuration : Configuration
    ledger : Ledger
    patience : Patience, optional
    beside : mapping of str to Sink, optional
        Other destinations of the outbox that it sends to.
    """
    if not configuration.destinations:
        return None
    from pumonitor.monitor.alerts.notifiers import (
        NotifyingDeliverer,
        alert_sinks,
        series_reader,
    )

    notifiers = alert_sinks(configuration, read_series=series_reader(ledger), clock=utc_now)
    return NotifyingDeliverer(
        ledger, notifiers | dict(beside or {}), clock=utc_now, patience=patience
    )


def _deliverer(
    configuration: Configuration,
    ledger: Ledger,
    *,
    patience: Patience | None,
    limits: Limits | None,
) -> Deliverer | None:
    sinks = _mlflow_sinks(configuration, ledger, limits=limits)
    if configuration.destinations:
        return notifier_of(configuration, ledger, patience=patience, beside=sinks)
    if not sinks:
        return None
    from pumonitor.monitor.delivery.sending.delivery import Deliverer

    return Deliverer(ledger.outbox, sinks, clock=utc_now, patience=patience)


def _mlflow_sinks(
    configuration: Configuration, ledger: Ledger, *, limits: Limits | None
) -> dict[str, Sink]:
    tracking = configuration.tracking
    if tracking is None:
        return {}
    from pumonitor.monitor.delivery.mlflow.sink import DESTINATION, FILES_DESTINATION, MlflowSink
    from pumonitor.monitor.reports.period.summaries import is_summary, summary_files_of
    from pumonitor.monitor.reports.window_files import window_files_of

    def read_files(asked: Any) -> Mapping[str, str]:
        pages = configuration.page_addresses
        if not is_summary(asked):
            return window_files_of(configuration.monitors, ledger, asked, pages=pages)
        if tracking.summaries == "none":
            return {}
        return summary_files_of(configuration.monitors, ledger, asked, now=utc_now(), pages=pages)

    sink = MlflowSink(
        tracking.address,
        run_ids=ledger.run_ids,
        registry_uri=tracking.registry_address,
        read_files=read_files,
        pages=configuration.page_addresses,
        limits=limits,
    )
    return {DESTINATION: sink, FILES_DESTINATION: sink}
