"""Check before the first run that columns of features and of the entity can be read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from importlib.util import find_spec
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.ports import PredictionSource, SampledRows, SampleRequest, SourceDescription
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
    try:
        FeatureColumns.learned(_some_rows(monitor, source, description.last).features)
    except InputError as error:
        yield f"{error}; until then the class prior is followed with the model's score"


def check_entity(
    monitor: Monitor, source: PredictionSource, description: SourceDescription
) -> None:
    """Read some rows of the last window with their entity, if the monitor names one.

    Raises
    ------
    InputError
        If its column is missing: no window could be counted.
    """
    if monitor.predictions.entity is not None and description.last is not None:
        _some_rows(monitor, source, description.last)


def _some_rows(monitor: Monitor, source: PredictionSource, last: datetime) -> SampledRows:
    window = monitor.windows.containing(last)
    return source.sample(
        SampleRequest(window=window, as_of=(window.end,), rows=_ROWS, labels=_ROWS)
    )
