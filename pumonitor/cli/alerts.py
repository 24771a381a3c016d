"""`pumonitor alerts`: list, acknowledge and silence alerts, and simulate other rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pumonitor.cli.alerts_shown import (
    print_current,
    print_history,
    print_in_full,
    print_replays,
)
from pumonitor.cli.changed_configuration import note_changed_configuration
from pumonitor.cli.moments import moment
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, MonitorName, SomeMonitor
from pumonitor.cli.opened import opened_ledger
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar
from pumonitor.plain_text import series_of
from pumonitor.text import moment_text

__all__ = ["alerts"]

alerts = typer.Typer(no_args_is_help=True)

Rule = Annotated[str | None, typer.Option(metavar="NAME", help="Only alerts of this rule.")]
Segment = Annotated[
    str | None, typer.Option(metavar="COLUMN=VALUE", help="Only alerts of this segment.")
]
Version = Annotated[
    str | None, typer.Option(metavar="VERSION", help="Only alerts of this model version.")
]
Reason = Annotated[
    str, typer.Option(metavar="TEXT", help="Reason. It is stored with your name and the time.")
]


@alerts.callback()
def _alerts() -> None:
    """List alerts, acknowledge or silence them, and try out other rules."""


@alerts.command(name="list")
def list_alerts(
    monitor: SomeMonitor = None,
    *,
    history: Annotated[
        bool,
        typer.Option(
            "--history",
            help="List past incidents with their causes, who was notified, and what people did.",
        ),
    ] = False,
    firing: Annotated[bool, typer.Option("--firing", help="Only alerts that are firing.")] = False,
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="With --history: only from this time on."),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """List all alerts with their state and newest values; with --history, past incidents.

    With pages: address in the configuration, the page of each firing alert too (in JSON: page).
    The JSON has the fields of the API's alerts, with --history those of its history.

    Example: pumonitor alerts list card-fraud --history
    """
    from pumonitor.cli.terminal import Console, print_json

    with opened_ledger(config, monitor) as (configuration, monitors, ledger):
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.inspection.alerts_shown import alert_views
        from pumonitor.monitor.inspection.incidents import alert_event_views

        earliest = None if since is None else moment(since, option="--since")
        now, pages = utc_now(), configuration.page_addresses
        silences = ledger.alerts.silences(at=now)
        current = alert_views(ledger, now=now, monitors=monitors, in_full=as_json, pages=pages)
        events = alert_event_views(
            ledger,
            [one for name in monitors for one in ledger.alerts.history(name, since=earliest)],
            pages,
        )
    if not any(one.rules for one in monitors.values()):
        without = "There are no rules, so no alert can fire: add rules to the configuration."
    elif current:
        without = "No alert is firing."
    else:
        without = (
            "No rule has been evaluated yet: pumonitor run and pumonitor backfill evaluate rules."
        )
    if firing:
        current = [one for one in current if one.is_firing]
    console = Console(highlight=False)
    if as_json:
        print_json(events if history else current)
    elif history:
        print_history(console, events)
    else:
        print_current(console, current, silences, without=without)


@alerts.command()
def show(
    monitor: MonitorName,
    *,
    rule: Rule = None,
    segment: Segment = None,
    model_version: Version = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Show the alerts that fire: since when, why, what to do, and what people did about them.

    Example: pumonitor alerts show card-fraud
    """
    from pumonitor.cli.terminal import Console, print_json

    with opened_ledger(config, monitor) as (configuration, monitors, ledger):
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.inspection.alerts_shown import alert_views
        from pumonitor.monitor.views.alerts import by_urgency
        from pumonitor.monitor.views.incidents import incident_views

        alerts = alert_views(
            ledger,
            now=utc_now(),
            monitors=monitors,
            firing=True,
            in_full=True,
            pages=configuration.page_addresses,
        )
    shown = by_urgency(
        alert
        for alert in alerts
        if (rule is None or rule in (alert.rule, alert.rule_key))
        and segment in (None, alert.segment)
        and model_version in (None, alert.model_version)
    )
    if as_json:
        print_json(shown)
    else:
        print_in_full(Console(highlight=False), incident_views(shown))


@alerts.command()
def ack(
    monitor: MonitorName,
    *,
    rule: Rule = None,
    segment: Segment = None,
    model_version: Version = None,
    reason: Reason = "",
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Acknowledge the alerts that fire now.

    No more reminders are sent for them. You are still notified when they are resolved.

    Example: pumonitor alerts ack card-fraud --rule "f1 below 0.75" --reason "retraining"
    """
    which = {"monitor": monitor, "rule": rule, "segment": segment, "model_version": model_version}
    _change("acknowledge", config, reason, done="acknowledged", **which)


@alerts.command()
def unack(
    monitor: MonitorName,
    *,
    rule: Rule = None,
    segment: Segment = None,
    model_version: Version = None,
    reason: Reason = "",
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Take the acknowledgement of firing alerts back, so that reminders are sent again.

    Example: pumonitor alerts unack card-fraud --rule "f1 below 0.75"
    """
    which = {"monitor": monitor, "rule": rule, "segment": segment, "model_version": model_version}
    _change("take_back", config, reason, done="no longer acknowledged", **which)


def _change(change: str, config: Path, reason: str, *, done: str, **which: str | None) -> None:
    """Acknowledge alerts as the local user, or take that back, and print their incidents."""
    with opened_ledger(config, which["monitor"]) as opened:
        from pumonitor.monitor import changes
        from pumonitor.monitor.ledger.by_people import ChosenAlerts

        chosen = ChosenAlerts(**which)  # type: ignore[arg-type]
        (monitor,) = opened.monitors.values()
        alerts = getattr(changes, change)(
            opened.ledger, monitor, chosen, by=changes.local_user(), reason=reason
        )
    for alert in alerts:
        about = f"{alert.rule} {series_of(alert.model_version, alert.segment)}".strip()
        typer.echo(f"{done}: {about}, incident {alert.incident}")


@alerts.command()
def silence(
    monitor: MonitorName,
    *,
    until: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="End of the silence: a date, a time, or a duration such as 2d or 6h.",
        ),
    ],
    rule: Rule = None,
    segment: Segment = None,
    model_version: Version = None,
    metric: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Only alerts on this metric.")
    ] = None,
    reason: Reason = "",
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Mute matching alerts until a time.

    The alerts are still evaluated. For those that still fire when the silence ends, a notification
    is sent then.

    Example: pumonitor alerts silence card-fraud --until 2d --reason "planned migration"
    """
    with opened_ledger(config, monitor) as opened:
        from pumonitor.cli.metric_option import checked_metric
        from pumonitor.monitor import changes
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.ledger.records.alerts import Silence

        if metric is not None:
            checked_metric(metric, option="--metric")
        now = utc_now()
        wanted = Silence(
            starts=now,
            ends=changes.silence_end(until, now=now, what="--until"),
            rule=rule,
            metric=metric,
            model_version=model_version,
            segment=segment,
            reason=reason,
            author=changes.local_user(),
        )
        stored = changes.silence(opened.ledger, opened.monitors[monitor], wanted)
    typer.echo(f"silence {stored.id} until {moment_text(stored.ends)}")


@alerts.command()
def unsilence(
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", help="Number of the silence; alerts list shows it.")
    ],
    *,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """End a silence now. Example: pumonitor alerts unsilence 3."""
    with opened_ledger(config) as opened:
        from pumonitor.monitor.app import utc_now
        from pumonitor.monitor.changes import end_silence, local_user

        end_silence(opened.ledger, number, by=local_user(), now=utc_now())
    typer.echo(f"silence {number} has ended")


@alerts.command()
def simulate(
    monitor: MonitorName,
    *,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="YAML",
            help="A rule to try, written as in the configuration: '{metric: aul, below: 0.8}'. May "
            "be repeated; without it the rules of the configuration are replayed.",
        ),
    ] = None,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Replay past windows under other rules and show the alerts that would have fired.

    For each rule the estimated number of false alarms a year is shown too.

    Example: pumonitor alerts simulate card-fraud --rule '{metric: auc, drop: 0.03, for: 2}'
    """
    from pumonitor.cli.terminal import Console, print_json

    with errors_as_messages():
        from pumonitor.monitor.alerts.simulation import simulate_alerts
        from pumonitor.monitor.app import chosen_monitors, open_jobs, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.config.other_rules import with_rules
        from pumonitor.monitor.inspection.configuration_changes import stored_hash
        from pumonitor.monitor.views.alerts import ReplayView, transition_view

        configuration = read_configuration(config, needs="ledger").configuration
        chosen_monitors(configuration, monitor)
        if rule:
            configuration = with_rules(config, monitor, rule)
        chosen = configuration.monitors[monitor]

        with (
            open_jobs(configuration, monitor=monitor, deliver=False, migrates=False) as jobs,
            progress_bar(logged_as="alerts simulate") as step,
        ):
            note_changed_configuration(
                jobs.ledger,
                [chosen],
                config,
                then="This command evaluates them again, and only then can they be replayed",
            )
            step(f"Replaying the history of {monitor}", None)
            found = simulate_alerts(
                jobs.ledger,
                chosen,
                stored_hash(jobs.ledger, chosen),
                references=jobs.references,
                now=utc_now(),
            )
    if as_json:
        views = [
            ReplayView.from_record(replay, events=list(map(transition_view, replay.events)))
            for replay in found
        ]
        print_json(views)
    else:
        print_replays(Console(highlight=False), found)
