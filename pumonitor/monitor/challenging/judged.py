"""The challengers of a monitor: found, scored where that is due, and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from pumonitor.errors import InputError, PumonitorError
from pumonitor.gate import GateSettings, Judgement, PairedLabels, ReviewedPair, judge
from pumonitor.monitor.challenging.between import audits_between
from pumonitor.monitor.challenging.challengers import (
    AlreadyDeployedError,
    Challenger,
    ColumnChallenger,
    NamedChallenger,
    NoVersionYetError,
    RegisteredChallenger,
)
from pumonitor.monitor.challenging.deployed import note_deployed
from pumonitor.monitor.challenging.seen import (
    JudgedSince,
    judged_since,
    judged_windows,
    score_due,
    series_of,
)
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.challengers import Gate
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery.mlflow.model_link import version_at
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.by_gate import deployed_by
from pumonitor.monitor.promotion.registry import RegistryError, asking_registry
from pumonitor.monitor.views.challengers import ChallengerView
from pumonitor.ports import PredictionSource
from pumonitor.text import moment_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one round did for the challengers of a monitor.

    Attributes
    ----------
    windows : int
        Windows that were scored.
    failures : tuple of (str, Exception)
        Challenger and window, and why it could not be scored.
    """

    windows: int
    failures: tuple[tuple[str, Exception], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChallenger:
    """A challenger with what the gate says of it.

    Attributes
    ----------
    challenger : NamedChallenger
    judgement : Judgement
    windows : tuple of (datetime, PairedLabels or ReviewedPair)
        What it is judged on, by the starts of the windows.
    errors : tuple of str
        Why windows are missing, those of the last attempts.
    """

    challenger: NamedChallenger
    judgement: Judgement
    windows: tuple[tuple[datetime, PairedLabels | ReviewedPair], ...]
    errors: tuple[str, ...]

    def view(self) -> ChallengerView:
        """What people see of it."""
        return ChallengerView.from_record(
            self.judgement,
            scored_by=self.challenger.scored_by,
            windows=[start for start, _ in self.windows],
            errors=list(self.errors),
        )


def challengers_of(
    configuration: Configuration,
    monitor: Monitor,
    *,
    also: Mapping[str, str] | None = None,
) -> dict[str, Challenger | PumonitorError]:
    """The challengers by name; in place of one that cannot be found, why not.

    Parameters
    ----------
    configuration : Configuration
    monitor : Monitor
    also : mapping of str to str, optional
        Names and links of others, in place of those of the configuration.
    """
    settings = monitor.challengers
    found: dict[str, Challenger | PumonitorError] = {}
    for name, column in ({} if also or settings is None else settings.columns).items():
        found[name] = ColumnChallenger(name=name, column=column)
    links = also or (settings.links if settings is not None else {})
    given = settings.features.columns if settings is not None and settings.features else ()
    for name, link in links.items():
        try:
            found[name] = _registered(configuration, monitor, name, link, given)
        except PumonitorError as error:
            found[name] = error
    return found


def _registered(
    configuration: Configuration,
    monitor: Monitor,
    name: str,
    link: str,
    given: tuple[str, ...],
) -> Challenger:
    tracking = configuration.tracking
    if tracking is None:
        msg = f"challenger {name} is {link}, and the configuration has no tracking: uri to find it"
        raise InputError(msg)
    from mlflow import MlflowClient

    mask = configuration.mask
    client = MlflowClient(tracking_uri=tracking.address, registry_uri=tracking.registry_address)
    settings = monitor.challengers
    challenger = RegisteredChallenger(
        name,
        link,
        client,
        tracking=tracking,
        given=given,
        output=None if settings is None else settings.output,
        mask=mask,
    )
    if monitor.model is not None:
        deployed = deployed_by(monitor)
        with asking_registry(mask=mask):
            champion = version_at(client, deployed.model, deployed.alias)
        if champion is not None and challenger.is_version(champion.name, champion.version):
            msg = (
                f"challenger {name} is {challenger.scored_by}, which is deployed by now: train "
                "another"
            )
            raise AlreadyDeployedError(msg)
    return challenger


def score_challengers(
    configuration: Configuration,
    monitor: Monitor,
    ledger: Ledger,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    on_window: Callable[[str, datetime], None] = lambda name, start: None,
    is_stopped: Callable[[], bool] = lambda: False,
    challengers: Mapping[str, Challenger | PumonitorError] | None = None,
    at_once: bool = False,
) -> Scored:
    """Score the mature windows of a monitor that are due, by all of its challengers.

    First it is noted which version is deployed: windows from before say nothing of it.

    What failed before waits for its next attempt, unless a person wants it `at_once`. A challenger
    that cannot be reached, or cannot score, delays its own windows alone.
    """
    windows, failures = 0, list[tuple[str, Exception]]()
    with suppress(RegistryError):
        # One that is away is told of by the challengers themselves.
        note_deployed(configuration, monitor, ledger)
    known = challengers_of(configuration, monitor) if challengers is None else challengers
    for name, challenger in known.items():
        if isinstance(challenger, AlreadyDeployedError | NoVersionYetError):
            continue
        if isinstance(challenger, PumonitorError):
            failures.append((f"challenger {name}", challenger))
            continue
        if at_once:
            ledger.challengers.try_again(series_of(monitor, challenger))
        scored, failed = score_due(
            ledger,
            monitor,
            challenger,
            open_source=open_source,
            sends_results=configuration.tracking is not None,
            on_window=lambda start, name=name: on_window(name, start),  # type: ignore[misc]
            is_stopped=is_stopped,
        )
        windows += scored
        failures += [
            (f"challenger {name}, window of {moment_text(start)}", error) for start, error in failed
        ]
    return Scored(windows=windows, failures=tuple(failures))


def judged(
    monitor: Monitor, ledger: Ledger, challengers: Mapping[str, NamedChallenger]
) -> dict[str, JudgedChallenger]:
    """What the gate says of challengers, on all of their windows so far."""
    windows, errors, audits = {}, {}, {}
    for name, challenger in challengers.items():
        series = series_of(monitor, challenger)
        windows[name] = tuple(judged_windows(ledger, monitor, series))
        since = judged_since(ledger, monitor, challenger)
        audits[name] = audits_between(ledger, series, since=since)
        errors[name] = tuple(
            f"{moment_text(one.start)}: {one.error}"
            for one in ledger.challengers.windows(series)
            if one.found is None and one.error is not None
        )
    judgements = judge(
        {name: [seen for _, seen in found] for name, found in windows.items()},
        _settings(monitor, ledger),
        audits=audits,
    )
    return {
        name: JudgedChallenger(
            challenger=challenger,
            judgement=judgements[name]
            if windows[name]
            else _without_windows(
                judgements[name], errors[name], judged_since(ledger, monitor, challenger)
            ),
            windows=windows[name],
            errors=errors[name],
        )
        for name, challenger in challengers.items()
    }


def _without_windows(judgement: Judgement, errors: Sequence[str], since: JudgedSince) -> Judgement:
    """What it waits for, or why it could not score any."""
    if judgement.by_audit:
        return judgement
    if errors:
        number = "the mature window" if len(errors) == 1 else f"{len(errors)} mature windows"
        return replace(
            judgement,
            verdict="cannot be judged",
            reason=f"it could not score {number}, {errors[-1]}",
        )
    reason = "no window is mature and scored yet"
    if since.latest is not None:
        moment, why = since.latest
        reason += f" that began after {moment_text(moment)}, when {why}"
    return replace(judgement, reason=reason)


def _settings(monitor: Monitor, ledger: Ledger) -> GateSettings:
    gate = monitor.challengers.gate if monitor.challengers is not None else Gate()
    rows = ledger.results(
        monitor.name,
        segment="",
        metrics=["class_prior"],
        configuration=configuration_hash(monitor),
    )
    lows = [one.low for one in rows if one.low is not None and one.state != "provisional"]
    return GateSettings(
        better=gate.better,
        capacity=gate.capacity,
        not_worse=dict(gate.not_worse),
        threshold=monitor.threshold,
        least_class_prior=min(lows, default=None),
    )
