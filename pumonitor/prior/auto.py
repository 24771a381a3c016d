"""auto: quantiles of the prior by a network trained on simulated pairs of samples."""

from __future__ import annotations

import math

import numpy as np

from pumonitor.prior.auto_inputs import LEAST_LABELED, auto_inputs
from pumonitor.prior.bbe import bbe
from pumonitor.prior.dedpul import dedpul
from pumonitor.prior.interval import PriorWithInterval
from pumonitor.prior.normal_mixture import on_the_line
from pumonitor.prior.pulscar import pulscar
from pumonitor.prior.quantile_network import load_network
from pumonitor.prior.roc_slope import THRESHOLDS, upper_bound
from pumonitor.prior.two_samples import TwoSamples

__all__ = ["auto"]

_PUBLISHED = {"DEDPUL": dedpul, "PULSCAR": pulscar, "BBE": bbe}


def auto(sample: TwoSamples, *, confidence_level: float) -> PriorWithInterval:
    """Unlabeled prior and interval: what priors gave rise to such data, among simulated ones.

    Two things are read: the two samples by pooled rank, which is all that the published
    estimators read, and two normals fitted on the scores' own scale, as far as the data bear them
    out (`pumonitor.prior.auto_inputs`). A small network gives quantiles of the prior among
    simulated pairs of samples that look like these (`benchmarks.prior.train_auto`): the middle one
    is the estimate, the outer ones the interval. Too high where more of the negatives are like
    positives than the simulated pairs allow for, too low where easy positives are labeled first.

    Parameters
    ----------
    sample : TwoSamples
        One sample.
    confidence_level : float

    Returns
    -------
    PriorWithInterval
        The interval covers sampling and how little the data tell of the densities' ends. It is
        no statement about negatives that are like positives, which no such data show.

    Notes
    -----
    Intervals end at the upper bound of the ratio of shares, which holds whatever the densities
    (`pumonitor.prior.roc_slope.upper_bound`). With fewer labeled rows than the network has seen
    nothing but that bound is given: the interval begins near 0.

    References
    ----------
    Zeiberg, Jain, Radivojac (2020), who read a curve with a network trained on simulated pairs;
    Sainsbury-Dale, Zammit-Mangion, Huser (2024), Likelihood-free parameter estimation with neural
    Bayes estimators.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(2 * positive))
    >>> found = auto(TwoSamples.from_table(table), confidence_level=0.95)
    >>> bool(found.low < 0.3 < found.high), bool(abs(found.value - 0.3) < 0.05)
    (True, True)
    """
    inputs, mixture = auto_inputs(
        on_the_line(sample.scores)[np.newaxis],
        sample.labeled,
        sample.unlabeled,
        np.array([sample.n_labeled]),
        np.array([sample.n_unlabeled]),
    )
    network = load_network("auto")
    quantiles = network.quantiles(inputs)[0]
    tail = 0.5 * (1 - confidence_level)
    possible = float(upper_bound(sample, level=(1 - confidence_level) / (2 * THRESHOLDS))[0])
    high = min(network.at(quantiles, 1 - tail), possible)
    value = min(network.at(quantiles, 0.5), high)
    low = min(network.at(quantiles, tail), value)
    few = sample.n_labeled < LEAST_LABELED
    if few:
        low, high = 0.0, possible
    published = {name: float(method(sample)[0]) for name, method in _PUBLISHED.items()}
    trust = float(mixture.trust[0])
    normal = float(mixture.unlabeled_prior[0])
    details: dict[str, float | str] = {
        "why": _why(sample, trust, normal, published, few=few),
        "highest_possible": possible,
        "normal_mixture": normal,
        "normal_mixture_trust": trust,
    }
    details |= {name.lower(): part for name, part in published.items()}
    return PriorWithInterval(value=value, low=low, high=high, details=details)


def _why(
    sample: TwoSamples, trust: float, normal: float, published: dict[str, float], *, few: bool
) -> str:
    """What the estimate stands on, for people."""
    if few:
        return (
            f"With {sample.n_labeled:.2g} labeled rows only an upper bound is known, whatever the "
            "estimate says."
        )
    read = "from the order of the scores"
    if trust > 0.5:
        read += f", and from two normals, which fit them and give {normal:.3g}"
    elif trust > 0.05:
        read += f", a little from two normals, which hardly fit them and give {normal:.3g}"
    by_name = ", ".join(f"{name} {part:.3g}" for name, part in published.items())
    spread = max(published.values()) - min(published.values())
    size = math.sqrt(max(sum(published.values()) / len(published), 1e-9))
    apart = " They are far apart: the classes hardly separate." if spread > 0.3 * size else ""
    return f"Share of hidden positives among unconfirmed rows, {read}; beside it {by_name}.{apart}"
