"""What weights and shared entities leave of the confirmed cases, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.text import count_text, percent_text


def weights_in_words(settings: Mapping[str, Any]) -> list[str]:
    """What propensities or entities made of the confirmed cases; no sentence without either.

    Examples
    --------
    >>> for sentence in weights_in_words({
    ...     "propensities": True, "n_labeled": 340, "effective_labeled": 51.3,
    ...     "largest_weight_share": 0.098, "lifted_propensities": 3, "min_propensity": 0.01,
    ...     "detection_rate": 1.0, "never_reviewed_share": 0.0}):
    ...     print(sentence)
    Weighted by these chances the 340 confirmed cases carry as much information as 51 of equal \
weight would; the heaviest carries 9.8% of the weight.
    3 of the chances were below 1% and were raised to it, so cases like these count for too little.
    """
    effective = max(settings["effective_labeled"], 1.0)
    if settings.get("labeled_entities", settings["n_labeled"]) < settings["n_labeled"]:
        return [
            f"The {count_text(settings['n_labeled'])} confirmed cases are of "
            f"{count_text(settings['labeled_entities'])} entities and tell as much as "
            f"{count_text(effective)} independent ones would."
        ]
    if not settings.get("propensities"):
        return []
    found = [
        f"Weighted by these chances the {count_text(settings['n_labeled'])} confirmed cases carry "
        f"as much information as {count_text(effective)} of equal weight would; the heaviest "
        f"carries {percent_text(settings['largest_weight_share'])} of the weight."
    ]
    lifted, lowest = settings.get("lifted_propensities", 0), settings.get("min_propensity")
    if lifted:
        to = "the smallest allowed" if lowest is None else percent_text(lowest)
        one = lifted == 1
        found.append(
            f"{count_text(lifted)} of the chances {'was' if one else 'were'} below {to} and "
            f"{'was' if one else 'were'} raised to it, so cases like these count for too little."
        )
    detected = settings.get("detection_rate", 1.0)
    if detected < 1:
        found.append(
            f"A review is assumed to find {percent_text(detected)} of the positives among the "
            "cases reviewed."
        )
    never = settings.get("never_reviewed_share", 0.0)
    if never:
        found.append(
            f"{percent_text(never)} of the unconfirmed cases had no chance of being confirmed: "
            "positives among them are not counted, and the estimates say nothing about cases like "
            "these."
        )
    return found
