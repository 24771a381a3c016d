"""Parameters and description of a monitor's run in MLflow."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.prior_of_period import PriorOfPeriod
from pumonitor.monitor.config.values.durations import shown_duration

_MEASURED: Final = "estimated from scores and confirmations ({})"
_A_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)


def run_parameters(monitor: Monitor, configuration: str, *, model_version: str) -> dict[str, str]:
    """Parameters of the run: the configuration of its results; each configuration has its own run.

    Parameters
    ----------
    monitor : Monitor
    configuration : str
        Its hash.
    model_version : str
    """
    parameters = {
        "monitor": monitor.name,
        "model_version": model_version or "(none)",
        "configuration": configuration,
        "threshold": f"{monitor.threshold:g}",
        "class_prior": _class_prior(monitor.class_prior),
        "label_purity": str(monitor.label_purity),
        "scenario": monitor.scenario,
        "score_scale": monitor.score_scale,
        "window": monitor.window,
        "zone": monitor.zone,
        "label_maturity": shown_duration(monitor.maturity),
        "looks_at": ", ".join(map(shown_duration, monitor.pane_schedule.ages)),
        "predictions": monitor.predictions.source.name,
        "positives": monitor.positives.source.name,
    }
    if monitor.reference is not None:
        start, end = monitor.reference.span(monitor.zone)
        parameters["reference"] = f"{start.isoformat()} to {end.isoformat()}"
    return parameters


def run_description(monitor: Monitor, *, model_version: str) -> str:
    """Description of the run in Markdown: its steps and its metrics."""
    version = f", version {model_version}" if model_version else ""
    schedule = monitor.pane_schedule
    early = schedule.ages[: schedule.mature]
    window = monitor.windows.containing(_A_DAY)
    lines = [
        f"**{monitor.name}{version}**, followed by pumonitor from scores and confirmed positives.",
        "",
        f"**A step is a window** of {monitor.window} ({monitor.zone}): step {window.index} is the "
        f"one that starts at {window.start:%Y-%m-%d %H:%M} UTC, the next step the one after it. On "
        "the axis of time a point stands at the end of its window.",
        "",
        f"- `pu/`: each window once, when its labels are mature ({_ages(monitor.maturity)} after "
        "its end). Read these.",
    ]
    lines += [
        f"- `pu_after_{shown_duration(age)}/`: the same windows as they were known "
        f"{_ages(age)} after their end, while confirmations were still coming in; `_expected` "
        "is what each number was expected to become."
        for age in early
    ]
    if len(schedule.ages) > schedule.mature + 1:
        final = schedule.ages[-1]
        lines.append(f"- `pu_final/`: with labels that came up to {_ages(final)} after the end.")
    if monitor.predictions.segments:
        lines.append(
            "- `pu/<column>.<value>/`: a segment. What is not here of it is in `pumonitor results`."
        )
    lines += [
        "",
        "`_low` and `_high` are the ends of the 95% interval. `_undefined` = 1: there is no "
        "value, `_infeasible` = 1: it came out outside its possible range, or is computed "
        "with a class prior that makes another number impossible; the class prior or the "
        "confirmations are in doubt. `_change` is the difference from the reference period.",
        "",
        "A point that was corrected later has a second one at its step. Reports are below "
        "`pumonitor/windows/`, by the start of the window. The run is finished when another model "
        "version or another configuration has taken over; what it was made with is in its "
        "parameters.",
    ]
    return "\n".join(lines)


def _class_prior(given: Any) -> str:
    if isinstance(given, str):
        return _MEASURED.format(given)
    if isinstance(given, PriorOfPeriod):
        return f"followed from what was given: {given.said()}"
    shown = f"{given:g}" if isinstance(given, int | float) else ", ".join(f"{x:g}" for x in given)
    return f"assumed: {shown}"


def _ages(age: Any) -> str:
    return shown_duration(age) or "0d"
