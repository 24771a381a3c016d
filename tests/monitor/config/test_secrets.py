"""Secrets: refused in the file, hidden wherever something goes wrong."""

import logging
import re

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.masks import Mask
from pumonitor.monitor.config.file import configuration_hash, read_configuration_text
from pumonitor.monitor.config.values.variables import Secret

CANARY = "kanarienvogel"
SECRETS = {
    "STATE_PASSWORD": f"{CANARY}-1",
    "TRACKING_PASSWORD": f"{CANARY}-2",
    "PAGER_TOKEN": f"{CANARY}-3",
    "HOOK_PATH": f"{CANARY}-4",
    "HOOK_SECRET": f"{CANARY}-5",
    "ALERTMANAGER_PASSWORD": f"{CANARY}%2F6",
    "WAREHOUSE_URL": f"postgresql+psycopg://me:{CANARY}-7@127.0.0.1:1/scores",
    "LAKE_TOKEN": f"{CANARY}-8",
}
TEXT = """\
state: postgresql+psycopg://me:${STATE_PASSWORD}@127.0.0.1:1/state
tracking: {uri: "http://me:${TRACKING_PASSWORD}@127.0.0.1:1"}
destinations:
  chat: {apprise: "ntfys://${PAGER_TOKEN}@ntfy.invalid/alerts"}
  hook: {webhook: "https://hook.invalid/${HOOK_PATH}", secret: ${HOOK_SECRET}}
  am: {alertmanager: "http://me:${ALERTMANAGER_PASSWORD}@am.invalid:9093"}
monitors:
  fraud:
    predictions:
      source: {url: ${WAREHOUSE_URL}, table: scores}
      id: id
      time: time
      score: score
    positives:
      source: https://lake.invalid/c.parquet?token=${LAKE_TOKEN}
      id: id
      known_at: known
    window: 1d
    maturity: 30d
    threshold: 0.5
"""


def check(text, tmp_path, *arguments, **environment):
    (tmp_path / "pumonitor.yaml").write_text(text, encoding="utf-8")
    runner = CliRunner(env={**SECRETS, "COLUMNS": "250", "TERM": "dumb", **environment})
    return runner.invoke(app, ["check", "--config", str(tmp_path / "pumonitor.yaml"), *arguments])


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_nothing_that_fails_to_connect_shows_a_secret(tmp_path, caplog, arguments):
    caplog.set_level(logging.DEBUG)
    done = check(TEXT, tmp_path, *arguments)
    assert done.exit_code == 3, done.output
    shown = done.stdout + done.stderr + caplog.text
    assert CANARY not in shown
    for part in ("state", "tracking", "destinations.hook", "destinations.am", "monitors.fraud"):
        assert part.split(".")[-1] in done.stdout
    assert "127.0.0.1" in done.stdout


# Not names of tables and columns, which messages have to tell.
KEYS = (
    "state", "tracking", "uri", "apprise", "webhook", "alertmanager", "monitors", "predictions",
    "url", "window", "maturity", "threshold", "zone", "schedule", "class_prior", "label_purity",
    "scenario", "score_scale", "model", "panes", "reference", "rules", "typo",
)  # fmt: skip


@pytest.mark.parametrize("template", ["{}", "'5 {}'", "[{}, 1]", "{{start: {}}}", "{{x: {}"])
@pytest.mark.parametrize("key", KEYS)
def test_a_secret_in_the_wrong_place_is_not_repeated(key, template):
    """Every key of the file in turn holds a variable that does not belong there."""
    value = template.format("${HOOK_SECRET}")
    edited, count = re.subn(rf"(?m)^( *){key}:.*$", rf"\1{key}: {value}", TEXT, count=1)
    text = edited if count else f"{TEXT}    {key}: {value}\n"
    try:
        shown = repr(read_configuration_text(text, environment=SECRETS))
    except InputError as error:
        shown = str(error)
    assert CANARY not in shown


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("${STATE_PASSWORD}", CANARY, "state, line 1: contains a password"),
        ("${TRACKING_PASSWORD}", CANARY, "tracking.uri, line 2: contains a password"),
        ("${HOOK_SECRET}", CANARY, "destinations.hook.secret, line 5: is a secret in plain text"),
        ("${ALERTMANAGER_PASSWORD}", CANARY, "am.alertmanager, line 6: contains a password"),
        ("${WAREHOUSE_URL}", f"'pg://me:{CANARY}@h/d'", "source.url, line 10: contains a password"),
        ("${LAKE_TOKEN}", CANARY, "positives.source, line 15: contains a secret (token=...)"),
    ],
)  # fmt: skip
def test_a_secret_in_the_file_is_refused_with_the_remedy(old, new, message):
    with pytest.raises(InputError) as caught:
        read_configuration_text(TEXT.replace(old, new), environment=SECRETS)
    assert message in str(caught.value)
    assert "environment" in str(caught.value)
    assert CANARY not in str(caught.value)


def test_an_apprise_address_in_the_file_is_a_warning():
    text = TEXT.replace("${PAGER_TOKEN}", CANARY)
    (warning,) = read_configuration_text(text, environment=SECRETS).warnings
    assert "destinations.chat.apprise, line 4: is in plain text" in warning
    assert CANARY not in warning


def test_a_port_is_no_password():
    text = TEXT.replace("http://me:${ALERTMANAGER_PASSWORD}@am.invalid:9093", "http://h:9093/@x")
    assert read_configuration_text(text, environment=SECRETS).warnings == ()


@pytest.mark.parametrize("name", SECRETS)
def test_a_missing_variable_is_named(name):
    environment = {key: value for key, value in SECRETS.items() if key != name}
    with pytest.raises(
        InputError, match=f"needs the environment variable {name}, which is not set"
    ):
        read_configuration_text(TEXT, environment=environment)
    with pytest.raises(InputError, match=f"{name}, which is empty"):
        read_configuration_text(TEXT, environment={**environment, name: ""})
    file = {**environment, f"{name}_FILE": "/nowhere/at/all"}
    with pytest.raises(InputError, match=f"file of {name}_FILE, which cannot be read"):
        read_configuration_text(TEXT, environment=file)


def test_what_is_no_variable_is_refused():
    with pytest.raises(InputError, match="without the name of a variable"):
        read_configuration_text(
            TEXT.replace("${HOOK_SECRET}", "${HOOK-SECRET}"), environment=SECRETS
        )


def test_the_mask_hides_secrets_however_a_driver_writes_them():
    mask = read_configuration_text(TEXT, environment=SECRETS).configuration.mask
    for secret in SECRETS.values():
        assert CANARY not in mask(f"failed: {secret}!")
    assert CANARY not in mask(f"the driver decodes to {CANARY}/6")
    assert mask("hook.invalid and am.invalid are hosts") == "hook.invalid and am.invalid are hosts"
    assert CANARY not in repr(mask)
    assert Mask([])("as it is") == "as it is"


def test_a_secret_is_read_when_it_is_used():
    """So a secret that was exchanged is used at once, and none lies in the configuration."""
    environment = dict(SECRETS)
    found = read_configuration_text(TEXT, environment=environment).configuration
    environment["HOOK_PATH"] = "another-one"
    assert found.destinations["hook"].address == "https://hook.invalid/another-one"
    assert "another-one" not in found.mask("https://hook.invalid/another-one is down")
    del environment["HOOK_PATH"]
    with pytest.raises(InputError) as caught:
        found.destinations["hook"].address  # noqa: B018
    assert str(caught.value).startswith(
        "pumonitor.yaml: destinations.hook.webhook, line 5: needs the environment variable"
    )
    assert [problem.line for problem in found.missing] == [5]


def objects_below(part, seen=None):
    """Everything that can be reached from an object, except the environment itself."""
    seen = {} if seen is None else seen
    if id(part) in seen:
        return
    seen[id(part)] = part
    yield part
    if isinstance(part, Secret):
        yield from (part.written, part.file, *part.place)
    elif isinstance(part, dict):
        for one in (*part, *part.values()):
            yield from objects_below(one, seen)
    elif isinstance(part, list | tuple | set):
        for one in part:
            yield from objects_below(one, seen)
    elif hasattr(part, "__dict__"):
        yield from objects_below(vars(part), seen)
        yield from objects_below(getattr(part, "__pydantic_private__", None), seen)


def test_no_value_of_a_secret_lies_in_a_configuration():
    found = read_configuration_text(TEXT, environment=SECRETS).configuration
    texts = [one for one in objects_below(found) if isinstance(one, str)]
    assert "https://hook.invalid/${HOOK_PATH}" in texts
    assert not [one for one in texts if CANARY in one]
    assert CANARY not in f"{found!r} {found.model_dump()} {found.model_dump_json()}"


def test_the_value_of_a_secret_does_not_change_the_hash():
    """Nor does it matter whether it can be read, unless it tells which data are meant."""
    other = {key: value.replace(CANARY, "rotkehlchen") for key, value in SECRETS.items()}
    gone = {"WAREHOUSE_URL": SECRETS["WAREHOUSE_URL"]}
    hashes = {
        configuration_hash(
            read_configuration_text(
                TEXT, environment=environment, needs="ledger"
            ).configuration.monitors["fraud"]
        )
        for environment in (SECRETS, other, gone)
    }
    # As released versions made it.
    assert hashes == {"44644fe394a04e2855241242859c2815"}


@pytest.mark.parametrize("name", SECRETS)
def test_without_one_secret_the_ledger_can_be_read_and_the_secret_is_named_when_used(name):
    environment = {key: value for key, value in SECRETS.items() if key != name}
    found = read_configuration_text(TEXT, environment=environment, needs="ledger").configuration
    (problem,) = found.missing
    assert f"variable {name}, which is not set" in problem.message
    hook = found.destinations["hook"]
    used = {
        "state": lambda: found.state_address,
        "tracking": lambda: found.tracking.address,
        "chat": lambda: found.destinations["chat"].address,
        "hook": lambda: (hook.address, hook.key),
        "am": lambda: found.destinations["am"].address,
        "predictions": lambda: found.monitors["fraud"].predictions.source.address,
        "positives": lambda: found.monitors["fraud"].positives.source.location,
    }
    failed = {}
    for part, use in used.items():
        try:
            use()
        except InputError as error:
            failed[part] = str(error)
    ((part, message),) = failed.items()
    assert part in problem.place
    assert f"line {problem.line}: needs the environment variable {name}" in message
