"""The text of a configuration file, with the reason for each choice as a comment."""

from __future__ import annotations

import json
import os
import re
import textwrap
from pathlib import Path
from typing import Final

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.onboarding.onboarded import Onboarded
from pumonitor.monitor.onboarding.outcome_words import written_words

__all__ = ["configuration_text"]

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*|\d+(h|d|w|mo)")
_COMMENTS: Final = 44
"""Column in which comments stand, if the key ends before it."""
_WIDEST: Final = 100
_WORDS: Final = ("true", "false", "null")

_HEADER: Final = (
    "# Written by pumonitor init. Next: pumonitor check",
    "# ${NAME} reads the environment: passwords and tokens belong there.",
    "# For completion in editors: pumonitor schema > pumonitor.schema.json, and as first line",
    "# yaml-language-server: $schema=pumonitor.schema.json",
    "",
    "state: sqlite:///pumonitor.db               # or postgresql+psycopg://USER:${PASSWORD}@HOST/NAME",
    "tracking: {uri: sqlite:///mlflow.db}        # or the address of an MLflow server",
    "",
)

_DESTINATIONS: Final = (
    "# destinations:                             # who is notified of alerts",
    "#   oncall: {apprise: ${PAGER_URL}}         # chat, e-mail, paging; pumonitor notify --test",
)
_RULES: Final = (
    "    # rules:                                # without rules no alert can fire",
    "    #   # a lasting fall:",
    "    #   - {metric: aul, shift: down, false_alarms_per_year: 1}",
    "    #   # its whole interval is below, two windows in a row:",
    "    #   - {metric: recall, below: 0.6, for: 2}",
    "    #   - {health: no_data}",
)


def configuration_text(found: Onboarded, *, folder: Path) -> str:
    """Write a configuration file.

    Parameters
    ----------
    found : Onboarded
    folder : Path
        Where the file will be: paths are written relative to it.
    """
    why = {finding.what: finding.why.replace("\n", " ") for finding in found.findings}
    schedule = "5 * * * *" if found.window.endswith("h") else "0 6 * * *"
    lines = [
        *_HEADER,
        *_DESTINATIONS,
        "",
        "monitors:",
        f"  {_scalar(found.name)}:",
        "    # model: models:/NAME@champion          # link to MLflow's registry",
        "    predictions:",
        _line(6, "source", _path(found.predictions, folder), "path or pattern"),
        "      # source: {url: ${WAREHOUSE_URL}, table: scoring.predictions}",
        _line(6, "id", found.id, why.get("id")),
        _line(6, "time", found.time, why.get("time")),
        _line(6, "time_zone", found.time_zone, "for times without a zone"),
        _line(6, "time_unit", found.time_unit, "since 1970"),
        _line(6, "score", found.score, why.get("score")),
        _line(6, "model_version", found.model_version, "each version is a series of its own"),
        *_segments(found),
        "      # features: [COLUMN, COLUMN]          # keep the class prior if the model breaks",
        "      # group: CUSTOMER                     # an entity that recurs; with features",
        "    positives:",
        _line(6, "source", _path(found.positives, folder)),
        _line(6, "id", found.positives_id, "refers to the prediction"),
        _line(6, "known_at", found.known_at, why.get("known_at")),
        _line(6, "time_zone", found.known_zone, "for times without a zone"),
        _line(6, "time_unit", found.known_unit, "since 1970"),
        _label(found),
        _line(6, "propensity", found.propensity, "chance that such a positive is confirmed"),
        _line(4, "window", found.window, why.get("window")),
        _line(4, "zone", found.zone, "time zone in which days begin"),
        _line(4, "maturity", shown_duration(found.maturity), why.get("maturity")),
        _line(4, "schedule", _Written(json.dumps(schedule)), "of pumonitor serve, in UTC"),
        _line(4, "score_scale", found.score_scale, why.get("score_scale")),
        _line(4, "threshold", _Written(repr(found.threshold)), why.get("threshold")),
        *_class_prior(found),
        *_RULES,
        *_reference(found, why.get("reference", "")),
    ]
    return "\n".join(line for line in lines if line is not None) + "\n"


def _commented(line: str, comment: str) -> str:
    """A line with its comment beside it, or above it where both do not fit side by side."""
    if len(line) < _COMMENTS and _COMMENTS + len(comment) <= _WIDEST:
        return f"{line:<{_COMMENTS}}# {comment}"
    indent = " " * (len(line) - len(line.lstrip()))
    above = textwrap.wrap(comment, _WIDEST - len(indent) - 2, break_long_words=False)
    return "\n".join([*(f"{indent}# {part}" for part in above), line])


class _Written(str):
    """A value as it is written in the file."""

    __slots__ = ()


def _line(indent: int, key: str, value: str | None, comment: str | None = None) -> str | None:
    """A key with its value and a comment; nothing without a value."""
    if value is None:
        return None
    text = f"{' ' * indent}{key}: {value if isinstance(value, _Written) else _scalar(value)}"
    return _commented(text, comment) if comment else text


def _label(found: Onboarded) -> str | None:
    if found.label is None or found.label_words is None:
        return _line(6, "label", found.label, "1 confirmed positive, -1 confirmed negative")
    written = _Written(written_words(found.label, found.label_words))
    return _line(6, "label", written, "what each outcome means; any other word is an error")


def _segments(found: Onboarded) -> list[str]:
    if not found.segments:
        return []
    listed = ", ".join(_scalar(name) for name in found.segments)
    return [
        _commented(
            f"      # segments: [{listed}]", "each value is evaluated, in addition to all rows"
        )
    ]


def _class_prior(found: Onboarded) -> list[str]:
    if found.class_prior != "auto":
        return [
            _commented(f"    class_prior: {found.class_prior}", "the series is followed from there")
        ]
    return [
        _commented("    class_prior: auto", "share of positives, measured; or instead,"),
        "    # known of one period:",
        "    # class_prior: {value: 0.03, low: 0.02, high: 0.04, "
        "of: {start: 2026-01-01, end: 2026-02-01}}",
        "    # found by an audit of random cases of that period:",
        "    # class_prior: {positives: 12, cases: 300, of: {start: 2026-01-01, end: 2026-02-01}}",
        "    # a constant:",
        "    # class_prior: {assumed: 0.03}",
    ]


def _reference(found: Onboarded, why: str) -> list[str]:
    if found.reference is None:
        return ["    # reference: {start: 2026-01-01, end: 2026-02-01}  # windows to compare with"]
    start, end = found.reference
    return [_commented(f"    reference: {{start: {start}, end: {end}}}", why)]


def _path(path: str, folder: Path) -> str:
    """Path relative to the configuration's folder if it is in or beside it; addresses stay."""
    if "://" in path:
        return path
    relative = os.path.relpath(Path(path).absolute(), folder.absolute())
    far = relative.startswith(os.path.join("..", "..", "..", ".."))  # noqa: PTH118
    return str(Path(path).absolute()) if far else relative


def _scalar(value: str) -> str:
    """Text for YAML, in quotes where it could be read as another type.

    Examples
    --------
    >>> _scalar("data/*.parquet"), _scalar("yes: no"), _scalar("${HOME}")
    ('"data/*.parquet"', '"yes: no"', '"$${HOME}"')
    """
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value.replace("${", "$${"), ensure_ascii=False)
