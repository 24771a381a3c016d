"""axe-core finds nothing on any kind of page, light or dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsing import Site, visiting

pytestmark = pytest.mark.browser

# Found by axe: what people with a screen reader, a keyboard or weak eyes would miss.
RUN = "() => axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


@pytest.fixture(scope="session")
def axe() -> str:
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    chromium: Any, alone: Site, pages: dict[str, str], axe: str, scheme: str
) -> None:
    options = {"bypass_csp": True, "color_scheme": scheme}
    with visiting(chromium, alone, **options) as visit:
        found = []
        for address in pages.values():
            visit.open(address)
            visit.page.evaluate(axe)
            for one in visit.page.evaluate(RUN):
                where = [node["html"][:120] for node in one["nodes"][:3]]
                found.append(f"{address}: {one['id']}, {one['help']}: {where}")
    assert not found, "\n".join(found)


def test_axe_would_find_something(chromium: Any, alone: Site, axe: str) -> None:
    with visiting(chromium, alone, bypass_csp=True) as visit:
        visit.open(alone.at("/"))
        visit.page.evaluate("document.querySelector('h1').style.color = '#ccc'")
        visit.page.evaluate(axe)
        assert "color-contrast" in [one["id"] for one in visit.page.evaluate(RUN)]
