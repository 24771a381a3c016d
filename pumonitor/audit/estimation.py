"""From counts of an audit to draws of everything it tells."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.audit.believed import believed_components
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.frequency import UNKNOWN, FrequencyByScore
from pumonitor.audit.laplace import draw_posterior
from pumonitor.audit.likelihood import AuditLikelihood
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audit.reading import EXACT, Reading, Reviewers, share_of_decided
from pumonitor.errors import InputError
from pumonitor.stats.quantiles import quantiles

DRAWS: Final = 2000

UNDECIDED_ODDS: Final = 4.0
"""Largest ratio of the odds that an undecided case is positive to those of a decided one."""


def estimate_audit(
    counts: AuditCounts,
    *,
    believed: FrequencyByScore = UNKNOWN,
    reviewers: Reviewers | None = None,
    reading: Reading = EXACT,
    draws: int = DRAWS,
    seed: int = 0,
) -> AuditPosterior:
    """Draw positives by bin, and the label frequency by score, given what an audit found.

    It is wrong where cases were not drawn at random within their bin, where the label frequency
    jumps within a bin, and where verdicts are mistaken and `reviewers` does not say so.

    Parameters
    ----------
    counts : AuditCounts
    believed : FrequencyByScore
        Of the label frequency before: `UNKNOWN`, `FAIR`, or what an earlier audit left.
    reviewers : Reviewers, optional
        What seeds tell of mistaken verdicts; without it verdicts are the truth.
    reading : Reading
        How undecided cases differ from decided ones; by default they do not, within a bin.
    draws : int
    seed : int
        The same seed gives the same draws.

    Raises
    ------
    InputError
        If nothing was decided and no earlier audit is believed, or nothing is confirmed.
    """
    _check(counts, believed)
    rng = np.random.default_rng(seed)
    return _together(
        [_drawn(counts, believed, each, draws, rng) for each in _readings(reviewers, reading)]
    )


def undecided_extremes(
    counts: AuditCounts,
    *,
    believed: FrequencyByScore = UNKNOWN,
    reviewers: Reviewers | None = None,
    odds: float = UNDECIDED_ODDS,
    confidence_level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Mapping[str, tuple[float, float]]:
    """Interval of each metric over what undecided cases can be, at most `odds` times as positive.

    The odds of an undecided case are between those of a decided one of its bin divided by `odds`
    and times `odds`. The lowest and the highest end are sought over both extremes, above and below
    the threshold apart: undecided cases may be positives here and negatives there.

    Parameters
    ----------
    counts, believed, reviewers, draws, seed
        As in `estimate_audit`.
    odds : float
        At least 1.
    confidence_level : float
    """
    tail = 0.5 * (1 - confidence_level)
    found: dict[str, list[FloatArray]] = {}
    # Missing at random is one of the possibilities, and draws differ by chance.
    for above, below in ((1.0, 1.0), *itertools.product((1 / odds, odds), repeat=2)):
        posterior = estimate_audit(
            counts,
            believed=believed,
            reviewers=reviewers,
            reading=Reading(odds_above=above, odds_below=below),
            draws=draws,
            seed=seed,
        )
        for name, values in posterior.metrics().items():
            found.setdefault(name, []).append(quantiles(values, [tail, 1 - tail]))
    return {
        name: (float(np.min(ends)), float(np.max(ends)))
        for name, ends in ((name, np.array(both)) for name, both in found.items())
    }


def undecided_intervals(
    counts: AuditCounts,
    *,
    believed: FrequencyByScore,
    reviewers: Reviewers | None,
    confidence_level: float,
) -> dict[str, tuple[float, float]]:
    """`undecided_extremes` of the metrics that are defined; none where every case is decided."""
    if not counts.undecided.any():
        return {}
    ends = undecided_extremes(
        counts, believed=believed, reviewers=reviewers, confidence_level=confidence_level
    )
    return {name: both for name, both in ends.items() if not np.isnan(both).any()}


def _check(counts: AuditCounts, believed: FrequencyByScore) -> None:
    if counts.decided.sum() == 0 and not believed.audited:
        msg = (
            "no case of the audit has been decided: review the drawn cases and give a verdict, "
            "1 for positive or 0 for negative, for at least one of them"
        )
        raise InputError(msg)
    if counts.labeled.sum() == 0:
        msg = "an audit needs confirmed positives, and there is none in any score bin"
        raise InputError(msg)


def _readings(reviewers: Reviewers | None, reading: Reading) -> list[Reading]:
    if reviewers is None:
        return [reading]
    return [
        Reading(
            sensitivity=one.sensitivity,
            specificity=one.specificity,
            odds_above=reading.odds_above,
            odds_below=reading.odds_below,
        )
        for one in reviewers.readings()
    ]


def _drawn(
    counts: AuditCounts,
    believed: FrequencyByScore,
    reading: Reading,
    draws: int,
    rng: np.random.Generator,
) -> AuditPosterior:
    """By one reading of the verdicts."""
    bins = counts.bins
    drawn = draw_posterior(
        AuditLikelihood(counts=counts, reading=reading),
        believed_components(bins, believed),
        detection=None,
        overall=believed.known_overall,
        size=draws,
        rng=rng,
    )
    share = hidden_share(drawn.p_logit, drawn.v)
    positives = counts.labeled + rng.binomial(counts.undrawn, share)
    positives = positives + _among_drawn(counts, reading, share, rng)
    inside = bins.concordance + bins.concordance_error * rng.standard_normal(share.shape)
    return AuditPosterior(
        counts=counts,
        believed=believed,
        line=believed.draw_line(drawn.v, bins.rank, bins.above, rng),
        p=special.expit(drawn.p_logit),
        e=special.expit(-drawn.v),
        positives=positives.astype(float),
        concordance=np.clip(inside, 0, 1),
        log_evidence=drawn.log_evidence,
    )


def hidden_share(p_logit: FloatArray, v: FloatArray) -> FloatArray:
    """Share of positives among unconfirmed rows, p (1 - e) / (1 - p e)."""
    missed = special.expit(p_logit) * special.expit(v)
    return np.asarray(missed / (special.expit(-p_logit) + missed))


def _among_drawn(
    counts: AuditCounts, reading: Reading, share: FloatArray, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Positives among drawn rows: the verdicts if they are the truth, draws if they may err."""
    if reading.exact:
        return counts.positive + rng.binomial(counts.undecided, share)
    undecided = counts.undecided / np.maximum(counts.decided + counts.undecided, 1)
    odds = reading.odds(counts.bins.above)
    decided = share_of_decided(share, undecided, odds)
    left = odds * decided / (1 - decided + odds * decided)
    said = np.maximum(reading.said(decided), 1e-300)
    denied = np.maximum(1 - reading.said(decided), 1e-300)
    right = np.clip(decided * reading.sensitivity / said, 0, 1)
    missed = np.clip(decided * (1 - reading.sensitivity) / denied, 0, 1)
    found = rng.binomial(counts.positive, right)
    found += rng.binomial(counts.decided - counts.positive, missed)
    return np.asarray(found + rng.binomial(counts.undecided, left))


def _together(parts: Sequence[AuditPosterior]) -> AuditPosterior:
    """Draws by several readings, each as many times as its evidence says."""
    if len(parts) == 1:
        return parts[0]
    evidence = np.array([part.log_evidence for part in parts])
    draws = len(parts[0].positives)
    ends = np.rint(np.cumsum(special.softmax(evidence)) * draws).astype(int)
    sizes = np.diff(ends, prepend=0)
    joined = {
        name: np.concatenate(
            [getattr(part, name)[:size] for part, size in zip(parts, sizes, strict=True)]
        )
        for name in ("p", "e", "positives", "concordance")
    }
    return AuditPosterior(
        counts=parts[0].counts,
        believed=parts[0].believed,
        line=np.concatenate(
            [part.line[:, :size] for part, size in zip(parts, sizes, strict=True)], axis=1
        ),
        log_evidence=float(special.logsumexp(evidence) - np.log(len(parts))),
        **joined,
    )
