"""What a class-prior estimator is: a function of two samples, and what it needs to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior.samples.two_samples import TwoSamples

Reads = Literal["ranks", "probabilities", "features", "reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """A published or own estimator of the unlabeled prior, under its name in `METHODS`.

    Attributes
    ----------
    estimate : callable
        From `TwoSamples` to an ndarray of shape (samples,) in [0, 1]: one unlabeled prior each.
    reads : {"ranks", "probabilities", "features", "reference"}
        What decides the result: the order of the scores alone; scores that are probabilities of
        being labeled; a features matrix where there is one, in its place the ranks of the scores;
        a trusted reference window beside the data.
    resamples : int
        Samples of known prior on which its interval stands; fewer where a call takes long.
    feature_rows : int
        Most labeled and most unlabeled rows it takes from a features matrix.
    takes_label_noise : bool
        Whether the estimate means the same when some labels are mistaken.
    """

    estimate: Callable[[TwoSamples], NDArray[np.float64]]
    reads: Reads = "ranks"
    resamples: int = 200
    feature_rows: int = 0
    takes_label_noise: bool = True

    def __call__(self, sample: TwoSamples) -> NDArray[np.float64]:
        """One unlabeled prior per sample."""
        return self.estimate(sample)
