"""The section of audits: what it takes, what it refuses, and that it changes no results."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.metrics import metric_draws
from pumonitor.errors import InputError
from pumonitor.monitor.config.file import configuration_hash, read_configuration_text
from pumonitor.monitor.config.sections.audits import METRICS_OF_AUDITS

TEXT = """\
monitors:
  fraud:
    predictions: {source: p.csv, id: id, time: t, score: score}
    positives: {source: c.csv, id: id}
    window: 1d
    maturity: 30d
    threshold: 0.5
"""


def monitor(audits=None):
    text = TEXT if audits is None else f"{TEXT}    audits: {audits}\n"
    return read_configuration_text(text, environment={}).configuration.monitors["fraud"]


def test_an_empty_mapping_is_enough():
    audits = monitor("{}").audits
    assert (audits.cases, audits.metrics, audits.fair) == (300, ("f1",), "check")
    assert (audits.seeds, audits.twice, audits.keep_cases) == (0.05, 0.1, timedelta(days=90))
    assert audits.every is None
    assert monitor().audits is None


def test_all_keys_are_read():
    audits = monitor(
        "{every: 30d, cases: 200, metrics: [recall, auc], above: 85%, fair: assume, "
        "seeds: 2%, twice: 0, "
        "keep_cases: 10d, columns: [country], verdicts: {source: v.csv, id: order, at: when, "
        "reviewer: who, time_zone: Europe/Berlin}}"
    ).audits
    assert (audits.every, audits.seeds, audits.twice) == (timedelta(days=30), 0.02, 0)
    assert audits.above == 0.85
    assert monitor("{above: 0.85}").audits.above == 0.85
    assert audits.verdicts.roles == {
        "order": "id",
        "verdict": "verdict",
        "when": "at",
        "who": "reviewer",
    }


def test_no_key_changes_the_configuration():
    assert configuration_hash(monitor("{cases: 7, fair: assume}")) == configuration_hash(monitor())


@pytest.mark.parametrize(
    ("audits", "said"),
    [
        ("{cases: 0}", "audits.cases"),
        ("{metrics: [average_precision]}", "is no metric"),
        ("{metrics: []}", "audits.metrics"),
        ("{seeds: 60%}", "must be a share from 0 to 0.5"),
        ("{twice: 10}", "must be a share from 0 to 0.5"),
        ("{above: 85}", "must be a share between 0 and 1, such as 85% or 0.85"),
        ("{above: 100%}", "must be a share between 0 and 1"),
        ("{keep_cases: 0d}", "must be longer than 0"),
        ("{columns: [score]}", "shows reviewers 'score', the score"),
        ("{columns: [id]}", "the file of cases has a column 'id' of its own"),
        ("{columns: [a, a]}", "has the column 'a' twice"),
        ("{verdicts: {source: v.csv, id: a, verdict: a}}", "uses the column 'a' in two roles"),
        ("{verdict: 1}", "did you mean"),
        (
            "{verdicts: {source: {url: 'mysql://h/d', table: t}}}",
            "of the kind 'mysql': postgresql, sqlite",
        ),
    ],
)
def test_what_cannot_be_is_refused(audits, said):
    with pytest.raises(InputError) as caught:
        monitor(audits)
    assert said in str(caught.value)


def test_a_password_of_the_verdicts_is_a_secret():
    found = read_configuration_text(
        f"{TEXT}    audits: {{verdicts: {{source: {{url: '${{DB}}', table: t}}}}}}\n",
        environment={"DB": "postgresql://me:kanarienvogel@host/db"},
    )
    assert "kanarienvogel" not in repr(found.configuration)
    assert found.configuration.mask("to kanarienvogel") == "to ****"


def test_cases_can_be_spread_for_what_an_audit_estimates():
    known = metric_draws(
        ScoreBins(
            edges=np.array([0.5]),
            above=np.array([False, True]),
            rows=np.array([90, 10]),
            labeled=np.array([1, 4]),
            concordance=np.array([0.5, 0.5]),
            rank=np.array([-0.5, 0.5]),
            concordance_error=np.array([0.1, 0.1]),
        ),
        np.array([[2.0, 6.0]]),
    )
    assert set(METRICS_OF_AUDITS) == set(known) - {"predicted_positive_rate"}
