"""Challengers and promotions on the pages and in the API are those of the commands."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, update

from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.challenging import judged as judging
from pumonitor.monitor.challenging.noted import KnownChallenger, note_found
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.database.schema import challenger_windows, noted_challengers
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.text import interval_text, signed_text
from tests.monitor.challenging.challenged_shop import SETTLED, write_challenged_shop
from tests.monitor.dashboard.challenged_pages import API, GATE, MODELS, PAGE, ChallengedPages
from tests.monitor.dashboard.page_text import table_of, text_of
from tests.monitor.dashboard.shop_pages import person

HOSTILE = "<script>alert('x')</script>\u202e"


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("challenged")
    path = write_challenged_shop(
        folder, models=MODELS, more=GATE, model="model: models:/shop@champion\n    "
    )
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: SETTLED, deliver=False
    ) as jobs:
        jobs.run()
    return folder


@pytest.fixture
def pages(worked: Path, tmp_path: Path) -> Iterator[ChallengedPages]:
    folder = tmp_path / "shop"
    shutil.copytree(worked, folder)
    pages = ChallengedPages(folder)
    yield pages
    pages.ledger.close()


def test_page_api_and_command_have_the_same_numbers(pages):
    told = pages.command("challenge", "shop")["challengers"]
    assert [one["verdict"] for one in told] == ["better", "cannot be judged"]
    assert pages.api("challengers")["challengers"] == told

    page = pages.get(PAGE)
    rows = {row[0].split()[0]: row for row in table_of(page)}
    for one in told:
        row = " ".join(rows[one["challenger"]])
        assert one["verdict"] in row
        assert one["scored_by"] in row
        for condition in one["conditions"]:
            if condition["value"] is not None:
                assert f"{signed_text(condition['value'])}" in row
                assert (
                    f"{interval_text(condition['low'], condition['high'], as_text=signed_text)}"
                    in row
                )
        assert f"{one['labels']:,}" in row
        assert row.split()[-1] == str(len(one["windows"]))
        assert one["reason"][1:] in text_of(page)
    assert "has to be above -0.3" in " ".join(rows["v7"])


def test_what_the_gate_does_not_ask_for_is_shown_as_such(pages):
    pages.configured(gate={"better": "aul"})
    [row] = [row for row in table_of(pages.get(PAGE)) if row[0].startswith("v7")]
    newest = pages.ledger.challengers.differences(_series(pages))[-1].differences["recall"]
    assert f"{signed_text(newest['value'])}" in row[2]
    assert "the gate does not ask for it" in row[2]
    assert "ask" not in row[3]


def _series(pages):
    from pumonitor.monitor.challenging.challengers import ColumnChallenger
    from pumonitor.monitor.challenging.seen import series_of

    return series_of(pages.monitor, ColumnChallenger(name="v7", column="score_v7"))


def test_charts_draw_what_each_window_left(pages):
    stored = pages.ledger.challengers.differences(_series(pages))
    page = pages.get(PAGE).text
    for metric in ("recall", "aul"):
        [svg] = re.findall(rf'<svg[^>]*aria-labelledby="{metric}-of-v7-title".*?</svg>', page, re.S)
        assert svg.count("<circle") == len(stored) > 3
        assert "v7 less the deployed model" in svg
    numbers = text_of(pages.get(PAGE))
    for one in stored:
        of = one.differences["aul"]
        ends = interval_text(of["low"], of["high"], as_text=signed_text)
        assert f"{signed_text(of['value'])} {ends}" in numbers
    assert "aul-of-gone" not in page


def test_a_window_that_could_not_be_scored_is_a_gap_with_its_reason(pages):
    second = sorted(one.start for one in pages.ledger.challengers.windows(_series(pages)))[1]
    before = pages.get(PAGE).text.count("<circle")
    with pages.ledger.database.writing() as connection:
        connection.execute(
            update(challenger_windows)
            .where(
                challenger_windows.c.window_start == second,
                challenger_windows.c.challenger == "v7",
            )
            .values(found=None, labels=None, differences=None, error=f"no such file {HOSTILE}")
        )
    page = pages.get(PAGE)
    assert page.text.count("<circle") == before - 2
    said = text_of(page)
    assert "1 window, 2026-01-02: no such file" in said
    assert "could not be scored" in said
    assert "8 windows, 2026-01-01 to 2026-01-08: predictions" in said
    assert "no column &#39;score_v9&#39;" in page.text
    assert "<script>alert" not in page.text
    assert "\u202e" not in page.text
    assert "pumonitor challenge shop" in said


@pytest.fixture
def no_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("a page has asked the registry")

    monkeypatch.setattr(judging, "challengers_of", refuse)
    monkeypatch.setattr("mlflow.MlflowClient.__init__", refuse)
    monkeypatch.setattr("requests.Session.request", refuse)


def test_pages_tell_of_the_registry_what_was_noted(pages, no_registry):
    said = text_of(pages.get(PAGE))
    assert "not found challenger next is models:/shop@challenger, and the configuration" in said
    assert pages.api("challengers")["failures"] == [
        "challenger next: challenger next is models:/shop@challenger, and the configuration has "
        "no tracking: uri to find it"
    ]

    eight = KnownChallenger(name="next", scored_by="models:/shop/8", trained_until=SETTLED)
    v7 = KnownChallenger(name="v7", scored_by="column score_v7", trained_until=None)
    gone = replace(v7, name="gone", scored_by="column score_v9")
    note_found(pages.ledger, pages.monitor, {"v7": v7, "gone": gone, "next": eight})
    said = text_of(pages.get(PAGE))
    assert "models:/shop@challenger leads to models:/shop/8, as the last round found it" in said
    until = f"No window is mature and scored yet that began after {SETTLED:%Y-%m-%d %H:%M} UTC"
    assert until in said
    [found] = [one for one in pages.api("challengers")["challengers"] if one["labels"] == 0][1:]
    assert found["scored_by"] == "models:/shop/8"

    problem = InputError(f"no route to {HOSTILE}")
    note_found(pages.ledger, pages.monitor, {"v7": v7, "gone": gone, "next": problem})
    page = pages.get(PAGE)
    assert "no route to &lt;script&gt;" in page.text
    assert "Shown is what was known before." in text_of(page)
    assert pages.api("challengers")["failures"][0].startswith("challenger next: no route to")


def test_a_challenger_that_is_deployed_is_said_to_be(pages, no_registry):
    deployed = judging.AlreadyDeployedError("challenger next is models:/shop/8, which is deployed")
    note_found(pages.ledger, pages.monitor, {"next": deployed})
    [row] = [row for row in table_of(pages.get(PAGE)) if row[0].startswith("next")]
    assert row[1:] == ["deployed", str(deployed)]


def test_labels_that_a_model_chose_come_with_the_remedy(tmp_path):
    path = write_challenged_shop(tmp_path, reviewed=True, more="gate: {capacity: 10%}")
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: SETTLED, deliver=False
    ) as jobs:
        jobs.run()
    pages = ChallengedPages(tmp_path)
    page = pages.get(PAGE)
    said = text_of(page)
    assert [row[1] for row in table_of(page)] == ["cannot be judged"]
    assert "pumonitor audit draw MONITOR --between champion CHALLENGER" in said
    assert "What is drawn here is no evidence" in said
    assert "No challenger is surely better than the deployed model" in said
    pages.ledger.close()


def test_promotions_are_those_of_the_command(pages):
    assert "Nothing was promoted yet" in text_of(pages.get(PAGE))
    assert pages.api("promotions") == {"items": [], "next": None}
    first = pages.promoted()
    pages.promoted(
        action="undo", from_version="8", to_version="7", actor="ben", evidence=None, undoes=first.id
    )
    pages.promoted(state="refused", reason=f"moved by {HOSTILE}", actor=HOSTILE)
    pages.promoted(state="begun", from_version=None, to_version="9", actor="cyd")

    told = pages.command("promote", "shop", "--history")
    assert pages.api("promotions", limit=100)["items"] == told
    items, cursor = [], None
    for _ in told:
        answer = pages.api("promotions", limit=1, **({"cursor": cursor} if cursor else {}))
        items += answer["items"]
        cursor = answer["next"]
    assert (items, cursor) == (told, None)

    page = pages.get(PAGE)
    lines = [
        html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", one)))
        for one in re.findall(r"<li class=.*?</li>", page.text.split('id="promotions"')[1], re.S)
    ]
    assert "cyd promoted from no version to version 9 as champion of shop under way" in lines[0]
    assert "refused" in lines[1]
    assert "ben went back from version 8 to version 7 as champion of shop done" in lines[2]
    assert f"Undoes number {first.id}" in lines[2]
    assert "ana promoted from version 7 to version 8" in lines[3]
    assert "Undone by ben on" in lines[3]
    assert "Recall +0.0312 (+0.0120 to +0.0500), 412 labels, 12 windows" in lines[3]
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "Version 7 of model shop became champion on" in text_of(page)


def test_windows_beside_a_version_that_is_deployed_no_more_are_not_drawn(pages):
    assert "<svg" in pages.get(PAGE).text
    pages.promoted()
    page = pages.get(PAGE)
    assert "<svg" not in page.text
    assert "when another version was deployed" in text_of(page)
    assert [row[-1] for row in table_of(page)[:2]] == ["0", "0"]


def test_old_promotions_are_left_to_the_command(pages):
    for number in range(101):
        pages.promoted(from_version=str(number), to_version=str(number + 1))
    page = pages.get(PAGE)
    assert page.text.count("promoted from") == 100
    assert "Older ones: pumonitor promote shop --history" in text_of(page)


def test_who_is_better_is_said_where_people_look_first(pages):
    line = "v7 is surely better"
    why = "Challenger v7 is a column of the predictions and not a version in the registry"
    assert line in text_of(pages.get("/"))
    said = text_of(pages.get("/monitors/shop"))
    assert line in said
    assert why in said
    assert f'href="{PAGE}"' in pages.get("/monitors/shop").text
    assert f'href="{PAGE}"' in pages.get("/").text
    [one] = pages.get("/api/v1/monitors").json["items"]
    assert one["better_challengers"] == ["v7"]

    # Of another gate nobody has said anything yet, and beside another version neither.
    pages.configured(gate={"better": "recall"})
    assert line not in text_of(pages.get("/"))
    assert line not in text_of(pages.get("/monitors/shop"))
    pages.monitors["shop"] = pages.monitor
    assert line in text_of(pages.get("/"))
    pages.promoted()
    assert line not in text_of(pages.get("/"))
    assert pages.get("/api/v1/monitors/shop").json["better_challengers"] == []


@pytest.mark.parametrize(
    ("models", "promote", "said"),
    [
        (["models:/shop@challenger"], "by hand", ": pumonitor promote shop"),
        (
            {"challenger": "models:/shop@challenger", "v7": "score_v7"},
            "by hand",
            ": pumonitor promote shop --challenger challenger",
        ),
        (
            ["models:/shop@challenger"],
            "automatic",
            ": the next round does it, or pumonitor promote shop",
        ),
    ],
)
def test_the_line_has_the_command_that_promotes(pages, models, promote, said):
    pages.configured(models=models)
    # Nobody can configure it while promotion by rounds is off.
    settings = pages.monitors["shop"].challengers.model_copy(update={"promote": promote})
    pages.monitors["shop"] = pages.monitors["shop"].model_copy(update={"challengers": settings})
    challenger = KnownChallenger(name="challenger", scored_by="models:/shop/8", trained_until=None)
    note_found(pages.ledger, pages.monitors["shop"], {"challenger": challenger})
    from pumonitor.monitor.challenging.noted import gate_hash

    gate = gate_hash(pages.monitors["shop"])
    pages.ledger.noted_challengers.note_verdicts(
        "shop", {"challenger": "better"}, gate=gate, evidence="e"
    )
    line = f"challenger is surely better than the deployed model {said}".replace(" :", ":")
    page = text_of(pages.get("/monitors/shop")).replace(" :", ":")
    assert re.search(re.escape(line) + r" (?!-)", page)


def test_without_challengers_nothing_leads_to_them(pages):
    assert PAGE in pages.get("/monitors/shop").text
    pages.configured()
    assert PAGE not in pages.get("/monitors/shop").text
    assert "surely better" not in pages.get("/").text
    said = text_of(pages.get(PAGE))
    assert "shop has no challengers: add the section challengers" in said
    assert pages.api("challengers") == {"monitor": "shop", "challengers": [], "failures": []}


def test_before_the_first_round_it_says_what_it_waits_for(pages, tmp_path):
    pages.ledger.close()
    pages.ledger = Ledger.open(f"sqlite:///{tmp_path / 'new.db'}")
    said = text_of(pages.get(PAGE))
    assert "No window is mature and scored yet." in said
    assert "only the registry knows, and no round has asked it yet" in said
    assert "<svg" not in pages.get(PAGE).text


@pytest.mark.parametrize("of", ["challengers", "promotions"])
def test_who_may_not_see_a_monitor_sees_neither(pages, of):
    pages.caller = person
    hidden = pages.get(f"{API}/{of}")
    assert (hidden.status_code, "shop" in hidden.text) == (404, False)
    assert pages.get(PAGE).status_code == 404
    pages.caller = lambda: person(["shop"])
    assert pages.get(f"{API}/{of}").status_code == 200
    assert pages.get(PAGE).status_code == 200
    # Nothing is changed here, whoever asks.
    assert pages.get(f"{API}/{of}").request.method == "GET"
    document = pages.get("/api/v1/openapi.json").json["paths"][f"/monitors/{{monitor}}/{of}"]
    assert set(document) == {"get"}


def test_what_was_judged_is_kept_until_something_is_written(pages, monkeypatch):
    asked = []
    judged = judging.judged
    monkeypatch.setattr(judging, "judged", lambda *of: asked.append(of) or judged(*of))
    site = Site(monitors=pages.monitors, ledger=pages.ledger, clock=lambda: SETTLED)
    client = pages.client_of(site)
    for address in (PAGE, PAGE, f"{API}/challengers"):
        assert client.get(address).status_code == 200
    assert len(asked) == 1
    pages.promoted(state="refused")
    client.get(PAGE)
    assert len(asked) == 2


def test_the_overview_asks_once_for_all_monitors(pages):
    """And not the gate."""
    statements = []
    event.listen(
        pages.ledger.database.engine,
        "before_cursor_execute",
        lambda *told: statements.append(told[2]),
    )
    pages.get("/")
    one = len(statements)
    assert sum(noted_challengers.name in of for of in statements) == 1
    assert not any(challenger_windows.name in of for of in statements)
    for name in ("another", "third"):
        pages.monitors[name] = pages.monitor.model_copy()
        pages.monitors[name]._name = name
    statements.clear()
    pages.get("/")
    assert len(statements) == one
