"""Tables 1 and 2 of Jain et al. (2017) for the data sets there are, and how those are binarised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["PRINTED", "PURITIES", "SETS", "Printed", "Set"]

PURITIES: Final = (1.0, 0.95, 0.75)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One line: prior in U, true AUC, errors of direct and indirect AUC, of indirect AUC-PR.

    The errors ending in `estimated` are those with prior and label purity estimated by AlphaMax.
    """

    prior: float
    auc: float
    direct: float
    indirect: float
    precision_recall: float
    direct_estimated: float
    indirect_estimated: float
    precision_recall_estimated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """A data set: its name here, who is positive, how many rows are labeled."""

    name: str
    positive: Callable[[NDArray[Any]], NDArray[np.bool_]]
    labeled: int = 1000


def _number(target: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(target, dtype=np.float64)


SETS: Final[dict[str, Set]] = {
    "Bank": Set(name="bank", positive=lambda target: target == "yes"),
    "Concrete": Set(
        name="concrete",
        positive=lambda target: _number(target) > _number(target).mean(),
        labeled=100,
    ),
    "Housing": Set(
        name="housing",
        positive=lambda target: _number(target) > _number(target).mean(),
        labeled=100,
    ),
    "Landsat": Set(name="landsat", positive=lambda target: _number(target) == 7),
    "Mushroom": Set(name="mushroom", positive=lambda target: target == "p"),
    "Pageblock": Set(name="pageblocks", positive=lambda target: _number(target) > 1, labeled=100),
    "Pendigit": Set(name="pendigits", positive=lambda target: _number(target) <= 2),
    "Pima": Set(name="pima", positive=lambda target: target == "Yes", labeled=100),
    "Shuttle": Set(name="shuttle", positive=lambda target: _number(target) == 4),
    "Spambase": Set(name="spambase", positive=lambda target: _number(target) == 1),
    "Wine": Set(name="wine_quality", positive=lambda target: _number(target) >= 6),
}
"""Gas is not among the data there are."""

_LINES: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    "Bank": (
        (0.095, 0.884, 0.007, 0.007, 0.029, 0.115, 0.088, 0.382),
        (0.096, 0.884, 0.011, 0.011, 0.027, 0.113, 0.086, 0.368),
        (0.101, 0.884, 0.011, 0.010, 0.030, 0.111, 0.085, 0.358),
    ),
    "Concrete": (
        (0.419, 0.940, 0.122, 0.117, 0.163, 0.060, 0.068, 0.321),
        (0.425, 0.940, 0.132, 0.129, 0.164, 0.065, 0.078, 0.404),
        (0.446, 0.938, 0.216, 0.201, 0.214, 0.206, 0.196, 0.552),
    ),
    "Housing": (
        (0.268, 0.950, 0.029, 0.028, 0.067, 0.038, 0.038, 0.270),
        (0.281, 0.951, 0.041, 0.037, 0.091, 0.042, 0.043, 0.306),
        (0.330, 0.951, 0.094, 0.083, 0.152, 0.101, 0.094, 0.368),
    ),
    "Landsat": (
        (0.093, 0.981, 0.004, 0.004, 0.041, 0.015, 0.005, 0.033),
        (0.103, 0.981, 0.005, 0.005, 0.039, 0.009, 0.004, 0.029),
        (0.139, 0.981, 0.009, 0.008, 0.049, 0.008, 0.004, 0.023),
    ),
    "Mushroom": (
        (0.409, 1.000, 0.007, 0.006, 0.004, 0.011, 0.013, 0.056),
        (0.416, 1.000, 0.005, 0.003, 0.003, 0.012, 0.009, 0.019),
        (0.444, 1.000, 0.018, 0.011, 0.025, 0.020, 0.016, 0.049),
    ),
    "Pageblock": (
        (0.086, 0.970, 0.050, 0.049, 0.161, 0.030, 0.020, 0.198),
        (0.087, 0.970, 0.056, 0.055, 0.169, 0.030, 0.019, 0.281),
        (0.090, 0.969, 0.064, 0.059, 0.178, 0.031, 0.018, 0.340),
    ),
    "Pendigit": (
        (0.243, 0.999, 0.004, 0.004, 0.010, 0.002, 0.004, 0.025),
        (0.248, 0.999, 0.005, 0.005, 0.017, 0.008, 0.007, 0.028),
        (0.268, 0.999, 0.008, 0.006, 0.015, 0.002, 0.002, 0.013),
    ),
    "Pima": (
        (0.251, 0.835, 0.028, 0.026, 0.070, 0.090, 0.070, 0.224),
        (0.259, 0.838, 0.040, 0.038, 0.085, 0.069, 0.060, 0.228),
        (0.289, 0.836, 0.075, 0.070, 0.106, 0.073, 0.064, 0.254),
    ),
    "Shuttle": (
        (0.139, 1.000, 0.002, 0.001, 0.009, 0.005, 0.015, 0.192),
        (0.140, 0.999, 0.002, 0.001, 0.013, 0.017, 0.016, 0.085),
        (0.143, 0.999, 0.004, 0.001, 0.008, 0.004, 0.002, 0.014),
    ),
    "Spambase": (
        (0.226, 0.961, 0.018, 0.018, 0.054, 0.020, 0.013, 0.060),
        (0.240, 0.959, 0.020, 0.019, 0.054, 0.015, 0.010, 0.054),
        (0.295, 0.961, 0.032, 0.031, 0.072, 0.028, 0.021, 0.048),
    ),
    "Wine": (
        (0.566, 0.815, 0.028, 0.027, 0.033, 0.109, 0.099, 0.085),
        (0.575, 0.816, 0.026, 0.024, 0.031, 0.117, 0.104, 0.090),
        (0.612, 0.816, 0.104, 0.095, 0.086, 0.158, 0.158, 0.441),
    ),
}
"""In the order of the fields of `Printed`."""

PRINTED: Final[dict[tuple[str, float], Printed]] = {
    (name, purity): Printed(**dict(zip(Printed.__slots__, line, strict=True)))
    for name, lines in _LINES.items()
    for purity, line in zip(PURITIES, lines, strict=True)
}
"""By data set and label purity, real (alpha, beta)."""
