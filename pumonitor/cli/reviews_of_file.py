"""Rows of a file with the verdicts of a review queue: `--verdicts` of evaluate and compare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pumonitor.cli.readings import share_interval_of
from pumonitor.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pumonitor.results import Finding
    from pumonitor.sources.one_table.scored_rows import ScoredRows

__all__ = [
    "Blocks",
    "ChosenBy",
    "ComplaintRateText",
    "Probability",
    "RankedBy",
    "ReviewColumns",
    "Stopped",
    "Verdicts",
    "Words",
    "findings_in_options",
    "messages_in_options",
    "read_reviewed_rows",
]

_PANEL: Final = "Reviews"

Verdicts = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Verdicts of a review queue: 1, 0, undecided, or empty where a row was not reviewed. "
        "--labels are complaints alone then. Needs --blocks or --no-blocks.",
        rich_help_panel=_PANEL,
    ),
]
Blocks = Annotated[
    bool | None,
    typer.Option(
        "--blocks/--no-blocks",
        help="Whether a positive verdict stops the case, so that it can never complain.",
        rich_help_panel=_PANEL,
    ),
]
Words = Annotated[
    list[str] | None,
    typer.Option(
        "--word",
        metavar="WORD=VERDICT",
        help="What a word of the verdicts means: fraud=1, ok=0, unclear=undecided; or one of "
        "--chosen-by: sampled=random. Once for each.",
        rich_help_panel=_PANEL,
    ),
]
ChosenBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Why a row was reviewed: score, random, audit, complaint; any other word is a rule. "
        "Not needed where the highest scores were reviewed.",
        rich_help_panel=_PANEL,
    ),
]
Probability = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Chance with which a row reviewed at random was drawn, where rows of one score had "
        "different ones.",
        rich_help_panel=_PANEL,
    ),
]
RankedBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Score that filled the queue: for evaluate, where it is not that of --scores (the "
        "champion's, for a challenger); for compare, where it is not seen from the verdicts.",
        rich_help_panel=_PANEL,
    ),
]
Stopped = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="1 where a row was stopped outright, as a declined payment, else 0.",
        rich_help_panel=_PANEL,
    ),
]
ComplaintRateText = Annotated[
    str | None,
    typer.Option(
        "--complaint-rate",
        metavar="LOW,HIGH",
        help="Share of the positives that nobody reviewed or stopped which have complained by "
        "now, if it is known.",
        rich_help_panel=_PANEL,
    ),
]

_ARGUMENTS: Final = (
    "calibrated_scores",
    "chosen_by",
    "class_prior",
    "complaint_rate",
    "detection_rate",
    "entity",
    "label_frequency",
    "label_purity",
    "min_propensity",
    "probability",
    "ranked_by",
    "sample_weight",
    "value_unit",
)
"""Of the library, each of which is an option with hyphens."""

_AS_OPTIONS: Final = (
    (r"Reviews\(words=\{'(.+?)': .*?\}\)", r"--word '\1=...'"),
    (r"Reviews\((\w+)=\.\.\.\)", r"--\1"),
    (r"Reviews\((\w+)='(.+?)'\)", r"--\1 \2"),
    ("chosen_by='score' only", "score in all of them only"),
    (r"chosen_by='(\w+)'", r"\1 in --chosen-by"),
    ("say that review blocks", "say --blocks"),
    ("say that review does not block", "say --no-blocks"),
    ("blocks=True", "--blocks"),
    ("blocks=False", "--no-blocks"),
    ("blocks is False", "--no-blocks is given"),
    (r"^(verdicts|stopped|value)\b", r"--\1"),
    ("or value$", "or --value"),
    ("give value as well", "give --value as well"),
)

_FLAGS: Final = {"": False, "0": False, "false": False, "0.0": False}
_SET: Final = {"1": True, "true": True, "1.0": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewColumns:
    """Options of reviews, as they were given."""

    verdicts: str | None
    blocks: bool | None
    words: list[str] | None
    chosen_by: str | None
    probability: str | None
    ranked_by: str | None
    stopped: str | None
    complaint_rate: str | None

    def __post_init__(self) -> None:
        if self.verdicts is None:
            given = (
                self.blocks,
                self.words,
                self.chosen_by,
                self.probability,
                self.ranked_by,
                self.stopped,
                self.complaint_rate,
            )
            if any(value is not None for value in given):
                msg = (
                    "--blocks, --word, --chosen-by, --probability, --ranked-by, --stopped and "
                    "--complaint-rate are of reviews: give --verdicts as well"
                )
                raise typer.BadParameter(msg, param_hint="--verdicts")
        elif self.blocks is None:
            msg = (
                "say --blocks if a positive verdict stops the case, so that it can never complain, "
                "else --no-blocks"
            )
            raise typer.BadParameter(msg, param_hint="--blocks")


def read_reviewed_rows(
    file: str,
    *,
    labels: str,
    thresholds: Mapping[str, float],
    columns: ReviewColumns,
    detection_rate: float,
    entity: str | None = None,
    value: str | None = None,
    progress: Any,
) -> tuple[ScoredRows, dict[str, Any]]:
    """Read rows, with their verdicts where there are any.

    Parameters
    ----------
    file, labels
        As given on the command line.
    thresholds : mapping of str to float
        Of each model, by the column of its score.
    columns : ReviewColumns
    detection_rate : float
        Share of the positives it sees that review finds; 1 unless it is known.
    entity : str, optional
        Column that is read as text beside them.
    value : str, optional
        Column of what rows are worth.
    progress : callable
        Called with a step's name and the share of it that is done.

    Returns
    -------
    (ScoredRows, dict)
        The rows, and `reviews` and `complaint_rate` of `pumonitor.evaluate` and `compare`; without
        verdicts the `detection_rate`.

    Raises
    ------
    InputError
        If rows, verdicts or reasons cannot be used.
    """
    from pumonitor.reviews.given import Reviews
    from pumonitor.sources.one_table.scored_rows import read_scored_rows

    named = [
        *(columns.verdicts, columns.chosen_by, columns.probability, columns.stopped),
        *(entity, value),
    ]
    ranking = () if columns.ranked_by is None else (columns.ranked_by,)
    rows = read_scored_rows(
        file,
        labels=labels,
        thresholds={**dict.fromkeys(ranking), **thresholds},
        texts=[name for name in named if name is not None],
        progress=progress,
    )
    if columns.verdicts is None:
        return rows, {"detection_rate": detection_rate}
    reviews = Reviews(
        rows.texts[columns.verdicts],
        blocks=bool(columns.blocks),
        words=_words(columns.words or []),
        chosen_by=None if columns.chosen_by is None else rows.texts[columns.chosen_by],
        probability=None if columns.probability is None else rows.texts[columns.probability],
        ranked_by=None if columns.ranked_by is None else rows.scores[columns.ranked_by],
        stopped=None if columns.stopped is None else _flags(rows.texts[columns.stopped]),
        detection_rate=detection_rate,
    )
    rate = columns.complaint_rate
    return rows, {
        "reviews": reviews,
        "complaint_rate": (
            None if rate is None else share_interval_of(rate, option="--complaint-rate")
        ),
    }


@contextmanager
def messages_in_options() -> Iterator[None]:
    """Context in which an error names options, where the library names its arguments."""
    try:
        yield
    except (InputError, ValueError) as error:
        raise InputError(_in_options(str(error))) from None


def findings_in_options(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings that name options, where the library names its arguments."""
    return tuple(replace(each, sentence=_in_options(each.sentence)) for each in findings)


def _in_options(text: str) -> str:
    """What the library says of its arguments, as the options that give them.

    Examples
    --------
    >>> _in_options("leave out class_prior, propensity, or reviews")
    'leave out --class-prior, --propensity, or --verdicts'
    >>> _in_options("name them, Reviews(stopped=...), or say blocks=False")
    'name them, --stopped, or say --no-blocks'
    """
    for pattern, instead in _AS_OPTIONS:
        text = re.sub(pattern, instead, text)
    text = re.sub(
        "(?<=leave out )[a-z_, ]+(?=, or (?:reviews|--value))",
        lambda names: re.sub("[a-z_]+", r"--\g<0>", names[0]),
        text,
    ).replace(", or reviews", ", or --verdicts")
    return re.sub(
        f"(?:--)?\\b({'|'.join(_ARGUMENTS)})\\b",
        lambda name: f"--{name[1].replace('_', '-')}",
        text,
    )


def _words(given: Sequence[str]) -> dict[str, str]:
    """Read --word WORD=VERDICT."""
    pairs = [text.rpartition("=") for text in given]
    for word, _, _ in pairs:
        if not word:
            msg = "say what a word means: --word fraud=1 --word ok=0 --word unclear=undecided"
            raise typer.BadParameter(msg, param_hint="--word")
    return {word: meaning for word, _, meaning in pairs}


def _flags(texts: NDArray[Any]) -> NDArray[np.object_]:
    """True, False, or the text where it is neither, which is then refused with its words."""
    import numpy as np

    known = _FLAGS | _SET
    words = [known.get(str(text).strip().casefold(), text) for text in texts]
    return np.array(words, dtype=object)
