"""An estimated class prior is an upper bound unless some negatives look like no positive."""

from __future__ import annotations

from typing import Final

from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.text import percent_text

_FOLLOWED_FROM_GIVEN: Final = "followed from a given prior"


def prior_is_upper_bound(class_prior: ClassPriorEstimate) -> list[Finding]:
    """A note whenever the prior, or the level that it was followed from, is one of the scores'."""
    method = class_prior.method.removeprefix("given by ")
    if method in ("propensity", _FOLLOWED_FROM_GIVEN) or method.startswith(("audit", "given")):
        return []
    low, high = class_prior.identified_set
    return [
        Finding(
            name="prior_is_upper_bound",
            severity="note",
            sentence=(
                "The class prior was estimated from the scores. If labels are a fair sample of the "
                "positives, such data give an upper bound: it is too high if no group of negatives "
                f"is clearly unlike the positives, and then anything from {percent_text(low)} to "
                f"{percent_text(high)} fits as well. If easy positives are confirmed first, as by "
                "a review queue, it is no bound, and mostly too low."
            ),
        )
    ]
