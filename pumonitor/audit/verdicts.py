"""Verdicts on the cases of an audit: those that can be used, and those that cannot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_labels, as_scores
from pumonitor.audit.drawn import DrawnAudit
from pumonitor.audit.ids import as_id, as_ids
from pumonitor.audit.reading import Reviewers
from pumonitor.errors import InputError, shortened

Fair = Literal["check", "assume"]

WORDS: Final[Mapping[str, int | None]] = {
    "1": 1,
    "1.0": 1,
    "true": 1,
    "0": 0,
    "0.0": 0,
    "false": 0,
    "undecided": None,
}

WHY: Final[Mapping[str, str]] = {
    "other_audit": "of another audit",
    "not_drawn": "on cases that were not drawn",
    "unknown_word": "that are not 1, 0 or undecided",
    "duplicate": "given more than once, of which one is counted",
    "conflict": "on cases with verdicts that contradict each other, which count as undecided",
}
"""Why verdicts are not used, in words."""

_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Verdicts that are not used, for one reason.

    Attributes
    ----------
    reason : str
        One of "other_audit", "not_drawn", "unknown_word", "duplicate", "conflict".
    count : int
    examples : tuple of str
        The first three, by the id of their case.
    """

    reason: str
    count: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        named = ", ".join(map(repr, self.examples))
        more = ", ..." if self.count > len(self.examples) else ""
        what = "verdict" if self.count == 1 else "verdicts"
        return f"{self.count} {what} {WHY[self.reason]}: {named}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """An audit that was drawn and reviewed, for `pumonitor.evaluate`.

    Attributes
    ----------
    design : DrawnAudit
    verdicts : mapping of str to int or None
        By id: 1 positive, 0 negative, None undecided. A case without one has not been reviewed.
    refused : tuple of Refused
        Verdicts that are not used.
    reviewers : Reviewers, optional
        What seeds tell of mistaken verdicts; without it verdicts are the truth.
    fair : {"check", "assume"}
        Whether to allow for confirmations that follow the score, or to take them for a fair sample
        of the positives.
    """

    design: DrawnAudit
    verdicts: Mapping[str, int | None]
    refused: tuple[Refused, ...] = ()
    reviewers: Reviewers | None = None
    fair: Fair = "check"

    def __post_init__(self) -> None:
        if self.fair not in ("check", "assume"):
            msg = f"fair must be 'check' or 'assume', got {self.fair!r}"
            raise ValueError(msg)
        if not any(one is not None for one in self.verdicts.values()):
            why = "; ".join(map(str, self.refused))
            msg = (
                f"no case of audit {self.design.name} has a verdict that can be used: give 1 for "
                "positive or 0 for negative for at least one of its "
                f"{len(self.design.cases)} cases{f' ({why})' if why else ''}"
            )
            raise InputError(msg)

    @property
    def unread(self) -> int:
        """Cases that nobody has given a verdict on."""
        return len(self.design.cases) - len(self.verdicts)

    @property
    def one_sided(self) -> str | None:
        """What is odd about verdicts that are all positive while others are missing."""
        said = list(self.verdicts.values())
        if self.unread == 0 or said.count(0) > 0 or said.count(1) < _MANY_POSITIVES:
            return None
        return (
            f"All {said.count(1)} verdicts are positive, and {self.unread} of "
            f"{len(self.design.cases)} cases have none: if those were looked at and are negative, "
            "give them the verdict 0, or the class prior comes out far too high."
        )

    def by_bin(self) -> tuple[NDArray[np.int64], ...]:
        """Cases decided, positive and undecided, by score bin."""
        found = np.zeros((3, len(self.design.planned)), dtype=np.int64)
        for case in self.design.cases:
            if case.id in self.verdicts:
                said = self.verdicts[case.id]
                found[2 if said is None else 0, case.bin] += 1
                found[1, case.bin] += said == 1
        return tuple(found)

    def labels_without(self, labels: Any, scores: Any, ids: Any) -> NDArray[np.int8]:
        """Labels in which drawn cases count as unlabeled: what an audit found confirms nothing.

        Raises
        ------
        InputError
            If there is not one id a row, a drawn case is missing among them, or has a score of
            another bin than it was drawn from.
        """
        found, names = as_labels(labels).copy(), as_ids(ids)
        if len(names) != len(found):
            msg = f"ids must have one value per row: got {len(names)} for {len(found)} rows"
            raise InputError(msg)
        row = {name: at for at, name in enumerate(names)}
        missing = [one.id for one in self.design.cases if one.id not in row]
        if missing:
            msg = (
                f"{len(missing)} of {len(self.design.cases)} cases of audit {self.design.name} are "
                f"not among these rows, first {shortened(missing[0])!r}: give the rows that it was "
                "drawn from"
            )
            raise InputError(msg)
        cases = [row[one.id] for one in self.design.cases]
        self._check_scores(as_scores(scores)[cases])
        found[cases] = 0
        return found

    def _check_scores(self, scores: NDArray[Any]) -> None:
        """In another bin the verdicts of cases would tell of rows they were not drawn for."""
        design = self.design
        bins = np.array([case.bin for case in design.cases])
        moved = np.searchsorted(design.edges, scores, side="right") != bins
        if moved.any():
            first = int(moved.argmax())
            msg = (
                f"{int(moved.sum())} of {len(bins)} cases of audit {design.name} have scores of "
                f"another score bin than they were drawn from, first "
                f"{shortened(design.cases[first].id)!r} with {scores[first]:g}: these are other "
                "scores; give those that it was drawn by, or draw an audit of these"
            )
            raise InputError(msg)


_MANY_POSITIVES: Final = 5
"""Positive verdicts without a negative one that are hardly chance."""


def read_verdicts(
    design: DrawnAudit,
    verdicts: Any,
    *,
    reviewers: Reviewers | None = None,
    fair: Fair = "check",
) -> Audit:
    """Join verdicts to the cases of an audit by id. What cannot be used is counted and named.

    Parameters
    ----------
    design : DrawnAudit
    verdicts : mapping, data frame, or iterable of tuples
        Verdicts by id; or columns ``id`` and ``verdict``; or pairs of both. A third part, in a
        frame the column ``audit``, is the name of the audit they belong to. A verdict is 1, 0 or
        "undecided"; where it is missing or empty the case has not been reviewed yet.
    reviewers : Reviewers, optional
        What seeds tell of mistaken verdicts.
    fair : {"check", "assume"}
        As in `Audit`.

    Raises
    ------
    InputError
        If no verdict can be used.
    """
    drawn = {case.id for case in design.cases}
    refused: dict[str, list[str]] = {reason: [] for reason in WHY}
    said: dict[str, list[int | None]] = defaultdict(list)
    for given_id, given, audit in _triples(verdicts):
        name, word = as_id(given_id), as_id(given)
        if word is None:
            continue
        if audit is not None and audit != design.name:
            refused["other_audit"].append(str(name))
        elif name not in drawn:
            refused["not_drawn"].append(str(name))
        elif word.casefold() not in WORDS:
            refused["unknown_word"].append(f"{name}: {shortened(word)}")
        else:
            said[name].append(WORDS[word.casefold()])
    for name, given_ones in said.items():
        if len(set(given_ones)) > 1:
            refused["conflict"] += [name] * len(given_ones)
        elif len(given_ones) > 1:
            refused["duplicate"] += [name] * (len(given_ones) - 1)
    return Audit(
        design=design,
        verdicts={name: one[0] if len(set(one)) == 1 else None for name, one in said.items()},
        refused=tuple(
            Refused(reason=why, count=len(names), examples=tuple(dict.fromkeys(names))[:_NAMED])
            for why, names in refused.items()
            if names
        ),
        reviewers=reviewers,
        fair=fair,
    )


def _triples(verdicts: Any) -> Iterable[tuple[Any, Any, str | None]]:
    """Id, verdict and audit, whatever they come in."""
    if isinstance(verdicts, Mapping):
        return [(name, one, None) for name, one in verdicts.items()]
    if hasattr(verdicts, "columns"):
        missing = {"id", "verdict"} - set(map(str, verdicts.columns))
        if missing:
            msg = f"verdicts has no column {' and no '.join(sorted(missing))}"
            raise InputError(msg)
        columns = [list(verdicts["id"]), list(verdicts["verdict"])]
        named = "audit" in set(map(str, verdicts.columns))
        audits = list(verdicts["audit"]) if named else [None] * len(columns[0])
        return [
            (one, other, as_id(audit)) for one, other, audit in zip(*columns, audits, strict=True)
        ]
    return [(one[0], one[1], as_id(one[2]) if len(one) > 2 else None) for one in verdicts]
