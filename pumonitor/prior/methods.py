"""All class-prior estimators under the names that `class_prior=` and `method=` take."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pumonitor.errors import no_such
from pumonitor.prior.estimators.alphamax import alphamax, alphamax_n_prior
from pumonitor.prior.estimators.bbe import bbe
from pumonitor.prior.estimators.dedpul import dedpul
from pumonitor.prior.estimators.distcurve import distcurve
from pumonitor.prior.estimators.patra_sen import patra_sen
from pumonitor.prior.estimators.published.elkan_noto import elkan_noto, elkan_noto_e2, elkan_noto_e3
from pumonitor.prior.estimators.published.kernel_mean import km1, km2
from pumonitor.prior.estimators.published.pen_l1 import pen_l1
from pumonitor.prior.estimators.published.tice import tice
from pumonitor.prior.estimators.pulscar import pulscar
from pumonitor.prior.estimators.roc_slope import roc_slope
from pumonitor.prior.estimators.tilt import tilt
from pumonitor.prior.reference_window.label_shift import label_shift
from pumonitor.prior.reference_window.label_shift_em import label_shift_em
from pumonitor.prior.samples.estimator import Estimator

METHODS: Mapping[str, Estimator] = MappingProxyType(
    {
        "elkan_noto": Estimator(
            estimate=elkan_noto, reads="probabilities", takes_label_noise=False
        ),
        "elkan_noto_e2": Estimator(
            estimate=elkan_noto_e2, reads="probabilities", takes_label_noise=False
        ),
        "elkan_noto_e3": Estimator(
            estimate=elkan_noto_e3, reads="probabilities", takes_label_noise=False
        ),
        "roc_slope": Estimator(estimate=roc_slope),
        "bbe": Estimator(estimate=bbe),
        "dedpul": Estimator(estimate=dedpul),
        "pulscar": Estimator(estimate=pulscar),
        "patra_sen": Estimator(estimate=patra_sen),
        "alphamax": Estimator(estimate=alphamax),
        "alphamax_n": Estimator(estimate=alphamax_n_prior, takes_label_noise=False),
        "distcurve": Estimator(estimate=distcurve),
        "tilt": Estimator(estimate=tilt),
        "km1": Estimator(estimate=km1, reads="features", resamples=80, feature_rows=400),
        "km2": Estimator(estimate=km2, reads="features", resamples=80, feature_rows=400),
        "tice": Estimator(estimate=tice, reads="features", resamples=100, feature_rows=3000),
        "pen_l1": Estimator(estimate=pen_l1, reads="features", resamples=80, feature_rows=2000),
        "label_shift": Estimator(estimate=label_shift, reads="reference"),
        "label_shift_em": Estimator(
            estimate=label_shift_em, reads="reference", takes_label_noise=False
        ),
    }
)
"""Name -> `Estimator`. A new one is a file of its own and a line here; tests find it."""

METHOD_NAMES = ("auto", *METHODS, "propensity")
"""All that `class_prior=` and `method=` take, in the order in which they are shown."""


def check_method(name: str, *, also: tuple[str, ...] = ()) -> None:
    """Refuse a name that is neither a method nor one of `also`.

    Raises
    ------
    ValueError
        With the nearest name and all there are.

    Examples
    --------
    >>> check_method("auto")
    >>> check_method("all", also=("all",))
    """
    known = (*also, *METHOD_NAMES)
    if name not in known:
        raise ValueError(no_such("class-prior method", name, known))
