"""The text of a configuration file, with the reason for each choice as a comment."""

from __future__ import annotations

import json
import os
import re
import textwrap
from pathlib import Path
from typing import Final

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.onboarding.onboarded import Onboarded, ReviewQueue
from pumonitor.monitor.onboarding.outcome_words import written_words

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
_FEATURES: Final = (
    "      # features: [COLUMN, COLUMN]          # keep the class prior if the model breaks",
    "      # entity: CARD                        # labels of one card tell less than of others",
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
        f"  {yaml_text(found.name)}:",
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
        *_stopped(found),
        *_segments(found),
        *(_FEATURES if found.reviews is None else ()),
        _positives(found),
        _line(6, "source", _path(found.positives, folder)),
        _line(6, "id", found.positives_id, "refers to the prediction"),
        _line(6, "known_at", found.known_at, why.get("known_at")),
        _line(6, "time_zone", found.known_zone, "for times without a zone"),
        _line(6, "time_unit", found.known_unit, "since 1970"),
        _label(found),
        _line(6, "propensity", found.propensity, "chance that such a positive is confirmed"),
        *([] if found.reviews is None else reviews_lines(found.reviews, folder=folder)),
        *_label_origin(found),
        _line(4, "window", found.window, why.get("window")),
        _line(4, "zone", found.zone, "time zone in which days begin"),
        _line(4, "maturity", shown_duration(found.maturity), why.get("maturity")),
        _line(4, "schedule", Written(json.dumps(schedule)), "of pumonitor serve, in UTC"),
        _line(4, "score_scale", found.score_scale, why.get("score_scale")),
        _line(4, "threshold", Written(repr(found.threshold)), why.get("threshold")),
        *_class_prior(found),
        *_RULES,
        *_reference(found, why.get("reference", "")),
    ]
    return "\n".join(line for line in lines if line is not None) + "\n"


def _positives(found: Onboarded) -> str:
    if found.reviews is None:
        return "    positives:"
    return _commented("    positives:", "complaints alone, without what the queue found")


def _stopped(found: Onboarded) -> list[str]:
    if found.stopped is None:
        return []
    words = json.dumps(list(found.stopped.words), ensure_ascii=False)
    written = f"      action: {{column: {yaml_text(found.stopped.column)}, stopped: {words}}}"
    return [_commented(written, "rows that nobody will ever know of")]


def _label_origin(found: Onboarded) -> list[str]:
    if found.reviews is not None:
        return []
    if found.label_origin is None:
        return [
            "    # label_origin: complaints              # or queue, both, random: where positives "
            "come from"
        ]
    return [_commented(f"    label_origin: {found.label_origin}", "where positives come from")]


def reviews_lines(queue: ReviewQueue, *, folder: Path) -> list[str]:
    """The section of a review queue, as a monitor's configuration has it.

    Parameters
    ----------
    queue : ReviewQueue
    folder : Path
        Where the file will be: paths are written relative to it.
    """
    words, verdict = queue.words, queue.verdict
    plain = {*words.positive} <= {"1"} and {*words.negative} <= {"0"}
    if not (plain and {*words.undecided} <= {"undecided"}):
        verdict = Written(written_words(queue.verdict, words))
    lines = [
        "    reviews:",
        _line(6, "source", _path(queue.source, folder)),
        _line(6, "id", queue.id, "refers to the prediction"),
        _line(6, "verdict", verdict, "an empty verdict is a case that waits"),
        _line(6, "queued_at", queue.queued_at, "until its verdict a case waits"),
        _line(6, "decided_at", queue.decided_at, "when the verdict was given"),
        _line(6, "time_zone", queue.decided_zone, "for times without a zone"),
        _line(6, "time_unit", queue.decided_unit, "since 1970"),
        _line(6, "reviewer", queue.reviewer),
        _line(6, "chosen_by", _chosen_by(queue), "why a case was reviewed"),
        _line(6, "probability", queue.probability, "chance of a case drawn at random"),
        _line(6, "blocks", *_blocks(queue)),
        "    # complaint_rate: [0.4, 0.8]            # of positives nobody reviewed, if known",
    ]
    return [line for line in lines if line is not None]


def _blocks(queue: ReviewQueue) -> tuple[str, str]:
    if queue.blocks is None:
        return "FILL_IN", "true if a positive verdict stops the case, else false"
    if queue.blocks:
        return Written("true"), "a positive verdict stops the case: it never complains"
    return Written("false"), "a positive verdict stops nothing: it may complain"


def _chosen_by(queue: ReviewQueue) -> str | None:
    if queue.chosen_by is None or not queue.reasons:
        return queue.chosen_by
    parts = [f"column: {yaml_text(queue.chosen_by)}"]
    parts += [
        f"{reason}: {json.dumps(list(words), ensure_ascii=False)}"
        for reason, words in queue.reasons.items()
    ]
    return Written(f"{{{', '.join(parts)}}}")


def _commented(line: str, comment: str) -> str:
    """A line with its comment beside it, or above it where both do not fit side by side."""
    if len(line) < _COMMENTS and _COMMENTS + len(comment) <= _WIDEST:
        return f"{line:<{_COMMENTS}}# {comment}"
    indent = " " * (len(line) - len(line.lstrip()))
    above = textwrap.wrap(comment, _WIDEST - len(indent) - 2, break_long_words=False)
    return "\n".join([*(f"{indent}# {part}" for part in above), line])


class Written(str):
    """A value as it is written in the file."""

    __slots__ = ()


def _line(indent: int, key: str, value: str | None, comment: str | None = None) -> str | None:
    """A key with its value and a comment; nothing without a value."""
    if value is None:
        return None
    text = f"{' ' * indent}{key}: {value if isinstance(value, Written) else yaml_text(value)}"
    return _commented(text, comment) if comment else text


def _label(found: Onboarded) -> str | None:
    if found.label is None or found.label_words is None:
        return _line(6, "label", found.label, "1 confirmed positive, -1 confirmed negative")
    written = Written(written_words(found.label, found.label_words))
    return _line(6, "label", written, "what each outcome means; any other word is an error")


def _segments(found: Onboarded) -> list[str]:
    if not found.segments:
        return []
    listed = ", ".join(yaml_text(name) for name in found.segments)
    return [
        _commented(
            f"      # segments: [{listed}]", "each value is evaluated, in addition to all rows"
        )
    ]


def _class_prior(found: Onboarded) -> list[str]:
    if found.class_prior is None:
        return []
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
    if "://" in path or isinstance(path, Written):
        return path
    relative = os.path.relpath(Path(path).absolute(), folder.absolute())
    far = relative.startswith(os.path.join("..", "..", "..", ".."))  # noqa: PTH118
    return str(Path(path).absolute()) if far else relative


def yaml_text(value: str) -> str:
    """Text for YAML, in quotes where it could be read as another type.

    Examples
    --------
    >>> yaml_text("data/*.parquet"), yaml_text("yes: no"), yaml_text("${HOME}")
    ('"data/*.parquet"', '"yes: no"', '"$${HOME}"')
    """
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value.replace("${", "$${"), ensure_ascii=False)
