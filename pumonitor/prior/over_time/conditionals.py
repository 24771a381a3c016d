"""What a window says of all but the class prior, once that is given: normal and gamma updates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray

_LEAST_RELATIVE: Final = 1e-9
MOMENTS_OF_PLACES: Final = 5


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

    def at_most_one(self, held: Any = ...) -> FloatArray:
        """Chance that c <= 1, as it must be; in all points, or in those of an index."""
        shape = 1 / self.relative[held]
        return np.asarray(special.gammainc(shape, shape / self.mean[held]))

    def moments(self) -> FloatArray:
        """Mean and mean square, along the first axis."""
        return np.stack([self.mean, self.mean**2 * (1 + self.relative)])

    @staticmethod
    def of_moments(moments: FloatArray) -> Frequency:
        """With what `moments` returns."""
        first, second = moments
        return Frequency(mean=first, relative=np.maximum(second / first**2 - 1, _LEAST_RELATIVE))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """Where positives and negatives score: mu1 and mu0, normal in each point of the grid.

    All of one shape, the grid's or one with the grid's as its last axes.

    Attributes
    ----------
    one, zero : ndarray
        Means of mu1 and mu0.
    one_one, one_zero, zero_zero : ndarray
        Their covariance.
    """

    one: FloatArray
    zero: FloatArray
    one_one: FloatArray
    one_zero: FloatArray
    zero_zero: FloatArray

    def wider(self, one: FloatArray | float, zero: FloatArray | float) -> Places:
        """With these variances added to mu1 and mu0, independently."""
        return replace(self, one_one=self.one_one + one, zero_zero=self.zero_zero + zero)

    def after_positives(self, value: float, variance: float) -> tuple[FloatArray, Places]:
        """With an observation of mu1, normal with this error variance.

        Returns
        -------
        ndarray
            Log density of the observation.
        Places
        """
        found = self._after(value - self.one, self.one_one, self.one_zero, self.one_one, variance)
        return found[:2]

    def after_all(
        self, value: float, variance: FloatArray | float, *, share: FloatArray
    ) -> tuple[FloatArray, Places, FloatArray, FloatArray]:
        """The same of share mu1 + (1 - share) mu0.

        Returns
        -------
        ndarray
            Log density of the observation.
        Places
        ndarray
            How far off the observation is, over its variance.
        ndarray
            Its variance.
        """
        rest = 1 - share
        to_one = self.one_one * share + self.one_zero * rest
        to_zero = self.one_zero * share + self.zero_zero * rest
        off = value - share * self.one - rest * self.zero
        return self._after(off, to_one, to_zero, share * to_one + rest * to_zero, variance)

    def _after(
        self,
        off: FloatArray,
        to_one: FloatArray,
        to_zero: FloatArray,
        own: FloatArray,
        variance: FloatArray | float,
    ) -> tuple[FloatArray, Places, FloatArray, FloatArray]:
        """With what is so far off, of this own variance and these covariances with both."""
        total = own + variance
        gain_one, gain_zero = to_one / total, to_zero / total
        scaled = off / total
        log_density = np.log(2 * np.pi * total)
        log_density += off * scaled
        log_density *= -0.5
        after = Places(
            one=_plus(self.one, to_one, scaled),
            zero=_plus(self.zero, to_zero, scaled),
            one_one=_minus(self.one_one, gain_one, to_one),
            one_zero=_minus(self.one_zero, gain_one, to_zero),
            zero_zero=_minus(self.zero_zero, gain_zero, to_zero),
        )
        return log_density, after, scaled, total

    def moments(self, out: FloatArray | None = None) -> FloatArray:
        """Means of mu1, mu0, mu1 mu1, mu1 mu0, mu0 mu0, along the first axis."""
        shape = (MOMENTS_OF_PLACES, *self.one.shape)
        found = np.empty(shape) if out is None else out.reshape(shape)
        found[0], found[1] = self.one, self.zero
        covariances = (self.one_one, self.one_zero, self.zero_zero)
        pairs = ((self.one, self.one), (self.one, self.zero), (self.zero, self.zero))
        for place, covariance, (one, other) in zip(found[2:], covariances, pairs, strict=True):
            np.multiply(one, other, out=place)
            np.add(covariance, place, out=place)
        return found

    @staticmethod
    def of_moments(moments: FloatArray) -> Places:
        """With what `moments` returns."""
        one, zero, one_one, one_zero, zero_zero = moments
        return Places(
            one=one,
            zero=zero,
            one_one=one_one - one * one,
            one_zero=one_zero - one * zero,
            zero_zero=zero_zero - zero * zero,
        )

    def regression(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Variance of mu1, slope of mu0 on it, variance of mu0 that is left."""
        slope = self.one_zero / self.one_one
        left = np.maximum(self.zero_zero - slope * self.one_zero, _LEAST_RELATIVE * self.zero_zero)
        return self.one_one, slope, left

    @staticmethod
    def of_regression(
        one: FloatArray,
        zero: FloatArray,
        *,
        variance: FloatArray,
        slope: FloatArray,
        left: FloatArray,
    ) -> Places:
        """From means and what `regression` returns: a covariance whatever has been rounded."""
        both = slope * variance
        return Places(
            one=one, zero=zero, one_one=variance, one_zero=both, zero_zero=left + slope * both
        )


def _plus(value: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    product = one * other
    return np.add(value, product, out=product)


def _minus(value: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    product = one * other
    return np.subtract(value, product, out=product)
