"""Class-prior estimators of packages that can be installed, on the samples that `auto` gets.

Whatever they are made for, here they get the score as the only feature. This file needs numpy
alone, so that an environment that has the peers and not pumonitor can run it:
`PYTHON -m benchmarks.prior.peers SAMPLES.npz` prints what it measures as JSON.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PEERS", "Arrays", "Peer", "PeerRun", "measure", "measure_elsewhere", "missing"]

Arrays = tuple[NDArray[np.int8], NDArray[np.float64]]
"""Labels and scores."""

_REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """An estimator of a package.

    Attributes
    ----------
    package : str
        Its name on PyPI.
    estimate : callable
        From labels and scores to the unlabeled prior.
    same_as : str
        The method of ours by the same paper, or "".
    """

    package: str
    estimate: Callable[[NDArray[np.int8], NDArray[np.float64]], float]
    same_as: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRun:
    """What a peer gave on a sample: a value, or why not."""

    peer: str
    sample: int
    value: float | None
    failure: str
    seconds: float


def _pulearn(name: str) -> Callable[[NDArray[np.int8], NDArray[np.float64]], float]:
    def estimate(labels: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
        from pulearn import priors

        found = getattr(priors, name)().fit(scores[:, np.newaxis], labels)
        # Its prior is that of labeled and unlabeled rows together.
        labeled_fraction = labels.mean()
        return float((found.pi_ - labeled_fraction) / (1 - labeled_fraction))

    return estimate


def _kernel_mean(variant: str) -> Callable[[NDArray[np.int8], NDArray[np.float64]], float]:
    def estimate(labels: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
        from pu_toolbox.prior import KernelMeanPriorEstimator

        # All rows at once would be a matrix of 11 000 x 11 000.
        found = KernelMeanPriorEstimator(variant=variant, max_samples_per_group=400, random_state=0)
        return float(found.fit(scores[:, np.newaxis], labels).estimate())

    return estimate


def _pen_l1(labels: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
    from pu_toolbox.prior import ClassPriorEstimator

    return float(ClassPriorEstimator().fit(scores[:, np.newaxis], labels).estimate())


def _recpe(labels: NDArray[np.int8], scores: NDArray[np.float64]) -> float:
    from pu_toolbox.prior import KernelMeanPriorEstimator, ReCPEEstimator

    base = KernelMeanPriorEstimator(variant="km2", max_samples_per_group=400, random_state=0)
    found = ReCPEEstimator(base_estimator=base)
    return float(found.fit(scores[:, np.newaxis], labels).estimate())


PEERS: Mapping[str, Peer] = MappingProxyType(
    {
        "pulearn HistogramMatch": Peer(
            package="pulearn", estimate=_pulearn("HistogramMatchPriorEstimator")
        ),
        "pulearn ScarEM": Peer(package="pulearn", estimate=_pulearn("ScarEMPriorEstimator")),
        "pu-toolbox penL1": Peer(package="pu-toolbox", estimate=_pen_l1, same_as="pen_l1"),
        "pu-toolbox KM1": Peer(package="pu-toolbox", estimate=_kernel_mean("km1"), same_as="km1"),
        "pu-toolbox KM2": Peer(package="pu-toolbox", estimate=_kernel_mean("km2"), same_as="km2"),
        "pu-toolbox ReCPE": Peer(package="pu-toolbox", estimate=_recpe),
    }
)
"""All that pulearn 0.2 and pu-toolbox 1.11 have, but for pulearn's LabelFrequencyPriorEstimator,
which is the share of labeled rows."""


def missing(packages: Sequence[str]) -> list[str]:
    """The packages that this environment does not have."""
    return [package for package in packages if not _version(package)]


def measure(samples: Sequence[Arrays]) -> list[PeerRun]:
    """Every peer that is installed, on every sample."""
    there = {name: peer for name, peer in PEERS.items() if _version(peer.package)}
    runs = []
    for number, (labels, scores) in enumerate(samples):
        print(f"peers: {number} of {len(samples)}", file=sys.stderr)
        for name, peer in there.items():
            value, failure = None, ""
            started = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    value = peer.estimate(labels, scores)
                if not np.isfinite(value):
                    value, failure = None, "not a number"
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the peer's result
                failure = f"{type(error).__name__}: {error}"
            runs.append(
                PeerRun(
                    peer=name,
                    sample=number,
                    value=value,
                    failure=failure,
                    seconds=time.perf_counter() - started,
                )
            )
    return runs


def measure_elsewhere(samples: Sequence[Arrays], python: Path) -> list[PeerRun]:
    """The same by another Python, which has the peers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.npz"
        arrays: dict[str, Any] = {
            f"labels_{number}": labels for number, (labels, _) in enumerate(samples)
        }
        arrays |= {f"scores_{number}": scores for number, (_, scores) in enumerate(samples)}
        np.savez(path, **arrays)
        found = subprocess.run(
            [python.absolute(), "-m", "benchmarks.prior.peers", path],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=_REPOSITORY,
        )
    return [PeerRun(**run) for run in json.loads(found.stdout)]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        samples = [
            (stored[f"labels_{number}"], stored[f"scores_{number}"])
            for number in range(len(stored.files) // 2)
        ]
    json.dump([asdict(run) for run in measure(samples)], sys.stdout)


if __name__ == "__main__":
    main()
