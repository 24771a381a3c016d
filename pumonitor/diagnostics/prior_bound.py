"""An estimated class prior is an upper bound unless some negatives look like no positive."""

from __future__ import annotations

from pumonitor.results import ClassPriorEstimate, Finding

__all__ = ["prior_is_upper_bound"]


def prior_is_upper_bound(class_prior: ClassPriorEstimate) -> list[Finding]:
    """A note whenever the prior was estimated from the scores."""
    if class_prior.method == "propensity":
        return []
    given = class_prior.method.startswith("given")
    if given and not class_prior.method.startswith("given by"):
        return []
    low, high = class_prior.identified_set
    return [
        Finding(
            name="prior_is_upper_bound",
            severity="note",
            sentence=(
                "The class prior was estimated from the scores. From such data it can be told only "
                "up to an upper bound: it is too high if no group of negatives is clearly unlike "
                f"the positives, and then anything from {low:.2%} to {high:.2%} fits as well; it "
                "is too low if easy positives are confirmed first."
            ),
        )
    ]
