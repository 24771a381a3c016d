"""How one window is read with audits: its counts, and what is believed of the label frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.by_bin import FrequencyByBin, read_unaudited
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimates import AuditedEstimates, Method
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import FrequencyByScore, as_line
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audit.reading import Reviewers

_BINS: Final = [one.name for one in fields(ScoreBins) if one.name != "design_effect"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowReading:
    """All that the audited estimates of a window are made of, besides a seed.

    Attributes
    ----------
    name : str
        Of the audit whose verdicts these are, or which is carried.
    method : {"audit", "audit carried"}
    counts : AuditCounts
    believed : FrequencyByScore or FrequencyByBin
        As of the window, of the labels that have arrived.
    shared : ndarray of shape (bins, bins), optional
        Covariance of v = -logit e that is common to this window and those of the first audit.
    reviewers : Reviewers, optional
    of_window : bool
        Whether the audit was drawn from this window, alone or among others.
    """

    name: str
    method: Method
    counts: AuditCounts
    believed: FrequencyByScore | FrequencyByBin
    shared: FloatArray | None = None
    reviewers: Reviewers | None = None
    of_window: bool = False

    def read(
        self, *, seed: int, confidence_level: float = 0.95, f_beta: float = 2.0
    ) -> AuditedEstimates:
        """The audited estimates; the same seed gives the same.

        Raises
        ------
        InputError
            If nothing is confirmed in the window.
        """
        return AuditedEstimates(
            name=self.name,
            posterior=self._posterior(seed),
            method=self.method,
            fair="assume" if self.believed.fair else "check",
            confidence_level=confidence_level,
            f_beta=f_beta,
        )

    def _posterior(self, seed: int) -> AuditPosterior:
        if isinstance(self.believed, FrequencyByBin):
            return read_unaudited(self.counts, self.believed, seed=seed)
        return estimate_audit(
            self.counts, believed=self.believed, reviewers=self.reviewers, seed=seed
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, from which it can be restored exactly."""
        counts, effect = self.counts, self.counts.bins.design_effect
        return {
            "audit": self.name,
            "method": self.method,
            "of_window": self.of_window,
            "bins": {name: getattr(counts.bins, name).tolist() for name in _BINS},
            # Left out where nothing is shared, as it is of evaluations from before there was one.
            **({} if effect == 1 else {"design_effect": effect}),
            "decided": counts.decided.tolist(),
            "positive": counts.positive.tolist(),
            "undecided": counts.undecided.tolist(),
            "believed": _plain(self.believed),
            "shared": None if self.shared is None else self.shared.tolist(),
            "reviewers": None if self.reviewers is None else asdict(self.reviewers),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> WindowReading:
        """What `to_dict` wrote."""
        seeds, shared = stored["reviewers"], stored["shared"]
        bins = ScoreBins(
            **{name: np.array(one) for name, one in stored["bins"].items()},
            design_effect=stored.get("design_effect", 1.0),
        )
        return cls(
            name=stored["audit"],
            method=stored["method"],
            counts=AuditCounts.of(
                bins, **{name: stored[name] for name in ("decided", "positive", "undecided")}
            ),
            believed=_restored(stored["believed"]),
            shared=None if shared is None else np.array(shared),
            reviewers=None if seeds is None else Reviewers(**seeds),
            of_window=stored.get("of_window", False),
        )


def without_shared(posterior: AuditPosterior, shared: FloatArray | None) -> float:
    """Standard error of the log of the class prior without what windows have in common.

    The error of the label frequency by score is nearly the same in all windows that are read with
    an audit, and cancels where they are compared.

    Notes
    -----
    The log of the class prior is regressed on v = -logit e by bin; `shared` goes through the
    slopes. It may be negative (`pumonitor.audit.carried.CarriedAudits.shared`): then the error is
    above that of the window alone.
    """
    prior = np.log(np.maximum(posterior.metrics()["class_prior"], 1e-12))
    whole = float(prior.var())
    if shared is None:
        return float(np.sqrt(whole))
    v = special.logit(np.clip(1 - posterior.e, 1e-12, 1 - 1e-12))
    v = v - v.mean(axis=0)
    spread = v.T @ v / len(v)
    slope = np.linalg.pinv(spread, hermitian=True) @ (v.T @ (prior - prior.mean())) / len(prior)
    left = whole - float(slope @ spread @ slope)
    return float(np.sqrt(max(whole - float(slope @ shared @ slope), left, 0.0)))


def _plain(believed: FrequencyByScore | FrequencyByBin) -> dict[str, Any]:
    if isinstance(believed, FrequencyByBin):
        return {
            "mean": believed.mean.tolist(),
            "covariance": believed.covariance.tolist(),
            "rank": believed.rank.tolist(),
            "above": believed.above.tolist(),
            "fair": believed.fair,
            "overall": believed.overall,
            "told": believed.told,
        }
    return {
        "mean": list(believed.mean),
        "covariance": [list(row) for row in believed.covariance],
        "spread": believed.spread,
        "audited": believed.audited,
        "overall": believed.overall,
    }


def _restored(stored: Mapping[str, Any]) -> FrequencyByScore | FrequencyByBin:
    mean, covariance = stored["mean"], stored["covariance"]
    overall, told = (_pair(stored.get(name)) for name in ("overall", "told"))
    if "rank" in stored:
        return FrequencyByBin(
            mean=np.array(mean),
            covariance=np.array(covariance),
            rank=np.array(stored["rank"]),
            above=np.array(stored["above"]),
            fair=stored["fair"],
            overall=overall,
            told=told,
        )
    return FrequencyByScore(
        mean=as_line(mean),
        covariance=(as_line(covariance[0]), as_line(covariance[1]), as_line(covariance[2])),
        spread=stored["spread"],
        audited=stored["audited"],
        overall=overall,
    )


def _pair(stored: Sequence[float] | None) -> tuple[float, float] | None:
    return None if stored is None else (stored[0], stored[1])
