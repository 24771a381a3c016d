"""Simulated streams in which one thing changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from pumonitor.monitor.rules.causes.period import Period

CELLS = 256
EDGES = np.arange(1, CELLS) / CELLS
DAY = 86_400.0
DELAY_EDGES = np.arange(1, 25) * 30 * DAY / 24


@dataclass(frozen=True, kw_only=True)
class World:
    """How rows of one window come about."""

    rows: int = 5000
    class_prior: float = 0.1
    separation: float = 1.7
    shift: float = 0.0
    stretch: float = 1.0
    confirmed: float = 0.15
    easier_first: float = 0.0
    mean_delay: float = 10 * DAY
    between_windows: float = 0.05
    separation_between: float = 0.0
    mapping: str = "same"


MAPPINGS = {
    "same": lambda shown: shown,
    "square": np.square,
    "root": np.sqrt,
    "steep in the middle": lambda shown: special.betainc(2.0, 3.0, shown),
    "flat at the top": lambda shown: np.where(shown < 0.3, shown, 0.3 + 0.4 * (shown - 0.3)),
}
"""Monotone maps of a score from 0 to 1, which leave every rank where it was."""


def window(world, rng):
    """Scores' counts of labeled and of all rows, and how late labels came."""
    log_odds = special.logit(world.class_prior) + world.between_windows * rng.normal()
    positives = rng.binomial(world.rows, special.expit(log_odds))
    separation = world.separation
    if world.separation_between:
        separation += world.separation_between * rng.normal()
    latent = rng.normal(separation, 1, positives)
    others = rng.normal(0, 1, world.rows - positives)
    ease = np.exp(world.easier_first * (latent - separation))
    # The reference's labels have come within 30 days; so many come late.
    delay = rng.exponential(world.mean_delay, positives)
    chance = np.minimum(world.confirmed * ease / ease.mean(), 1)
    confirmed = (rng.random(positives) < chance) & (delay <= DELAY_EDGES[-1])

    def counted(scores):
        shown = special.expit(world.shift + world.stretch * (scores - 1.5))
        shown = MAPPINGS[world.mapping](shown)
        return np.bincount(np.minimum((shown * CELLS).astype(int), CELLS - 1), minlength=CELLS)

    labeled = counted(latent[confirmed])
    rows = counted(latent) + counted(others)
    arrivals = np.bincount(np.searchsorted(DELAY_EDGES, delay[confirmed]), minlength=25)
    return labeled, rows, arrivals


def period(world, windows, rng, *, parts=None):
    """A Period of so many windows; with parts, their traffic as well."""
    middles = (np.arange(CELLS) + 0.5) / CELLS
    labeled, rows, arrivals = (
        list(some) for some in zip(*(window(world, rng) for _ in range(windows)), strict=True)
    )
    return Period.counted(
        [(middles, one, all_rows) for one, all_rows in zip(labeled, rows, strict=True)],
        edges=EDGES,
        arrivals=np.sum(arrivals, axis=0),
        delay_edges=DELAY_EDGES,
        traffic=parts,
    )
