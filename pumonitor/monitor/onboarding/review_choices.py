"""Choose the roles of the columns of a table of reviews, and ask what no table tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pumonitor._validate import Meaning, word_meaning
from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.answers import Answers
from pumonitor.monitor.onboarding.onboarded import Options, Question, ReviewQueue, StoppedRows
from pumonitor.monitor.onboarding.outcome_words import is_named_like_an_outcome, sorted_words
from pumonitor.monitor.onboarding.proposals import described, first_named
from pumonitor.monitor.onboarding.table_reader import TableReader
from pumonitor.monitor.onboarding.table_samples import ColumnSample, TableSample
from pumonitor.sources.column_types.monitored_tables import LabelWords
from pumonitor.text import percent_text

__all__ = ["choose_reviews", "reasons_of", "stopped_rows"]

_ENOUGH_MATCHED: Final = 0.5
MOST_VERDICT_WORDS: Final = 20
_DECIDED: Final = (
    r"(decided|decision|reviewed|review|verdict|closed|resolved|completed)_?(at|time|ts|date|on)?",
    r".*(decid|review|verdict|clos|resol).*",
    r"(time|timestamp|datetime|ts|date)",
    r".*(_at|_time|_ts|time)",
)
_QUEUED: Final = (r"(queued|enqueued|queue_entry|entered_queue)_?(at|time|ts|date|on)?",)
_CHANCES: Final = (
    r"(review|sampling|selection|inclusion|draw)?_?(probability|prob|chance)",
    r"probability_of_review",
)
_REVIEWERS: Final = (r"(analyst|reviewer|moderator|agent|investigator|adjudicator)(_?(id|name))?",)
_REASONS: Final = (
    r"(chosen_by|reason|review_reason|queue_reason|selected_by|selection|trigger|queue)",
)
_ACTIONS: Final = (r"(action|decision|disposition|outcome|treatment)(_taken)?",)
_STOPPED: Final = re.compile(
    r"declin(e|ed)|block(ed)?|reject(ed)?|stop(ped)?|den(y|ied)|refus(e|ed)", re.IGNORECASE
)
_MEANT: Final[dict[str, Meaning]] = {
    "1": "positive",
    "0": "negative",
    "undecided": "undecided",
}
_REASON_WORDS: Final = {
    "score": r"(by_)?(model_?|risk_)?scores?|model|queue|top|threshold|high_?(score|risk)",
    "random": r"random(_(sample|review|check))?|lottery|sampled?|by_chance|spot_?checks?",
    "audit": r"audit(ed)?",
    "complaint": r"(customer_)?(complaints?|calls?|reports?|disputes?)|chargebacks?|reported",
}


def choose_reviews(
    reader: TableReader,
    predictions: TableSample,
    table: TableSample,
    *,
    id_: str,
    options: Options,
    answers: Answers,
) -> ReviewQueue:
    """The columns of a table of reviews; what is unclear is asked.

    Parameters
    ----------
    reader : TableReader
    predictions, table : TableSample
        The second is that of the reviews.
    id_ : str
        Column of the predictions that reviews refer to.
    options : Options
    answers : Answers

    Raises
    ------
    InputError
        If no column refers to predictions, or an option names none.
    """
    verdict = _verdict(table, options, answers)
    words = _words(reader, table, verdict, options.words, answers)
    decided_at = _optional(table, "decided_at", options.decided_at, _DECIDED, answers)
    if decided_at is None:
        answers.notes.append(
            "Without decided_at every verdict counts as known from the start: results of past "
            "windows include verdicts that were not known then."
        )
    queued_at = _queued(table, decided_at, answers)
    chosen_by, reviewer = reason_and_reviewer(table, options, answers)
    reasons = {}
    if chosen_by is None:
        answers.notes.append(
            "No column says why a case was reviewed (--chosen-by): the queue is taken to have "
            "looked at the highest scores, and windows in which it did not are refused."
        )
    else:
        column = table.column(chosen_by, option="--chosen-by")
        listed = reader.words(table, column, most=MOST_VERDICT_WORDS + 1)
        reasons = reasons_of([word for word in listed if word])
        if reasons:
            meant = "; ".join(f"{what} {', '.join(those)}" for what, those in reasons.items())
            answers.notes.append(
                f"Words of {chosen_by!r} are taken for reasons of review: {meant}. Check "
                "each: cases of a rule tell nothing of others."
            )
    timed = decided_at or queued_at
    return ReviewQueue(
        source=table.name,
        id=_id(reader, predictions, table, id_, answers),
        verdict=verdict.name,
        words=words,
        decided_at=None if decided_at is None else decided_at.name,
        decided_zone=None if timed is None or timed.kind != "naive" else options.zone,
        decided_unit=None if timed is None else timed.time_unit,
        queued_at=None if queued_at is None else queued_at.name,
        reviewer=reviewer,
        chosen_by=chosen_by,
        probability=_chances(table, reasons, answers),
        reasons=reasons,
        blocks=_blocks(options.blocks, answers),
    )


def reason_and_reviewer(
    table: TableSample, options: Options, answers: Answers
) -> tuple[str | None, str | None]:
    """Columns with why a case was reviewed and by whom; None where there is none."""
    reviewer = first_named(table, _REVIEWERS, lambda column: column.kind in {"text", "integer"})
    if reviewer is not None:
        answers.found("reviewer", reviewer.name, "by its name")
    chosen_by = _optional(table, "chosen_by", options.chosen_by, _REASONS, answers)
    return (
        None if chosen_by is None else chosen_by.name,
        None if reviewer is None else reviewer.name,
    )


def _queued(
    table: TableSample, decided_at: ColumnSample | None, answers: Answers
) -> ColumnSample | None:
    """When a case came into the queue, where it is written as the times of verdicts are."""
    queued = first_named(table, _QUEUED, lambda column: column.is_time)
    if queued is None:
        return None
    if decided_at is not None and (queued.kind, queued.time_unit) != (
        decided_at.kind,
        decided_at.time_unit,
    ):
        return None
    answers.found("queued_at", queued.name, f"by its name; {described(queued)}")
    return queued


def _chances(
    table: TableSample, reasons: Mapping[str, Sequence[str]], answers: Answers
) -> str | None:
    """The chance with which a case was drawn, where some were drawn at random."""
    chance = first_named(
        table,
        _CHANCES,
        lambda column: (
            column.kind in {"float", "integer"}
            and column.least is not None
            and column.greatest is not None
            and column.least > 0
            and column.greatest <= 1
        ),
    )
    if chance is None:
        return None
    if "random" not in reasons:
        answers.notes.append(
            f"Column {chance.name!r} of the reviews looks like the chance of a random review, and "
            "no reason is known to be one: if some cases were drawn at random, put their word "
            f"under random in chosen_by, and add probability: {chance.name}."
        )
        return None
    answers.found("probability", chance.name, f"by its name; {described(chance)}")
    return chance.name


def _id(
    reader: TableReader, predictions: TableSample, table: TableSample, id_: str, answers: Answers
) -> str:
    """The column of a review that refers to a prediction: of that name, or of such values."""
    columns = sorted(table.columns, key=lambda column: column.name != id_)
    for column in columns:
        if column.kind in {"text", "integer"} and column.time_unit is None:
            share = reader.overlap(predictions, id_, table, column.name)
            if share >= _ENOUGH_MATCHED:
                answers.found(
                    "id of reviews",
                    column.name,
                    f"{percent_text(share)} of its values are predictions",
                )
                return column.name
    msg = (
        f"no column of {table.name} refers to {id_!r} of {predictions.name}: name with --id the "
        "column of the predictions that reviews refer to"
    )
    raise InputError(msg)


def _verdict(table: TableSample, options: Options, answers: Answers) -> ColumnSample:
    named = [
        column
        for column in table.columns
        if is_named_like_an_outcome(column.name) and column.distinct <= MOST_VERDICT_WORDS
    ]
    proposal = named[0] if named and options.verdict is None else None
    why = (
        f"it is unclear which column of {table.name} says what review found"
        if proposal is None
        else described(proposal)
    )
    names = [column.name for column in table.columns]
    question = Question(
        what="verdict",
        option="--verdict",
        proposal=None if proposal is None else proposal.name,
        why=why,
        choices=names,
    )
    return table.column(answers.decide(question, options.verdict), option="--verdict")


def _words(
    reader: TableReader,
    table: TableSample,
    verdict: ColumnSample,
    given: Sequence[str],
    answers: Answers,
) -> LabelWords:
    """What the words of the verdicts mean; an empty one is a case that waits for its review."""
    given_meanings = dict(part.rpartition("=")[::2] for part in given)
    meanings: dict[str, Meaning | None] = {}
    listed = reader.words(table, verdict, most=MOST_VERDICT_WORDS + 1)
    if len(listed) > MOST_VERDICT_WORDS:
        msg = (
            f"column {verdict.name!r} of {table.name} has more than {MOST_VERDICT_WORDS} words and "
            "holds no verdicts: name another with --verdict"
        )
        raise InputError(msg)
    for word in filter(None, listed):
        usual = None if word in given_meanings else word_meaning(word)
        if usual is None:
            question = Question(
                what=f"verdict {word}",
                option=f"--word {word}=1, =0 or =undecided",
                proposal=None,
                why=f"what the word {word!r} of {verdict.name!r} means is not known: 1 positive, "
                "0 negative or undecided",
                choices=tuple(_MEANT),
                read=_read_meaning,
            )
            usual = _read_meaning(answers.answer(question, given_meanings.get(word)))
        meanings[word] = usual
    if "positive" not in meanings.values():
        msg = (
            f"no word of {verdict.name!r} of {table.name} is a positive verdict (its words are "
            f"{', '.join(map(repr, meanings))}): say which is, --word WORD=1"
        )
        raise InputError(msg)
    shown = ", ".join(f"{word} {meaning}" for word, meaning in meanings.items())
    answers.found("words of verdicts", shown, "check what each means")
    return sorted_words(meanings)


def _read_meaning(answer: str) -> Meaning:
    if answer not in _MEANT:
        msg = f"must be 1, 0 or undecided, got {answer!r}"
        raise InputError(msg)
    return _MEANT[answer]


def _optional(
    table: TableSample,
    role: str,
    given: str | None,
    names: Sequence[str],
    answers: Answers,
) -> ColumnSample | None:
    """A column that need not be there, as named, or by its name."""
    option = f"--{role.replace('_', '-')}"
    if given == "none":
        answers.found(role, "none", "as given")
        return None
    if given is not None:
        answers.found(role, given, "as given")
        return table.column(given, option=option)
    is_time = role.endswith("_at")
    column = first_named(
        table,
        names,
        lambda candidate: candidate.is_time if is_time else candidate.kind == "text",
    )
    if column is not None:
        answers.found(role, column.name, f"by its name; {described(column)}")
    return column


def _blocks(given: str | None, answers: Answers) -> bool:
    question = Question(
        what="blocks",
        option="--blocks or --no-blocks",
        proposal=None,
        why="whether a positive verdict stops the case, so that it can never complain, as a "
        "payment that an analyst declines is never charged back. It must be said, and said "
        "rightly: yes or no",
        choices=("yes", "no"),
    )
    return answers.decide(question, given) == "yes"


def reasons_of(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Why cases were reviewed, by the words that say it; those that are not known are rules.

    Empty if there are too many words.

    Examples
    --------
    >>> reasons_of(["top", "velocity", "customer_call"])
    {'score': ('top',), 'complaint': ('customer_call',), 'rule': ('velocity',)}
    """
    if len(words) > MOST_VERDICT_WORDS:
        return {}

    def reason_of(word: str) -> str:
        plain = re.sub(r"[\s-]+", "_", word.strip().casefold())
        known = (what for what, usual in _REASON_WORDS.items() if re.fullmatch(usual, plain))
        return next(known, "rule")

    sorted_out = {
        reason: tuple(word for word in words if reason_of(word) == reason)
        for reason in (*_REASON_WORDS, "rule")
    }
    return {reason: those for reason, those in sorted_out.items() if those}


def stopped_rows(
    reader: TableReader, predictions: TableSample, answers: Answers
) -> StoppedRows | None:
    """Which predictions were stopped outright, where a column says it in usual words."""
    column = first_named(predictions, _ACTIONS, lambda column: column.kind == "text")
    if column is None or column.distinct > MOST_VERDICT_WORDS:
        return None
    words = reader.words(predictions, column, most=MOST_VERDICT_WORDS)
    stopped = tuple(word for word in words if _STOPPED.fullmatch(word.strip()))
    if not stopped:
        return None
    answers.found("action", f"{column.name}: {', '.join(stopped)}", "stopped, by these words")
    return StoppedRows(column=column.name, words=stopped)
