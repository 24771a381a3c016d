"""What a team does wrong with its tables is said, and what it declines widens precision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pumonitor
from pumonitor.errors import InputError
from tests.reviews.made_up_queue import read

ROWS = 50_000


class Shop:
    """The highest 150 scores are declined, the next 600 reviewed; others complain in 60%."""

    def __init__(self, seed: int, *, declined: int = 150) -> None:
        rng = np.random.default_rng(seed)
        self.is_positive = rng.random(ROWS) < 0.01
        self.scores = rng.normal(2.3 * self.is_positive)
        order = np.argsort(-self.scores)
        self.stopped = np.isin(np.arange(ROWS), order[:declined])
        self.in_queue = np.isin(np.arange(ROWS), order[declined:750])
        self.verdicts = np.where(self.in_queue, self.is_positive.astype(float), np.nan)
        free = ~self.in_queue & ~self.stopped
        self.complained = self.is_positive & free & (rng.random(ROWS) < 0.6)
        self.threshold = float(self.scores[order[749]])

    def read(self, *, verdicts=None, labels=None, blocks=True, **options):
        """What is said of it."""
        reviews = pumonitor.Reviews(
            self.verdicts if verdicts is None else verdicts,
            blocks=blocks,
            **{"stopped": self.stopped, **options},
        )
        complained = self.complained if labels is None else labels
        return read(complained, self.scores, reviews, threshold=self.threshold)


def warned(reading) -> dict[str, str]:
    return {one.name: one.sentence for one in reading.findings if one.severity == "warning"}


def test_precision_holds_where_the_highest_scores_are_declined():
    held = []
    for seed in range(8):
        shop = Shop(seed)
        reading, flagged = shop.read(), shop.scores >= shop.threshold
        precision = (flagged & shop.is_positive).sum() / flagged.sum()
        found = reading.estimates["precision"]
        held.append(found.low <= precision <= found.high)
    assert sum(held) >= 7
    assert "150 of them score above all others" in warned(reading)["stopped_unseen"]


def test_zeros_where_nobody_looked_are_refused():
    shop = Shop(1, declined=0)
    with pytest.raises(InputError, match="leave rows that nobody looked at empty, not 0"):
        shop.read(verdicts=np.nan_to_num(shop.verdicts))


def test_declined_rows_that_are_not_named_are_asked_for():
    with pytest.raises(InputError, match=r"name them, Reviews\(stopped=...\)"):
        Shop(1).read(stopped=None)


@pytest.mark.parametrize(
    ("mistake", "name"),
    [
        (lambda shop: {"labels": np.zeros(ROWS, dtype=int)}, "no_complaints"),
        (lambda shop: {"labels": shop.complained | (shop.verdicts == 1)}, "blocked_and_complained"),
        (
            lambda shop: {"labels": shop.complained | (shop.verdicts == 1), "blocks": False},
            "every_positive_complained",
        ),
        (lambda shop: {"blocks": False}, "no_positive_complained"),
        (
            lambda shop: {
                "verdicts": np.where(shop.verdicts == 1, 1.0, np.nan),
                "chosen_by": "score",
            },
            "no_negative_verdict",
        ),
    ],
)
def test_tables_that_do_not_go_together_are_a_warning(mistake, name):
    shop = Shop(2, declined=0)
    assert name in warned(shop.read(**mistake(shop)))
    assert name not in warned(shop.read())


def test_positives_that_nobody_reviewed_are_counted_whatever_chance_reviewed():
    shop = Shop(3, declined=0)
    by_chance = np.random.default_rng(0).random(ROWS) < 0.005
    seen = shop.in_queue | by_chance
    reading = shop.read(
        verdicts=np.where(seen, shop.is_positive.astype(float), np.nan),
        labels=shop.complained & ~seen,
        chosen_by=np.where(shop.in_queue, "score", "random"),
    )
    (told,) = [one for one in reading.findings if one.name == "complaints_below_the_cut"]
    share = float(told.sentence.split("%")[0]) / 100
    true = (shop.is_positive & ~seen).sum() / shop.is_positive.sum()
    assert share == pytest.approx(true, abs=0.2)
    assert share > 0.2


def test_rows_in_another_order_are_refused():
    shop = Shop(4)
    verdicts = pd.Series(shop.verdicts).sample(frac=1.0, random_state=0)
    with pytest.raises(InputError, match="labels and verdicts have different indexes"):
        pumonitor.evaluate(
            pd.Series(shop.complained),
            pd.Series(shop.scores),
            reviews=pumonitor.Reviews(verdicts, blocks=True),
        )
