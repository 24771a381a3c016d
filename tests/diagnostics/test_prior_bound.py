"""Who is told that a class prior from scores is an upper bound."""

import pytest

from pumonitor.diagnostics.prior_bound import prior_is_upper_bound
from pumonitor.results import ClassPriorEstimate


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("auto", True),
        ("given by auto", True),
        ("given by followed from auto", True),
        ("given by followed from a given prior", False),
        ("given interval", False),
        ("propensity", False),
    ],
)
def test_only_of_what_was_estimated_from_scores(method, told):
    prior = ClassPriorEstimate(value=0.1, low=0.05, high=0.2, method=method, least=0.02)
    found = [one.sentence for one in prior_is_upper_bound(prior)]
    assert bool(found) is told
    assert all("anything from 2% to 20% fits as well" in one for one in found)
