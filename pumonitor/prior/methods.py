"""All class-prior estimators under the names that `class_prior=` and `method=` take."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pumonitor.prior.alphamax import alphamax
from pumonitor.prior.bbe import bbe
from pumonitor.prior.dedpul import dedpul
from pumonitor.prior.elkan_noto import elkan_noto
from pumonitor.prior.estimator import Estimator
from pumonitor.prior.roc_slope import roc_slope
from pumonitor.prior.tilt import tilt

__all__ = ["METHODS"]

METHODS: Mapping[str, Estimator] = MappingProxyType(
    {
        "elkan_noto": Estimator(
            estimate=elkan_noto, reads="probabilities", takes_label_noise=False
        ),
        "roc_slope": Estimator(estimate=roc_slope),
        "bbe": Estimator(estimate=bbe),
        "dedpul": Estimator(estimate=dedpul),
        "alphamax": Estimator(estimate=alphamax),
        "tilt": Estimator(estimate=tilt),
    }
)
"""Name -> `Estimator`. A new one is a file of its own and a line here; tests find it."""
