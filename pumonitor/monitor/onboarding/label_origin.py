"""The question where confirmed positives come from, in words of those who have them."""

from __future__ import annotations

from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.onboarded import Question
from pumonitor.results import LABEL_ORIGINS

NOT_SAID: Final = "unknown"


def origin_question() -> Question:
    """Question where confirmed positives come from; nobody has to answer it."""
    return Question(
        what="label_origin",
        option="--label-origin",
        proposal=NOT_SAID,
        why="where confirmed positives come from. queue: analysts work through the highest "
        "scores; complaints: customers call, chargebacks come back; both: finds of analysts and "
        "chargebacks in one table; random: cases drawn by lot are checked; unknown: nobody can say",
        choices=(*LABEL_ORIGINS, NOT_SAID),
        read=_read_origin,
    )


def _read_origin(answer: str) -> None:
    if answer not in {*LABEL_ORIGINS, NOT_SAID}:
        msg = f"must be queue, complaints, both, random or unknown, got {answer!r}"
        raise InputError(msg)
