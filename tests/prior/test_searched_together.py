"""What is searched for in many tables at once is what is found in each alone."""

import dataclasses
import sys

import numpy as np
import pytest

from pumonitor import ScoreTable
from pumonitor.prior.auto.auto import auto, read_samples
from pumonitor.prior.kept import Kept
from pumonitor.prior.labels import label_noise
from pumonitor.prior.labels.label_noise import estimate_label_purity, search_together
from pumonitor.prior.samples.two_samples import TwoSamples

auto_module = sys.modules[auto.__module__]


def tables():
    """Of different sizes, rankings and purities: searches of different length."""
    rng = np.random.default_rng(11)
    found = []
    shapes = [(40, 0.4, 1.0), (300, 2.5, 0.9), (90, 1.2, 1.0), (1000, 3.0, 0.8), (25, 2.0, 1.0)] * 2
    for labeled, separation, purity in shapes:
        positive = np.concatenate([rng.random(labeled) < purity, rng.random(8 * labeled) < 0.15])
        labels = np.repeat([1, 0], [labeled, 8 * labeled])
        found.append(ScoreTable.from_arrays(labels, rng.normal(separation * positive)))
    return found


@pytest.fixture
def forgotten(monkeypatch):
    """Called, it forgets all that is kept, and returns how many samples each later search has."""
    kept = {(label_noise, "_fits"): label_noise._fits, (auto_module, "_read"): auto_module._read}

    def forget():
        sizes = []
        for (module, name), before in kept.items():

            def search(samples, before=before):
                sizes.append(len(samples))
                return before._search(samples)

            monkeypatch.setattr(module, name, Kept(search, key_of=before._key_of, most=50))
        return sizes

    return forget


def test_label_purities_do_not_depend_on_what_is_searched_for_beside_them(forgotten):
    forgotten()
    alone = [estimate_label_purity(one) for one in tables()]
    sizes = forgotten()
    search_together(tables())
    together = [estimate_label_purity(one) for one in tables()]
    assert sizes == [len(alone)]
    for one, other in zip(alone, together, strict=True):
        first, second = one.to_dict(), other.to_dict()
        assert first.pop("method") == second.pop("method") == "plateau"
        assert second == pytest.approx(first, rel=1e-12)


def test_auto_does_not_depend_on_what_is_read_beside_it(forgotten):
    samples = [TwoSamples.from_table(one) for one in tables()]
    forgotten()
    alone = [auto(one, confidence_level=0.9) for one in samples]
    sizes = forgotten()
    read_samples(samples)
    together = [auto(one, confidence_level=0.9) for one in samples]
    assert sizes == [len(samples)]
    for one, other in zip(alone, together, strict=True):
        first, second = dataclasses.asdict(one), dataclasses.asdict(other)
        why = [found["details"].pop("why") for found in (first, second)]
        assert why[0] == why[1]
        assert second.pop("details") == pytest.approx(first.pop("details"), rel=1e-12)
        assert second == pytest.approx(first, rel=1e-12)


def test_a_table_of_few_scores_is_left_out_and_stops_no_other(forgotten):
    forgotten()
    flat = ScoreTable.from_counts([2, 5], [40, 10], edges=[0.0, 0.5, 1.0])
    search_together([flat, tables()[1], flat])
    assert estimate_label_purity(flat).method == "too few distinct scores"
    search_together([])
    search_together([flat])
    read_samples([])


def test_what_was_asked_longest_ago_is_forgotten_first():
    searched = []

    def search(samples):
        searched.extend(samples)
        return [-one for one in samples]

    kept = Kept(search, key_of=lambda one: bytes([one]), most=2)
    assert kept([1, 2, 1]) == [-1, -2, -1]
    assert kept([1]) == [-1]
    assert kept([3]) == [-3]
    assert kept([1, 2]) == [-1, -2]
    assert searched == [1, 2, 3, 2]


def test_all_that_were_searched_for_together_are_kept_until_they_are_asked_for_one_by_one():
    searched = []

    def search(samples):
        searched.append(len(samples))
        return [-one for one in samples]

    kept = Kept(search, key_of=lambda one: bytes([one]), most=2)
    kept(range(9))
    assert [kept([one]) for one in range(9)] == [[-one] for one in range(9)]
    assert searched == [9]
