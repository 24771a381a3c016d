"""Options, questions and findings of onboarding: all that one monitor's configuration needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pumonitor.sources.column_types.monitored_tables import LabelWords


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options that the user gave; what is None is proposed from the data."""

    predictions: str | None = None
    positives: str | None = None
    id: str | None = None
    positives_id: str | None = None
    time: str | None = None
    score: str | None = None
    known_at: str | None = None
    label: str | None = None
    model_version: str | None = None
    window: str | None = None
    maturity: str | None = None
    threshold: float | None = None
    known_prior: str | None = None
    prior_period: str | None = None
    zone: str | None = None
    name: str | None = None
    label_origin: str | None = None
    reviews: str | None = None
    verdict: str | None = None
    words: Sequence[str] = ()
    decided_at: str | None = None
    chosen_by: str | None = None
    blocks: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to the user, with the proposed answer.

    Attributes
    ----------
    what : str
        The question in words.
    option : str
        The flag that answers it.
    proposal : str or None
        None where nothing was found.
    why : str
        Where the proposal comes from, or what is missing.
    choices : sequence of str
        All possible answers; empty if any text is possible.
    read : callable, optional
        Reads the answer; raises InputError if it is not valid.
    """

    what: str
    option: str
    proposal: str | None
    why: str
    choices: Sequence[str] = ()
    read: Callable[[str], object] | None = None


Ask = Callable[[Question], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A decision and its reason."""

    what: str
    value: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """What the configuration says of a review queue.

    Attributes
    ----------
    source : str
        Path or pattern.
    id, verdict : str
        Columns.
    words : LabelWords
        What the verdicts are, without the empty one.
    decided_at, queued_at, reviewer, chosen_by, probability : str or None
        Columns.
    decided_zone, decided_unit : str or None
        How both times are read.
    reasons : mapping of str to sequence of str
        Words of `chosen_by` by reason; empty if they are too many.
    blocks : bool or None
        None where it is to be filled in.
    """

    source: str
    id: str
    verdict: str
    words: LabelWords
    decided_at: str | None
    decided_zone: str | None
    decided_unit: str | None
    reviewer: str | None
    chosen_by: str | None
    reasons: Mapping[str, Sequence[str]]
    blocks: bool | None
    queued_at: str | None = None
    probability: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedRows:
    """Which predictions were stopped outright: a column and its words for it."""

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Onboarded:
    """Everything that a configuration of one monitor needs.

    Attributes
    ----------
    name, predictions, positives : str
        Of the monitor; paths or patterns.
    id, positives_id, time, score : str
        Columns, as the next four.
    known_at, label, model_version, propensity : str or None
    label_words : LabelWords or None
        What the label column has in place of 1, -1 and 0.
    segments : tuple of str
        Columns of few values, which could be segments.
    time_zone, known_zone, time_unit, known_unit : str or None
        How times of predictions and of confirmations are read.
    zone, window, score_scale : str
    maturity : timedelta
    threshold : float
    class_prior : str or None
        As the file has it; None beside reviews.
    reference : tuple of str or None
        Start and end, in the zone.
    findings : tuple of Finding
    notes : tuple of str
        What the user should know.
    label_origin : str or None
        Where confirmed positives come from, if it was said.
    reviews : ReviewQueue or None
    stopped : StoppedRows or None
    """

    name: str
    predictions: str
    positives: str
    id: str
    positives_id: str
    time: str
    score: str
    known_at: str | None
    label: str | None
    label_words: LabelWords | None
    model_version: str | None
    propensity: str | None
    segments: tuple[str, ...]
    time_zone: str | None
    known_zone: str | None
    time_unit: str | None
    known_unit: str | None
    zone: str
    window: str
    score_scale: str
    maturity: timedelta
    threshold: float
    class_prior: str | None
    reference: tuple[str, str] | None
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    label_origin: str | None = None
    reviews: ReviewQueue | None = None
    stopped: StoppedRows | None = None
