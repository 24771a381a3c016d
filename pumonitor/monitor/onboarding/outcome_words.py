"""Columns of outcomes, and what their words usually mean."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from pumonitor.sources.column_types.monitored_tables import LabelWords

__all__ = ["is_named_like_an_outcome", "words_meant", "written_words"]

_OUTCOMES: Final = re.compile(
    r"(.*_)?(labels?|state|status|outcome|verdict|result|decision|disposition|resolution|finding|"
    r"diagnosis|feedback|(is_?)?(fraud|fraudulent|positive|confirmed|churned|abuse|spam|bad))"
    r"(_.*)?|y",
    re.IGNORECASE,
)
_NO_OUTCOMES: Final = re.compile(r".*_(at|on|time|timestamp|ts|date|by|id|reason)", re.IGNORECASE)
"""When, by whom and why a case ended."""

_MEANINGS: Final = (
    re.compile(
        r"1|y|yes|true|t|positive|pos|tp|confirm(ed)?|(confirmed_)?fraud(ulent)?|abus(e|ive)|bad|"
        r"spam|malicious|chargeback|churn(ed)?|upheld|substantiated|malignant|true_positive"
    ),
    re.compile(
        r"0|-1|n|no|false|f|negative|neg|fp|reject(ed)?|refuted|legit(imate)?|genuine|good|ok(ay)?|"
        r"clean|cleared|dismissed|benign|ham|unfounded|unsubstantiated|false_positive|"
        r"no(t|n)?_?fraud(ulent)?|not_confirmed|retained"
    ),
    re.compile(
        r"|open|pending|undecided|unclear|unknown|new|waiting|(in_|under_)?review|in_progress|"
        r"assigned|escalated|inconclusive|n/a|na|none|null"
    ),
)
"""Usual words of positives, of negatives and of cases that are not decided."""


def is_named_like_an_outcome(name: str) -> bool:
    """Whether a column may say how cases ended.

    Examples
    --------
    >>> is_named_like_an_outcome("Status"), is_named_like_an_outcome("amount")
    (True, False)
    """
    # Camel case, as in caseStatus.
    spaced = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))
    return bool(_OUTCOMES.fullmatch(spaced)) and not _NO_OUTCOMES.fullmatch(spaced)


def words_meant(words: Collection[str]) -> LabelWords | None:
    """What all words mean; None if one of them is unknown, or all mean the same.

    Examples
    --------
    >>> words_meant(["Confirmed", "rejected", "open"])
    LabelWords(positive=('Confirmed',), negative=('rejected',), undecided=('open',))
    >>> words_meant(["confirmed", "blue"]) is None
    True
    """
    sorted_out: tuple[list[str], ...] = ([], [], [])
    for word in words:
        plain = re.sub(r"[\s_-]+(?=\w)", "_", word.strip().casefold()) if word != "-1" else word
        meanings = [index for index, usual in enumerate(_MEANINGS) if usual.fullmatch(plain)]
        if not meanings:
            return None
        sorted_out[meanings[0]].append(word)
    positive, negative, undecided = (tuple(those) for those in sorted_out)
    if not positive or not (negative or undecided):
        return None
    return LabelWords(positive=positive, negative=negative, undecided=undecided)


def written_words(column: str, words: LabelWords) -> str:
    """As the configuration has it.

    Examples
    --------
    >>> print(written_words("Status", LabelWords(positive=("confirmed",), undecided=("",))))
    {column: "Status", positive: ["confirmed"], undecided: [""]}
    """
    import json

    parts = [f"column: {json.dumps(column, ensure_ascii=False)}"]
    parts += [
        f"{meaning}: {json.dumps(list(those), ensure_ascii=False)}"
        for meaning, those in (
            ("positive", words.positive),
            ("negative", words.negative),
            ("undecided", words.undecided),
        )
        if those
    ]
    return f"{{{', '.join(parts)}}}"
