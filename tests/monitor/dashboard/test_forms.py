"""Who may change what, and which forms are taken: those of our own pages, from the same browser."""

from __future__ import annotations

import hmac
import html
import re
from datetime import timedelta

import pytest

from pumonitor.monitor.dashboard import forms
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note
from tests.monitor.alerted_ledger import DAY, FIRST
from tests.monitor.dashboard.shop_pages import HOSTILE, ShopPages, person

HERE = {"Origin": "http://localhost"}
NAME = "card-fraud"
COOKIE = "pumonitor_forms"
SESSION = "a" * 43
CHANGES = {
    "acknowledge": {"incident": "1"},
    "unacknowledge": {"incident": "1"},
    "silences": {"until": "2d", "reason": "why"},
    "silences/1/end": {},
    "notes": {"text": "new reader", "incident": "1"},
    "notes/1/withdraw": {},
}


def alert_of(shop):
    [found] = shop.ledger.alerts.current(firing=True)
    return found


def address_of(shop):
    return f"/monitors/{NAME}/alerts/{alert_of(shop).rule_key}?version=2"


def about(shop):
    """What the forms of the alert that fires say of it, without the token."""
    alert = alert_of(shop)
    return {"rule": alert.rule_key, "version": alert.model_version, "segment": alert.segment}


def token_of(shop):
    page = shop.get(address_of(shop)).text
    return re.search(r'name="form_token" value="(\w+)"', page)[1]


def made_token(shop, *, session=None, name="alice"):
    """The token that a page would have for the browser with this cookie."""
    session = SESSION if session is None else session
    shop.client.set_cookie(COOKIE, session)
    key = shop.ledger.secret_keys.get("forms of pages")
    return hmac.new(key, f"form\n{session}\n{name}".encode(), "sha256").hexdigest()


def send(shop, what, *, headers=HERE, token=None, **also):
    data = {**about(shop), **CHANGES.get(what, {}), **also}
    if token != "":
        data["form_token"] = token_of(shop) if token is None else token
    return shop.client.post(f"/monitors/{NAME}/{what}", data=data, headers=headers)


def audit(shop):
    return [(one.actor, one.action) for one in shop.ledger.audit() if one.actor != "pumonitor"]


@pytest.fixture
def alices(shop):
    return alice_pages(shop)


def alice_pages(shop):
    """The pages for Alice, who may see and change the monitor."""
    return ShopPages(shop.ledger, days=0, caller=lambda: person([NAME], [NAME])).at(shop.now)


def said_after(shop, answer):
    assert answer.status_code == 303, answer.text
    return html.unescape(re.search(r'role="status">([^<]*)', shop.get(answer.location).text)[1])


WINDOW = f"/monitors/{NAME}/windows/2026-01-06T00:00:00Z"


def fields_of(page, action):
    """What the form with this action sends, as a browser reads it."""
    of_form = page.split(f'action="{action}"')[1].split("</form>")[0]
    return {
        name: html.unescape(value)
        for name, value in re.findall(r'<input [^>]*?name="(\w+)"[^>]*? value="([^"]*)"', of_form)
    }


def test_a_note_on_a_window_is_written_shown_and_withdrawn_there(alices):
    place = f"{WINDOW}?version=2&revision=1"
    fields = fields_of(alices.get(place).text, f"/monitors/{NAME}/notes")
    assert fields["at"] == "2026-01-06T00:00:00+00:00"
    answer = alices.client.post(
        f"/monitors/{NAME}/notes", data={**fields, "text": "a sale"}, headers=HERE
    )
    assert answer.location.startswith(f"{place}&done=")
    assert said_after(alices, answer) == "The note is kept."
    [note] = alices.ledger.notes.all(NAME)
    assert (note.author, note.text, note.alert) == ("alice", "a sale", None)
    assert "<b>alice</b>: a sale" in alices.get(place).text
    assert "a sale" not in alices.get(WINDOW.replace("-06T", "-05T")).text
    assert "a sale" in alices.get(f"/monitors/{NAME}").text
    withdraw = f"/monitors/{NAME}/notes/{note.id}/withdraw"
    fields = fields_of(alices.get(place).text, withdraw)
    answer = alices.client.post(withdraw, data=fields, headers=HERE)
    assert answer.location.startswith(f"{place}&done=")
    assert said_after(alices, answer) == "The note is withdrawn."
    assert "a sale" not in alices.get(place).text
    assert audit(alices) == [("alice", "withdraw note"), ("alice", "note")]


def test_a_note_on_a_window_of_a_hostile_segment_leads_back_to_it(alices):
    page = alices.client.get(WINDOW, query_string={"version": "2", "segment": HOSTILE})
    fields = fields_of(page.text, f"/monitors/{NAME}/notes")
    answer = alices.client.post(
        f"/monitors/{NAME}/notes", data={**fields, "text": "a sale"}, headers=HERE
    )
    assert answer.status_code == 303
    again = alices.get(answer.location).text
    assert fields_of(again, f"/monitors/{NAME}/notes")["segment"] == fields["segment"] != ""


def test_a_note_on_a_window_needs_our_form_and_the_right_to_change(shop):
    readers = ShopPages(shop.ledger, days=0, caller=lambda: person([NAME])).at(shop.now)
    assert 'method="post"' not in readers.get(WINDOW).text
    data = {"text": "x", "window": "2026-01-06T00:00:00Z", "form_token": made_token(readers)}
    assert (
        send(alice_pages(shop), "notes", token="f" * 64, **data | {"rule": ""}).status_code == 403
    )
    assert (
        readers.client.post(f"/monitors/{NAME}/notes", data=data, headers=HERE).status_code == 403
    )
    assert shop.ledger.notes.all(NAME) == ()


def test_who_looks_after_an_alert_is_kept_shown_and_taken_back(alices):
    said = said_after(alices, send(alices, "acknowledge", reason="on it"))
    assert said == "Acknowledged: no more reminders are sent for this incident."
    assert alert_of(alices).acknowledged_incident == 1
    page = alices.get(address_of(alices)).text
    assert "<b>alice</b> acknowledged it: on it" in page
    assert "What to do" in page
    assert "<li><b>Look at what changed when it began.</b>" in page
    assert "Take the acknowledgement back" in page
    assert "No longer" in said_after(alices, send(alices, "unacknowledge"))
    assert alert_of(alices).acknowledged_incident == 0
    assert audit(alices) == [("alice", "unacknowledge"), ("alice", "acknowledge")]


def test_a_silence_begins_and_ends(alices):
    assert said_after(alices, send(alices, "silences")).startswith("Silenced")
    [silence] = alices.ledger.alerts.silences(at=alices.now)
    assert (silence.author, silence.reason, silence.monitor) == ("alice", "why", NAME)
    assert silence.model_version == "2"
    assert silence.ends == alices.now + timedelta(days=2)
    assert "Silence 1 of this rule until" in alices.get(address_of(alices)).text
    assert said_after(alices, send(alices, "silences/1/end")) == "The silence has ended."
    assert alices.ledger.alerts.silences(at=alices.now) == ()
    assert audit(alices) == [("alice", "unsilence"), ("alice", "silence")]


def test_a_rule_is_silenced_in_all_series(alices):
    send(alices, "silences", whole_rule="on")
    [silence] = alices.ledger.alerts.silences(at=alices.now)
    assert (silence.model_version, silence.segment) == (None, None)


def test_a_note_is_kept_and_withdrawn(alices):
    assert said_after(alices, send(alices, "notes", at="2026-01-06")) == "The note is kept."
    [note] = alices.ledger.notes.all(NAME)
    assert (note.author, note.text, note.alert.incident) == ("alice", "new reader", 1)
    assert note.at.isoformat() == "2026-01-06T00:00:00+00:00"
    assert "<b>alice</b> noted: new reader" in alices.get(address_of(alices)).text
    assert said_after(alices, send(alices, "notes/1/withdraw")) == "The note is withdrawn."
    assert "new reader" not in alices.get(address_of(alices)).text
    assert audit(alices) == [("alice", "withdraw note"), ("alice", "note")]


def pages_of(shop, caller):
    return ShopPages(shop.ledger, days=0, caller=lambda: caller).at(shop.now)


@pytest.mark.parametrize("what", CHANGES)
def test_for_others_the_monitor_does_not_exist(shop, what):
    pages = pages_of(shop, person(["other"], [NAME, "other"]))
    pages.monitors["other"] = pages.monitors[NAME]
    data = CHANGES[what] | about(shop) | {"form_token": made_token(pages)}
    answers = [
        pages.client.post(f"/monitors/{name}/{what}", data=data, headers=HERE)
        for name in (NAME, "no-such")
    ]
    assert [one.status_code for one in answers] == [404, 404]
    assert answers[0].data == answers[1].data
    assert audit(shop) == []


@pytest.mark.parametrize("what", CHANGES)
def test_who_may_see_it_may_not_change_it(shop, what):
    pages = pages_of(shop, person([NAME]))
    answer = send(pages, what, token=made_token(pages))
    assert answer.status_code == 403
    assert "You may see card-fraud, but not change it." in answer.text
    assert audit(shop) == []
    page = pages.get(address_of(pages)).text
    assert "<form" not in page
    assert "You may see this monitor, but not change it." in page


@pytest.mark.parametrize("what", CHANGES)
def test_no_form_is_taken_without_its_token_or_from_elsewhere(alices, what):
    token, there = made_token(alices), {"Origin": "http://evil.example"}
    for headers, sent in ((HERE, ""), (HERE, "0" * 64), (there, token), ({}, token)):
        assert send(alices, what, headers=headers, token=sent).status_code == 403
    assert audit(alices) == []


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        (HERE, "é\x00"),
        ({"Origin": "http://localhost.evil.example"}, None),
        ({"Origin": "http://localhost:81"}, None),
        ({"Origin": "null"}, None),
        ({"Origin": "file://localhost"}, None),
        ({"Origin": "http://["}, None),
        (HERE | {"Sec-Fetch-Site": "cross-site"}, None),
        (HERE | {"Sec-Fetch-Site": "same-site"}, None),
    ],
)
def test_a_form_of_another_page_is_refused(alices, headers, token):
    sent = made_token(alices) if token is None else token
    answer = send(alices, "notes", headers=headers, token=sent)
    assert answer.status_code == 403
    assert audit(alices) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://localhost"},
        {"Origin": "http://LOCALHOST", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://pages.example", "X-Forwarded-Host": "pages.example"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_form_of_our_own_page_is_taken(alices, headers):
    assert send(alices, "notes", headers=headers).status_code == 303


def test_a_token_of_another_browser_or_person_is_refused(alices):
    token = token_of(alices)
    alices.client.set_cookie(COOKIE, "b" * 43)
    assert send(alices, "notes", token=token).status_code == 403
    alices.client.delete_cookie(COOKIE)
    assert send(alices, "notes", token=token).status_code == 403
    alices.client.set_cookie(COOKIE, SESSION)
    bobs = made_token(alices, name="bob")
    assert send(alices, "notes", token=bobs).status_code == 403
    assert audit(alices) == []


def test_a_cookie_that_is_not_ours_makes_no_token(alices):
    alices.client.set_cookie(COOKIE, "short")
    assert send(alices, "notes", token=made_token(alices, session="short")).status_code == 403


def test_another_process_takes_the_same_token(alices):
    token = token_of(alices)
    other = pages_of(alices, person([NAME], [NAME]))
    other.client = alices.client.__class__(other.client.application)
    other.client._cookies = alices.client._cookies
    assert send(other, "notes", token=token).status_code == 303


def test_tokens_are_compared_in_constant_time(alices, monkeypatch):
    asked = []
    monkeypatch.setattr(forms.hmac, "compare_digest", lambda *both: asked.append(both) or False)
    token = token_of(alices)
    assert send(alices, "notes", token=token).status_code == 403
    assert asked == [(token.encode(), token.encode())]


def test_the_cookie_is_for_these_pages_alone(shop):
    [cookie] = shop.get(address_of(shop)).headers.getlist("Set-Cookie")
    assert re.fullmatch(r"pumonitor_forms=[\w-]{43}; HttpOnly; Path=/; SameSite=Strict", cookie)
    assert shop.get(address_of(shop)).headers.getlist("Set-Cookie") == []
    for also in ({"base_url": "https://localhost"}, {"headers": {"X-Forwarded-Proto": "https"}}):
        shop.client.delete_cookie(COOKIE)
        [cookie] = shop.get(address_of(shop), **also).headers.getlist("Set-Cookie")
        assert "; Secure;" in cookie


@pytest.mark.parametrize("what", CHANGES)
def test_only_a_form_changes_something(alices, what):
    for method in ("get", "head", "put", "delete", "patch", "options"):
        answer = getattr(alices.client, method)(f"/monitors/{NAME}/{what}")
        assert answer.status_code == 405


@pytest.mark.parametrize("what", CHANGES)
def test_another_host_is_refused(alices, what):
    headers = HERE | {"Host": "evil.example"}
    assert send(alices, what, headers=headers, token=made_token(alices)).status_code == 421
    assert audit(alices) == []


def test_no_link_from_elsewhere_says_that_something_is_done(alices):
    made_token(alices)
    page = alices.get(f"/monitors/{NAME}?done=silenced.{'0' * 64}").text
    assert 'role="status"' not in page
    assert 'role="status"' not in alices.get(f"/monitors/{NAME}?done=silenced").text


@pytest.mark.parametrize(
    ("what", "also", "said"),
    [
        ("notes", {"text": " "}, "the note must have a text"),
        ("notes", {"text": "x" * 2001}, "at most 2,000 characters, got 2,001"),
        ("notes", {"text": "a\x00b"}, "the note must not have control characters"),
        ("notes", {"at": "soon"}, "at must be a time such as 2026-03-01"),
        ("notes", {"at": "2026-01-02", "ends": "2026-01-01"}, "must not be before its beginning"),
        ("notes", {"incident": "x"}, "incident must be a whole number, got 'x'"),
        ("silences", {"until": "soon"}, "until takes a duration such as 2d or 6h"),
        ("silences", {"until": "2020-01-01"}, "until must be later than now"),
        ("silences", {"until": "9999999d"}, "until is too far away"),
        ("silences", {"rule": "no such"}, "card-fraud has no rule 'no such'"),
        ("acknowledge", {"incident": "2"}, "no firing alert of card-fraud matches"),
        ("unacknowledge", {}, "no acknowledged alert of card-fraud matches"),
        ("silences/1/end", {}, "silence 1 does not exist or has ended"),
        ("notes/1/withdraw", {}, "note 1 does not exist or was withdrawn"),
    ],
)
def test_what_cannot_be_done_says_why(alices, what, also, said):
    answer = send(alices, what, **also)
    assert answer.status_code == 400
    assert said in html.unescape(answer.text)
    assert "This cannot be done" in answer.text
    assert audit(alices) == []


def test_silences_and_notes_of_other_monitors_are_out_of_reach(alices):
    ledger = alices.ledger
    number = ledger.by_people.silence(
        Silence(starts=alices.now, ends=alices.now + DAY, monitor="hidden", author="bob")
    )
    note = ledger.notes.add(Note(monitor="hidden", at=FIRST, text="x", author="bob"))
    for what in (f"silences/{number}/end", f"notes/{note.id}/withdraw"):
        assert send(alices, what).status_code == 400
    assert ledger.notes.all("hidden") == (note,)
    assert len(ledger.alerts.silences(at=alices.now)) == 1


def test_a_long_form_is_refused(alices):
    assert send(alices, "notes", text="x" * 70_000).status_code == 413


def test_what_people_write_is_harmless(alices, caplog):
    text = HOSTILE.replace("\x00", "").replace("\n", "\r\nsecond")
    send(alices, "notes", text=text)
    send(alices, "silences", reason=text)
    send(alices, "acknowledge", reason=text)
    page = alices.get(address_of(alices)).text
    assert "<script" not in page
    assert "\u202e" not in page
    assert page.count("&lt;script&gt;") == 3
    assert page.count("<br>second") == 3
    assert caplog.text == ""


def test_an_alert_that_is_not_there_has_no_page(shop):
    key = alert_of(shop).rule_key
    assert shop.get(f"/monitors/{NAME}/alerts/{key}?version=9").status_code == 404
    assert shop.get(f"/monitors/{NAME}/alerts/x").status_code == 404
    assert shop.get(f"/monitors/other/alerts/{key}?version=2").status_code == 404
