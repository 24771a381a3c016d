"""How often windows became what was expected of them while their labels were still arriving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from scipy import special

from pumonitor.monitor.ledger.results.read_realised import Realised

_PROMISED: Final = 0.95
_RARE: Final = 0.025
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RealisedLook:
    """The windows of a model version at one of their looks.

    Attributes
    ----------
    model_version : str
        "" if there is one only.
    look : int
        Number of the look, from 0.
    age : timedelta
        From the end of a window to this look; that of the newest window.
    windows, inside : int
        Windows that are mature by now; those whose value ended inside its expected interval.
    mean_error : float
        Mean of what became of them less what was expected.
    """

    model_version: str
    look: int
    age: timedelta
    windows: int
    inside: int
    mean_error: float

    @property
    def is_too_few(self) -> bool:
        """Whether so few inside would be rare if each interval held with 95%.

        Notes
        -----
        One-sided test at level .025 of a binomial share. Windows are taken as independent; they
        are less so where the share of labels that arrive late drifts, which is then the reason.
        """
        return bool(special.bdtr(self.inside, self.windows, _PROMISED) < _RARE)


def realised_looks(found: Sequence[Realised]) -> list[RealisedLook]:
    """Count them by model version and look, the earliest look first.

    Versions are apart: two of them in one window share its late labels.

    Parameters
    ----------
    found : sequence of Realised
        The latest windows first.
    """
    looks: dict[tuple[str, int], list[Realised]] = {}
    for one in found:
        looks.setdefault((one.model_version, one.look), []).append(one)
    is_one = len({version for version, _ in looks}) == 1
    return [
        RealisedLook(
            model_version="" if is_one else version,
            look=look,
            age=some[0].as_of - some[0].window_end,
            windows=len(some),
            inside=sum(one.low - _ROUNDING <= one.became <= one.high + _ROUNDING for one in some),
            mean_error=sum(one.became - one.expected for one in some) / len(some),
        )
        for (version, look), some in sorted(looks.items())
    ]
