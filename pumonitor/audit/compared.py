"""Audits before and after a change: the class prior, or how often positives get confirmed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.audit.carried import CarriedAudits, PastAudit
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import DRIFT, FrequencyByScore
from pumonitor.audit.posterior import AuditPosterior

Changed = Literal["neither", "class_prior", "label_frequency", "both"]

_JUMP: Final = 0.5
"""Standard deviation, in logs, of what has changed: by 65% or to 61%."""

_BOTH: Final = 0.25
"""How probable two changes at once are beforehand, in proportion to one."""

_LEAST_SUPPORT: Final = 0.8
_REACH: Final = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """After over before, with a 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of_log(cls, value: float, error: float) -> Ratio:
        """From its logarithm and the standard error of that."""
        low, high = value - _REACH * error, value + _REACH * error
        return cls(value=math.exp(value), low=math.exp(low), high=math.exp(high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A metric in two audits, and after less before with a 95% interval."""

    before: float
    after: float
    change: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoAudits:
    """What two audits say of the time between them.

    Attributes
    ----------
    before, after : PastAudit
    class_prior, label_frequency : Ratio
        Of the share of positives, and of the share of these that is confirmed.
    support : mapping of str to float
        Probability that the class prior changed, the label frequency, both or neither.
    auc : Moved or None
        None where it is undefined: every row is positive, or none.
    """

    before: PastAudit
    after: PastAudit
    class_prior: Ratio
    label_frequency: Ratio
    support: Mapping[Changed, float]
    auc: Moved | None = None

    @property
    def changed(self) -> Changed | None:
        """What has changed with a probability of at least four fifths; None if it cannot be told.

        Where one of the two has changed, the other is not said to be as it was: its interval tells.
        """
        prior, frequency = (
            self.support[one] + self.support["both"] >= _LEAST_SUPPORT
            for one in ("class_prior", "label_frequency")
        )
        if prior:
            return "both" if frequency else "class_prior"
        if frequency:
            return "label_frequency"
        return "neither" if self.support["neither"] >= _LEAST_SUPPORT else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditsAround:
    """Audits of a time before a change and of a time after it; either may be missing."""

    before: tuple[PastAudit, ...]
    after: tuple[PastAudit, ...]


def audits_around(audits: Sequence[PastAudit], *, since: datetime) -> AuditsAround:
    """Sort audits by whether the middle of their period is before a change began.

    Parameters
    ----------
    audits : sequence of PastAudit
        In the order of time.
    since : datetime
        When the change began.
    """
    later = [one.start + (one.end - one.start) / 2 >= since for one in audits]
    return AuditsAround(
        before=tuple(one for one, is_later in zip(audits, later, strict=True) if not is_later),
        after=tuple(one for one, is_later in zip(audits, later, strict=True) if is_later),
    )


def compare_audits(around: AuditsAround, *, seed: int = 0) -> TwoAudits:
    """Tell by audits whether the class prior, the ranking or the label frequency changed.

    The last audit before the change is read with what those before it left, the last one after it
    with what those since the change left, and neither with the other: an audit that is read with
    what earlier ones left takes most of a change for one of the class prior.

    It is wrong where what confirmations depend on changed in another way than with the score, and
    where the two audits are of months that differ by more than the change asked for.

    Parameters
    ----------
    around : AuditsAround
        With an audit on either side.
    seed : int

    Raises
    ------
    ValueError
        If there is no audit before the change, or none after it.

    Notes
    -----
    Of the audit's rows the class prior times the label frequency is the share confirmed, which is
    known. So an error of the audits moves both ratios in opposite directions. Part of it is the
    slope of the label frequency over the score, and its step at the threshold, which both audits
    share: the difference of the class priors is taken at equal ones, by its regression on the
    difference of these.

    Both log ratios are normal around 0. Of what has not changed the standard deviation is .1
    (`pumonitor.audit.frequency.DRIFT`), of what has changed .5 more. No
    change, one of the class prior and one of the label frequency are equally probable beforehand,
    both at once a quarter as probable.

    The change of AUC is normal. What errors of both audits have in common is not taken off, so its
    interval is too wide rather than too narrow.
    """
    if not around.before or not around.after:
        msg = "comparing needs an audit before the change and one after it"
        raise ValueError(msg)
    (before, then), (after, now) = (_read(one, seed=seed) for one in (around.before, around.after))
    months = before.months_to(after.start, after.end)
    same_version = before.model_version == after.model_version
    moved, variance = _at_equal_slopes(then, now, months) if same_version else _apart(then, now)
    confirmed = _log_confirmed(now) - _log_confirmed(then)
    found = np.array([moved, confirmed - moved])
    errors = variance * np.array([[1.0, -1.0], [-1.0, 1.0]]) + _sampling(then) + _sampling(now)
    return TwoAudits(
        before=before,
        after=after,
        class_prior=Ratio.of_log(float(found[0]), math.sqrt(errors[0, 0])),
        label_frequency=Ratio.of_log(float(found[1]), math.sqrt(errors[1, 1])),
        support=_support(found, errors),
        auc=_auc(then, now),
    )


def _read(audits: Sequence[PastAudit], *, seed: int) -> tuple[PastAudit, AuditPosterior]:
    """The last of some audits, read with what those before it left."""
    last = audits[-1]
    believed: FrequencyByScore = last.nothing_known
    earlier = CarriedAudits.through(audits[:-1])
    if earlier.audits and earlier.audits[-1].fair == last.fair:
        believed = earlier.at(last.model_version, last.start, last.end).line
    posterior = estimate_audit(last.counts, believed=believed, reviewers=last.reviewers, seed=seed)
    return last, posterior


def _log_prior(posterior: AuditPosterior) -> FloatArray:
    return np.log(np.maximum(posterior.metrics()["class_prior"], 1e-12))


def _log_confirmed(posterior: AuditPosterior) -> float:
    counts = posterior.counts
    return math.log(counts.labeled.sum() / counts.rows.sum())


def _apart(then: AuditPosterior, now: AuditPosterior) -> tuple[float, float]:
    """Log ratio of the class priors, and its variance, of audits that share no error."""
    first, second = _log_prior(then), _log_prior(now)
    return float(second.mean() - first.mean()), float(first.var() + second.var())


def _at_equal_slopes(
    then: AuditPosterior, now: AuditPosterior, months: float
) -> tuple[float, float]:
    """The same at equal slopes and steps of the label frequency over the score, but for drift."""
    moved, variance = _apart(then, now)
    own = np.cov(then.line[1:]) + np.cov(now.line[1:])
    if not own.any():
        return moved, variance
    both = _with_slopes(then) + _with_slopes(now)
    whole = own + DRIFT**2 * months * np.diag(np.diag(own) > 0)
    slopes = np.linalg.pinv(whole, hermitian=True) @ both
    apart = now.line[1:].mean(axis=1) - then.line[1:].mean(axis=1)
    return moved - float(slopes @ apart), max(variance - float(slopes @ both), 1e-6)


def _with_slopes(posterior: AuditPosterior) -> FloatArray:
    """Covariance of the log class prior with slope and step."""
    return np.asarray(np.cov(_log_prior(posterior), posterior.line[1:])[0, 1:])


def _sampling(posterior: AuditPosterior) -> FloatArray:
    """By how much a window's shares differ from what they are drawn with, as variances of logs."""
    labeled = float(posterior.counts.labeled.sum())
    positives = float(np.median(posterior.positives.sum(axis=1)))
    return np.diag([1 / positives, max(1 - labeled / positives, 0.0) / labeled])


def _auc(then: AuditPosterior, now: AuditPosterior) -> Moved | None:
    """How AUC moved; its error is that of both audits and of the positives that there were."""
    levels, variance = [], 0.0
    for one in (then, now):
        draws = one.metrics()["auc"]
        if np.isnan(draws).any():
            return None
        level = float(np.median(draws))
        # A bound on the sampling variance of a Mann-Whitney statistic with many negatives.
        positives = float(np.median(one.positives.sum(axis=1)))
        variance += float(draws.var()) + level * (1 - level) / max(positives, 1.0)
        levels.append(level)
    before, after = levels
    reach = _REACH * math.sqrt(variance)
    change = after - before
    return Moved(before=before, after=after, change=change, low=change - reach, high=change + reach)


def _support(found: FloatArray, errors: FloatArray) -> dict[Changed, float]:
    """Probability of each combination of changes."""
    usual, jump = DRIFT**2, _JUMP**2
    variances: Mapping[Changed, tuple[float, float]] = {
        "neither": (usual, usual),
        "class_prior": (usual + jump, usual),
        "label_frequency": (usual, usual + jump),
        "both": (usual + jump, usual + jump),
    }
    logs = []
    for name in get_args(Changed):
        covariance = errors + np.diag(variances[name])
        _, log_determinant = np.linalg.slogdet(covariance)
        logs.append(-0.5 * (log_determinant + found @ np.linalg.solve(covariance, found)))
    logs[-1] += math.log(_BOTH)
    shares = special.softmax(np.array(logs)).tolist()
    return dict(zip(get_args(Changed), shares, strict=True))
