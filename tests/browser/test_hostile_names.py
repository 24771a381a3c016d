"""Names from data, configuration and addresses are text: they run nowhere and break nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.browsing import Site, visiting
from tests.browser.worked import BROKEN, FAILING, HOSTILE_SEGMENT, HOSTILE_VERSION, first_day
from tests.plugins.server.mlflow_servers import Server

pytestmark = pytest.mark.browser

NAMES = [
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "..%2f..%2fpumonitor.yaml",
    "\"'><img src=x onerror=alert(1)>",
    "\u202ereversed",
    "🦊",
    "x\r\nSet-Cookie: a=b",
    "a\x00b",
    "x" * 300,
    "{{7*7}}",
]
PLACES = [
    "/monitors/{}",
    "/monitors/{}/results.csv",
    f"/monitors/{BROKEN}/windows/{{}}",
    f"/monitors/{BROKEN}/alerts/{{}}",
    f"/monitors/{BROKEN}?metric={{}}",
    f"/monitors/{BROKEN}?version={{}}",
    f"/monitors/{BROKEN}?segment={{}}",
    f"/monitors/{BROKEN}?as_of={{}}",
    f"/monitors/{BROKEN}/decide?currency={{}}",
    "/alerts?monitor={}",
    "/?page={}",
    "/static/{}",
    "/api/v1/monitors/{}",
    "/{}",
]


def test_names_in_addresses_are_answered_as_text(
    chromium: Any, alone: Site, in_mlflow: Site
) -> None:
    with visiting(chromium, alone) as visit:
        wrong = []
        for site, places in ((alone, PLACES), (in_mlflow, PLACES[:3])):
            for place in places:
                for name in NAMES:
                    address = site.at(place.format(quote(name, safe="")))
                    answer = visit.page.request.get(address, max_redirects=0)
                    body = answer.text()
                    if (
                        answer.status not in {200, 308, 400, 404}
                        or "a=b" in answer.headers.get("set-cookie", "")
                        or "<script>alert" in body
                        or "<img src=x" in body
                        or "root:" in body
                        or "predictions.parquet" in body
                    ):
                        wrong.append((address, answer.status, answer.headers.get("set-cookie")))
        assert wrong == []


def test_names_from_data_are_text(chromium: Any, alone: Site) -> None:
    day = f"{first_day():%Y-%m-%d}T00:00:00Z"
    version, segment = quote(HOSTILE_VERSION, safe=""), quote(f"country={HOSTILE_SEGMENT}", safe="")
    with visiting(chromium, alone) as visit:
        for path in (
            f"/monitors/{BROKEN}?version={version}",
            f"/monitors/{BROKEN}?segment={segment}",
            f"/monitors/{BROKEN}/windows/{day}?segment={segment}&version=1",
            f"/monitors/{BROKEN}/decide?segment={segment}",
            f"/monitors/{FAILING}/windows/{day}",
            "/alerts",
        ):
            visit.open(alone.at(path))
            assert visit.status == 200, path
            assert visit.page.locator('script:not([src$="/static/charts.js"]), img').count() == 0
            assert "\u202e" not in visit.text(), path
            assert "\x00" not in visit.text(), path
        assert visit.said == []


def test_files_have_the_names_in_them_as_text(chromium: Any, alone: Site) -> None:
    segment = quote(f"country={HOSTILE_SEGMENT}", safe="")
    with visiting(chromium, alone) as visit:
        answer = visit.page.request.get(
            alone.at(f"/monitors/{BROKEN}/results.csv?segment={segment}")
        )
        assert answer.headers["content-type"].startswith("text/csv")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "alert('segment')" in answer.text()


def test_logs_have_no_line_of_somebody_else(servers: dict[str, Server], worked: Path) -> None:
    """An address with a line break in it makes one line, and nothing has failed unforeseen."""
    for server in servers.values():
        text = server.log.read_text(encoding="utf-8")
        assert "\x00" not in text
        assert "\u202e" not in text
        assert not any(line.startswith("Set-Cookie") for line in text.splitlines())
        assert "Traceback" not in text, text[-3000:]
