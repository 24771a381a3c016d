"""Mistaken confirmations, as far as the scores show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.results import Finding
from pumonitor.text import count_text, number_text

_LEVEL = 0.001


def label_noise(settings: Mapping[str, Any]) -> list[Finding]:
    """What ``settings["label_purity_evidence"]`` says of mistaken labels.

    The mapping is `to_dict()` of `pumonitor.prior.labels.label_noise.LabelPurityEstimate`. A
    warning when noise is evident at level .001 and the labels were taken to be purer than its
    interval allows; a note when the evidence is weaker, or when the estimated purity was
    used. Positives that score like anybody look the same as mistaken labels: no scores tell them
    apart, a second look at low-scoring confirmations does.
    """
    evidence = settings.get("label_purity_evidence")
    if not evidence or not evidence["is_evident"]:
        return []
    mistaken = 100 * (1 - evidence["value"])
    least, most = 100 * (1 - evidence["high"]), 100 * (1 - evidence["low"])
    seen = (
        f"Some confirmed positives are spread over low scores like any other rows: about "
        f"{count_text(mistaken)}% ({count_text(least)} to {count_text(most)}%) of the "
        "confirmations look mistaken, unless there are positives the model does not recognise at "
        "all"
    )
    if settings["label_purity"] > evidence["high"]:
        return [
            Finding(
                name="label_noise",
                severity="warning" if evidence["p_value"] < _LEVEL else "note",
                sentence=(
                    f"{seen}. Check some low-scoring confirmations by hand; if they are mistaken, "
                    f"give label_purity={number_text(evidence['value'])}."
                ),
            )
        ]
    return [
        Finding(
            name="label_noise",
            severity="note",
            sentence=(
                f"{seen}. The estimates allow for this with "
                f"label_purity={number_text(settings['label_purity'])}."
            ),
        )
    ]
