"""What people read: one line, one sentence, details; the data is never markup."""

from __future__ import annotations

from typing import Any

import pytest
from markdown import markdown

from pumonitor.monitor.delivery.notifications.group import AlertGroup
from pumonitor.monitor.delivery.notifications.message import AlertMessage, Format
from pumonitor.monitor.delivery.notifications.words import body, details, sentence, text, title
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from tests.monitor.delivery.notifications.alerts import DAY, FIRST, alert


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, "[critical] card-fraud, version 7: F1 below 0.75"),
        ({"model_version": "", "segment": "country=DE"}, "[critical] card-fraud, country=DE: F1"),
        ({"kind": "reminder", "severity": "warning"}, "[still warning] card-fraud, version 7"),
        ({"kind": "resolved", "reason": "good"}, "[resolved] card-fraud"),
        ({"kind": "resolved", "reason": "revised"}, "[corrected] card-fraud"),
        ({"kind": "resolved", "reason": "configuration"}, "[closed] card-fraud"),
    ],
)
def test_titles(others: dict[str, Any], expected: str) -> None:
    assert title([alert(**others)]).startswith(expected)


@pytest.mark.parametrize(
    "evil", ["a\r\nBcc: x", "a\u2028b", "a\x00b\x1b[31m", "x" * 500, "a\tb\vc"]
)
def test_a_title_is_one_short_line(evil: str) -> None:
    for one in (
        alert(segment=evil),
        alert(rule=evil),
        alert(monitor=evil),
        alert(model_version=evil),
    ):
        line = title([one])
        assert line.isprintable()
        assert len(line) <= 160


def test_the_gravest_names_the_group() -> None:
    over = alert(kind="resolved", reason="good")
    warning, critical = alert(severity="warning"), alert(kind="reminder", reminder=1)
    assert title([over, over]) == "[resolved] card-fraud: 2 alerts: 2 over"
    assert title([over, warning]).startswith("[warning] card-fraud: 2 alerts: 1 began, 1 over")
    assert title([warning, critical]).startswith("[still critical]")
    text = body([over, warning, critical, alert()], "text")
    lines = [line for line in text.splitlines() if line.startswith("[")]
    assert [line.partition("]")[0] for line in lines] == [
        "[critical", "[still critical", "[warning", "[resolved",
    ]  # fmt: skip


def test_what_is_told_after_its_time_says_so() -> None:
    assert sentence(alert(sentence="F1\nis low.")) == "F1 is low."
    assert sentence(alert(sentence="F1 is low.", late=True)) == "Sent late: F1 is low."


def test_one_text_has_what_happened_and_why() -> None:
    assert text(alert(sentence="F1 is low.")) == "F1 is low. The ranking got worse."
    assert text(alert(sentence="F1 is low.", cause={})) == "F1 is low."
    evil = alert(sentence="F1 is low.", cause={"sentence": "@everyone\nis late."})
    assert "@everyone" not in text(evil)
    assert "\n" not in text(evil)


def test_links_are_named() -> None:
    links = {"mlflow": "https://m.example/#/runs/0f1e", "grafana": "https://g.example"}
    told = dict(details(alert(links=links)))
    assert told["MLflow"] == links["mlflow"]
    assert told["Grafana"] == links["grafana"]
    assert f"href='{links['mlflow']}'" in body([alert(links=links)], "html")


def test_where_the_class_prior_comes_from_is_reported() -> None:
    cause = {"sentence": "It ranks worse.", "class_prior": "Given as 5% for January 2026."}
    found = dict(details(alert(cause=cause)))
    assert found["The share of positives"] == "Given as 5% for January 2026."


def test_details() -> None:
    told = dict(details(alert(3, segment="country=DE", links={"dashboard": "https://d.example/1"})))
    assert told == {
        "F1": "0.704 (0.660 to 0.730)",
        "Limit": "0.750",
        "Reference": "0.820",
        "Window": "2026-03-04 00:00 to 2026-03-05 00:00 UTC",
        "Labels known by": "2026-04-04 00:00 UTC",
        "Firing since the window of": "2026-03-01 00:00 UTC",
        "Model version": "7",
        "Segment": "country=DE",
        "What changed": "The ranking got worse.",
        "Next steps": "1. Look at what changed when it began. 2. Mend or roll back what changed at "
        "that time, if something did. 3. Otherwise let an audit decide between the causes. 4. Wait "
        "with retraining and with a new threshold until the cause is known.",
        "What to do": "https://example.org/runbooks/f1",
        "Dashboard": "https://d.example/1",
    }
    nothing: dict[str, Any] = dict.fromkeys(("value", "low", "high", "limit_value", "reference"))
    bare = alert(
        model_version="",
        cause={},
        runbook="",
        firing_since=None,
        metric="health:no_data",
        **nothing,
    )
    assert list(dict(details(bare))) == ["Window", "Labels known by", "Next steps"]
    assert "Next steps" not in dict(details(alert(kind="resolved", reason="good")))
    counted = alert(metric="labeled_positives", value=12.0, low=None, high=None, limit_value=30.0)
    assert list(dict(details(counted)).items())[:2] == [
        ("Confirmed positives", "12"), ("Limit", "30"),
    ]  # fmt: skip


EVIL = [
    "<b>bold</b>",
    "**bold** _it_ `code` ~~gone~~",
    "[text](http://evil.example)",
    "![x](http://evil.example/x.png)",
    "http://evil.example/<script>",
    "# heading",
    "a|b|c",
]


@pytest.mark.parametrize("evil", EVIL)
def test_markdown_shows_the_data_as_it_stands(evil: str) -> None:
    everywhere = alert(
        segment=evil, rule=evil, sentence=evil, cause={"sentence": evil}, model_version=evil
    )
    html = markdown(body([everywhere, everywhere], "markdown"))
    for tag in (
        "<b>",
        "<em>",
        "<code>",
        "<del>",
        "<img",
        "<script",
        "<h1",
        "<table",
        "evil.example'",
    ):
        assert tag not in html
    assert 'href="http://evil' not in html
    assert "**" not in html.replace("**bold**", "")


@pytest.mark.parametrize("evil", EVIL)
def test_html_shows_the_data_as_it_stands(evil: str) -> None:
    html = body([alert(segment=evil, sentence=evil, runbook=f"javascript:{evil}")], "html")
    assert "<b>" not in html
    assert "<script" not in html
    assert "href='javascript" not in html
    assert "href" not in body([alert(runbook="https://x'onload='y")], "html")


def test_names_with_underscores_are_left_alone() -> None:
    assert "my_model_v1" in body([alert(model_version="my_model_v1")], "markdown")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_of_many_some_are_reported_and_all_are_counted(form: Format) -> None:
    text = body([alert(segment=f"country={number}") for number in range(500)], form)
    assert "And 490 more." in text
    assert len(text) < 12_000


# -- groups -----------------------------------------------------------------------------------


def test_a_group_has_one_key_however_it_is_put_together() -> None:
    one, two, other = alert(segment="a"), alert(segment="b"), alert(segment="c")
    assert AlertGroup(alerts=(one, two)).key == AlertGroup(alerts=(two, one)).key
    keys = {
        AlertGroup(alerts=some).key
        for some in ((one, two), (one, other), (one,), (one, two, other))
    }
    assert len(keys) == 4
    later = AlertGroup(
        alerts=(alert(1, segment="a", incident=2), alert(1, segment="b", incident=2))
    )
    assert later.key != AlertGroup(alerts=(one, two)).key
    assert AlertGroup(alerts=(one,)).key == one.key


def test_a_group_is_of_one_monitor() -> None:
    alerts = [alert(monitor="a"), alert(monitor="b"), alert(3, monitor="a")]
    with pytest.raises(ValueError, match="must be of one monitor"):
        AlertGroup(alerts=tuple(alerts))
    with pytest.raises(ValueError, match="must be of one monitor"):
        AlertGroup(alerts=())


def test_a_group_survives_the_outbox() -> None:
    group = AlertGroup(alerts=(alert(), alert(2, segment="country=DE", late=True)))
    assert AlertGroup.from_payload(group.to_payload()) == group
    assert AlertGroup.from_payload(alert().to_payload()).alerts == (alert(),)


@pytest.mark.parametrize(
    "payload",
    [{}, {"alerts": []}, {"alerts": {}}, {"alerts": [{}]}, {"alerts": [{"kind": "fired"}]}],
)
def test_what_is_no_group_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(MessageRefusedError):
        AlertGroup.from_payload(payload)


def test_two_monitors_in_one_payload_are_refused() -> None:
    mixed: list[AlertMessage] = [alert(), alert(monitor="other", window_end=FIRST + DAY)]
    with pytest.raises(MessageRefusedError, match="one monitor"):
        AlertGroup.from_payload({"alerts": [one.to_payload() for one in mixed]})


def test_alerts_of_one_incident_are_lines_below_the_worst():
    worst = alert(rule="recall", segment="", sentence="Recall is low.", cause={"sentence": "Why."})
    key = worst.transition.dedup_key
    other = alert(rule="f1", joined=key, severity="warning", sentence="F1 is low.")
    alone = alert(rule="aul", segment="FR", severity="info", sentence="AUL is low.", cause={})
    text = body([other, alone, worst], "text")
    assert text.count("Why.") == 1
    assert "With it: f1: F1 is low." in text
    assert text.index("Recall is low.") < text.index("F1 is low.") < text.index("AUL is low.")
