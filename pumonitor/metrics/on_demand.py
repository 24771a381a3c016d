"""Draws and sums that not every metric of a problem needs, and that take most of its making."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from pumonitor._arrays import FloatArray
from pumonitor.metrics.prior_draws import PriorDraws
from pumonitor.metrics.running_sums import RunningSums


class OnDemand:
    """Draws and sums of a problem, each made when it is first asked for.

    Parameters
    ----------
    fraction : callable
        Makes the draws of the labeled fraction.
    of_prior : callable
        Makes those of the class prior from them.
    sums : callable
    """

    def __init__(
        self,
        *,
        fraction: Callable[[], FloatArray],
        of_prior: Callable[[FloatArray], PriorDraws],
        sums: Callable[[], RunningSums],
    ) -> None:
        self._fraction = fraction
        self._of_prior = of_prior
        self._sums = sums

    @cached_property
    def fraction(self) -> FloatArray:
        """Draws of the labeled fraction."""
        return self._fraction()

    @cached_property
    def of_prior(self) -> PriorDraws:
        """Draws of the class prior, and of what it follows from."""
        return self._of_prior(self.fraction)

    @cached_property
    def sums(self) -> RunningSums:
        """Sums of weights over cells."""
        return self._sums()
