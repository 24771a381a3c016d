"""Findings about the input tables, from the numbers of rows of a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pumonitor.ports import UnmatchedLabels
from pumonitor.text import percent_text

InputKind = Literal[
    "refused_labels",
    "early_labels",
    "repeated_predictions",
    "conflicting_labels",
    "unmatched_labels",
    "unverified_engine",
]

_REPORTED_SHARE: Final = 0.01
"""Smallest share of the rows that is reported."""

_NEVER_USUAL: Final = 0.1
"""A share from which on it is reported even if it is usual."""

_JUMP: Final = 2.0
_LEAST_WINDOWS: Final = 3

Counts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFinding:
    """A problem of a window's rows.

    Attributes
    ----------
    kind : str
    sentence : str
        What is wrong, how often, and what to do.
    """

    kind: InputKind
    sentence: str


def input_findings(
    counts: Counts, before: Callable[[], Sequence[Counts]]
) -> tuple[InputFinding, ...]:
    """Find problems in a window's rows.

    Labels known more than a day before their prediction are always reported. Other problems can be
    a habit, such as dates without a time of day, or a job that writes a few rows twice. They are
    reported when they are more than 1% of the rows and more than twice the usual share, and always
    from 10% on.

    Parameters
    ----------
    counts : mapping
        Fields of `pumonitor.ports.InputCounts`; missing ones count as 0. And "versions", as of
        `pumonitor.ports.WindowCounts`, and "unmatched", as of `pumonitor.ports.UnmatchedLabels`.
    before : callable
        Returns the counts of earlier windows, from which the usual share is computed. Called only
        when needed.
    """
    found = [_refused(counts), _early(counts, before), _repeated(counts, before)]
    found += [_conflicting(counts, before), _unmatched(counts), _unverified(counts)]
    return tuple(one for one in found if one is not None)


def _refused(counts: Counts) -> InputFinding | None:
    refused = _of(counts, "refused_labels")
    if not refused:
        return None
    return InputFinding(
        kind="refused_labels",
        sentence=f"{_part(refused, _of(counts, 'label_rows'), 'label')} known more than a day "
        f"before the prediction and {'does' if refused == 1 else 'do'} not count: check "
        "known_at and time, their time_zone and time_unit, and that each id belongs to "
        "one prediction, not to a case that is scored repeatedly",
    )


def _early(counts: Counts, before: Callable[[], Sequence[Counts]]) -> InputFinding | None:
    usual = _beyond_usual(counts, ("early_labels",), ("label_rows",), before)
    if usual is None:
        return None
    early = _of(counts, "early_labels")
    return InputFinding(
        kind="early_labels",
        sentence=f"{_part(early, _of(counts, 'label_rows'), 'label')} known before the prediction, "
        f"by a day at most{usual}, and {'counts' if early == 1 else 'count'}: check "
        "whether known_at is a date without a time of day, and whether the clocks of the "
        "two tables differ",
    )


def _repeated(counts: Counts, before: Callable[[], Sequence[Counts]]) -> InputFinding | None:
    names = ("duplicate_predictions", "conflicting_predictions")
    usual = _beyond_usual(counts, names, (*names, "predictions"), before)
    if usual is None:
        return None
    same, other = (_of(counts, name) for name in names)
    rows = same + other + _of(counts, "predictions")
    scores = f"{other:,} of them with another score, " if other else ""
    return InputFinding(
        kind="repeated_predictions",
        sentence=f"{same + other:,} of {rows:,} rows of predictions "
        f"({percent_text((same + other) / rows)}) repeat an id of the window{usual}, {scores}and "
        "only the first of each counts: check whether rows were written twice, and whether the "
        "pattern matches files that were replaced",
    )


def _conflicting(counts: Counts, before: Callable[[], Sequence[Counts]]) -> InputFinding | None:
    usual = _beyond_usual(counts, ("conflicting_labels",), ("label_rows",), before)
    if usual is None:
        return None
    rows = _of(counts, "conflicting_labels")
    return InputFinding(
        kind="conflicting_labels",
        sentence=f"{rows:,} of {_of(counts, 'label_rows'):,} labels contradict each other about "
        f"one prediction at the same known_at{usual}, and are not counted: give the later "
        "one a later known_at",
    )


def _unmatched(counts: Counts) -> InputFinding | None:
    told = counts.get("unmatched")
    if not told:
        return None
    return InputFinding(
        kind="unmatched_labels", sentence=unmatched_sentence(UnmatchedLabels(**told))
    )


def unmatched_sentence(labels: UnmatchedLabels) -> str:
    """How many labels match no prediction, which, and the likely repair."""
    examples = ", ".join(ascii(text) for text in labels.examples)
    if labels.repair:
        remedy = (
            f"{labels.repair}: {labels.repaired} of {labels.tried} that were tried match a "
            "prediction then"
        )
    else:
        remedy = (
            "no other spelling that was tried matches; check id of both tables, whether "
            "predictions are missing, and whether these labels are about another model"
        )
    return (
        f"{_part(labels.unmatched, labels.known, 'label')} about no prediction, such as "
        f"{examples}, and {'does' if labels.unmatched == 1 else 'do'} not count: {remedy}"
    )


def _unverified(counts: Counts) -> InputFinding | None:
    engine = counts.get("versions", {}).get("unverified_engine")
    if not engine:
        return None
    return InputFinding(
        kind="unverified_engine",
        sentence=f"counted by {engine['name']} {engine['version']}, which was not verified, so "
        "counts may be wrong: run pumonitor engines verify with its url",
    )


def _beyond_usual(
    counts: Counts,
    names: Iterable[str],
    among: Iterable[str],
    before: Callable[[], Sequence[Counts]],
) -> str | None:
    """None if there is nothing to report; else a clause on the usual share, possibly empty."""
    names, among = tuple(names), tuple(among)
    found, rows = _sum(counts, names), _sum(counts, among)
    if rows == 0 or found <= _REPORTED_SHARE * rows:
        return None
    earlier = [one for one in before() if _sum(one, among) > 0]
    if len(earlier) < _LEAST_WINDOWS:
        return ""
    usual, of = (sum(_sum(one, these) for one in earlier) for these in (names, among))
    if found <= _JUMP * usual / of * rows and found < _NEVER_USUAL * rows:
        return None
    return f" (usual is {percent_text(usual / of)})"


def _of(counts: Counts, name: str) -> int:
    return int(counts.get(name) or 0)


def _sum(counts: Counts, names: Iterable[str]) -> int:
    return sum(_of(counts, name) for name in names)


def _part(some: int, of: int, what: str) -> str:
    return (
        f"{some:,} of {of:,} {what}s ({percent_text(some / of)}) {'was' if some == 1 else 'were'}"
    )
