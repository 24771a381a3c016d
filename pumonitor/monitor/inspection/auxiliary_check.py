"""Whether the features that a configuration names can be read, before any window needs them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.configuration import Monitor
from pumonitor.ports import PredictionSource, SampleRequest, SourceDescription
from pumonitor.prior.auxiliary.feature_columns import FeatureColumns

__all__ = ["feature_warnings"]

_ROWS: Final = 200


def feature_warnings(
    monitor: Monitor, source: PredictionSource, description: SourceDescription
) -> Iterator[str]:
    """What is wrong with a monitor's features: windows are evaluated without them meanwhile.

    Parameters
    ----------
    monitor : Monitor
    source : PredictionSource
        Asked for some rows of the last window.
    description : SourceDescription
    """
    if not monitor.predictions.features:
        return
    if not monitor.is_prior_followed:
        yield (
            "features are for a class prior that is followed from window to window, and what "
            "class_prior and label_purity say leaves nothing to follow: they are not read"
        )
        return
    if find_spec("sklearn") is None:
        yield (
            "the auxiliary score of the features needs scikit-learn, and the class prior is "
            "followed by the model's score until it is there: pip install 'pumonitor[features]'"
        )
    if description.last is None:
        return
    window = monitor.windows.containing(description.last)
    asked = SampleRequest(window=window, as_of=(window.end,), rows=_ROWS, labels=_ROWS)
    try:
        FeatureColumns.learned(source.sample(asked).features)
    except InputError as error:
        yield f"{error}; until then the class prior is followed by the model's score"
