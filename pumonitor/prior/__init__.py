"""Class-prior estimators and the reading of a class prior given by the caller.

Estimators estimate the unlabeled prior a from labeled and unlabeled scores; pi follows from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor._on_demand import on_demand

if TYPE_CHECKING:
    from pumonitor.prior.estimation import estimate_class_prior, estimate_from_table
    from pumonitor.prior.given import GivenOrEstimated, resolve_class_prior
    from pumonitor.prior.labels.inverse_propensity import priors_disagree
    from pumonitor.prior.labels.noisy_labels import NoisyLabels, estimate_noisy_labels
    from pumonitor.prior.methods import METHOD_NAMES, METHODS, check_method
    from pumonitor.prior.samples.estimator import Estimator
    from pumonitor.prior.samples.reference import ReferenceWindow
    from pumonitor.prior.samples.two_samples import TwoSamples

__all__ = [
    "METHODS",
    "METHOD_NAMES",
    "Estimator",
    "GivenOrEstimated",
    "NoisyLabels",
    "ReferenceWindow",
    "TwoSamples",
    "check_method",
    "estimate_class_prior",
    "estimate_from_table",
    "estimate_noisy_labels",
    "priors_disagree",
    "resolve_class_prior",
]

_HOMES = {
    "Estimator": "pumonitor.prior.samples.estimator",
    "GivenOrEstimated": "pumonitor.prior.given",
    "METHODS": "pumonitor.prior.methods",
    "METHOD_NAMES": "pumonitor.prior.methods",
    "NoisyLabels": "pumonitor.prior.labels.noisy_labels",
    "ReferenceWindow": "pumonitor.prior.samples.reference",
    "TwoSamples": "pumonitor.prior.samples.two_samples",
    "check_method": "pumonitor.prior.methods",
    "estimate_class_prior": "pumonitor.prior.estimation",
    "estimate_from_table": "pumonitor.prior.estimation",
    "estimate_noisy_labels": "pumonitor.prior.labels.noisy_labels",
    "priors_disagree": "pumonitor.prior.labels.inverse_propensity",
    "resolve_class_prior": "pumonitor.prior.given",
}

# Modules below this package are read by commands that estimate nothing.
__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
