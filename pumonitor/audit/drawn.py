"""An audit as it was drawn: its cases for the reviewers, and apart what is needed to read them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pumonitor._validate import as_labels, as_scores
from pumonitor.audit.counts import AuditDesign
from pumonitor.audit.ids import as_ids
from pumonitor.audit.ordering import draw_key, first_keys
from pumonitor.errors import InputError

SCHEMA_VERSION: Final = 1

OWN_COLUMNS: Final = ("case", "id", "audit", "verdict")
"""Columns of the file of cases that are not asked for."""

_CONSONANTS: Final = "bcdfghjklmnpqrst"
_NAME_LENGTH: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A drawn row.

    Attributes
    ----------
    id : str
    bin : int
        Its score bin, from 0 (lowest scores).
    """

    id: str
    bin: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnAudit:
    """What was drawn, in the order in which it is reviewed, with all that reading it needs.

    Reviewers must not see it: a bin tells the score.

    Attributes
    ----------
    name : str
        Made of the seed and the cases; verdicts bear it, so that those of another audit are told.
    seed : str
    threshold : float
    edges : tuple of float
        Inner edges of the score bins.
    rows, labeled, planned : tuple of int
        N, L and m by bin when the audit was drawn.
    cases : tuple of Case
        In random order.
    """

    name: str
    seed: str
    threshold: float
    edges: tuple[float, ...]
    rows: tuple[int, ...]
    labeled: tuple[int, ...]
    planned: tuple[int, ...]
    cases: tuple[Case, ...]

    def inclusion(self, case: Case) -> float:
        """pi: the probability with which an unlabeled row of the case's bin was drawn."""
        at = case.bin
        return self.planned[at] / (self.rows[at] - self.labeled[at])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "schema_version": SCHEMA_VERSION,
            "audit": self.name,
            "seed": self.seed,
            "threshold": self.threshold,
            "edges": list(self.edges),
            "rows": list(self.rows),
            "labeled": list(self.labeled),
            "planned": list(self.planned),
            "cases": [
                {"id": one.id, "bin": one.bin, "inclusion": self.inclusion(one)}
                for one in self.cases
            ],
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> DrawnAudit:
        """What `to_dict` wrote.

        Raises
        ------
        InputError
            If it is something else.
        """
        try:
            if written["schema_version"] != SCHEMA_VERSION:
                msg = f"the design has schema_version {written['schema_version']}, not 1"
                raise InputError(msg)
            return cls(
                name=str(written["audit"]),
                seed=str(written["seed"]),
                threshold=float(written["threshold"]),
                edges=tuple(map(float, written["edges"])),
                rows=tuple(map(int, written["rows"])),
                labeled=tuple(map(int, written["labeled"])),
                planned=tuple(map(int, written["planned"])),
                cases=tuple(
                    Case(id=str(one["id"]), bin=int(one["bin"])) for one in written["cases"]
                ),
            )
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            msg = (
                "this is no design of an audit: give the JSON file that was written beside the "
                f"cases ({type(error).__name__}: {error})"
            )
            raise InputError(msg) from None


def draw_cases(
    ids: Any, labels: Any, scores: Any, *, design: AuditDesign, threshold: float
) -> DrawnAudit:
    """Draw the cases of a design, by the order of their keyed ids within each bin.

    Parameters
    ----------
    ids : array-like of shape (n,)
        One for each row, all different.
    labels, scores : array-like of shape (n,)
        Those the design was made of.
    design : AuditDesign
    threshold : float

    Raises
    ------
    InputError
        If ids are missing or not all different, or rows by bin are not those of the design.
    """
    names = as_ids(ids)
    label, score = as_labels(labels), as_scores(scores).astype(float)
    if not len(names) == len(label) == len(score):
        msg = (
            "ids, labels and scores must have one value a row, got "
            f"{len(names)}, {len(label)} and {len(score)}"
        )
        raise InputError(msg)
    place = design.bins.bin_of(score)
    rows, confirmed = (
        np.bincount(one, minlength=len(design.planned)) for one in (place, place[label == 1])
    )
    if np.any(rows != design.bins.rows) or np.any(confirmed != design.bins.labeled):
        msg = "the plan was made from other rows or labels than these: plan the audit again"
        raise InputError(msg)
    cases = []
    for at, planned in enumerate(design.planned.tolist()):
        inside = np.flatnonzero((place == at) & (label != 1))
        drawn = first_keys(design.seed, (names[row] for row in inside), planned)
        cases += [Case(id=one, bin=at) for one in drawn]
    # Another key than the one they were drawn by: keys of densely drawn bins reach higher.
    cases.sort(key=lambda one: draw_key(f"{design.seed} order", one.id))
    return DrawnAudit(
        name=audit_name(design.seed, [one.id for one in cases]),
        seed=design.seed,
        threshold=threshold,
        edges=tuple(design.bins.edges.tolist()),
        rows=tuple(design.bins.rows.tolist()),
        labeled=tuple(design.bins.labeled.tolist()),
        planned=tuple(design.planned.tolist()),
        cases=tuple(cases),
    )


def audit_name(seed: str, ids: Sequence[str]) -> str:
    """Eight letters that no other audit has.

    Names of digits are numbers to a spreadsheet: it saves 01234567 as 1234567 and 12e45678 as
    infinity, and their verdicts then belong to no audit. Words and dates need vowels.
    """
    digest = hashlib.sha256(json.dumps([seed, *ids]).encode()).digest()
    return "".join(_CONSONANTS[byte % len(_CONSONANTS)] for byte in digest[:_NAME_LENGTH])
