"""What an address on the command line keeps secret is read from the environment and never told."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.core import TyperArgument
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.errors import SourceError

CANARY = "kanarienvogel"
ADDRESSES = (
    f"postgresql+psycopg://mon:{CANARY}@127.0.0.1:1/scores",
    f"https://127.0.0.1:1/rows.parquet?token={CANARY}",
)


def commands(command, path=()):
    """Every command with its name, groups left out."""
    if hasattr(command, "commands"):
        for name, below in command.commands.items():
            yield from commands(below, (*path, name))
    else:
        yield path, command


def takes_text(parameter):
    return "str" in str(parameter.type_descriptor.annotation) and not parameter.is_eager


TEXTS = [
    (path, command, parameter)
    for path, command in commands(typer.main.get_command(app))
    for parameter in command.params
    if takes_text(parameter)
]


def given(command, parameter, address):
    """An address for one parameter, and for those that are needed something that is not there."""
    words = []
    for other in command.params:
        value = address if other is parameter else "none"
        if other is not parameter and not other.required:
            continue
        words += [value] if isinstance(other, TyperArgument) else [other.opts[0], value]
    return words


def told(result):
    """Everything that a command says."""
    return f"{result.output}{result.stderr}{result.exception!r}"


def test_every_kind_of_command_is_among_them():
    names = {path[0] for path, _, _ in TEXTS}
    assert {"engines", "init", "evaluate", "compare", "decide", "audit", "export"} <= names


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_repeats_what_an_address_keeps_secret(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    for path, command, parameter in TEXTS:
        words = [*path, *given(command, parameter, address)]
        for typed in (words, [*words, address]):
            result = runner.invoke(app, typed)
            assert CANARY not in told(result).replace("\n", ""), typed
    assert CANARY not in told(runner.invoke(app, [address]))
    assert not any(CANARY in file.read_text() for file in Path(tmp_path).rglob("*.yaml"))


@pytest.mark.parametrize(
    "typed",
    [
        ["engines", "verify", "ADDRESS"],
        ["init", "ADDRESS", "known.csv"],
        ["init", "--predictions", "ADDRESS", "--positives", "known.csv"],
        ["init", "--predictions", "known.csv", "--positives", "ADDRESS"],
        ["evaluate", "ADDRESS", "--labels", "y", "--scores", "s", "--threshold", "1"],
        ["compare", "ADDRESS", "--labels", "y", "--scores", "a,b", "--threshold", "1"],
        ["decide", "ADDRESS", "--labels", "y", "--scores", "s"],
        ["estimate-prior", "ADDRESS", "--labels", "y", "--scores", "s"],
        ["estimate-prior", "known.csv", "--labels", "y", "--scores", "s", "--reference", "ADDRESS"],
        ["audit", "plan", "ADDRESS", "--labels", "y", "--scores", "s"],
    ],
    ids=lambda typed: " ".join(typed[:2]),
)
def test_variables_of_an_address_are_read_from_the_environment(typed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = "postgresql+psycopg://mon:${MON_PW}@127.0.0.1:1/scores"
    words = [address if word == "ADDRESS" else word for word in typed]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "needs the environment variable MON_PW" in " ".join(
        told(result).replace("│", "").split()
    )


def test_a_database_gets_the_password_of_the_variable(monkeypatch):
    asked = []

    def verify(url, **_):
        asked.append(url)
        msg = f"nobody answers at {url}"
        raise SourceError(msg)

    monkeypatch.setattr("pumonitor.conformance.verify", verify)
    monkeypatch.setenv("MON_PW", CANARY)
    address = "postgresql+psycopg://mon:${MON_PW}@h/scores"
    result = CliRunner().invoke(app, ["engines", "verify", address])
    assert "nobody answers at postgresql+psycopg://mon:****@h/scores" in result.stderr
    assert asked == [f"postgresql+psycopg://mon:{CANARY}@h/scores"]


def test_a_password_of_one_command_masks_no_word_of_the_next(monkeypatch):
    monkeypatch.setenv("MON_PW", "scores")
    address = "postgresql+psycopg://mon:${MON_PW}@127.0.0.1:1/rows"
    CliRunner().invoke(app, ["evaluate", address, "--labels", "y", "--scores", "s"])
    result = CliRunner().invoke(app, ["evaluate", "nowhere.csv", "--labels", "y", "--scores"])
    assert "--scores" in told(result)
