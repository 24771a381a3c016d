"""Class-prior estimators and the reading of a class prior given by the caller.

Estimators estimate the unlabeled prior a from labeled and unlabeled scores; pi follows from it.
"""

from __future__ import annotations

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
