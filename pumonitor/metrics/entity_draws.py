"""Draws of the labeled rows above and below a threshold, where rows share entities.

A share of n labeled rows is known as well as that of n / d independent ones, d being the design
effect of the share (Rao and Scott, 1992): docs/decisions/entities.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pumonitor.metrics.prior_draws import DRAWS
from pumonitor.metrics.problem import Problem, uncertain_size

FloatArray = NDArray[np.float64]


def labeled_sides(
    problem: Problem, index: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Labeled rows in the cells from `index` up and below, as shares of all before drawing.

    The share above is drawn from Jeffreys' Beta of as many independent rows as tell the same, their
    number being uncertain itself as far as it rests on entities; the number of all from a gamma
    distribution with the variance that entities of these sizes give it, along with the share as far
    as large entities lie on one side.
    """
    table, entities = problem.table, problem.table.entities
    if entities is None:
        msg = "only a table with entities has their draws"
        raise ValueError(msg)
    rows, g = float(table.labeled.sum()), float(problem.labeled_above[index])
    is_above = (np.arange(len(table)) >= index).astype(np.float64)
    listed, above = entities.summed(table.lower, is_above)
    sizes = np.bincount(entities.entity).astype(np.float64)
    # Half an entity on either side, for what a small sample has not shown. As large as those at
    # hand it is too much where their rows score unlike each other, as large as the design effect
    # of the rank, which few entities make small, too little: their geometric mean.
    pseudo = math.sqrt(table.size_design_effect * table.rank_design_effect)
    all_rows = rows + pseudo
    share = (g * rows + 0.5 * pseudo) / all_rows
    apart = above - share * sizes
    independent = rows * (g * (1 - share) ** 2 + (1 - g) * share**2)
    # As a sample variance of so many entities.
    shared = float(np.dot(apart, apart)) * (1 + 1 / max(problem.labeled_degrees, 1.0))
    shared -= float(np.sum((listed - share) ** 2))
    variation = independent + shared + 0.5 * pseudo**2 * ((1 - share) ** 2 + share**2)
    effect = max(variation / (all_rows * share * (1 - share)), 1.0)
    effective = np.full(DRAWS, rows / effect)
    if shared > 0:
        part = min(shared / variation, 1.0)
        effective *= (1 - part) + part * uncertain_size(table, rng)
    share_draws = rng.beta(g * effective + 0.5, (1 - g) * effective + 0.5)
    along = float(np.dot(apart, sizes)) - float(np.sum(listed - share))
    slope = along / variation
    spread = max(table.size_design_effect / rows - slope * along / rows**2, 1e-12)
    spread_draws = spread / uncertain_size(table, rng)
    mean = np.maximum(1.0 + slope * (share_draws - g), 1e-9)
    # Of next to no entities it may come out as 0, which has no share.
    total = np.maximum(rng.gamma(mean**2 / spread_draws, spread_draws / mean), 1e-9)
    return share_draws * total, (1 - share_draws) * total
