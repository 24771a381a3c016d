"""The posterior of an audit by plain random-walk Metropolis: slow, and of another making.

Each row is in one of four states: confirmed (p e), found (p (1 - e)), cleared (1 - p), or unlabeled
and not looked at (1 - p e). The chains walk over logit p and v = -logit e of each bin, alpha, beta
and gamma, one bin at a time. Beforehand logit p is normal around a line along the normal quantile
of the rank, which bends as an integrated Wiener process to either side of the threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.counts import AuditCounts

FloatArray = NDArray[np.float64]


def log_bin(counts: AuditCounts, at: int, ell: FloatArray, v: FloatArray) -> FloatArray:
    """Log likelihood of one bin, from the four states."""
    p, e = 1 / (1 + np.exp(-ell)), 1 / (1 + np.exp(v))
    confirmed, found = int(counts.labeled[at]), int(counts.positive[at])
    cleared = int(counts.decided[at]) - found
    rest = int(counts.rows[at]) - confirmed - found - cleared
    states = {"c": p * e, "f": p / (1 + np.exp(-v)), "n": 1 / (1 + np.exp(ell))}
    log = {name: np.log(np.maximum(state, 1e-300)) for name, state in states.items()}
    value = confirmed * log["c"] + found * log["f"] + cleared * log["n"]
    return np.asarray(value + rest * np.log1p(-p * e))


def prior_of_p(counts: AuditCounts) -> tuple[FloatArray, FloatArray]:
    """Mean and precision of logit p by bin."""
    rows = counts.rows / counts.rows.sum()
    place = special.ndtri(np.cumsum(rows) - rows / 2)
    away = place - place[counts.bins.above][0]
    covariance = 3.0**2 * np.eye(len(away))
    for i, here in enumerate(away):
        for j, there in enumerate(away):
            covariance[i, j] += 4.0**2 + 2.5**2 * here * there
            if here * there > 0:
                near, far = sorted([abs(here), abs(there)])
                covariance[i, j] += 1.5**2 * (near**2 * far / 2 - near**3 / 6)
    return -2 + 2.5 * away, np.linalg.inv(covariance)


def metropolis(
    counts: AuditCounts, *, chains: int, steps: int, thin: int = 10, seed: int = 0
) -> dict[str, FloatArray]:
    """Draws of alpha, beta, gamma, and by bin of p and v, shape (kept, chains[, bins])."""
    rng = np.random.default_rng(seed)
    bins = len(counts.rows)
    line = np.array([np.log(4), 0.0, 0.0])[:, None] + 0.3 * rng.standard_normal((3, chains))
    side = np.where(counts.bins.above, 0.5, -0.5)
    tau = 0.4
    mean, precision = prior_of_p(counts)
    z = rng.standard_normal((bins, chains))
    confirmed = (counts.labeled + 0.5) / (counts.rows + 1)
    scale = 1 / np.sqrt(counts.labeled + counts.positive + 0.3)

    def v_of(line: FloatArray, z: FloatArray) -> FloatArray:
        level = line[0] + np.outer(counts.bins.rank, line[1]) + np.outer(side, line[2])
        return np.asarray(level + tau * z)

    v = v_of(line, z)
    ell = np.log(np.minimum(confirmed[:, None] * (1 + np.exp(v)), 0.9))
    ell -= np.log1p(-np.exp(ell))
    log = np.stack([log_bin(counts, b, ell[b], v[b]) for b in range(bins)])
    kept: dict[str, list[FloatArray]] = {name: [] for name in ("alpha", "beta", "gamma", "p", "v")}

    def prior(line: FloatArray, ell: FloatArray) -> FloatArray:
        known = ((line[0] - np.log(4)) / 2.5) ** 2 + (line[1] / 1.5) ** 2 + (line[2] / 2) ** 2
        away = ell - mean[:, None]
        return np.asarray(-0.5 * (known + np.einsum("bc,bd,dc->c", away, precision, away)))

    for step in range(steps):
        for b in range(bins):
            for move in range(2):
                new_z, new_ell = z[b], ell[b] + scale[b] * rng.standard_normal(chains) * 1.5
                if move:
                    new_z = z[b] + 1.2 * rng.standard_normal(chains)
                    shift = tau * (new_z - z[b])
                    new_ell = ell[b] + shift + 0.3 * scale[b] * rng.standard_normal(chains)
                new_v = line[0] + counts.bins.rank[b] * line[1] + side[b] * line[2] + tau * new_z
                new = log_bin(counts, b, new_ell, new_v)
                moved = ell.copy()
                moved[b] = new_ell
                gain = new - log[b] - 0.5 * (new_z**2 - z[b] ** 2)
                gain += prior(line, moved) - prior(line, ell)
                take = np.log(rng.random(chains)) < gain
                z[b], ell[b] = np.where(take, new_z, z[b]), np.where(take, new_ell, ell[b])
                log[b] = np.where(take, new, log[b])
        for _ in range(4):
            size = 10 ** rng.uniform(-1.5, 0.2, size=chains)
            new_line = line + size * rng.standard_normal((3, chains)) * [[0.5], [0.7], [0.7]]
            new_v, old_v = v_of(new_line, z), v_of(line, z)
            new_ell = ell + (new_v - old_v)  # along the ridge: p up, e down
            new = np.stack([log_bin(counts, b, new_ell[b], new_v[b]) for b in range(bins)])
            gain = (new - log).sum(axis=0) + prior(new_line, new_ell) - prior(line, ell)
            take = np.log(rng.random(chains)) < gain
            line = np.where(take, new_line, line)
            ell, log = np.where(take, new_ell, ell), np.where(take, new, log)
        if step >= steps // 4 and step % thin == 0:
            found = {"alpha": line[0], "beta": line[1], "gamma": line[2]}
            found |= {"p": 1 / (1 + np.exp(-ell.T)), "v": v_of(line, z).T}
            for name, value in found.items():
                kept[name].append(value.copy())
    return {name: np.stack(values) for name, values in kept.items()}
