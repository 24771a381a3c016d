"""Programs change what pages change, and only those who may."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.callers import Callers
from tests.monitor.dashboard.shop_pages import ShopPages, person

OF_SHOP = "/api/v1/monitors/card-fraud"
CHANGES = {
    f"{OF_SHOP}/acknowledge": {},
    f"{OF_SHOP}/unacknowledge": {},
    f"{OF_SHOP}/silences": {"until": "2027-01-01T00:00:00Z"},
    f"{OF_SHOP}/silences/1/end": {},
    f"{OF_SHOP}/notes": {"text": "new reader"},
    f"{OF_SHOP}/notes/1/withdraw": {},
}
READS = ("/api/v1/monitors", OF_SHOP, "/api/v1/results", "/api/v1/notes", "/api/v1/health")


@pytest.fixture
def served(shop):
    callers = Callers(shop.site, signs_in=True, is_plain_http=True)
    app = make_app(shop.site, is_host=lambda host: host == "localhost", callers=callers)
    app.testing = True
    create = shop.ledger.tokens.create
    session = shop.ledger.tokens.begin_session(create("bob", "admin", by="test")[0])

    def ask(method, address, *, right=None, cookie=False, body=None, **headers):
        client = app.test_client()
        if right:
            headers["Authorization"] = f"Bearer {create(right, right, by='test')[1]}"
        if cookie:
            client.set_cookie(callers.cookie, session)
        data = None if body is None else json.dumps(body)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = headers.pop("Content-Type", None) or ("application/json" if data else None)
        return client.open(address, method=method, data=data, headers=headers, content_type=kind)

    return SimpleNamespace(ask=ask, ledger=shop.ledger)


def changed(served, path, body, **options):
    found = served.ask("POST", OF_SHOP + path, body=body, right="acknowledge", **options)
    assert found.status_code in {200, 201}, found.text
    return json.loads(found.text)


def test_alerts_are_acknowledged_and_no_longer(served):
    (done,) = changed(served, "/acknowledge", {"rule": "too few found", "reason": "ours"})["items"]
    assert done["is_acknowledged"]
    (done,) = changed(served, "/unacknowledge", {})["items"]
    assert not done["is_acknowledged"]
    entries = [one for one in served.ledger.audit() if "acknowledge" in one.action]
    assert [one.action for one in entries] == ["unacknowledge", "acknowledge"]
    assert {one.actor for one in entries} == {"acknowledge (token)"}


def test_a_silence_begins_and_ends(served):
    made = changed(served, "/silences", {"until": "2027-01-01T00:00:00Z", "reason": "moving"})
    assert (made["monitor"], made["author"]) == ("card-fraud", "acknowledge (token)")
    listed = served.ask("GET", "/api/v1/silences", right="read")
    assert [one["id"] for one in json.loads(listed.text)["items"]] == [made["id"]]
    ended = changed(served, f"/silences/{made['id']}/end", {})
    assert ended["ends"] < made["ends"]
    assert json.loads(served.ask("GET", "/api/v1/silences", right="read").text)["items"] == []


def test_a_note_is_kept_and_withdrawn(served):
    made = changed(served, "/notes", {"text": "new reader", "at": "2026-01-02T00:00:00Z"})
    assert (made["text"], made["at"]) == ("new reader", "2026-01-02T00:00:00+00:00")
    (listed,) = json.loads(served.ask("GET", "/api/v1/notes", right="read").text)["items"]
    assert listed == made
    changed(served, f"/notes/{made['id']}/withdraw", {})
    assert json.loads(served.ask("GET", "/api/v1/notes", right="read").text)["items"] == []


@pytest.mark.parametrize("address", CHANGES)
def test_a_change_is_refused_to_whoever_may_not(served, address):
    body = CHANGES[address]
    ask = served.ask
    other = address.replace("card-fraud", "other")
    assert ask("POST", address, body=body).status_code == 401
    assert ask("POST", address, body=body, Authorization="Bearer pum_x").status_code == 401
    assert ask("POST", address, body=body, right="read").status_code == 403
    assert ask("POST", other, body=body, right="admin").status_code == 404
    assert ask("POST", address, body=body, cookie=True).status_code == 403
    for elsewhere in ({"Origin": "https://evil.net"}, {"Sec_Fetch_Site": "cross-site"}):
        assert ask("POST", address, body=body, cookie=True, **elsewhere).status_code == 403
    assert ask("POST", address, body=body, right="admin", Host="evil.net").status_code == 421
    kind = {"Content_Type": "text/plain"}
    assert ask("POST", address, body=body, right="admin", **kind).status_code == 415
    assert ask("POST", address, right="admin").status_code == 415
    assert ask("POST", address, body={"x": 1}, right="admin").status_code == 422
    assert ask("POST", address, body=[], right="admin").status_code == 422
    long = {"reason": "x" * 70_000}
    assert ask("POST", address, body=long, right="admin").status_code == 413
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        refused = ask(method, address, right="admin")
        if refused.status_code != 200:  # a list of the same address
            assert refused.status_code == 405
            assert "POST" in refused.headers["Allow"]
            assert refused.mimetype == "application/problem+json"
    made = [one for one in served.ledger.audit() if one.action != "create token"]
    assert {one.action for one in made} == {"register"}


@pytest.mark.parametrize("address", READS)
def test_a_read_is_refused_to_whoever_has_not_signed_in(served, address):
    refused = served.ask("GET", address)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert refused.mimetype == "application/problem+json"
    assert served.ask("GET", address, right="read").status_code == 200
    assert served.ask("GET", address, cookie=True).status_code == 200
    assert served.ask("GET", address, cookie=True, Host="evil.net").status_code == 421
    assert served.ask("POST", address, right="admin", body={}).status_code == 405


def test_with_a_session_a_page_of_ours_may_change_something(served):
    here = {"Origin": "http://localhost", "Sec_Fetch_Site": "same-origin"}
    found = served.ask("POST", f"{OF_SHOP}/acknowledge", body={}, cookie=True, **here)
    assert found.status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/acknowledge", {"rule": "no such"}, 409, "no rule 'no such'"),
        ("/unacknowledge", {}, 409, "no acknowledged alert"),
        ("/silences", {"until": "2020-01-01T00:00:00Z"}, 409, "later than now"),
        ("/silences", {}, 422, "until: Field required"),
        ("/silences", {"until": "tomorrow"}, 422, "until: must be a time"),
        ("/silences/7/end", {}, 404, "has no silence 7"),
        ("/silences/x/end", {}, 404, "no such number"),
        ("/notes", {"text": ""}, 422, "text:"),
        ("/notes", {"text": "a\x00b"}, 422, "text:"),
        ("/notes", {"text": "x", "at": "2026-01-02T00:00:00Z", "ends": "2026-01-01T00:00:00Z"},
         409, "ends must not be before at"),
        ("/notes/7/withdraw", {}, 404, "has no note 7"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_says_why(served, path, body, status, said):
    found = served.ask("POST", OF_SHOP + path, body=body, right="admin")
    assert (found.status_code, found.mimetype) == (status, "application/problem+json")
    assert said in json.loads(found.text)["detail"]


def test_whoever_sees_a_monitor_and_may_not_change_it_is_told_so(shop):
    pages = ShopPages(shop.ledger, days=0, caller=lambda: person(["card-fraud"]))
    found = pages.client.post(f"{OF_SHOP}/acknowledge", json={})
    assert found.status_code == 403
    assert json.loads(pages.get(OF_SHOP).text)["may_change"] is False


def test_a_token_is_in_no_answer_log_or_message(served, caplog):
    text = served.ledger.tokens.create("canary", "admin", by="test")[1]
    secret = text.rsplit("_", 1)[1]
    for address in (*READS, "/", "/no-such", "/sign-in", f"/api/v1/results?limt={text[:10]}"):
        found = served.ask("GET", address, Authorization=f"Bearer {text}")
        assert secret not in found.text + str(found.headers)
        wrong = served.ask("GET", address, Authorization=f"Bearer {text}x")
        assert secret not in wrong.text + str(wrong.headers)
    assert secret not in caplog.text
