"""What is wrong in a configuration: each thing in one line, all of them at once."""

import re

import pytest

from pumonitor.monitor.config.file import read_configuration_text
from tests.monitor.config.one_problem import GOOD, only, problems


def test_the_good_one_is_good():
    assert read_configuration_text(GOOD, environment={}).warnings == ()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("    window", "    windov", "windov, line 13: is not known here; did you mean 'window'?"),
        ("      score: score\n", "", "predictions.score, line 3: is missing"),
        (
            "score: score",
            "scores: score",
            "scores, line 7: is not known here; did you mean 'score'",
        ),
        (
            "id: id\n      time",
            "id: id\n      id: x\n      time",
            "id, line 6: appears twice: first in line 5",
        ),
        (
            "    predictions:\n",
            "    xyz: 1\n    predictions:\n",
            "xyz, line 3: is not known here (there are model,",
        ),
        ("window: 1d", "window: -1d", "window, line 13: a window's length must be a whole number"),
        ("window: 1d", "window: 0d", "window, line 13: a window's length must be above 0, got"),
        ("window: 1d", "window: 1201mo", "window, line 13: is longer than 100 years, got '1201mo'"),
        ("window: 1d", "window: 99999999999d", "window, line 13: is longer than 100 years"),
        ("window: 1d", "window: 5", "window, line 13: must be text such as 1d, 1h, 1w or 1mo"),
        ("window: 1d", "window: 15min", "no window is shorter than an hour"),
        (
            "maturity: 30d",
            f"maturity: {'9' * 10_000}d",
            f"maturity, line 14: is too long, got {'9' * 40}... (10,001 characters)",
        ),
        (
            "window: 1d",
            f"window: {'9' * 10_000}d",
            "window, line 13: a window's length must be a whole number of h, d, w or mo, such as "
            f"1h, 6h, 1d, 1w or 1mo, got '{'9' * 40}... (10,001 characters)'",
        ),
        (
            "threshold: 0.5",
            f"threshold: {'9' * 10_000}",
            "threshold, line 15: is a number with 10,000 digits: check it",
        ),
        (
            "window: 1d",
            f"window: 1d\n    schedule: '{'9' * 10_000} * * * *'",
            f"schedule, line 14: has a minute outside 0 to 59: '{'9' * 40}... (10,000 characters)'",
        ),
        (
            "known_at: known",
            "known_at: known\n      ambiguous: later",
            "ambiguous, line 13: needs time_zone, which is missing: it chooses a moment for local "
            "times that occur twice",
        ),
        (
            "known_at: known",
            "known_at: known\n      time_zone: UTC\n      ambiguous: first",
            "ambiguous, line 14: must be 'earlier' or 'later'",
        ),
        ("maturity: 30d", "maturity: -30d", "maturity, line 14: must not be negative, got -30d"),
        ("maturity: 30d", "maturity: 999999999d", "maturity, line 14: is longer than 100 years"),
        ("maturity: 30d", "maturity: 1mo", "the length of a month varies: write 30d"),
        ("maturity: 30d", "maturity: 30m", "write min for minutes"),
        (
            "score: score",
            "score: score\n      max_bytes: 10 parsecs",
            "max_bytes, line 8: must be a number of bytes above 0, such as 10 GB, 500 MB or "
            "5000000, got '10 parsecs'",
        ),
        ("score: score", "score: score\n      max_bytes: 0", "a number of bytes above 0"),
        ("score: score", "score: score\n      max_bytes: true", "a number of bytes above 0"),
        ("score: score", "score: score\n      max_bytes: -5 GB", "a number of bytes above 0"),
        (
            "source: p.csv",
            "source: counts://p.csv\n      max_bytes: 5 GB",
            "max_bytes is for tables with a row per prediction: leave it out of counts://",
        ),
        ("maturity: 30d", "maturity: 30", "must be a number with s, min, h, d or w, such as 30d"),
        (
            "threshold: 0.5",
            "threshold: 80",
            "must be within [0, 1], the range of the scores, got 80; did you mean 0.8?",
        ),
        (
            "threshold: 0.5",
            "threshold: -3",
            "write score_scale: unbounded if scores can be outside it",
        ),
        (
            "threshold: 0.5",
            'threshold: "0.5"',
            "threshold, line 15: must be a number without quotes",
        ),
        ("threshold: 0.5", "threshold: .inf", "threshold, line 15: must be a number"),
        (
            "threshold: 0.5",
            "threshold: true",
            "threshold, line 15: must be a number without quotes",
        ),
        ("end: 2026-02-01", "end: 2026-01-01", "reference.end, line 16: must be after start"),
        ("end: 2026-02-01", "end: 2025-02-01", "reference.end, line 16: must be after start"),
        ("end: 2026-02-01", "end: 2026-02-30", "2026-02-30 is not a date"),
        (
            "end: 2026-02-01",
            "end: 9999-12-31",
            "reference.end, line 16: must be 1970 or later and before 2200, got 9999-12-31: check ",
        ),
        ("start: 2026-01-01", "start: 0001-01-01", "must be 1970 or later and before 2200"),
        (
            "    reference: {start: 2026-01-01, end: 2026-02-01}",
            "    zone: America/New_York\n"
            "    reference: {start: 2026-01-01T01:00, end: '2026-01-01T02:00+00:00'}",
            "reference, line 17: must end after it starts, but in America/New_York it is from "
            "2026-01-01T06:00:00+00:00 to 2026-01-01T02:00:00+00:00: write both times with their "
            "zone",
        ),
        ("end: 2026-02-01", "end: soon", "must be a date such as 2026-01-01"),
        (
            "    window",
            "    class_prior: [0.4, 0.1]\n    window",
            "class_prior, line 13: has its low end above its high one: 0.4 > 0.1",
        ),
        (
            "    window",
            "    class_prior: 40\n    window",
            "class_prior must satisfy 0 < class_prior < 1, got 40; did you mean 0.4?",
        ),
        (
            "    window",
            "    class_prior: atuo\n    window",
            "no class-prior method 'atuo'; did you mean 'auto'?",
        ),
        ("    window", "    class_prior: km1\n    window", "needs features"),
        (
            "    window",
            "    class_prior: propensity\n    window",
            "positives have no propensity column",
        ),
        (
            "    window",
            "    class_prior: [1, 2, 3, 4]\n    window",
            "must be auto, the name of a method, a number, [low, high]",
        ),
        (
            "    window",
            "    class_prior: true\n    window",
            "must be auto, the name of a method, a number",
        ),
        (
            "    window",
            "    label_purity: 95\n    window",
            "a share above 0 and at most 1; did you mean 0.95?",
        ),
        (
            "    window",
            "    scenario: case-control\n    window",
            "scenario, line 13: must be 'single-training-set'",
        ),
        (
            "    window",
            "    schedule: 0 0 31 2 *\n    window",
            "schedule, line 13: is never due: Feb has no such day (31)",
        ),
        (
            "    window",
            "    zone: Berlin\n    window",
            "zone, line 13: is not a time zone: 'Berlin'; did you mean 'Europe/Berlin'?",
        ),
        ("    window", "    zone: ../../etc/passwd\n    window", "is not a time zone"),
        ("    window", "    zone: localtime\n    window", "is not a time zone: 'localtime'"),
        ("    window", "    model: fraud@champion\n    window", "must be models:/NAME"),
        ("    window", "    panes: [0d, 40d]\n    window", "below the maturity"),
        ("    window", "    panes: 0d\n    window", "panes, line 13: must be a list"),
        ("    window", "    panes: [2d, 1d]\n    window", "must ascend, got 1d after 2d"),
        ("known_at: known", "known_at: id", "uses the column 'id' both as id and as known_at"),
        (
            "segments: [country]",
            "segments: country",
            "segments, line 8: must be a list, such as [a, b]",
        ),
        (
            "segments: [country]",
            "segments: [3]",
            "segments[0], line 8: must be text: put it in quotes",
        ),
        (
            "segments: [country]",
            "features: amount",
            "features, line 8: must be a list, such as [a, b]",
        ),
        ("segments: [country]", "features: [score]", "'score' as a feature and as the score: what"),
        ("segments: [country]", "features: [id]", "'id' as a feature and as id, which differs"),
        ("segments: [country]", "features: [a, b, a]", "has the feature column 'a' twice"),
        (
            "segments: [country]",
            "features: [a, who]\n      group: who",
            "'who' as a feature and as the group: a score that recognises entities",
        ),
        ("segments: [country]", "group: who", "has a group without features"),
        ("score: score", "score: 5", "score, line 7: must be text: put it in quotes"),
        ("score: score", 'score: ""', "score, line 7: must not be empty"),
        ("time: time", "time: time\n      time_unit: m", "must be 's', 'ms', 'us' or 'ns'"),
        (
            "time: time",
            "time: time\n      time_unit: s\n      time_zone: UTC",
            "leave out time_zone",
        ),
        (
            "source: p.csv",
            "source: {table: t}",
            "source, line 4: must be a path, {url: ..., table: ...}",
        ),
        (
            "source: p.csv",
            "source: {url: 'sqlite:///a.db'}",
            "must have either a table or a query beside its url",
        ),
        ("source: p.csv", "source: {url: host, table: t}", "must be an address such as"),
        ("source: p.csv", "source: {path: p.csv, table: t}", "has both a path and a database"),
        (
            "source: p.csv",
            "source: {url: 'postgres://h/d', table: t}",
            "source, line 4: is a database of the kind 'postgres': postgresql, sqlite",
        ),
        ("source: p.csv", "source: {url: 'mysql://h/d', table: t}", "of the kind 'mysql'"),
        ("source: p.csv", "source: [p.csv]", "source, line 4: must be a mapping"),
        (
            "monitors:",
            "tracking: {uri: http://localhost, segment_metrics: [f1, f11]}\nmonitors:",
            "tracking.segment_metrics, line 1: is no metric: 'f11'; did you mean 'f1'?",
        ),
        (
            "monitors:",
            "tracking: {uri: http://localhost, segment_metrics: f1}\nmonitors:",
            "tracking.segment_metrics, line 1: must be all, or a list of metrics such as",
        ),
        ("  fraud:", "  fraud detection:", "has a name with other characters than"),
        ("    window", "    ? [a]\n    : 1\n    window", "has a key that is no text"),
    ],
)
def test_one_thing_that_is_wrong_is_one_line_with_its_place(old, new, problem):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    assert problem in only(text)


def test_two_monitors_of_one_name_are_refused():
    second = GOOD.removeprefix("monitors:\n")
    assert only(GOOD + second).startswith("monitors.fraud, line 19: appears twice: first in line 2")
    other_case = second.replace("fraud:", "Fraud:")
    assert "two monitors whose names differ in case only: fraud, Fraud" in only(GOOD + other_case)


@pytest.mark.parametrize("text", ["", "monitors: {}\n", "# nothing\n", "monitors:\n"])
def test_a_file_without_monitors_is_refused(text):
    assert "monitors" in only(text)


@pytest.mark.parametrize("text", ["just words", "- a\n- b\n", "5"])
def test_a_file_that_is_no_mapping_is_refused(text):
    assert "must be a mapping" in only(text)


def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_the_file():
    text = (
        GOOD.replace("score: score", "scor: score")
        .replace("window: 1d", "window: 0d")
        .replace("threshold: 0.5", "threshold: ${MISSING_ONE}")
        .replace("metric: f1", "metric: f11")
        + "destinations:\n  a: {webhook: ftp://x}\n  b: {}\nmonitor: 1\nstate: mysql://h/d\n"
    )
    found = problems(text)
    lines = [int(re.search(r"line (\d+)", problem)[1]) for problem in found]
    assert lines == sorted(lines) == [7, 13, 15, 18, 20, 21, 22, 23]
    assert "needs the environment variable MISSING_ONE, which is not set" in found[2]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("select 1; select 2", "has 2 statements"),
        ("delete from p", "begins with DELETE"),
        ("with x as (delete from p returning *) select * from x", "holds DELETE"),
        ("select * from p where t >= :start", "lacks :end"),
        ("select * from p", "lacks :start and :end"),
        ("select * from p where t >= :start and t < :ende", "has a parameter 'ende'"),
        ("select from where", "cannot be read as SQL"),
    ],
)
def test_a_query_is_one_select_with_its_binds(query, problem):
    source = f'{{url: "sqlite:///a.db", query: "{query}"}}'
    found = only(GOOD.replace("source: p.csv", f"source: {source}"))
    assert found.startswith("monitors.fraud.predictions.source, line 4: the query")
    assert problem in found


def test_labels_are_asked_for_as_of_a_moment():
    source = '{url: "sqlite:///a.db", query: "select * from c where known <= :end"}'
    assert "has a parameter 'end'" in only(GOOD.replace("source: c.csv", f"source: {source}"))
    good = GOOD.replace("source: c.csv", f"source: {source}".replace(":end", ":as_of"))
    assert read_configuration_text(good, environment={}).configuration.monitors


@pytest.mark.parametrize(
    ("destination", "problem"),
    [
        ("{webhook: 'https://x', apprise: 'json://x'}", "got apprise and webhook"),
        (
            "{alertmanager: 'http://x', secret: ${S}}",
            "which is for webhook and not for alertmanager",
        ),
        ("{webhook: example.org}", "begins with https:// or http://"),
        ("{apprise: words}", "must be an address"),
        ("{webhok: 'https://x'}", "did you mean 'webhook'?"),
    ],
)
def test_destinations_are_one_of_three_kinds(destination, problem):
    found = problems(GOOD + f"destinations:\n  a: {destination}\n", S="secret")
    assert any(problem in one for one in found), found
