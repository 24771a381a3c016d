"""Pages under a host name: a token is given once, in a form, and what it may not is not there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.browser.browsing import Site, Visit, check_narrow, check_page, visiting
from tests.browser.worked import BROKEN, FINE
from tests.plugins.server.mlflow_servers import Server, free_port

pytestmark = pytest.mark.browser

HOST = "pages.localhost"


@pytest.fixture(scope="module")
def named(servers: dict[str, Server], worked: Path) -> Iterator[Site]:
    """`pumonitor pages` that answers to a name."""
    port = free_port()
    command = [
        *(sys.executable, "-c", "from pumonitor.cli.app import main; main()", "pages"),
        *("--address", f"127.0.0.1:{port}", "--config", str(worked / "pumonitor.yaml")),
        *("--host-names", HOST, "--plain-http"),
    ]
    server = Server(command, port=port, folder=worked, log=worked / "named.log", also={})
    try:
        server.wait()
        yield Site(f"http://{HOST}:{port}")
    finally:
        server.end()
        server.stop()


@pytest.fixture(scope="module")
def tokens(named: Site, worked: Path) -> dict[str, str]:
    """Of somebody who may read one monitor, and of somebody who may change it."""
    configuration = read_configuration(worked / "pumonitor.yaml").configuration
    with open_ledger(configuration) as ledger:
        return {
            right: ledger.tokens.create(right, right, by="tests", monitors=[BROKEN])[1]
            for right in ("read", "acknowledge")
        }


def sign_in(visit: Visit, token: str) -> None:
    visit.page.get_by_label("Token").fill(token)
    visit.page.get_by_role("button", name="Sign in").click()


def test_a_token_leads_to_the_page_that_was_asked_for(
    chromium: Any, named: Site, tokens: dict[str, str]
) -> None:
    with visiting(chromium, named, java_script_enabled=False) as visit:
        visit.open(named.at(f"/monitors/{BROKEN}?metric=recall"))
        assert visit.page.inner_text("h1") == "Sign in"
        check_page(visit, named)
        check_narrow(visit)
        sign_in(visit, "a guess")
        assert "there is no such token" in visit.text()
        sign_in(visit, tokens["read"])
        assert visit.page.url == named.at(f"/monitors/{BROKEN}?metric=recall")
        visit.said.clear()  # the console tells of the refusals
        visit.open(named.at("/"))
        check_page(visit, named)
        said = visit.text()
        assert BROKEN in said
        assert FINE not in said
        check_narrow(visit)
        visit.open(named.at(f"/monitors/{FINE}"))
        assert visit.status == 404


def test_only_who_may_is_asked_to_acknowledge_and_signing_out_ends_it(
    chromium: Any, named: Site, tokens: dict[str, str]
) -> None:
    for right, count in (("read", 0), ("acknowledge", 1)):
        with visiting(chromium, named, java_script_enabled=False) as visit:
            visit.open(named.at("/sign-in"))
            sign_in(visit, tokens[right])
            visit.open(named.at("/"))
            visit.click(BROKEN)
            visit.page.get_by_role("link", name="aul below 0.7").first.click()
            button = visit.page.get_by_role("button", name="Acknowledge", exact=True)
            assert button.count() == count
            if count:
                button.click()
                assert "Acknowledged: no more reminders are sent" in visit.text()
                # Other tests read the same alert.
                visit.page.get_by_role("button", name="Take it back", exact=True).click()
                assert "acknowledged" not in visit.text(".context")
                assert visit.said == []
            visit.page.get_by_role("button", name="Sign out").click()
            visit.open(named.at("/"))
            assert visit.page.inner_text("h1") == "Sign in"
