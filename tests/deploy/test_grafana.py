"""The Grafana dashboard: made and checked with Grafana's types, and answered by a Prometheus."""

from __future__ import annotations

import copy
import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from urllib.request import urlopen

import pytest

from deploy.grafana.checked import unknown_keys
from deploy.grafana.dashboard import dashboard_json
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.standings import Standing
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.serving.health import health_server
from tests.monitor.alerted_ledger import CONFIGURATION, DAY, FIRST, AlertedLedger, known, rows
from tests.monitor.dashboard.shop_pages import monitors

FILE = (
    Path(__file__).resolve().parents[2]
    / "pumonitor"
    / "monitor"
    / "inspection"
    / "grafana_dashboard.json"
)
PAGES = PageAddresses("https://p.example/pumonitor")
CHOSEN = {
    "monitor": ".*",
    "version": ".*",
    "segment": "^$",
    "datasource": "prometheus",
    "pages": PAGES.base,
}


@pytest.fixture
def board() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def test_the_file_is_what_is_made(board: dict[str, Any]) -> None:
    assert FILE.read_text(encoding="utf-8") == dashboard_json()
    assert unknown_keys(board) == []


def mappings(of: Any, *place: str | int) -> Iterator[tuple[str | int, ...]]:
    """Places of all mappings in a document."""
    if isinstance(of, dict):
        yield place
    parts = of.items() if isinstance(of, dict) else enumerate(of) if isinstance(of, list) else ()
    for name, value in parts:
        yield from mappings(value, *place, name)


def test_a_key_that_grafana_does_not_know_is_found_wherever_it_is(board: dict[str, Any]) -> None:
    places = list(mappings(board))
    assert len(places) > 100
    for place in places:
        wrong = copy.deepcopy(board)
        mapping: Any = wrong
        for one in place:
            mapping = mapping[one]
        mapping["planted"] = 1
        assert any("planted" in one for one in unknown_keys(wrong)), place


def test_a_property_that_no_field_has_is_found(board: dict[str, Any]) -> None:
    panel = next(one for one in board["panels"] if one["type"] == "timeseries")
    override = panel["fieldConfig"]["overrides"][0]
    override["properties"].append({"id": "custom.lineWdth", "value": 1})
    (found,) = unknown_keys(board)
    assert found.endswith("overrides[0].custom.lineWdth")


def test_panels_have_room_and_numbers_of_their_own(board: dict[str, Any]) -> None:
    panels = board["panels"]
    assert len({one["id"] for one in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for one in panels:
        at = one["gridPos"]
        own = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not own & taken, one["title"]
        assert max(x for x, _ in own) < 24
        taken |= own


def test_links_lead_to_our_pages(board: dict[str, Any]) -> None:
    text = json.dumps(board)
    links = re.findall(r'"url": "([^"]+)"', text)
    assert len(links) > 5
    assert all(one.startswith("${pages}/") for one in links)
    filled = {"${pages}": PAGES.base, "${metric}": "f1"}
    for label in ("monitor", "model_version", "segment"):
        for form in ("${__field.labels.%s}", "${__field.labels.%s:percentencode}"):
            filled[form % label] = quote("card-fraud" if label == "monitor" else "a&é", safe="")
    filled["${__data.fields.monitor}"] = "card-fraud"
    whole = PAGES.monitor("card-fraud", version="a&é", segment="a&é")
    allowed = {PAGES.overview(), PAGES.monitor("card-fraud"), whole, f"{whole}&metric=f1"}
    for link in links:
        for name, value in filled.items():
            link = link.replace(name, value)  # noqa: PLW2901
        assert link in allowed


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Prometheus that has scraped a monitor whose alert fires."""
    if shutil.which("prometheus") is None:
        pytest.skip("needs prometheus (Debian: apt install prometheus)")
    folder = tmp_path_factory.mktemp("prometheus")
    with Ledger.open(f"sqlite:///{folder / 'state.db'}") as ledger:
        metrics = ("class_prior", "precision", "recall", "f1", "auc", "aul")
        counted = known("labeled_positives", 20.0)
        found = AlertedLedger(
            ledger,
            alert_rules(monitors()["card-fraud"], CONFIGURATION),
            lambda pane: {("1", ""): [*(known(one, 0.1) for one in metrics), counted, rows(600)]},
        )
        for day in range(1, 7):
            found.run(FIRST + day * DAY)
        with ledger.database.reading() as connection:
            now = ledger.database.now(connection)
        ledger.standings.planned(
            Standing(monitor="card-fraud", configuration=CONFIGURATION, last_prediction=now)
        )
        told = exposition(ledger, monitors=monitors(), clock=lambda: now, pages=PAGES)
        with health_server("127.0.0.1:0", ready=ledger.ready, metrics=told) as port:
            yield from _running(folder, port)


def _running(folder: Path, port: int) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        own = probe.getsockname()[1]
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\n"
        "scrape_configs:\n"
        f"  - {{job_name: pumonitor, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n"
    )
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{own}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{own}"
    try:
        deadline = time.monotonic() + 60
        while not _scraped(address):
            assert time.monotonic() < deadline, "Prometheus has scraped nothing"
            assert process.poll() is None, "Prometheus has ended"
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def _scraped(address: str) -> bool:
    try:
        return bool(ask(address, "query", query="pumonitor_build_info")["result"])
    except OSError:
        return False


def ask(address: str, path: str, **query: str) -> Any:
    with urlopen(f"{address}/api/v1/{path}?{urlencode(query)}", timeout=10) as answer:  # noqa: S310
        return json.load(answer)["data"]


def filled(text: str, *, metric: str = "f1") -> str:
    for name, value in {**CHOSEN, "metric": metric}.items():
        text = text.replace(f"${name}", value)
    assert "$" not in text.replace("^$", "")
    return text


@pytest.mark.slow
def test_every_query_is_answered_and_no_panel_is_empty(
    board: dict[str, Any], prometheus: str
) -> None:
    asked = {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in board["panels"]
        for target in panel.get("targets", [])
    }
    asked |= {one["name"]: one["expr"] for one in board["annotations"]["list"]}
    assert len(asked) > 12
    for title, expression in asked.items():
        found = ask(prometheus, "query", query=filled(expression))["result"]
        assert found, title
    for variable in board["templating"]["list"]:
        if variable["type"] != "query":
            continue
        chosen = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"])
        assert chosen is not None, variable["query"]
        values = ask(prometheus, f"label/{chosen[2]}/values", **{"match[]": filled(chosen[1])})
        # Of a segment of all rows Prometheus keeps no label.
        assert values or variable["name"] == "segment"
    shown = ask(prometheus, "label/metric/values", **{"match[]": "pumonitor_estimate"})
    (metric,) = (one for one in board["templating"]["list"] if one["name"] == "metric")
    assert set(metric["current"]["value"]) <= set(shown)
    assert ask(prometheus, "label/address/values") == [PAGES.base]


@pytest.mark.slow
def test_a_query_with_a_wrong_name_is_not_answered(board: dict[str, Any], prometheus: str) -> None:
    (panel, *_) = (one for one in board["panels"] if one["title"] == "$metric")
    wrong = panel["targets"][0]["expr"].replace("pumonitor_estimate", "pumonitor_estimates")
    assert ask(prometheus, "query", query=filled(wrong))["result"] == []
