"""auto: quantiles of the prior by a network trained on simulated pairs of samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.auto.inputs import LEAST_LABELED, LEAST_UNLABELED, inputs_of
from pumonitor.prior.auto.quantile_network import load_network
from pumonitor.prior.estimators.dedpul import dedpuls
from pumonitor.prior.estimators.distcurve import distcurves
from pumonitor.prior.estimators.pulscar import pulscar
from pumonitor.prior.estimators.roc_slope import THRESHOLDS, upper_bound
from pumonitor.prior.estimators.tilt import tilts
from pumonitor.prior.intervals.interval import PriorWithInterval
from pumonitor.prior.kept import Kept
from pumonitor.prior.samples.two_samples import TwoSamples
from pumonitor.text import count_text, number_text

# Each goes wrong in its own way, so the middle one of these and the network seldom does.
# The network has seen few priors below.
_RARELY_SEEN = 0.005
# Ends so far apart say how many positives there can be, not how few: quantiles among simulated
# pairs, most of which have more of them, begin too high then.
_FAR_APART = 10.0
_BOUND = (
    "These scores tell how many positives there can be, and not how few: the interval begins at 0."
)
_BESIDE: Final[dict[str, Callable[[Sequence[TwoSamples]], FloatArray]]] = {
    "DEDPUL": dedpuls,
    "PULSCAR": lambda samples: np.concatenate([*map(pulscar, samples)]),
    "tilt": tilts,
    "DistCurve": distcurves,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    """What network, normals and the four others say of a sample."""

    quantiles: FloatArray
    normal: float
    weight_of_normals: float
    beside: dict[str, float]


def read_samples(samples: Sequence[TwoSamples]) -> None:
    """Read many samples at once: `auto` of one of them then has what it needs.

    For panes and segments of a window it takes a fraction of the time.
    """
    if samples:
        _read(samples)


def _read_at_once(samples: Sequence[TwoSamples]) -> list[_Read]:
    inputs, network = inputs_of(samples), load_network("auto")
    beside = {name: of(samples).tolist() for name, of in _BESIDE.items()}
    return [
        _Read(
            quantiles=network.quantiles(inputs.numbers[number : number + 1])[0],
            normal=float(inputs.mixture.unlabeled_prior[number]),
            weight_of_normals=float(inputs.weight_of_normals[number]),
            beside={name: shares[number] for name, shares in beside.items()},
        )
        for number in range(len(samples))
    ]


def _key(sample: TwoSamples) -> bytes:
    columns = sample.scores, sample.labeled, sample.unlabeled
    return sha256(
        b"".join(column.tobytes() for column in columns)
        + f"{sample.n_labeled!r} {sample.n_unlabeled!r}".encode()
    ).digest()


_read = Kept(_read_at_once, key_of=_key, most=256)


def auto(sample: TwoSamples, *, confidence_level: float) -> PriorWithInterval:
    """Unlabeled prior and interval: what priors gave rise to such data, among simulated ones.

    A small network (`benchmarks.prior.train_auto`) gives quantiles of the prior among simulated
    pairs of samples that look like these. It reads the two samples by pooled rank, which is all
    that the published estimators read, and two normals fitted on the scores' own scale as far as
    the data bear them out (`pumonitor.prior.auto.inputs`). Where they do, the middle quantile is
    the estimate; elsewhere it is the median of that and of four estimators that assume other
    things. The interval is the network's, moved to the estimate and widened by how far the two lie
    apart. Too high where more of the negatives are like positives than the simulated pairs allow
    for, too low where easy positives are labeled first.

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
    (`pumonitor.prior.estimators.roc_slope.upper_bound`). With fewer rows than the network has seen
    nothing but that bound is given: the interval begins at 0. So it does where its ends would be
    more than tenfold apart, or the lower one below .005: quantiles are right on average over
    simulated pairs, and few of these have so few positives. On two normals of AUC .75 the interval
    held none of 25 priors of .005 before, and all since (`python -m benchmarks.prior`).

    With w the weight of the normals and v = w^2 / (w^2 + (1 - w)^2), m the network's middle
    quantile and M the median of five, on the arcsine scale x = arcsin(sqrt(share)) the estimate is
    v m + (1 - v) M, and its distance from m is added to either half of the interval in squares.

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
    [read] = _read([sample])
    tail = 0.5 * (1 - confidence_level)
    network, beside = load_network("auto"), read.beside
    low, middle, high = (_arcsine(network.at(read.quantiles, at)) for at in (tail, 0.5, 1 - tail))
    median = float(np.median([middle, *map(_arcsine, beside.values())]))
    weight, normal = read.weight_of_normals, read.normal
    alone = weight**2 / (weight**2 + (1 - weight) ** 2)
    estimate = alone * middle + (1 - alone) * median
    possible = float(upper_bound(sample, level=(1 - confidence_level) / (2 * THRESHOLDS))[0])
    apart = estimate - middle
    high = min(_share(estimate + math.hypot(high - middle, apart)), possible)
    value = min(_share(estimate), high)
    low = min(_share(estimate - math.hypot(middle - low, apart)), value)
    few = sample.n_labeled < LEAST_LABELED or sample.n_unlabeled < LEAST_UNLABELED
    if few:
        low, high = 0.0, possible
    is_bound = not few and (low < _RARELY_SEEN or high > _FAR_APART * low)
    if is_bound:
        low = 0.0
    why = _too_few(sample) if few else _why(weight, normal, _share(middle), beside)
    details: dict[str, float | str] = {
        "why": f"{why} {_BOUND}" if is_bound else why,
        "highest_possible": possible,
        "network": _share(middle),
        "normal_mixture": normal,
        "normal_mixture_weight": weight,
    }
    details |= {name.lower(): part for name, part in beside.items()}
    return PriorWithInterval(value=value, low=low, high=high, details=details)


def _arcsine(share: float) -> float:
    """The scale on which a share's error varies little with the share."""
    return math.asin(math.sqrt(min(max(share, 0.0), 1.0)))


def _share(arcsine: float) -> float:
    return math.sin(min(max(arcsine, 0.0), 0.5 * math.pi)) ** 2


def _too_few(sample: TwoSamples) -> str:
    return (
        f"With {count_text(sample.n_labeled)} labeled and {count_text(sample.n_unlabeled)} "
        "unlabeled rows only an upper bound is known, even if an estimate is given."
    )


def _why(weight: float, normal: float, network: float, beside: dict[str, float]) -> str:
    """What the estimate stands on, for people."""
    read = "from the order of the scores"
    if weight > 0.5:
        read += f" and two normals, which fit them and give {number_text(normal)}"
    elif weight > 0.05:
        read += f" and a little from two normals, which give {number_text(normal)}"
    by_name = ", ".join(f"{name} {number_text(part)}" for name, part in beside.items())
    parts = [network, *beside.values()]
    size = math.sqrt(max(sum(parts) / len(parts), 1e-9))
    apart = max(parts) - min(parts) > 0.3 * size
    warning = " They are far apart: the classes hardly separate." if apart else ""
    return (
        "Share of unlabeled rows with scores like those of labeled rows: a network trained on "
        f"simulated samples estimates {number_text(network)} {read}; the other methods give "
        f"{by_name}.{warning}"
    )
