"""What a window says of all but the class prior, once that is given: normal and gamma updates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["Frequency", "Places"]

FloatArray = NDArray[np.float64]

_LEAST_RELATIVE: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frequency:
    """The label frequency c: a gamma distribution in each point of the grid.

    Attributes
    ----------
    mean : ndarray
    relative : ndarray
        Variance over the squared mean, 1 / shape.
    """

    mean: FloatArray
    relative: FloatArray

    def jumped(self, deviation: float) -> Frequency:
        """After a jump of its logarithm of this standard deviation, in either direction."""
        return Frequency(
            mean=self.mean,
            relative=(1 + self.relative) * math.exp(deviation**2) - 1,
        )

    def after(
        self, confirmed: float, positives: FloatArray, *, spread: float
    ) -> tuple[FloatArray, Frequency]:
        """With a window in which so many are confirmed.

        Parameters
        ----------
        confirmed : float
        positives : ndarray
            Of the window, those that are confirmed if all labels were: n pi times the share of
            the labels that have arrived.
        spread : float
            Squared coefficient of variation of c between windows, beyond its drift.

        Returns
        -------
        ndarray
            Log chance of so many: negative binomial, the Poisson mean being gamma.
        Frequency

        Notes
        -----
        A window's own c scatters around the c that lasts. Its K positives tell of that as
        K / (1 + spread E[K]) would that scatter by sampling alone.
        """
        shape = 1 / (self.relative + spread)
        expected = positives * self.mean
        log_chance = (
            special.gammaln(shape + confirmed)
            - special.gammaln(shape)
            - math.lgamma(confirmed + 1)
            - shape * np.log1p(expected / shape)
            + special.xlogy(confirmed, expected / (shape + expected))
        )
        told = 1 / (1 + spread * expected)
        before = 1 / self.relative
        now = before + told * confirmed
        mean = now / (before / self.mean + told * positives)
        return log_chance, Frequency(mean=mean, relative=1 / now)

    def at_most_one(self) -> FloatArray:
        """Chance that c <= 1, as it must be."""
        shape = 1 / self.relative
        return np.asarray(special.gammainc(shape, shape / self.mean))

    def second_moment(self) -> FloatArray:
        """Mean square."""
        return np.asarray(self.mean**2 * (1 + self.relative))

    @staticmethod
    def of_moments(first: FloatArray, second: FloatArray) -> Frequency:
        """With this mean and mean square."""
        return Frequency(mean=first, relative=np.maximum(second / first**2 - 1, _LEAST_RELATIVE))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """Where positives and negatives score: mu1 and mu0, normal in each point of the grid.

    Attributes
    ----------
    mean : ndarray of shape (2, ...)
        Of mu1 and mu0.
    covariance : ndarray of shape (3, ...)
        Variance of mu1, covariance, variance of mu0.
    """

    mean: FloatArray
    covariance: FloatArray

    def wider(self, one: float, zero: float) -> Places:
        """With these standard deviations added to mu1 and mu0, independently."""
        variance, both, other = self.covariance
        return Places(
            mean=self.mean, covariance=np.stack([variance + one**2, both, other + zero**2])
        )

    def after(
        self, value: float, variance: float, *, share: FloatArray | float
    ) -> tuple[FloatArray, Places]:
        """With an observation of share mu1 + (1 - share) mu0, normal with this error variance.

        Returns
        -------
        ndarray
            Log density of the observation.
        Places
        """
        one, zero = share, 1 - share
        to_one = self.covariance[0] * one + self.covariance[1] * zero
        to_zero = self.covariance[1] * one + self.covariance[2] * zero
        total = one * to_one + zero * to_zero + variance
        off = value - one * self.mean[0] - zero * self.mean[1]
        log_density = -0.5 * (off**2 / total + np.log(2 * np.pi * total))
        mean = np.stack([self.mean[0] + to_one * off / total, self.mean[1] + to_zero * off / total])
        covariance = np.stack(
            [
                self.covariance[0] - to_one**2 / total,
                self.covariance[1] - to_one * to_zero / total,
                self.covariance[2] - to_zero**2 / total,
            ]
        )
        return log_density, Places(mean=mean, covariance=covariance)

    def second_moments(self) -> FloatArray:
        """Of mu1 mu1, mu1 mu0, mu0 mu0."""
        one, zero = self.mean
        return np.asarray(self.covariance + np.stack([one**2, one * zero, zero**2]))

    @staticmethod
    def of_moments(mean: FloatArray, second: FloatArray) -> Places:
        """With these means and second moments."""
        one, zero = mean
        return Places(mean=mean, covariance=second - np.stack([one**2, one * zero, zero**2]))

    def regression(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Variance of mu1, slope of mu0 on it, variance of mu0 that is left."""
        variance, both, other = self.covariance
        slope = both / variance
        return variance, slope, np.maximum(other - slope * both, _LEAST_RELATIVE * other)

    @staticmethod
    def of_regression(
        mean: FloatArray, variance: FloatArray, slope: FloatArray, left: FloatArray
    ) -> Places:
        """From what `regression` returns: a covariance whatever has been rounded."""
        both = slope * variance
        return Places(mean=mean, covariance=np.stack([variance, both, left + slope * both]))
