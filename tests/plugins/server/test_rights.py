"""What a caller may see is what the wrapped application shows them, for half a minute."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace

import pytest
from pumonitor_mlflow.server.exchange import Answer, Request
from pumonitor_mlflow.server.rights import Remembered, Seen, asking, asking_to_edit

ALICE = Request(
    method="GET",
    path="/pumonitor/",
    headers=[
        ("authorization", "Basic a"),
        ("host", "h"),
        ("accept", "text/html"),
        ("if-none-match", "x"),
    ],
)

CARD_FRAUD = Seen(experiments=frozenset({("card-fraud", "1")}))


def answer(names, page=None, status=200):
    found = {
        "experiments": [{"name": name, "experiment_id": name[-1]} for name in names],
        "next_page_token": page,
    }
    return Answer(status=status, body=json.dumps(found).encode())


def user(*, is_admin, name="alice"):
    found = {"user": {"is_admin": is_admin, "username": name}}
    return Answer(status=200, body=json.dumps(found).encode())


def finished(steps, *answers):
    """Questions until the end, and what is found then."""
    questions = [next(steps)]
    for one in answers:
        try:
            question = steps.send(one)
        except StopIteration as end:
            return questions, end.value
        questions.append(question)
    pytest.fail("it asks on")


def test_experiments_of_monitors_are_asked_for_as_the_caller():
    [asked, who], seen = finished(
        asking(ALICE, api_prefix="/mlflow", has_accounts=True),
        answer(["pumonitor/card-fraud", "pumonitor/churn"]),
        user(is_admin=False),
    )
    assert seen == Seen(experiments=frozenset({("card-fraud", "d"), ("churn", "n")}), name="alice")
    assert (who.method, who.path) == ("GET", "/mlflow/api/2.0/mlflow/users/current")
    assert ("authorization", "Basic a") in who.headers
    assert asked.method == "POST"
    assert asked.path == "/mlflow/api/2.0/mlflow/experiments/search"
    assert json.loads(asked.body)["filter"] == "name LIKE 'pumonitor/%'"
    assert ("authorization", "Basic a") in asked.headers
    assert ("host", "h") in asked.headers
    assert not {"if-none-match"} & {name for name, _ in asked.headers}


def test_all_pages_of_the_answer_are_asked_for():
    questions, seen = finished(
        asking(ALICE, api_prefix="", has_accounts=True),
        answer(["pumonitor/a"], page="2"),
        answer(["pumonitor/b"]),
        user(is_admin=False),
    )
    assert seen.experiments == {("a", "a"), ("b", "b")}
    assert json.loads(questions[1].body)["page_token"] == "2"  # noqa: S105


@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_refusal_is_passed_on(status):
    refusal = answer([], status=status)
    assert finished(asking(ALICE, api_prefix="", has_accounts=True), refusal)[1] is refusal


@pytest.mark.parametrize("body", [b"<html>sign in</html>", b"[]", b""])
def test_an_answer_that_is_no_list_of_experiments_shows_nothing(body):
    found = Answer(status=200, body=body)
    _, refused = finished(asking(ALICE, api_prefix="", has_accounts=False), found)
    assert refused.status == 502


def test_an_answer_without_end_is_not_followed_for_ever():
    again = [answer(["pumonitor/a"], page="again")] * 100
    questions, seen = finished(asking(ALICE, api_prefix="", has_accounts=False), *again)
    assert len(questions) == 20
    assert seen.experiments == {("a", "a")}


def test_an_administrator_sees_monitors_without_an_experiment():
    steps = asking(ALICE, api_prefix="", has_accounts=True)
    assert finished(steps, answer([]), user(is_admin=True))[1] == Seen(
        everything=True, name="alice"
    )


@pytest.mark.parametrize(
    "who", [Answer(status=404, body=b"Not Found"), Answer(status=200, body=b"{}")]
)
def test_who_is_not_known_to_be_one_does_not(who):
    steps = asking(ALICE, api_prefix="", has_accounts=True)
    assert finished(steps, answer([]), who)[1] == Seen()


def signed(text):
    """Signed in, as browsers do it."""
    return replace(ALICE, headers=[("authorization", f"Basic {b64encode(text).decode()}")])


def test_older_versions_say_whether_a_name_is_that_of_the_caller():
    steps = asking(signed("bob é:x".encode()), api_prefix="", has_accounts=True)
    [_, _, is_it], seen = finished(
        steps, answer([]), Answer(status=404), user(is_admin=True, name="bob é")
    )
    assert (is_it.method, is_it.path) == ("GET", "/api/2.0/mlflow/users/get")
    assert is_it.query == "username=bob+%C3%A9"
    assert seen == Seen(everything=True, name="bob é")


@pytest.mark.parametrize("refusal", [403, 404])
def test_a_name_that_is_not_confirmed_is_nobodys(refusal):
    steps = asking(signed(b"bob:x"), api_prefix="", has_accounts=True)
    assert finished(steps, answer([]), Answer(status=404), Answer(status=refusal))[1] == Seen()


@pytest.mark.parametrize("header", ["Basic !", "Basic /w==", "Bearer bob", "Basic"])
def test_a_header_without_a_name_is_not_asked_about(header):
    one = replace(ALICE, headers=[("authorization", header)])
    steps = asking(one, api_prefix="", has_accounts=True)
    assert finished(steps, answer([]), Answer(status=404))[1] == Seen()


MISSING = b'{"error_code": "INVALID_PARAMETER_VALUE", "message": "required parameter \'new_name\'"}'


@pytest.mark.parametrize(
    ("status", "body", "may"),
    [
        (400, MISSING, True),
        (403, b"Permission denied", False),
        (403, MISSING, False),
        (400, b'{"message": "Invalid workspace"}', False),
        (404, b'{"error_code": "RESOURCE_DOES_NOT_EXIST"}', False),
        (200, b"<html>new_name</html>", False),
        (500, b"", None),
        (503, MISSING, None),
    ],
)
def test_who_may_edit_an_experiment_hears_what_is_missing(status, body, may):
    steps = asking_to_edit(ALICE, "7", api_prefix="/mlflow")
    [asked], found = finished(steps, Answer(status=status, body=body))
    assert found is may
    assert asked.path == "/mlflow/api/2.0/mlflow/experiments/update"
    assert json.loads(asked.body) == {"experiment_id": "7"}
    assert ("authorization", "Basic a") in asked.headers


def test_what_was_found_is_known_of_what_was_asked():
    remembered = Remembered(Clock())
    remembered.put(ALICE, False, "7")
    assert remembered.get(ALICE, "7") is False
    assert remembered.get(ALICE, "8") is None
    assert remembered.get(ALICE) is None


def test_without_accounts_everybody_sees_everything():
    [_], seen = finished(asking(ALICE, api_prefix="", has_accounts=False), answer([]))
    assert seen.everything


def workspaces(*names):
    found = {"workspaces": [{"name": name} for name in names]}
    return Answer(status=200, body=json.dumps(found).encode())


def test_each_workspace_is_asked_for_where_the_request_names_none():
    questions, seen = finished(
        asking(ALICE, api_prefix="", has_accounts=True, has_workspaces=True),
        workspaces("default", "team-a", "team-b"),
        answer(["pumonitor/card-fraud"]),
        answer([], status=403),
        answer(["pumonitor/churn"]),
        user(is_admin=False),
    )
    assert questions[0].path == "/api/3.0/mlflow/workspaces"
    named = [dict(one.headers).get("x-mlflow-workspace") for one in questions]
    assert named == [None, "default", "team-a", "team-b", None]
    assert seen.experiments == {("card-fraud", "d"), ("churn", "n")}
    assert (seen.workspace("d"), seen.workspace("n")) == ("default", "team-b")


def test_a_workspace_that_the_request_names_is_the_only_one():
    there = replace(ALICE, headers=[*ALICE.headers, ("x-mlflow-workspace", "team-a")])
    [asked], seen = finished(
        asking(there, api_prefix="", has_accounts=False, has_workspaces=True),
        answer(["pumonitor/churn"]),
    )
    assert asked.path.endswith("/experiments/search")
    assert seen.workspace("n") is None


@pytest.mark.parametrize("status", [401, 403, 500])
def test_who_is_shown_no_workspace_is_asked_for_as_without(status):
    refusal = answer([], status=status)
    steps = asking(ALICE, api_prefix="", has_accounts=True, has_workspaces=True)
    assert finished(steps, refusal, refusal)[1] is refusal


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def with_header(name, value):
    headers = [one for one in ALICE.headers if one[0] != name]
    return Request(method="GET", path="/", headers=[*headers, (name, value)])


def test_what_was_found_is_known_for_half_a_minute():
    clock = Clock()
    remembered = Remembered(clock)
    assert remembered.get(ALICE) is None
    remembered.put(ALICE, CARD_FRAUD)
    clock.now += 29
    assert remembered.get(ALICE) == CARD_FRAUD
    clock.now += 2
    assert remembered.get(ALICE) is None


@pytest.mark.parametrize(
    "name", ["authorization", "cookie", "host", "x-mlflow-workspace", "x-forwarded-user"]
)
def test_another_caller_workspace_or_host_is_asked_for_again(name):
    remembered = Remembered(Clock())
    remembered.put(ALICE, CARD_FRAUD)
    assert remembered.get(with_header(name, "other")) is None
    assert remembered.get(with_header("accept", "other")) == CARD_FRAUD


@pytest.mark.parametrize("name", ["x-request-id", "traceparent", "priority", "b3"])
def test_what_proxies_add_to_each_request_is_no_other_caller(name):
    remembered = Remembered(Clock())
    remembered.put(with_header(name, "1"), CARD_FRAUD)
    assert remembered.get(with_header(name, "2")) == CARD_FRAUD
    assert remembered.get(ALICE) == CARD_FRAUD


def test_another_machine_is_asked_for_again():
    remembered = Remembered(Clock())
    remembered.put(ALICE, CARD_FRAUD)
    assert remembered.get(replace(ALICE, client=("10.0.0.2", 1))) is None
    assert remembered.get(replace(ALICE, client=("127.0.0.1", 99))) == CARD_FRAUD


def test_no_password_is_kept():
    remembered = Remembered(Clock())
    remembered.put(with_header("authorization", "Basic c2VjcmV0"), Seen())
    assert "c2VjcmV0" not in repr(vars(remembered))
    assert b"c2VjcmV0" not in b"".join(remembered._known)


def test_not_every_caller_is_remembered_for_ever():
    remembered = Remembered(Clock())
    remembered.put(ALICE, CARD_FRAUD)
    for number in range(1000):
        remembered.put(with_header("cookie", str(number)), Seen())
    assert len(remembered._known) == 1000
    assert remembered.get(ALICE) is None
