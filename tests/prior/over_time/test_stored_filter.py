import dataclasses

import numpy as np
import pytest

from pumonitor.prior.over_time import Level, PriorFilter, WindowSummary, stored_filter
from pumonitor.prior.over_time.stored import packed, rounded, unpacked
from tests.prior.over_time.windows_shown import LEVEL, REFERENCE, window

LEVELS = np.linspace(0.01, 0.99, 25)


def odd_window(rng, number):
    """Anything a monitor may show: no confirmations, no index, some of the labels."""
    kind = number % 5
    confirmed = 0 if kind == 3 else int(rng.poisson(22 * (2 if number > 6 else 1)))
    if kind == 4:
        return WindowSummary(rows=1500, confirmed=confirmed)
    shown = window(
        confirmed=confirmed, all_mean=rng.normal(1.0, 0.06), confirmed_mean=rng.normal(7.0, 1.5)
    )
    return dataclasses.replace(shown, arrived=0.6, arrived_variance=0.01) if kind == 2 else shown


def everything(followed):
    return (
        followed.quantiles(LEVELS).tolist(),
        followed.window_quantiles(LEVELS).tolist(),
        followed.window_factor(),
        followed.changes(),
        followed.since_reference(),
        followed.explanations(),
    )


@pytest.mark.parametrize(
    "begun",
    [
        PriorFilter.begun(REFERENCE, LEVEL),
        PriorFilter.begun(
            REFERENCE,
            Level.estimated(0.2, 0.03, 0.6, confirmed_share=0.015),
            windows=[window(confirmed=confirmed) for confirmed in (10, 40, 25, 18, 30, 22)],
        ),
    ],
    ids=["a given level", "an estimated one"],
)
def test_a_stored_filter_goes_on_to_the_very_same_numbers(begun):
    rng = np.random.default_rng(4)
    straight, stored = begun, begun
    for number in range(12):
        shown = odd_window(rng, number)
        straight = straight.after(shown)
        stored = PriorFilter.from_bytes(stored.to_bytes()).after(shown)
        if number == 5:
            straight, stored = straight.audited(3, 60), stored.audited(3, 60)
        if number == 8:
            anew = window(rows=9000, confirmed=130, all_mean=1.1, confirmed_mean=5.0)
            straight, stored = straight.reanchored(anew), stored.reanchored(anew)
        assert stored.to_bytes() == straight.to_bytes()
        assert everything(stored) == everything(straight)


def test_a_stored_filter_is_small():
    level = Level.estimated(0.1, 0.04, 0.25, confirmed_share=0.015)
    followed = PriorFilter.begun(REFERENCE, level)
    rng = np.random.default_rng(5)
    for _ in range(12):
        shown = window(
            confirmed=int(rng.poisson(22)),
            all_mean=rng.normal(1.0, 0.06),
            confirmed_mean=rng.normal(8.0, 1.5),
        )
        followed = followed.after(shown)
    assert len(followed.to_bytes()) < 30_000


def test_what_is_rounded_comes_back_bit_for_bit():
    rng = np.random.default_rng(1)
    values = rounded(rng.normal(size=(2, 3, 40)) * 10.0 ** rng.integers(-8, 8, size=40), 11)
    facts = {"number": 0.1 + 0.2, "name": "one"}
    found, grids = unpacked(b"TEST", packed(b"TEST", facts, {"grid": (values, 11)}))
    assert found == facts
    assert grids["grid"].tobytes() == values.tobytes()
    assert np.abs(values / rounded(values, 20) - 1).max() < 2.0**-11


def test_bytes_of_something_else_are_refused():
    stored = PriorFilter.begun(REFERENCE, LEVEL).to_bytes()
    with pytest.raises(ValueError, match="must begin with b'PUF2', found b'PUT1'"):
        PriorFilter.from_bytes(b"PUT1" + stored[4:])
    with pytest.raises(ValueError, match="damaged"):
        PriorFilter.from_bytes(stored[:-20])


def test_a_state_of_another_grid_is_refused(monkeypatch):
    stored = PriorFilter.begun(REFERENCE, LEVEL).to_bytes()
    monkeypatch.setattr(stored_filter, "MOVES", np.arange(5.0))
    with pytest.raises(ValueError, match=r"shape \(4, 11, 5\), found \(4, 11, 41\)"):
        PriorFilter.from_bytes(stored)
