"""Each command, option, key, metric, exit status and environment variable is documented."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pumonitor
from docs.from_code import configuration
from docs.from_code.commands import all_commands
from docs.from_code.metrics import prometheus_metrics
from docs.from_code.pages import made_pages
from pumonitor import names
from pumonitor.cli import outcome
from pumonitor.prior import METHOD_NAMES
from tests.docs.documents import ROOT

_PAGES = made_pages()
_ENVIRONMENT = (ROOT / "docs/reference/environment.md").read_text(encoding="utf-8")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_NO_VARIABLES = {
    *("ACCOUNT_ID", "KEY_ID", "SESSION_TOKEN", "URL_STYLE", "USE_SSL"),
    "CONTENT_LENGTH",
}
"""Options of DuckDB's secrets and a key of WSGI, in modules that read variables too."""


def _section(page: str, heading: str) -> str:
    found = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
    )
    assert found is not None, heading
    return found[1]


def test_every_command_with_each_of_its_options() -> None:
    page = _PAGES["reference/commands.md"]
    commands = all_commands()
    assert {"evaluate", "alerts simulate", "export prometheus"} <= set(commands)
    missing = [
        f"{name} {spelled}"
        for name, command in commands.items()
        for option in command.params
        for spelled in option.opts
        if spelled.startswith("-") and option.name != "help"
        if f"{spelled}`" not in (part := _section(page, name)) and f"`{spelled}" not in part
    ]
    assert missing == []


def test_every_option_says_what_it_means() -> None:
    silent = [
        f"{name} {option.name}"
        for name, command in all_commands().items()
        for option in command.params
        if len(getattr(option, "help", None) or "") < 8
    ]
    assert silent == []


def test_every_key_of_the_configuration() -> None:
    page = _PAGES["reference/configuration.md"]
    whole = configuration.schema()
    keys = {
        key
        for part in (whole, *whole["$defs"].values())
        for mapping in (part, *part.get("anyOf", ()))
        for key in mapping.get("properties", {})
    }
    assert {"state", "false_discovery_rate", "ambiguous", "query"} <= keys
    assert [key for key in sorted(keys) if f"| `{key}` |" not in page] == []


def test_every_metric_and_every_method() -> None:
    page = _PAGES["reference/metrics.md"]
    assert len(prometheus_metrics()) >= 14
    wanted = [*names.TITLES, *prometheus_metrics(), *METHOD_NAMES, "labeled_positives"]
    assert [name for name in wanted if f"`{name}`" not in page] == []


def test_every_metric_that_rules_may_name() -> None:
    allowed = configuration.schema()["$defs"]["LimitRule"]["properties"]["metric"]["enum"]
    page = _PAGES["reference/metrics.md"]
    assert [name for name in allowed if f"`{name}`" not in page] == []


def test_every_kind_of_health_every_detector_and_every_key_of_rules_is_explained() -> None:
    page = (ROOT / "docs/alerts.md").read_text(encoding="utf-8")
    kinds = [one["properties"] for one in configuration.rule_kinds(configuration.schema()).values()]
    health = [keys["health"]["const"] for keys in kinds if "health" in keys]
    detectors = next(keys["detector"]["enum"] for keys in kinds if "detector" in keys)
    wanted = [*dict.fromkeys(key for keys in kinds for key in keys), *health, *detectors]
    assert len(wanted) > 30
    assert [name for name in wanted if not re.search(rf"`{name}[`:]|\b{name}:", page)] == []


def test_every_exit_status() -> None:
    statuses = {
        getattr(outcome, name) for name in dir(outcome) if isinstance(getattr(outcome, name), int)
    }
    assert {1, 2, 3} <= statuses
    assert [status for status in (0, *statuses) if f"| {status} |" not in _ENVIRONMENT] == []


def _variables() -> Iterator[str]:
    """Text that could be a variable's name, in modules that read the environment."""
    files = [*(ROOT / "pumonitor").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        if "os.environ" in text or "envvar=" in text or _holds_keys_of_stores(file):
            tree = ast.parse(text)
            # Names of constants look the same in __all__.
            constants = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
            for node in ast.walk(tree):
                value = getattr(node, "value", None)
                if isinstance(node, ast.Constant) and isinstance(value, str):
                    yield from {value} - constants if _VARIABLE.fullmatch(value) else ()


def _holds_keys_of_stores(file: Path) -> bool:
    return "AWS_ACCESS_KEY_ID" in file.read_text(encoding="utf-8")


def test_every_environment_variable() -> None:
    found = set(_variables()) - _NO_VARIABLES
    assert {"PUMONITOR_HEALTH_TOKEN", "AWS_PROFILE", "GCS_SECRET_ACCESS_KEY"} <= found
    assert [name for name in sorted(found) if f"`{name}`" not in _ENVIRONMENT] == []


def test_every_public_name_of_python_once() -> None:
    page = _PAGES["reference/python.md"]
    headings = re.findall(r"heading: (\S+)", page)
    wanted = {f"pumonitor.{name}" for name in pumonitor.__all__} - {
        "pumonitor.metrics",
        "pumonitor.prior",
    }
    wanted |= {f"pumonitor.metrics.{name}" for name in pumonitor.metrics.__all__}
    assert sorted(wanted - set(headings)) == []
    assert len(headings) == len(set(headings))
