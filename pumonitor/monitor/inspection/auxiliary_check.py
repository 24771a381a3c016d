"""Check before the first run that the feature columns of a configuration can be read."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.ports import PredictionSource, SampleRequest, SourceDescription
from pumonitor.prior.auxiliary.feature_columns import FeatureColumns

_ROWS: Final = 200


def feature_warnings(
    monitor: Monitor, source: PredictionSource, description: SourceDescription
) -> Iterator[str]:
    """Warnings about a monitor's features; without features its windows are still evaluated.

    Parameters
    ----------
    monitor : Monitor
    source : PredictionSource
        Some rows of the last window are read from it.
    description : SourceDescription
    """
    if not monitor.predictions.features:
        return
    if not monitor.is_prior_followed:
        yield (
            "features are not read: only a class prior that is followed over windows uses them, "
            "and with this class_prior or label_purity it is not followed"
        )
        return
    if find_spec("sklearn") is None:
        yield (
            "the auxiliary score of the features needs scikit-learn; until it is installed the "
            "class prior is followed with the model's score: pip install 'pumonitor[features]'"
        )
    if description.last is None:
        return
    window = monitor.windows.containing(description.last)
    asked = SampleRequest(window=window, as_of=(window.end,), rows=_ROWS, labels=_ROWS)
    try:
        FeatureColumns.learned(source.sample(asked).features)
    except InputError as error:
        yield f"{error}; until then the class prior is followed with the model's score"
