"""What changed from one revision of a window to the next, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, Final

from pumonitor.monitor.ledger.records.results import PublishedResult, StoredEvaluation
from pumonitor.names import estimate_text, title
from pumonitor.text import count_text, moment_cell

_TOLD: Final = ("f1", "precision", "recall", "auc", "class_prior")
_WHOLE: Final = 1e-6


def changes_said(
    chosen: StoredEvaluation,
    now: Mapping[str, PublishedResult],
    earlier: StoredEvaluation,
    then: Mapping[str, PublishedResult],
    *,
    zone: tzinfo,
) -> list[str]:
    """Sentences: which audits were read, which labels arrived, what the estimates have become.

    Parameters
    ----------
    chosen, earlier : StoredEvaluation
        Two revisions of one series.
    now, then : mapping of str to PublishedResult
        Their results by metric.
    zone : tzinfo
    """
    sentences = [*_audits(chosen.evaluation, earlier.evaluation)]
    sentences.append(_labels(chosen, now, earlier, then, zone=zone))
    if chosen.state != earlier.state:
        sentences.append(f"The window was {earlier.state} and is {chosen.state}.")
    predictions = [_count(one, "predictions") for one in (then, now)]
    if None not in predictions and predictions[0] != predictions[1]:
        sentences.append(
            f"The number of predictions went from {count_text(predictions[0] or 0)} to "
            f"{count_text(predictions[1] or 0)}."
        )
    sentences += [said for name in _TOLD if (said := _estimate(name, now, then))]
    return [one for one in sentences if one]


def _audits(now: Mapping[str, Any], then: Mapping[str, Any]) -> Iterator[str]:
    """What was read of audits in between, by their names."""
    before, after = _audits_used(then), _audits_used(now)
    for name, one in after.items():
        decided = count_text(one["decided"])
        if name not in before:
            yield (
                f"The audit {name} was read, with {decided} decided cases: estimates may change "
                "without a further confirmation."
            )
        elif one["digest"] != before[name]["digest"]:
            yield (
                f"Further verdicts of the audit {name} were read: "
                f"{count_text(before[name]['decided'])} decided cases before, {decided} now."
            )
    for name in sorted(before.keys() - after.keys()):
        yield f"The audit {name} is not used any more."


def _audits_used(evaluation: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """What was kept of each audit that the window was read with, by its name."""
    return {one["audit"]: one for one in (evaluation.get("made_with") or {}).get("audits", ())}


def _labels(
    chosen: StoredEvaluation,
    now: Mapping[str, PublishedResult],
    earlier: StoredEvaluation,
    then: Mapping[str, PublishedResult],
    *,
    zone: tzinfo,
) -> str:
    before, after = _count(then, "labeled_positives"), _count(now, "labeled_positives")
    if before is None or after is None:
        return ""
    if before == after:
        return f"No further positive was confirmed: there are {count_text(after)}."
    when = f"by {moment_cell(chosen.as_of, zone)}"
    if earlier.as_of != chosen.as_of:
        when = f"between {moment_cell(earlier.as_of, zone)} and {moment_cell(chosen.as_of, zone)}"
    more = after - before
    verb = "more" if more > 0 else "fewer"
    many = abs(more)
    text = (
        f"{count_text(many)} {verb} confirmed positive{'' if many == 1 else 's'} {when} "
        f"({count_text(before)} before, {count_text(after)} now)"
    )
    above = [_above(one) for one in (earlier.evaluation, chosen.evaluation)]
    if more > 0 and above[0] is not None and above[1] is not None:
        of = above[1] - above[0]
        if 0 <= of <= more:
            text += f", {count_text(of)} of them at or above the threshold"
    return f"{text}."


def _estimate(
    name: str, now: Mapping[str, PublishedResult], then: Mapping[str, PublishedResult]
) -> str:
    before, after = then.get(name), now.get(name)
    if before is None or after is None or before.value == after.value:
        return ""
    return (
        f"{title(name)} {_shown(before)} before, {_shown(after)} now"
        f"{'' if after.undefined_reason is None else f': {after.undefined_reason}'}."
    )


def _shown(row: PublishedResult) -> str:
    return "undefined" if row.value is None else estimate_text(row.metric, row.value)


def _count(found: Mapping[str, PublishedResult], name: str) -> int | None:
    row = found.get(name)
    return None if row is None or row.value is None else round(row.value)


def _above(evaluation: Mapping[str, Any]) -> int | None:
    """Confirmed positives at or above the threshold; None unless recall is a share of them."""
    settings = evaluation.get("settings") or {}
    recall = (evaluation.get("estimates") or {}).get("recall") or {}
    if settings.get("label_purity") != 1.0 or settings.get("weighted"):
        return None
    if recall.get("value") is None:
        return None
    above = recall["value"] * settings["n_labeled"]
    return round(above) if abs(above - round(above)) < _WHOLE else None
