"""A model that does not rank positives above others."""

from __future__ import annotations

from collections.abc import Mapping

from pumonitor.results import Estimate, Finding


def no_ranking(estimates: Mapping[str, Estimate]) -> list[Finding]:
    """A warning when the interval of the uncorrected AUC holds 1/2 or lies below it.

    The uncorrected AUC is on the same side of 1/2 as the AUC and needs no class prior.
    """
    auc = estimates["auc_pu"]
    if auc.low > 0.5:
        return []
    if auc.high < 0.5:
        sentence = (
            "Confirmed positives score lower than the other rows: the score may be reversed "
            "(probability of the negative class?)."
        )
    else:
        sentence = (
            "The scores do not rank confirmed positives above the other rows: the ranking cannot "
            "be distinguished from chance."
        )
    return [Finding(name="no_ranking", severity="warning", sentence=sentence)]
