"""Propose reviews for a configuration whose labels or propensities stand in for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.sources import Outcomes
from pumonitor.monitor.config.text.yaml_document import read_document
from pumonitor.monitor.onboarding.answers import Answers
from pumonitor.monitor.onboarding.configuration_text import Written, reviews_lines, yaml_text
from pumonitor.monitor.onboarding.onboarded import Options, ReviewQueue
from pumonitor.monitor.onboarding.review_choices import reason_and_reviewer
from pumonitor.monitor.onboarding.table_reader import open_tables
from pumonitor.sources.column_types.monitored_tables import LabelWords

_NUMBERS: Final = LabelWords(positive=("1",), negative=("-1",), undecided=("0",))


def stands_in_for_reviews(monitor: Monitor) -> tuple[str, ...]:
    """Keys of the positives that stand in for verdicts of a queue; none beside reviews.

    Confirmed negatives are verdicts, and propensities say what a queue did.
    """
    positives = monitor.positives
    if monitor.reviews:
        return ()
    label = positives.label
    holds_negatives = bool(label.negative) if isinstance(label, Outcomes) else label is not None
    keys = {"propensity": positives.propensity is not None, "label": holds_negatives}
    return tuple(name for name, stands_in in keys.items() if stands_in)


def proposed_reviews(path: Path, *, blocks: str | None = None) -> str:
    """What to write in place of the positives of each monitor, as text; nothing is changed.

    Parameters
    ----------
    path : Path
        A configuration file.
    blocks : {"yes", "no"}, optional
        Whether a positive verdict stops the case; if it is not said it is left to be filled in.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read: {error}"
        raise InputError(msg) from None
    monitors = read_configuration_text(text, path=path, needs="ledger").configuration.monitors
    raw = read_document(text, name=str(path)).value["monitors"]
    parts = [
        _proposal(monitor, raw[name]["positives"], stands_in, blocks=blocks, folder=path.parent)
        for name, monitor in monitors.items()
        if (stands_in := stands_in_for_reviews(monitor))
    ]
    if not parts:
        return (
            f"No monitor of {path} has confirmed negatives (label) or propensities that stand in "
            "for reviews."
        )
    return "\n\n".join(parts)


def _proposal(
    monitor: Monitor,
    raw: Mapping[str, Any],
    stands_in: tuple[str, ...],
    *,
    blocks: str | None,
    folder: Path,
) -> str:
    positives, answers = monitor.positives, Answers(lambda question: question.proposal or "")
    source = raw["source"]
    reason = reviewer = None
    if isinstance(source, str) and "${" not in source:
        reason, reviewer = _further_columns(folder, source, answers)
    label = positives.label
    queue = ReviewQueue(
        source=_written(source),
        id=positives.id,
        verdict=positives.label_column or "VERDICT",
        words=label.words if isinstance(label, Outcomes) else _NUMBERS,
        decided_at=positives.known_at,
        decided_zone=positives.time_zone,
        decided_unit=positives.time_unit,
        reviewer=reviewer,
        chosen_by=reason,
        reasons={},
        blocks=None if blocks is None else blocks == "yes",
    )
    left_out = [f"positives.{name}" for name in stands_in]
    left_out += [
        name
        for name, is_given in (
            ("class_prior", monitor.class_prior != "auto"),
            ("label_purity", monitor.label_purity != 1.0),
            ("predictions.features", bool(monitor.predictions.features)),
        )
        if is_given
    ]
    complaints = [
        "    positives:                              # complaints alone: what came by itself",
        "      source: FILL_IN                       # chargebacks, reports, diagnoses",
        f"      id: {yaml_text(positives.id)}",
        "      known_at: FILL_IN",
    ]
    return "\n".join(
        [
            f"# {monitor.name}: in place of its positives, whose {' and '.join(stands_in)} cannot "
            "make recall, F1 and AUC right",
            *complaints,
            *reviews_lines(queue, folder=folder),
            f"# Leave out {', '.join(left_out)}. Then pumonitor check; reference and windows are "
            "evaluated again together.",
        ]
    )


def _written(source: Any) -> str:
    """A source as the file has it."""
    if isinstance(source, str):
        return source
    inside = ", ".join(
        f"{key}: {value if '${' in str(value) else json.dumps(value)}"
        for key, value in source.items()
    )
    return Written(f"{{{inside}}}")


def _further_columns(folder: Path, source: str, answers: Answers) -> tuple[str | None, str | None]:
    """Columns with the reason and the reviewer, where the table can be looked at."""
    where = source if "://" in source else str(folder / source)
    try:
        with open_tables([where]) as (reader, (table,)):
            return reason_and_reviewer(reader.table(table), Options(), answers)
    except InputError:
        return None, None
