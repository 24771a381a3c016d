"""`pumonitor alerts`: list, acknowledge and silence alerts, and simulate other rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.alerts_shown import (
    alert_json,
    event_json,
    print_current,
    print_history,
    print_in_full,
    print_replays,
    replay_json,
    shown_json,
)
from pumonitor.cli.changed_configuration import note_changed_configuration
from pumonitor.cli.moments import moment
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, MonitorName, SomeMonitor
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar
from pumonitor.plain_text import series_of
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.alert import Alert

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

    Example: pumonitor alerts list card-fraud --history
    """
    from pumonitor.cli.terminal import Console

    with errors_as_messages():
        from pumonitor.monitor.app import chosen_monitors, open_ledger, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.inspection.incidents import happenings

        configuration = read_configuration(config, needs="ledger").configuration
        names = chosen_monitors(configuration, monitor)
        earliest = None if since is None else moment(since, option="--since")
        with open_ledger(configuration) as ledger:
            stored = ledger.alerts
            silences = stored.silences(at=utc_now())
            current = [one for name in names for one in stored.current(name)]
            events = happenings(
                ledger, [one for name in names for one in stored.history(name, since=earliest)]
            )
    if not any(configuration.monitors[name].rules for name in names):
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
    pages = configuration.page_addresses
    if as_json:
        shown = (
            [event_json(one, pages) for one in events]
            if history
            else [alert_json(one, pages) for one in current]
        )
        typer.echo(json.dumps(shown, indent=1))
    elif history:
        print_history(console, events, pages)
    else:
        print_current(console, current, silences, now=utc_now(), without=without, pages=pages)


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
    from pumonitor.cli.terminal import Console

    with errors_as_messages():
        from pumonitor.monitor.app import chosen_monitors, open_ledger, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.inspection.alerts_shown import alerts_shown, by_urgency
        from pumonitor.monitor.inspection.audits_since import AuditsSince
        from pumonitor.monitor.inspection.incidents import deeds

        configuration = read_configuration(config, needs="ledger").configuration
        chosen_monitors(configuration, monitor)
        with open_ledger(configuration) as ledger:
            found = by_urgency(
                one
                for one in alerts_shown(
                    ledger.alerts,
                    now=utc_now(),
                    monitors=[monitor],
                    firing=True,
                    audits=AuditsSince(ledger),
                )
                if (rule is None or rule in (one.alert.rule, one.alert.rule_key))
                and segment in (None, one.alert.segment)
                and model_version in (None, one.alert.model_version)
            )
            done = deeds(ledger, [one.alert for one in found])
    pages = configuration.page_addresses
    if as_json:
        typer.echo(json.dumps([shown_json(one, done, pages) for one in found], indent=1))
    else:
        print_in_full(Console(highlight=False), found, done, pages)


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
    with errors_as_messages():
        from pumonitor.monitor.changes import acknowledge

        done = _changed(
            acknowledge,
            config,
            reason,
            monitor=monitor,
            rule=rule,
            segment=segment,
            model_version=model_version,
        )
    _print_incidents("acknowledged", done)


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
    with errors_as_messages():
        from pumonitor.monitor.changes import take_back

        done = _changed(
            take_back,
            config,
            reason,
            monitor=monitor,
            rule=rule,
            segment=segment,
            model_version=model_version,
        )
    _print_incidents("no longer acknowledged", done)


def _changed(
    change: Callable[..., tuple[Alert, ...]], config: Path, reason: str, **which: Any
) -> tuple[Alert, ...]:
    """Alerts that the local user acknowledges, or whose acknowledgement they take back."""
    from pumonitor.monitor.app import chosen_monitors, open_ledger
    from pumonitor.monitor.changes import local_user
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.ledger.by_people import ChosenAlerts

    configuration = read_configuration(config, needs="ledger").configuration
    chosen = ChosenAlerts(**which)
    (monitor,) = chosen_monitors(configuration, chosen.monitor).values()
    with open_ledger(configuration) as ledger:
        return change(ledger, monitor, chosen, by=local_user(), reason=reason)


def _print_incidents(done: str, alerts: tuple[Alert, ...]) -> None:
    for one in alerts:
        about = f"{one.rule} {series_of(one.model_version, one.segment)}".strip()
        typer.echo(f"{done}: {about}, incident {one.incident}")


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
    with errors_as_messages():
        from pumonitor.cli.metric_option import checked_metric
        from pumonitor.monitor import changes
        from pumonitor.monitor.app import chosen_monitors, open_ledger, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.ledger.records.alerts import Silence

        if metric is not None:
            checked_metric(metric, option="--metric")
        now = utc_now()
        configuration = read_configuration(config, needs="ledger").configuration
        (chosen,) = chosen_monitors(configuration, monitor).values()
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
        with open_ledger(configuration) as ledger:
            stored = changes.silence(ledger, chosen, wanted)
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
    with errors_as_messages():
        from pumonitor.monitor.app import open_ledger, utc_now
        from pumonitor.monitor.changes import end_silence, local_user
        from pumonitor.monitor.config.file import read_configuration

        configuration = read_configuration(config, needs="ledger").configuration
        with open_ledger(configuration) as ledger:
            end_silence(ledger, number, by=local_user(), now=utc_now())
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
    from pumonitor.cli.terminal import Console

    with errors_as_messages():
        from pumonitor.monitor.alerts.simulation import simulate_alerts
        from pumonitor.monitor.app import chosen_monitors, open_jobs, utc_now
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.config.other_rules import with_rules
        from pumonitor.monitor.inspection.configuration_changes import stored_hash

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
        typer.echo(json.dumps([replay_json(one) for one in found], indent=1))
    else:
        print_replays(Console(highlight=False), found)
