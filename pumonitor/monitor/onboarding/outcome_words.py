"""Columns of outcomes, and what their words usually mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from pumonitor._validate import Meaning, word_meaning
from pumonitor.sources.column_types.monitored_tables import LabelWords

_OUTCOMES: Final = re.compile(
    r"(.*_)?(labels?|state|status|outcome|verdict|result|decision|disposition|resolution|finding|"
    r"diagnosis|feedback|(is_?)?(fraud|fraudulent|positive|confirmed|churned|abuse|spam|bad))"
    r"(_.*)?|y",
    re.IGNORECASE,
)
_NO_OUTCOMES: Final = re.compile(r".*_(at|on|time|timestamp|ts|date|by|id|reason)", re.IGNORECASE)
"""When, by whom and why a case ended."""


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
    meanings = {word: word_meaning(word) for word in words}
    if None in meanings.values():
        return None
    sorted_out = sorted_words(meanings)
    if not sorted_out.positive or not (sorted_out.negative or sorted_out.undecided):
        return None
    return sorted_out


def sorted_words(meanings: Mapping[str, Meaning | None]) -> LabelWords:
    """Words by what each means, in their order."""

    def those(meaning: Meaning) -> tuple[str, ...]:
        return tuple(word for word, what in meanings.items() if what == meaning)

    return LabelWords(
        positive=those("positive"), negative=those("negative"), undecided=those("undecided")
    )


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
