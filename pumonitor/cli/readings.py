"""Read options that are a number, several numbers or a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from pumonitor.prior.labels.label_frequency import LabelFrequency
    from pumonitor.results import ClassPriorEstimate

__all__ = ["class_prior_of", "column_or_number", "label_frequency_of", "label_purity_of"]


def class_prior_of(given: str, *, confidence_level: float) -> str | ClassPriorEstimate:
    """Read --class-prior; a number or numbers are checked here, a name by the estimators."""
    from pumonitor.results import ClassPriorEstimate

    numbers = _numbers(given, option="--class-prior")
    if numbers is None:
        return given
    try:
        return ClassPriorEstimate.given(
            numbers[0] if len(numbers) == 1 else numbers,  # type: ignore[arg-type]
            confidence_level=confidence_level,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--class-prior") from None


def label_frequency_of(given: str | None) -> LabelFrequency | None:
    """Read --label-frequency: a number, LOW,HIGH or VALUE,LOW,HIGH."""
    if given is None:
        return None
    numbers = _numbers(given, option="--label-frequency")
    if numbers is None:
        msg = f"'{given}' must be a number, LOW,HIGH or VALUE,LOW,HIGH"
        raise typer.BadParameter(msg, param_hint="--label-frequency")
    return numbers[0] if len(numbers) == 1 else numbers  # type: ignore[return-value]


def share_interval_of(given: str, *, option: str) -> tuple[float, float]:
    """Read LOW,HIGH."""
    numbers = _numbers(given, option=option)
    if numbers is None or len(numbers) != 2:
        msg = f"'{given}' must be LOW,HIGH"
        raise typer.BadParameter(msg, param_hint=option)
    return numbers[0], numbers[1]


def label_purity_of(given: str) -> float | Literal["auto"]:
    """Read --label-purity: a number or 'auto'."""
    if given == "auto":
        return "auto"
    try:
        return float(given)
    except ValueError:
        msg = f"'{given}' must be a number or 'auto'"
        raise typer.BadParameter(msg, param_hint="--label-purity") from None


def column_or_number(given: str | None) -> str | float | None:
    """Read --propensity: a number is the propensity of every row, anything else a column."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def _numbers(given: str, *, option: str) -> tuple[float, ...] | None:
    """The numbers, or None if the text is a word."""
    try:
        return tuple(float(part) for part in given.split(","))
    except ValueError:
        if "," in given:
            msg = f"'{given}' must be LOW,HIGH or VALUE,LOW,HIGH, all numbers"
            raise typer.BadParameter(msg, param_hint=option) from None
        return None
