"""How a stored estimate was computed, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.text import count_text, interval_text, percent_text


def how_computed(name: str, evaluation: Mapping[str, Any]) -> str:
    """Method, rows, the class prior's part in the uncertainty, and bounds; "" if nothing is stored.

    Parameters
    ----------
    name : str
        Of an estimate.
    evaluation : mapping
        As the ledger has it.

    Examples
    --------
    >>> print(how_computed("f1", {
    ...     "estimates": {"f1": {"method": "confidence draws of the counts", "n_labeled": 29,
    ...         "n_unlabeled": 558, "se": 0.1, "se_prior": 0.06, "value": 0.7}},
    ...     "bounds": {"f1": {"low": 0.44, "high": 0.87}},
    ... }))
    Method: confidence draws of the counts, from 29 confirmed and 558 other cases. 36% of its \
variance is that of the class prior. Bounds over all class priors in its interval: 0.440 to 0.870.
    """
    found = evaluation.get("estimates", {}).get(name)
    if not found or found.get("value") is None:
        return ""
    sentences = [
        f"Method: {found['method']}, from {count_text(found['n_labeled'])} confirmed and "
        f"{count_text(found['n_unlabeled'])} other cases."
    ]
    se, se_prior = found.get("se"), found.get("se_prior")
    if se and se_prior:
        share = min(1.0, (se_prior / se) ** 2)
        sentences.append(
            f"{percent_text(round(share, 2))} of its variance is that of the class prior."
        )
    bounds = evaluation.get("bounds", {}).get(name)
    if bounds and bounds.get("low") is not None and bounds.get("high") is not None:
        ends = interval_text(bounds["low"], bounds["high"])
        sentences.append(f"Bounds over all class priors in its interval: {ends}.")
    return " ".join(sentences)
