"""Read what the caller passes, whatever array it comes in; refuse what has no meaning.

Every message names the argument, what is wrong, how often, where it is first seen and what to do.
"""

from __future__ import annotations

from pumonitor._validate.columns import check_same_index
from pumonitor._validate.entities import as_entities, refuse_beside_entity
from pumonitor._validate.label_sources import scores_by_source
from pumonitor._validate.labels import (
    LABEL_REMEDY,
    MINIMUM_LABELED,
    MISSING_LABEL_REMEDY,
    as_labels,
    check_label_counts,
)
from pumonitor._validate.numbers import as_number
from pumonitor._validate.propensities import (
    NEVER_LABELED,
    as_propensities,
    check_propensity_settings,
)
from pumonitor._validate.scores import as_scores, as_threshold
from pumonitor._validate.verdict_words import Meaning, hint_on_verdicts, word_meaning
from pumonitor._validate.weights import as_weights, row_weights

__all__ = [
    "LABEL_REMEDY",
    "MINIMUM_LABELED",
    "MISSING_LABEL_REMEDY",
    "NEVER_LABELED",
    "Meaning",
    "as_entities",
    "as_labels",
    "as_number",
    "as_propensities",
    "as_scores",
    "as_threshold",
    "as_weights",
    "check_label_counts",
    "check_propensity_settings",
    "check_same_index",
    "hint_on_verdicts",
    "refuse_beside_entity",
    "row_weights",
    "scores_by_source",
    "word_meaning",
]
