"""The configuration `pumonitor.yaml`: what it may say, and what it means."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from zoneinfo import ZoneInfo

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationInfo,
    field_validator,
)

from pumonitor.errors import if_percent
from pumonitor.monitoring.panes import PaneSchedule
from pumonitor.monitoring.windows import WindowGrid
from pumonitor.service.addresses import Address, Located
from pumonitor.service.config_values import (
    Duration,
    Durations,
    GivenPrior,
    LabelPurity,
    ModelLink,
    Moment,
    Number,
    Part,
    Schedule,
    WindowLength,
    Zone,
    as_tuple,
)
from pumonitor.service.destination_config import Destination, Tracking
from pumonitor.service.durations import shown_duration
from pumonitor.service.left_unread import UNREAD_DESTINATIONS
from pumonitor.service.rule_config import Rule, check_destinations, check_rules
from pumonitor.service.secret_values import Mask, hidden_parts
from pumonitor.service.source_config import Positives, Predictions, Source

if TYPE_CHECKING:
    from pumonitor.prior import GivenOrEstimated

__all__ = [
    "Configuration",
    "Destination",
    "Monitor",
    "Positives",
    "Predictions",
    "Reference",
    "Rule",
    "Source",
    "Tracking",
]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class Reference(Part):
    """Windows that new ones are compared with, from start up to but not including end."""

    start: Moment
    end: Moment

    @field_validator("end")
    @classmethod
    def _after_start(cls, end: date, info: ValidationInfo) -> date:
        start = info.data.get("start")
        if start is not None and _in_zone(end, UTC) <= _in_zone(start, UTC):
            msg = f"must be after start, got {end} and {start}: the end itself is not in it"
            raise ValueError(msg)
        return end

    def span(self, zone: str) -> tuple[datetime, datetime]:
        """Start and end in UTC; dates and times without a zone are the monitor's.

        Examples
        --------
        >>> reference = Reference(start=date(2026, 7, 1), end=date(2026, 8, 1))
        >>> reference.span("Europe/Berlin")[0].isoformat()
        '2026-06-30T22:00:00+00:00'
        """
        place = ZoneInfo(zone)
        return _in_zone(self.start, place), _in_zone(self.end, place)


def _length(every: str) -> timedelta:
    """Of a window; a month is its shortest."""
    window = WindowGrid(every=every).containing(datetime(2023, 2, 1, tzinfo=UTC))
    return window.end - window.start


def _in_zone(moment: date | datetime, zone: Any) -> datetime:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 (zone follows)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


class Monitor(Part):
    """One classifier that is followed. The fields are described where `init` writes them."""

    model: ModelLink | None = None
    predictions: Predictions
    positives: Positives
    window: WindowLength
    zone: Zone = "UTC"
    maturity: Duration
    panes: Durations | None = None
    schedule: Schedule | None = None
    score_scale: Literal["probability", "unbounded"] = "probability"
    threshold: Number
    class_prior: GivenPrior = "auto"
    label_purity: LabelPurity = 1.0
    scenario: Literal["single-training-set"] = "single-training-set"
    reference: Reference | None = None
    rules: Annotated[tuple[Rule, ...], BeforeValidator(as_tuple)] = ()
    _name: str = PrivateAttr(default="")

    @property
    def name(self) -> str:
        """Its key in the file."""
        return self._name

    @property
    def assumed_prior(self) -> GivenOrEstimated:
        """The class prior as estimation takes it."""
        return cast("GivenOrEstimated", self.class_prior)

    @property
    def windows(self) -> WindowGrid:
        """All windows there are."""
        return WindowGrid(every=self.window, zone=self.zone)

    @property
    def pane_schedule(self) -> PaneSchedule:
        """When each of them is looked at."""
        return PaneSchedule(maturity=self.maturity, provisional=self.panes)

    @field_validator("panes")
    @classmethod
    def _ages_before_maturity(
        cls, panes: tuple[timedelta, ...] | None, info: ValidationInfo
    ) -> tuple[timedelta, ...] | None:
        for before, age in pairwise(panes or ()):
            if age <= before:
                msg = f"must ascend, got {shown_duration(age)} after {shown_duration(before)}"
                raise ValueError(msg)
        maturity = info.data.get("maturity")
        if maturity is not None:
            PaneSchedule(maturity=maturity, provisional=panes)
        return panes

    @field_validator("reference")
    @classmethod
    def _in_order(cls, reference: Reference | None, info: ValidationInfo) -> Reference | None:
        if reference is not None and "zone" in info.data:
            start, end = reference.span(info.data["zone"])
            if end <= start:
                msg = (
                    f"must end after it starts, and in {info.data['zone']} it is from "
                    f"{start.isoformat()} to {end.isoformat()}: give both times their zone"
                )
                raise ValueError(msg)
        return reference

    @field_validator("threshold")
    @classmethod
    def _on_the_scale(cls, threshold: float, info: ValidationInfo) -> float:
        if info.data.get("score_scale") == "probability" and not 0 <= threshold <= 1:
            hint = if_percent(threshold) or "; scores of any size need score_scale: unbounded"
            msg = f"must be within [0, 1] as the scores are, got {threshold:g}{hint}"
            raise ValueError(msg)
        return threshold

    @field_validator("class_prior")
    @classmethod
    def _with_propensities(cls, prior: Any, info: ValidationInfo) -> Any:
        positives = info.data.get("positives")
        if prior == "propensity" and positives is not None and positives.propensity is None:
            msg = "is 'propensity', and positives name no propensity column"
            raise ValueError(msg)
        return prior

    @field_validator("rules")
    @classmethod
    def _that_can_be_decided(
        cls, rules: tuple[Rule, ...], info: ValidationInfo
    ) -> tuple[Rule, ...]:
        predictions, window = info.data.get("predictions"), info.data.get("window")
        check_rules(
            rules,
            has_reference=info.data.get("reference", ...) is not None,
            segments=None if predictions is None else predictions.segments,
            window=None if window is None else _length(window),
        )
        return rules


class Configuration(Located):
    """The whole file.

    Attributes
    ----------
    state : SecretStr
        Address of the state database.
    tracking : Tracking or None
        MLflow; None: results stay in the state database.
    destinations : mapping of str to Destination
    keep_delivered : timedelta
        For how long messages are kept that have arrived.
    monitors : mapping of str to Monitor
    """

    state: Address = SecretStr("sqlite:///pumonitor.db")
    tracking: Tracking | None = None
    destinations: dict[str, Destination] = Field(default_factory=dict)
    keep_delivered: Duration = timedelta(days=30)
    monitors: dict[str, Monitor]

    def model_post_init(self, context: Any, /) -> None:
        """Keep the folder, and tell monitors their names."""
        super().model_post_init(context)
        for name, monitor in self.monitors.items():
            monitor._name = name

    @property
    def state_address(self) -> str:
        """Of the state database, with its password; a file's path absolute."""
        return self.absolute(self.state.get_secret_value())

    @property
    def mask(self) -> Mask:
        """Hides every secret of this configuration in text that may hold one."""
        addresses = [self.state_address]
        if self.tracking is not None:
            addresses.append(self.tracking.address)
        for monitor in self.monitors.values():
            sources = (monitor.predictions.source, monitor.positives.source)
            addresses += [source.address or source.location for source in sources]
        secrets = [part for address in addresses for part in hidden_parts(address)]
        for destination in self.destinations.values():
            secrets += hidden_parts(
                destination.address.get_secret_value(),
                also_path=destination.kind != "alertmanager",
            )
            if destination.secret is not None:
                secrets.append(destination.secret.get_secret_value())
        return Mask(secrets)

    @field_validator("state")
    @classmethod
    def _kind_of_database(cls, state: SecretStr) -> SecretStr:
        dialect = state.get_secret_value().partition("://")[0].partition("+")[0]
        if dialect not in {"sqlite", "postgresql"}:
            msg = "must be sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"
            raise ValueError(msg)
        return state

    @field_validator("monitors")
    @classmethod
    def _that_tell_somebody(
        cls, monitors: dict[str, Monitor], info: ValidationInfo
    ) -> dict[str, Monitor]:
        destinations = info.data.get("destinations")
        unread = (info.context or {}).get(UNREAD_DESTINATIONS, ())
        for name, monitor in monitors.items() if destinations is not None else ():
            check_destinations(monitor.rules, (*(destinations or ()), *unread), monitor=name)
        return monitors

    @field_validator("monitors")
    @classmethod
    def _names(cls, monitors: dict[str, Monitor]) -> dict[str, Monitor]:
        if not monitors:
            msg = "must name one monitor or more; pumonitor init writes one"
            raise ValueError(msg)
        folded: dict[str, str] = {}
        for name in monitors:
            if not _NAME.fullmatch(name):
                msg = f"has a name of letters other than A-Z, a-z, 0-9, _ . and -: {name!r}"
                raise ValueError(msg)
            if name.casefold() in folded:
                msg = (
                    f"has two monitors of one name but for case: {folded[name.casefold()]}, {name}"
                )
                raise ValueError(msg)
            folded[name.casefold()] = name
        return monitors
