"""The class prior of a series: founded on its first windows, followed through those after them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from pumonitor.prior.followed.founding import Index, WindowRows
from pumonitor.prior.followed.level import TAILS, LevelOrigin, given_ends
from pumonitor.prior.over_time import (
    PriorFilter,
    Summariser,
    WindowSummary,
)
from pumonitor.results import ClassPriorEstimate

KIND_OF_STATE: Final = 2
"""Changes where states that were stored before cannot be gone on from."""

_TOLD: Final = 0.01
_ENDS: Final = ("low", "value", "high")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FollowedPrior:
    """What a series' windows so far say of its class prior now.

    Attributes
    ----------
    filter : PriorFilter
    summariser : Summariser or None
        Reads the scores; None while those of a new model version are not known well enough.
    told : mapping
        Where its level comes from (`LevelOrigin.told`).
    windows : int
        Followed since the level.
    label_purity : float
    predecessor : str or None
        The model version that was followed before this one.
    index : {"score", "auxiliary"}
        What the summariser reads.
    """

    filter: PriorFilter
    summariser: Summariser | None
    told: Mapping[str, Any]
    windows: int
    label_purity: float
    predecessor: str | None = None
    index: Index = "score"

    @classmethod
    def founded(
        cls,
        windows: Sequence[WindowRows],
        origin: LevelOrigin,
        *,
        label_purity: float,
        index: Index = "score",
    ) -> FollowedPrior:
        """On the windows that `founding_windows` counts.

        Raises
        ------
        ValueError
            If none of them has a table.
        """
        summariser = _summariser(windows, index)
        if summariser is None:
            msg = f"none of {len(windows)} windows has a table to found a series on"
            raise ValueError(msg)
        return cls(
            filter=summariser.begun(origin.level),
            summariser=summariser,
            told=origin.told,
            windows=0,
            label_purity=label_purity,
            index=index,
        )

    def after(self, window: WindowRows) -> FollowedPrior:
        """With another window."""
        summariser = self.summariser
        labels = {"arrived": window.arrived, "arrived_variance": window.arrived_variance}
        cells = None if summariser is None else window.cells(self.index)
        if summariser is None or cells is None:
            summary = WindowSummary(rows=window.rows, confirmed=window.confirmed, **labels)
        else:
            summary, summariser = summariser.after(cells, **labels)
        return replace(
            self,
            filter=self.filter.after(summary),
            summariser=summariser,
            windows=self.windows + 1,
        )

    def told_of(
        self, given: ClassPriorEstimate, *, start: datetime, end: datetime
    ) -> FollowedPrior:
        """With the class prior of a period that ends with the last window known from elsewhere."""
        told = {
            "source": "given",
            "value": given.value,
            "low": given.low,
            "high": given.high,
            "start": start.isoformat(),
            "end": end.isoformat(),
        }
        return replace(
            self,
            filter=self.filter.observed(*given_ends(given, self.label_purity)),
            told={**self.told, **told},
            windows=0,
        )

    def on_another_scale(self, predecessor: str) -> FollowedPrior:
        """For the version after that one, of whose scores nothing is known: counts go on.

        An auxiliary score is what it was.
        """
        if self.index == "auxiliary":
            return replace(self, predecessor=predecessor)
        return replace(self, summariser=None, predecessor=predecessor)

    def founded_again(
        self, windows: Sequence[WindowRows], *, index: Index = "score"
    ) -> FollowedPrior:
        """With where positives and negatives score by another score, a new version's for instance.

        Parameters
        ----------
        windows : sequence of WindowRows
            That have been read by other scores, or by their counts, since `on_another_scale`.
        index : {"score", "auxiliary"}
        """
        summariser = _summariser(windows, index)
        if summariser is None:
            return self  # never two confirmed in one window
        return replace(
            self,
            filter=self.filter.reanchored(summariser.reference),
            summariser=summariser,
            index=index,
        )

    def estimate(self) -> ClassPriorEstimate:
        """The class prior of the last window.

        Its diagnostics hold "over_time": where the level comes from, how many windows were followed
        since, what the level is now ("level_now") and how many times as high as in the reference
        this window's own class prior is ("factor"), what has changed since the level and in the
        last window, and how surely.
        """
        low, value, high = (
            self.label_purity * float(end) for end in self.filter.window_quantiles(TAILS)
        )
        level_now = [self.label_purity * float(end) for end in self.filter.quantiles(TAILS)]
        return ClassPriorEstimate(
            value=value,
            low=low,
            high=high,
            method=_method(self.told),
            diagnostics={
                "over_time": {
                    "level": dict(self.told),
                    "windows": self.windows,
                    "index": "counts" if self.summariser is None else self.index,
                    "index_reason": None,
                    "predecessor": self.predecessor,
                    "level_now": dict(zip(_ENDS, level_now, strict=True)),
                    "factor": dict(zip(_ENDS, self.filter.window_factor(), strict=True)),
                    "moved": self.filter.moved(),
                    "changes": self.filter.changes(),
                    "since_reference": {
                        name: asdict(one) for name, one in self.filter.since_reference().items()
                    },
                    "explanations": [
                        {
                            "changed": list(one.changed),
                            "chance": one.chance,
                            "factors": dict(one.factors),
                        }
                        for one in self.filter.explanations()
                        if one.chance >= _TOLD
                    ],
                }
            },
        )

    # -- as it is stored ----------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """All of it; `from_bytes` goes on to the very same numbers."""
        header = {
            "told": dict(self.told),
            "windows": self.windows,
            "label_purity": self.label_purity,
            "has_scores": self.summariser is not None,
            "index": self.index,
            "predecessor": self.predecessor,
        }
        parts = [
            json.dumps(header, allow_nan=False, sort_keys=True).encode(),
            b"" if self.summariser is None else self.summariser.to_bytes(),
            self.filter.to_bytes(),
        ]
        return b"".join(len(part).to_bytes(4, "little") + part for part in parts)

    @classmethod
    def from_bytes(cls, stored: bytes) -> FollowedPrior:
        """What `to_bytes` wrote.

        Raises
        ------
        ValueError
            If it wrote nothing of the kind.
        """
        parts, at = [], 0
        while at < len(stored):
            size = int.from_bytes(stored[at : at + 4], "little")
            parts.append(stored[at + 4 : at + 4 + size])
            at += 4 + size
        if len(parts) != 3 or at != len(stored):
            msg = f"a stored class prior must have 3 parts, found {len(parts)}"
            raise ValueError(msg)
        header = json.loads(parts[0])
        return cls(
            filter=PriorFilter.from_bytes(parts[2]),
            summariser=Summariser.from_bytes(parts[1]) if header["has_scores"] else None,
            told=header["told"],
            windows=header["windows"],
            label_purity=header["label_purity"],
            index=header["index"],
            predecessor=header["predecessor"],
        )


def of_level(
    origin: LevelOrigin, *, label_purity: float, reference_end: datetime | None = None
) -> ClassPriorEstimate:
    """The class prior of windows that a level is of: nothing is followed yet.

    Parameters
    ----------
    origin : LevelOrigin
    label_purity : float
    reference_end : datetime, optional
        Of the reference whose windows or labels are awaited.
    """
    low, value, high = (label_purity * float(end) for end in origin.level.quantiles(TAILS))
    return ClassPriorEstimate(
        value=value,
        low=low,
        high=high,
        method=_method(origin.told),
        diagnostics={
            "over_time": {
                "level": dict(origin.told),
                "windows": 0,
                "index": "score",
                "index_reason": None,
                "predecessor": None,
                "reference_end": None if reference_end is None else reference_end.isoformat(),
                "moved": None,
                "changes": {},
                "since_reference": {},
                "explanations": [],
            }
        },
    )


def _method(told: Mapping[str, Any]) -> str:
    source = told["source"]
    return f"followed from {'a given prior' if source == 'given' else source}"


def of_window(
    prior: ClassPriorEstimate,
    own: ClassPriorEstimate | None,
    *,
    confirmed_share: float,
    index_reason: str | None = None,
) -> ClassPriorEstimate:
    """The class prior of a series, as that of one window of it.

    Parameters
    ----------
    prior : ClassPriorEstimate
        Of `FollowedPrior.estimate`, or `of_level`.
    own : ClassPriorEstimate or None
        What the window's rows say by themselves; shown beside it, and no part of it.
    confirmed_share : float
        Positives among the window's rows that are confirmed. No class prior is below it.
    index_reason : str, optional
        Why its rows were not read by the auxiliary score that was asked for.
    """
    told = dict(prior.diagnostics["over_time"])
    told["index_reason"] = index_reason
    told["own"] = None if own is None else {"value": own.value, "low": own.low, "high": own.high}
    found = replace(
        prior,
        value=max(prior.value, confirmed_share),
        low=prior.low,
        high=max(prior.high, confirmed_share),
        least=math.nan if told["level"]["source"] == "given" else confirmed_share,
        diagnostics={**prior.diagnostics, "over_time": told},
    )
    return found if own is None else _on_rows_of(own, found)


def _on_rows_of(own: ClassPriorEstimate, class_prior: ClassPriorEstimate) -> ClassPriorEstimate:
    """With what it makes of the rows: how many unlabeled ones are positive, how many are confirmed.

    What the rows say by themselves holds which share of them is confirmed, and unlabeled.
    """
    if not own.unlabeled_prior > 0:
        return class_prior
    # q b = c pi and (1 - q) a = pi - q b.
    confirmed = 0.0 if math.isnan(own.label_frequency) else own.label_frequency * own.value
    unlabeled_share = (own.value - confirmed) / own.unlabeled_prior
    lowest, middle, highest = (
        max(end - confirmed, 0.0) / unlabeled_share
        for end in (class_prior.low, class_prior.value, class_prior.high)
    )
    return replace(
        class_prior,
        unlabeled_prior=middle,
        unlabeled_prior_interval=(lowest, highest),
        label_frequency=own.label_frequency * own.value / class_prior.value,
    )


def _summariser(windows: Sequence[WindowRows], index: Index) -> Summariser | None:
    """Of where the rows of windows score; None where no window has a table."""
    cells = [cell.cells(index) for cell in windows]
    if all(cell is None for cell in cells):
        return None
    counts = [
        (window.rows, window.confirmed) if cell is None else (cell.total, cell.confirmed)
        for window, cell in zip(windows, cells, strict=True)
    ]
    return Summariser.learned(cells, counts=counts)
