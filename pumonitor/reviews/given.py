"""The reviews of the rows of an evaluation, as the caller gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_scores
from pumonitor._validate.columns import is_missing
from pumonitor.errors import InputError, shortened
from pumonitor.reviews.unequal_chances import differ

BY_SCORE: Final = 0
"""Or by chance, whatever the row is: what is known of the other rows of its score tells of it."""
BY_CHANCE_AMONG_SILENT: Final = 1
BY_RULE: Final = 2
BY_COMPLAINT: Final = 3

_REASONS: Final = {
    "score": BY_SCORE,
    "random": BY_SCORE,
    "audit": BY_CHANCE_AMONG_SILENT,
    "complaint": BY_COMPLAINT,
}
_WORDS: Final = {
    "1": 1,
    "1.0": 1,
    "true": 1,
    "0": 0,
    "0.0": 0,
    "false": 0,
    "undecided": -1,
}
UNREVIEWED: Final = -2
_UNKNOWN: Final = -3
_NAMED: Final = 5
_MOST_FOUND: Final = 0.999


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowReviews:
    """Reviews by row, as numbers.

    Attributes
    ----------
    verdict : ndarray of shape (n,)
        1 positive, 0 negative, -1 undecided, -2 not reviewed.
    chosen_by : ndarray of shape (n,)
        Of reviewed rows: `BY_SCORE`, `BY_CHANCE_AMONG_SILENT`, `BY_RULE` or `BY_COMPLAINT`.
    is_ranked : ndarray of shape (n,) of bool
        Rows that were chosen by the score.
    stopped : ndarray of shape (n,) of bool
    rules : tuple of str
        Words of `chosen_by` that are rules.
    probability : ndarray of shape (n,), optional
        With which rows reviewed at random were drawn, where these chances differ; NaN elsewhere.
    """

    verdict: NDArray[np.int8]
    chosen_by: NDArray[np.int8]
    is_ranked: NDArray[np.bool_]
    stopped: NDArray[np.bool_]
    rules: tuple[str, ...] = ()
    probability: NDArray[np.float64] | None = None


class Reviews:
    """Verdicts of a review queue on the rows of an evaluation; `labels` are complaints then.

    A queue looks at the highest scores and says of each case whether it is positive; complaints
    (chargebacks, reports, diagnoses) confirm some of the other positives. Together they tell how
    many positives nobody has seen, which neither does alone.

    It is wrong where rows were chosen by anything that `chosen_by` does not say, where `blocks`
    is said wrongly, and where complaints far below the scores that are reviewed come otherwise
    than on a line through those that are: a week with a lower cut, or an audit, would tell.

    Parameters
    ----------
    verdicts : array-like of shape (n,)
        1 positive, 0 negative (what `labels` calls -1), "undecided"; None, NaN or "" where the row
        was not reviewed.
    blocks : bool
        Whether a positive verdict stops the case, so that it can never complain.
    words : mapping, optional
        What the words of `verdicts` mean: {"fraud": 1, "ok": 0, "unclear": "undecided"}; and those
        of `chosen_by`: {"top of the day": "score", "sampled": "random"}.
    chosen_by : str or array-like of shape (n,), optional
        Why a row was reviewed: "score"; "random", whatever the row was; "audit", by chance among
        rows that had not complained; "complaint", because somebody complained; any other word is a
        rule, whose cases are known and tell nothing of others. Without it the highest scores were
        reviewed, and it is refused where verdicts lie below unreviewed rows.
    probability : array-like of shape (n,), optional
        The chance with which each row reviewed at random was drawn, above 0 and at most 1; of other
        rows it does not matter. Needed where rows of one score had different chances (large
        amounts three times as often): their verdicts are weighted then. Where chances depend on the
        score alone, leave it out.
    ranked_by : array-like of shape (n,) or str, optional
        The score that filled the queue, where it is another than the one that is evaluated: that of
        the champion, where a challenger is evaluated. `compare` takes the name of a model as well.
    stopped : array-like of bool of shape (n,), optional
        Rows that were declined outright: without a verdict nobody can know what they were.
    detection_rate : float or (low, high), optional
        Share of the positives it sees that review finds. Without it all, unless a cleared case
        complained: the share is then estimated.

    Raises
    ------
    InputError
        If verdicts are other words, or nothing was reviewed.
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> import numpy as np, pumonitor
    >>> rng = np.random.default_rng(1)
    >>> is_fraud = rng.random(20_000) < 0.01
    >>> scores = rng.normal(2.3 * is_fraud)
    >>> reviewed = scores >= np.quantile(scores, 0.98)
    >>> verdicts = np.where(reviewed, is_fraud.astype(float), np.nan)
    >>> complaints = is_fraud & ~reviewed & (rng.random(20_000) < 0.6)
    >>> ev = pumonitor.evaluate(complaints, scores, threshold=2.0,
    ...                         reviews=pumonitor.Reviews(verdicts, blocks=True))
    >>> flagged = scores >= 2.0
    >>> recall = (flagged & is_fraud).sum() / is_fraud.sum()
    >>> bool(ev["recall"].low < recall < ev["recall"].high)
    True
    """

    def __init__(
        self,
        verdicts: Any,
        *,
        blocks: bool,
        words: Mapping[Any, Any] | None = None,
        chosen_by: Any = None,
        probability: Any = None,
        ranked_by: Any = None,
        stopped: Any = None,
        detection_rate: float | tuple[float, float] | None = None,
    ) -> None:
        if not isinstance(blocks, bool | np.bool_):
            msg = (
                "blocks must be True or False: whether a positive verdict stops the case, so that "
                f"it can never complain; got {blocks!r}"
            )
            raise TypeError(msg)
        self.blocks = bool(blocks)
        self.given = verdicts
        self.detection_rate = detection_interval(detection_rate)
        meanings, reasons = _meanings(words)
        verdict = _as_verdicts(verdicts, meanings)
        if not np.any(verdict >= 0):
            msg = (
                f"none of {len(verdict)} rows has a verdict 1 or 0: leave reviews out, or check "
                "the join of verdicts to predictions"
            )
            raise InputError(msg)
        reason, ranked, rules, by_chance = _as_reasons(chosen_by, verdict, reasons)
        self.is_chosen_by_given = chosen_by is not None
        self.ranked_by: NDArray[Any] | str | None = ranked_by
        if ranked_by is not None and not isinstance(ranked_by, str):
            self.ranked_by = as_scores(ranked_by, name="ranked_by")
        if isinstance(self.ranked_by, np.ndarray) and len(self.ranked_by) != len(verdict):
            msg = (
                "ranked_by must have one score a row, got "
                f"{len(self.ranked_by)} for {len(verdict)} rows"
            )
            raise InputError(msg)
        self.rows = RowReviews(
            verdict=verdict,
            chosen_by=reason,
            is_ranked=ranked,
            stopped=_as_flags(stopped, rows=len(verdict)),
            rules=rules,
            probability=_as_chances(
                probability,
                is_drawn=by_chance & (verdict >= 0),
                is_undecided=by_chance & (verdict < 0),
            ),
        )
        if not self.blocks:
            _refuse_stopped_positives(self.rows)

    def __len__(self) -> int:
        return len(self.rows.verdict)


def detection_interval(rate: object) -> tuple[float, float] | None:
    """The share of positives that review finds, as two ends; None where it finds all.

    Raises
    ------
    ValueError
        If it is neither a share above 0 nor an interval of such.
    """
    if rate is None or rate == 1:
        return None
    ends = two_ends((rate, rate) if isinstance(rate, Real) else rate)
    if ends is None or not 0 < ends[0] <= ends[1] <= 1 or ends[0] == 1:
        msg = (
            "detection_rate is a share of the positives that review sees, above 0 and at most 1, "
            f"or (low, high); got {rate!r}"
        )
        raise ValueError(msg)
    return min(ends[0], _MOST_FOUND), min(ends[1], _MOST_FOUND)


def two_ends(interval: object) -> tuple[float, float] | None:
    """Two numbers, or None if these are no two numbers."""
    if not isinstance(interval, tuple | list) or len(interval) != 2:
        return None
    low, high = interval
    if not (isinstance(low, Real) and isinstance(high, Real)):
        return None
    return float(low), float(high)


def _refuse_stopped_positives(rows: RowReviews) -> None:
    """Their silence would be read as that of a positive that could have complained."""
    both = rows.stopped & (rows.verdict == 1) & (rows.chosen_by == BY_SCORE)
    if both.any():
        msg = (
            f"{int(both.sum())} rows with a positive verdict are stopped, first at row "
            f"{int(both.argmax())}, and blocks is False: say blocks=True, by which nothing follows "
            "from the silence of a row with a positive verdict"
        )
        raise InputError(msg)


def _meanings(words: Mapping[Any, Any] | None) -> tuple[dict[str, int], dict[str, str]]:
    """What each word of a verdict, and the caller's of a reason, mean; in lower case."""
    verdicts, reasons = dict(_WORDS), dict[str, str]()
    for word, meaning in (words or {}).items():
        name, means = _as_word(word), _as_word(meaning)
        if means in _WORDS:
            verdicts[name] = _WORDS[means]
        elif means in _REASONS:
            reasons[name] = means
        else:
            msg = (
                "words must map to 1, 0 or 'undecided', those of chosen_by to 'score', 'random', "
                f"'audit' or 'complaint', got {meaning!r} for {word!r}"
            )
            raise ValueError(msg)
    return verdicts, reasons


def _as_verdicts(verdicts: Any, meanings: Mapping[str, int]) -> NDArray[np.int8]:
    values = _objects(verdicts, name="verdicts")
    if meanings != _WORDS:
        values = values.astype(object)
    if values.dtype.kind in "bi":
        verdict = values.astype(np.int8)
        unknown = (values != 0) & (values != 1)
    elif values.dtype.kind == "f":
        missing = np.isnan(values)
        verdict = np.where(missing, UNREVIEWED, values == 1).astype(np.int8)
        unknown = ~missing & (values != 0) & (values != 1)
    else:
        words, index = _words_of(values)
        known = [meanings.get(word, UNREVIEWED if word == "" else _UNKNOWN) for word in words]
        verdict = np.array(known, dtype=np.int8)[index]
        unknown = verdict == _UNKNOWN
    if unknown.any():
        first = int(unknown.argmax())
        texts = sorted({str(value) for value in values[unknown].tolist()})
        named = ", ".join(repr(shortened(text)) for text in texts[:_NAMED])
        example = ", ".join(f"{shortened(text)!r}: ..." for text in texts[:_NAMED])
        msg = (
            f"verdicts has {int(unknown.sum())} of {len(values)} values that are not 1, 0, "
            f"'undecided' or missing, first {shortened(str(values[first]))!r} at row {first} "
            f"({named}{', ...' if len(texts) > _NAMED else ''}): say what each means, "
            f"Reviews(words={{{example}}}) with 1, 0 or 'undecided', and leave rows without a "
            "review empty"
        )
        raise InputError(msg)
    return verdict


def _as_reasons(
    chosen_by: Any, verdict: NDArray[np.int8], meanings: Mapping[str, str]
) -> tuple[NDArray[np.int8], NDArray[np.bool_], tuple[str, ...], NDArray[np.bool_]]:
    """Kind of reason by row, rows chosen by score, words that are rules, and rows drawn."""
    reviewed = verdict != UNREVIEWED
    if chosen_by is None:
        chosen_by = "score"
    if isinstance(chosen_by, str):
        words, index = np.array([chosen_by.strip().casefold()]), np.zeros(len(verdict), np.intp)
    else:
        values = _objects(chosen_by, name="chosen_by")
        if len(values) != len(verdict):
            msg = f"chosen_by must have one value a row: got {len(values)} for {len(verdict)} rows"
            raise InputError(msg)
        words, index = _words_of(values)
        nameless = reviewed & (words[index] == "")
        if nameless.any():
            msg = (
                f"chosen_by is missing for {int(nameless.sum())} of {int(reviewed.sum())} reviewed "
                f"rows, first at row {int(nameless.argmax())}: say why each was reviewed, score, "
                "random, audit, complaint, or the name of a rule"
            )
            raise InputError(msg)
    words = np.array([meanings.get(word, word) for word in words])
    kinds = np.array([_REASONS.get(word, BY_RULE) for word in words], dtype=np.int8)
    used = np.unique(index[reviewed])
    rules = tuple(str(words[at]) for at in used if kinds[at] == BY_RULE)
    by_chance = reviewed & (words[index] == "random")
    return kinds[index], reviewed & (words[index] == "score"), rules, by_chance


def _as_chances(
    probability: Any, *, is_drawn: NDArray[np.bool_], is_undecided: NDArray[np.bool_]
) -> NDArray[np.float64] | None:
    """Of rows that were drawn, of undecided ones as far as it is one; None where all are alike."""
    if probability is None:
        return None
    if not is_drawn.any():
        msg = (
            "probability is that of rows reviewed at random, and no row with a verdict is one: say "
            "chosen_by='random' of them, or leave probability out"
        )
        raise InputError(msg)
    values = _objects(probability, name="probability")
    if len(values) != len(is_drawn):
        msg = f"probability must have one value a row: got {len(values)} for {len(is_drawn)} rows"
        raise InputError(msg)
    chances = np.full(len(values), np.nan)
    try:
        given = [np.nan if is_missing(value) else float(value) for value in values[is_drawn]]
    except (TypeError, ValueError):
        msg = "probability must be numbers above 0 and at most 1"
        raise InputError(msg) from None
    chances[is_drawn] = given
    wrong = is_drawn & ~((chances > 0) & (chances <= 1))
    if wrong.any():
        first = int(wrong.argmax())
        msg = (
            f"probability must be above 0 and at most 1 where a row was reviewed at random: it is "
            f"not for {int(wrong.sum())} of {int(is_drawn.sum())}, first "
            f"{shortened(str(values[first]))} at row {first}"
        )
        raise InputError(msg)
    try:
        others = [np.nan if is_missing(value) else float(value) for value in values[is_undecided]]
    except (TypeError, ValueError):
        others = [np.nan] * int(is_undecided.sum())
    chances[is_undecided] = [chance if 0 < chance <= 1 else np.nan for chance in others]
    return chances if differ(chances) else None


def _as_flags(stopped: Any, *, rows: int) -> NDArray[np.bool_]:
    if stopped is None:
        return np.zeros(rows, dtype=bool)
    values = _objects(stopped, name="stopped")
    if len(values) != rows:
        msg = f"stopped must have one value a row: got {len(values)} for {rows} rows"
        raise InputError(msg)
    wrong = ~((values == 0) | (values == 1))
    if wrong.any():
        first = int(wrong.argmax())
        msg = (
            f"stopped has {int(wrong.sum())} of {rows} values that are not True or False, first "
            f"{shortened(str(values[first]))!r} at row {first}: give 1 where a row was stopped "
            "outright and 0 elsewhere, such as action == 'declined'"
        )
        raise InputError(msg)
    return values.astype(bool)


def _objects(values: Any, *, name: str) -> NDArray[Any]:
    """Values as an array in which a missing one is NaN, None or empty text."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim != 1:
        msg = f"{name} must have one value a row, got an array of shape {array.shape}"
        raise InputError(msg)
    return array


def _words_of(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct values as words in lower case, missing ones empty, and the word of each row."""
    places: dict[Any, int] = {}
    # A missing number is unequal to itself: one key for all of them.
    each = (None if is_missing(value) else value for value in values.tolist())
    index = np.fromiter(
        (places.setdefault(value, len(places)) for value in each), np.intp, count=len(values)
    )
    words = ["" if is_missing(value) else _as_word(value) for value in places]
    return np.array(words, dtype=str), index


def _as_word(value: Any) -> str:
    """A value in lower case; a whole number has no decimals, which a column with gaps gives it."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value).strip().casefold()
