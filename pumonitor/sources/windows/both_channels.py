"""Complaints and reviews of the same predictions as one table of labels, a row for each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import IntArray
from pumonitor.errors import InputError
from pumonitor.ports import QueueDescription
from pumonitor.reviews.given import UNREVIEWED
from pumonitor.reviews.states import (
    DIFFERING_STATES,
    PENDING,
    POSITIVE_STATES,
    REASONS,
    REVIEWERS_DIFFER,
    RULE,
    STATES,
    states_of,
)
from pumonitor.sources.windows.counts_rows import LabelStates, LabelTable
from pumonitor.sources.windows.reviewer_agreement import ReviewerVerdicts

if TYPE_CHECKING:
    import pyarrow as pa

BOTH_CHANNELS: Final = LabelStates(
    least=0, number=STATES, positive=POSITIVE_STATES, disputed=DIFFERING_STATES
)
"""What complaints and reviews may say of a row."""
_QUEUED: Final = 2
"""Label of a row that says that a case was queued, beside those of verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewTable:
    """The reviews of a queue with the columns that were named.

    Attributes
    ----------
    labels : LabelTable
        Verdicts as labels; of its `details` the first are reviewers, if `has_reviewers`, then
        reasons, if `reasons` is given, then chances, if `has_chances`.
    queued : LabelTable, optional
        The same rows as cases that were queued, with the time of that.
    has_reviewers, has_chances : bool
        Whether the table says who reviewed, and with which chance a case was drawn.
    reasons : mapping of str to str, or None
        Which of `REASONS` a word in small letters is, where it is not the word itself; a word that
        is neither is a rule. None where all rows were reviewed for their score.
    always : str
        Of `REASONS`, where no column says why.
    """

    labels: LabelTable
    queued: LabelTable | None = None
    has_reviewers: bool = False
    has_chances: bool = False
    reasons: Mapping[str, str] | None = None
    always: str = "score"

    @property
    def reason_column(self) -> str:
        """Which of the details says why a row was reviewed."""
        return f"detail_{int(self.has_reviewers)}"

    @property
    def chance_column(self) -> str:
        """Which of the details says with which chance a case was drawn."""
        return f"detail_{int(self.has_reviewers) + int(self.reasons is not None)}"

    def reason_of(self, word: str) -> int:
        """Place in `REASONS` of a word in small letters."""
        reason = (self.reasons or {}).get(word, word)
        return REASONS.index(reason) if reason in REASONS[:RULE] else RULE


def labels_of_both(
    complaints: pa.Table, reviews: Sequence[tuple[ReviewTable, pa.Table]]
) -> pa.Table:
    """What is known of each id after every row that says something of it.

    Of a reviewer the latest verdict counts; where those of several reviewers differ the row is
    undecided until they agree. A case that was queued waits until there is a verdict. It was
    reviewed for the reason that was told first.

    Parameters
    ----------
    complaints : pyarrow.Table
        id, known, label: 1, or anything else to take it back.
    reviews : sequence of (ReviewTable, pyarrow.Table)
        id, known, label (1, -1, 0 for undecided, or that of `with_queued`), and the details of the
        table.

    Returns
    -------
    pyarrow.Table
        id, known, label (a state of `BOTH_CHANNELS`) and propensity, the chance of a review at
        random where a table says it, in order of id and time, one row for each moment at which an
        id's state may have changed.
    """
    import pyarrow as pa

    tables = [complaints, *(table for _, table in reviews)]
    ids = pa.chunked_array(
        [chunk for table in tables for chunk in table["id"].chunks], type=complaints["id"].type
    )
    numbers = ids.combine_chunks().dictionary_encode()
    if isinstance(numbers, pa.ChunkedArray):
        numbers = numbers.combine_chunks()
    row_id = np.asarray(numbers.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    known = np.concatenate([table["known"].to_numpy() for table in tables]).astype(np.int64)
    label = np.concatenate([table["label"].to_numpy() for table in tables]).astype(np.int64)
    queue = np.repeat(np.arange(len(tables)), [len(table) for table in tables]) - 1
    reason = _reasons(reviews, skipped=len(complaints))
    person = _people(row_id, queue, reviews, skipped=len(complaints))
    chance = _chances(reviews, reason[len(complaints) :], skipped=len(complaints))
    # At one moment what is told last is the complaint: it is the same in any order.
    order = np.lexsort((label, queue, known, row_id))
    row_id, known, label, queue, reason, person = (
        column[order] for column in (row_id, known, label, queue, reason, person)
    )
    chance = chance[order]
    is_review = queue >= 0
    is_queued, is_verdict = is_review & (label == _QUEUED), is_review & (label != _QUEUED)
    starts = np.diff(row_id, prepend=-1) != 0
    complained = _in_force(label == 1, person, ~is_review, starts)
    votes = {
        verdict: _in_force(label == verdict, person, is_verdict, starts) for verdict in (1, -1, 0)
    }
    is_queued = _in_force(is_queued, person, is_queued, starts) > 0
    verdict = np.select(
        [
            votes[1] + votes[-1] + votes[0] == 0,
            (votes[1] > 0) & (votes[-1] > 0),
            votes[1] > 0,
            votes[-1] > 0,
        ],
        [np.where(is_queued, PENDING, UNREVIEWED), REVIEWERS_DIFFER, 1, 0],
        -1,
    )
    state = states_of(
        complained=complained > 0, verdict=verdict, reason=_first(reason, is_review, starts)
    )
    # Rows of one id and moment are one: what all of them say is known after the last.
    is_last = np.append((row_id[1:] != row_id[:-1]) | (known[1:] != known[:-1]), True)
    if len(row_id) == 0:
        is_last = np.zeros(0, dtype=bool)
    return pa.table(
        {
            "id": numbers.dictionary.take(pa.array(row_id[is_last])),
            "known": known[is_last],
            "label": state[is_last],
            # Of one moment any row will do: the first that is told counts.
            "propensity": pa.array(chance[is_last], from_pandas=True),
        }
    )


def described_queue(queue: ReviewTable, table: pa.Table) -> QueueDescription:
    """Verdicts and reasons of a queue, counted."""
    verdicts = np.asarray(table["label"].to_numpy())
    words = {}
    if queue.reasons is not None:
        words = _counted(table[queue.reason_column].filter(verdicts != _QUEUED))
    return QueueDescription(
        name=queue.labels.relation.name,
        positive=int((verdicts == 1).sum()),
        negative=int((verdicts == -1).sum()),
        undecided=int((verdicts == 0).sum()),
        waiting=_waiting(table["id"], verdicts == _QUEUED),
        reasons=words,
        rules=tuple(
            sorted(
                word
                for word in words
                if queue.reason_of(word) == RULE and word not in (queue.reasons or {})
            )
        ),
    )


def _waiting(ids: pa.ChunkedArray, is_queued: NDArray[np.bool_]) -> int:
    """Cases that were queued and have no verdict."""
    if not is_queued.any():
        return 0
    case = np.asarray(ids.combine_chunks().dictionary_encode().indices)
    return int((np.bincount(case) == np.bincount(case, weights=is_queued)).sum())


def with_queued(verdicts: pa.Table, queued: pa.Table) -> pa.Table:
    """Verdicts, and a row for each case that was queued, with a label of its own."""
    import pyarrow as pa

    label = pa.array(np.full(len(queued), _QUEUED), type=queued["label"].type)
    told = queued.set_column(queued.column_names.index("label"), "label", label)
    return pa.concat_tables([verdicts, told.cast(verdicts.schema)])


def verdicts_by_reviewer(
    reviews: Sequence[tuple[ReviewTable, pa.Table]],
) -> ReviewerVerdicts:
    """Who gave which verdict, in the queues that say who."""
    import pyarrow as pa

    named = [
        table.filter(np.asarray(table["label"]) != _QUEUED)
        for review, table in reviews
        if review.has_reviewers
    ]
    if not named:
        return ReviewerVerdicts.none()
    columns = {
        name: pa.chunked_array(
            [chunk for table in named for chunk in table[name].chunks], type=named[0][name].type
        )
        for name in ("id", "known", "label", "detail_0")
    }
    cases, people = (
        columns[name].combine_chunks().dictionary_encode() for name in ("id", "detail_0")
    )
    case, reviewer = (
        np.asarray(numbers.indices.fill_null(-1), dtype=np.int64) for numbers in (cases, people)
    )
    known, verdict = (
        np.asarray(columns[name].to_numpy(), dtype=np.int64) for name in ("known", "label")
    )
    names = people.dictionary.to_pylist()
    is_named = np.array([*(name not in ("", None) for name in names), False])[reviewer]
    return ReviewerVerdicts(
        names,
        case=case[is_named],
        reviewer=reviewer[is_named],
        known=known[is_named],
        verdict=verdict[is_named],
    )


def _counted(words: pa.ChunkedArray) -> dict[str, int]:
    """Rows by word, most frequent first."""
    counted = words.value_counts().to_pylist()
    counts: dict[str, int] = {}
    for group in counted:
        word = str(group["values"]).strip().casefold()
        counts[word] = counts.get(word, 0) + int(group["counts"])
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _reasons(reviews: Sequence[tuple[ReviewTable, pa.Table]], *, skipped: int) -> IntArray:
    """Place in `REASONS` of each row, 0 for complaints."""
    places: list[IntArray] = [np.zeros(skipped, dtype=np.int64)]
    for queue, table in reviews:
        if queue.reasons is None:
            places.append(np.full(len(table), REASONS.index(queue.always), dtype=np.int64))
            continue
        words = table[queue.reason_column].combine_chunks().dictionary_encode()
        read = [queue.reason_of(text.strip().casefold()) for text in words.dictionary.to_pylist()]
        index = words.indices.to_numpy(zero_copy_only=False)
        places.append(np.array([*read, 0], dtype=np.int64)[index])
    return np.concatenate(places)


def _chances(
    reviews: Sequence[tuple[ReviewTable, pa.Table]], reason: IntArray, *, skipped: int
) -> NDArray[np.float64]:
    """Chance of each row that was chosen at random, where a table says it; NaN elsewhere.

    Raises
    ------
    InputError
        If it is none.
    """
    columns = [np.full(skipped, np.nan)]
    begin = 0
    for queue, table in reviews:
        is_drawn = reason[begin : begin + len(table)] == REASONS.index("random")
        begin += len(table)
        chance = np.full(len(table), np.nan)
        if queue.has_chances:
            texts = table[queue.chance_column].to_pylist()
            chance[is_drawn] = [_as_number(texts[at]) for at in np.flatnonzero(is_drawn)]
            label = np.asarray(table["label"].to_numpy())
            decided = is_drawn & np.isin(label, [1, -1])
            wrong = decided & ~((chance > 0) & (chance <= 1))
            if wrong.any():
                first = texts[int(wrong.argmax())]
                msg = (
                    f"{queue.labels.relation.name}: probability must be above 0 and at most 1 "
                    f"where a case was chosen at random: it is not for {int(wrong.sum())} of "
                    f"{int(decided.sum())} verdicts, for example {first or 'missing'}"
                )
                raise InputError(msg)
            chance[~((chance > 0) & (chance <= 1))] = np.nan
        columns.append(chance)
    return np.concatenate(columns)


def _as_number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _people(
    row_id: IntArray,
    queue: IntArray,
    reviews: Sequence[tuple[ReviewTable, pa.Table]],
    *,
    skipped: int,
) -> IntArray:
    """A number for each pair of an id and who says something of it; complaints are one of them."""
    names: dict[str, int] = {}
    person = np.zeros(len(row_id), dtype=np.int64)
    begin = skipped
    for at, (reviewed, table) in enumerate(reviews):
        own = slice(begin, begin + len(table))
        begin += len(table)
        person[own] = names.setdefault(f"queue {at}", len(names) + 1)
        if reviewed.has_reviewers:
            words = table["detail_0"].combine_chunks().dictionary_encode()
            read = [
                names.setdefault(f"reviewer {name}", len(names) + 1)
                for name in words.dictionary.to_pylist()
            ]
            person[own] = np.array([*read, 0], dtype=np.int64)[
                words.indices.to_numpy(zero_copy_only=False)
            ]
        # A case that is queued once more keeps its verdict.
        is_queued = np.asarray(table["label"].to_numpy()) == _QUEUED
        person[own][is_queued] = names.setdefault("queued", len(names) + 1)
    return row_id * (len(names) + 1) + person


def _in_force(
    says: NDArray[np.bool_],
    person: IntArray,
    among: NDArray[np.bool_],
    starts: NDArray[np.bool_],
) -> IntArray:
    """After each row, how many people say so of its id by their latest row."""
    if len(says) == 0:
        return np.zeros(0, dtype=np.int64)
    now = (says & among).astype(np.int64)
    order = np.argsort(person, kind="stable")
    before = np.zeros_like(now)
    is_same = person[order][1:] == person[order][:-1]
    before[order[1:]] = np.where(is_same, now[order[:-1]], 0)
    total = np.cumsum(np.where(among, now - before, 0))
    first = np.flatnonzero(starts)
    # What was counted of the ids before.
    earlier = total[first] - np.where(among, now - before, 0)[first]
    return np.asarray(total - np.repeat(earlier, np.diff(np.append(first, len(total)))))


def _first(reason: IntArray, is_review: NDArray[np.bool_], starts: NDArray[np.bool_]) -> IntArray:
    """Of each row the reason of the first review of its id; 0 where there is none."""
    if len(reason) == 0:
        return reason
    position = np.where(is_review, np.arange(len(reason)), len(reason))
    first = np.flatnonzero(starts)
    least = np.minimum.reduceat(position, first)
    chosen = np.append(reason, 0)[least]
    return np.asarray(np.repeat(chosen, np.diff(np.append(first, len(reason)))))
