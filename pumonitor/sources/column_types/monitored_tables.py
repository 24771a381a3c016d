"""What a monitor reads: where its two tables are and which of their columns mean what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TimeUnit = Literal["s", "ms", "us", "ns"]

Ambiguous = Literal["earlier", "later"]
"""Which of the two moments a local time means that clocks show twice, or never, at a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionColumns:
    """Columns of the predictions.

    Attributes
    ----------
    id : str
        Whole numbers or text, the same as in the labels.
    time : str
        When the prediction was made.
    score : str
        Higher = more positive.
    model_version : str, optional
    segments : tuple of str
    ranked_by : str, optional
        The score that filled a review queue, where it is another: rows are counted by its cells
        too.
    value : str, optional
        What a row is worth: rows are counted by its cells too.
    features : tuple of str
        Numbers, text, true and false. They are read where rows are asked for, and a column that is
        absent then or of another type stops nothing else.
    group : str, optional
        The entity a row is of (customer, device), where these recur.
    time_zone : str, optional
        Name such as "Europe/Berlin" for times that bear no zone of their own.
    time_unit : {"s", "ms", "us", "ns"}, optional
        For times that are whole numbers since 1970.
    ambiguous : {"earlier", "later"}, optional
        How local times are read that the zone's clocks show twice or never: as the earlier or the
        later of the two moments that the offsets before and after the change make of them. Without
        it they are refused.

    Examples
    --------
    >>> PredictionColumns(id="prediction_id", time="scored_at", score="score").segments
    ()
    """

    id: str
    time: str
    score: str
    model_version: str | None = None
    segments: tuple[str, ...] = ()
    ranked_by: str | None = None
    value: str | None = None
    features: tuple[str, ...] = ()
    group: str | None = None
    time_zone: str | None = None
    time_unit: TimeUnit | None = None
    ambiguous: Ambiguous | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelWords:
    """What the words of a column of outcomes mean; any other word is an error.

    Attributes
    ----------
    positive, negative : tuple of str
        Words of confirmed positives, and of confirmed negatives.
    undecided : tuple of str
        Words that say nothing, or no longer what an earlier row said; "" is a missing value.

    Examples
    --------
    >>> LabelWords(positive=("confirmed",), negative=("rejected",), undecided=("open",)).labels
    {'confirmed': 1, 'rejected': -1, 'open': 0}
    """

    positive: tuple[str, ...]
    negative: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, int]:
        """The label of each word."""
        meanings = ((self.positive, 1), (self.negative, -1), (self.undecided, 0))
        return {word: label for words, label in meanings for word in words}


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """Rows of a table that came one way: those with some words in a column.

    Attributes
    ----------
    column : str
    words : tuple of str
    """

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumns:
    """Columns of what became known about predictions.

    Attributes
    ----------
    id : str
    known_at : str, optional
        When the row became known. Without it every row counts at every moment, and what is
        computed for the past is not what would have been computed then.
    label : str, optional
        1 confirmed positive, -1 confirmed negative, 0 takes back what an earlier row said. Without
        it every row is a confirmed positive.
    label_words : LabelWords, optional
        What the column of labels has in place of these numbers.
    propensity : str, optional
        Chance, above 0 and at most 1, that a positive like this one gets confirmed.
    channel : Channel, optional
        Which rows count, where the table has others too.
    time_zone, time_unit, ambiguous : optional
        As for predictions, of `known_at`.

    Examples
    --------
    >>> LabelColumns(id="prediction_id", known_at="confirmed_at").label is None
    True
    """

    id: str
    known_at: str | None = None
    label: str | None = None
    label_words: LabelWords | None = None
    propensity: str | None = None
    channel: Channel | None = None
    time_zone: str | None = None
    time_unit: TimeUnit | None = None
    ambiguous: Ambiguous | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewColumns:
    """Columns of the reviews of a queue: a row for each case, or for each verdict on it.

    Attributes
    ----------
    id : str
    verdict : str
        1 positive, 0 negative, "undecided"; a row without one is waiting for its review.
    decided_at : str, optional
        When the verdict was given.
    queued_at : str, optional
        When the case came into the queue: until its verdict it is waiting.
    verdict_words : LabelWords, optional
        What the column of verdicts has in place of these.
    reviewer : str, optional
        Who gave it.
    chosen_by : str, optional
        Why the case was reviewed: score, random, audit, complaint, or the name of a rule.
    probability : str, optional
        With which a case that was chosen at random was drawn.
    reasons : mapping of str to str
        Which of these the words of that column are, where they are others.
    always : str
        Why all cases were reviewed, where no column says it.
    channel : Channel, optional
        Which rows count, where the table has others too.
    time_zone, time_unit, ambiguous : optional
        As for predictions, of `decided_at` and `queued_at`.

    Examples
    --------
    >>> ReviewColumns(id="payment_id", verdict="verdict", decided_at="decided_at").always
    'score'
    """

    id: str
    verdict: str
    decided_at: str | None = None
    queued_at: str | None = None
    verdict_words: LabelWords | None = None
    reviewer: str | None = None
    chosen_by: str | None = None
    probability: str | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    always: str = "score"
    channel: Channel | None = None
    time_zone: str | None = None
    time_unit: TimeUnit | None = None
    ambiguous: Ambiguous | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlTable:
    """A table or view of a database.

    Attributes
    ----------
    url : str
        For SQLAlchemy: "postgresql+psycopg://..." or "sqlite:///...". It may hold a password and is
        in no message.
    table : str
        Its name, with a schema before a dot where it has one.

    Examples
    --------
    >>> SqlTable(url="postgresql+psycopg://me:secret@host/db", table="scoring.predictions")
    SqlTable(table='scoring.predictions')
    """

    url: str = field(repr=False)
    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQuery:
    """A query of a database in place of a table.

    Attributes
    ----------
    url : str
        As in `SqlTable`.
    query : str
        One SELECT. For predictions it holds `:start` and `:end`, for labels `:as_of`. They are
        moments with their zone; with `time_zone` local times without; with `time_unit` whole
        numbers. SQLite, which has no times, gets them as text ("2026-01-31 00:00:00.000000+00:00").
        The rows are filtered by time once more, so a few too many do no harm.
    """

    url: str = field(repr=False)
    query: str
