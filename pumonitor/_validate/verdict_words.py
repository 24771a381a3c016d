"""What the words of outcomes and verdicts usually mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

Meaning = Literal["positive", "negative", "undecided"]

_MEANINGS: Final[dict[Meaning, re.Pattern[str]]] = {
    "positive": re.compile(
        r"1|y|yes|true|t|positive|pos|tp|confirm(ed)?|(confirmed_)?fraud(ulent)?|abus(e|ive)|bad|"
        r"spam|malicious|chargeback|churn(ed)?|upheld|substantiated|malignant|true_positive|removed?"
    ),
    "negative": re.compile(
        r"0|-1|n|no|false|f|negative|neg|fp|reject(ed)?|refuted|legit(imate)?|genuine|good|ok(ay)?|"
        r"clean|cleared|dismissed|benign|ham|unfounded|unsubstantiated|false_positive|"
        r"no(t|n)?_?fraud(ulent)?|not_confirmed|retained|keep|kept"
    ),
    "undecided": re.compile(
        r"|open|pending|undecided|unclear|unknown|new|waiting|(in_|under_)?review|in_progress|"
        r"assigned|escalated?|inconclusive|n/a|na|none|null"
    ),
}
"""Usual words of positives, of negatives and of cases that are not decided."""

_TRUTH: Final = re.compile(r".?|-?[01]|true|false|yes|no|none|null|n/a", re.IGNORECASE)
"""Words of anything that is so or not so, and no reviewer's."""


def word_meaning(word: str) -> Meaning | None:
    """What a word usually means; None if it is not known.

    Examples
    --------
    >>> word_meaning("Not fraud"), word_meaning("chargeback"), word_meaning("blue")
    ('negative', 'positive', None)
    """
    plain = re.sub(r"[\s_-]+(?=\w)", "_", word.strip().casefold()) if word != "-1" else word
    return next((what for what, usual in _MEANINGS.items() if usual.fullmatch(plain)), None)


def hint_on_verdicts(words: Iterable[object]) -> str:
    """What to do with a column of labels that holds verdicts, by its words; "" if none tells.

    Examples
    --------
    >>> hint_on_verdicts(["ok", "fraud"])[:35], hint_on_verdicts(["2", "yes"])
    ('. These are words of reviewers, who', '')
    """
    told = (str(word) for word in words if not _TRUTH.fullmatch(str(word).strip()))
    if not any(word_meaning(word) for word in told):
        return ""
    return (
        ". These are words of reviewers, whose 'negative' is no unlabeled row: give complaints as "
        "labels, and verdicts as reviews=pumonitor.Reviews(...), --verdicts on the command line"
    )
