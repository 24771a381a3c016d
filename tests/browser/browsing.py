"""Pages in a browser: what they load, say to its console, and look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
MOST_PAGES = 40
"""Kinds of them: more are a fault of `shape`."""

NARROW = {"width": 360, "height": 740}
_NAMED = (
    (r"/monitors/[^/]+", "/monitors/NAME"),
    (r"/windows/[^/]+", "/windows/START"),
    (r"/\d+(?=/|$)", "/NUMBER"),
)


@dataclass(frozen=True, slots=True)
class Site:
    """Where pages are, and who reads them."""

    address: str
    who: tuple[str, str] | None = None

    def at(self, path: str) -> str:
        return f"{self.address}{path}"

    def has(self, address: str) -> bool:
        return address.startswith(f"{self.address}/")


@dataclass(slots=True)
class Visit:
    """A page of a browser, with all that it said and loaded."""

    page: Any
    said: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def open(self, address: str) -> None:
        answer = self.page.goto(address)
        self.status, self.headers = answer.status, answer.headers

    def text(self, selector: str = "body") -> str:
        """What a reader sees."""
        return re.sub(r"\s+", " ", self.page.inner_text(selector))

    def click(self, name: str | re.Pattern[str]) -> None:
        """Follow the first link of that text."""
        self.page.get_by_role("link", name=name).first.click()


@contextmanager
def visiting(browser: Any, site: Site, **options: Any) -> Iterator[Visit]:
    """A page of its own context, with options of Playwright."""
    if site.who is not None:
        parts = urlsplit(site.address)
        options["http_credentials"] = {
            "username": site.who[0],
            "password": site.who[1],
            "origin": f"{parts.scheme}://{parts.netloc}",
        }
    context = browser.new_context(**options)
    try:
        visit = Visit(context.new_page())
        visit.page.on("console", lambda one: visit.said.append(f"{one.type}: {one.text}"))
        visit.page.on("pageerror", lambda one: visit.said.append(f"error: {one}"))
        visit.page.on("dialog", lambda one: (visit.said.append("dialog"), one.dismiss()))
        visit.page.on("request", lambda one: visit.requested.append(one.url))
        yield visit
    finally:
        context.close()


def kind(site: Site, address: str) -> str:
    """What kind of page an address is: names are left out."""
    path = urlsplit(address.removeprefix(site.address)).path
    for pattern, name in _NAMED:
        path = re.sub(pattern, name, path)
    return path


def shape(site: Site, address: str) -> str:
    """Its kind, with the keys of its query."""
    path = kind(site, address)
    keys = sorted({key for key, _ in parse_qsl(urlsplit(address).query)})
    return f"{path}?{'&'.join(keys)}" if keys else path


def is_file(address: str) -> bool:
    """Whether it is something to download or to look at, and no page."""
    last = urlsplit(address).path.rsplit("/", 1)[-1]
    return "." in last and "/monitors/" + last not in address


def links(visit: Visit, site: Site) -> list[str]:
    """Addresses of the same pages that this one links to, each once."""
    found = visit.page.eval_on_selector_all("a[href]", "all => all.map(one => one.href)")
    own = [urljoin(visit.page.url, one).split("#")[0] for one in found]
    return [one for one in dict.fromkeys(own) if site.has(one)]


def check_page(visit: Visit, site: Site) -> None:
    """It came whole, from here alone, and nothing in it could run that we did not write."""
    assert visit.status == 200, (visit.page.url, visit.text())
    assert visit.said == [], visit.page.url
    host = site.address.split("/")[2]
    assert {one.split("/")[2] for one in visit.requested} == {host}, visit.page.url
    policy = visit.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "default-src 'none'" in policy
    assert visit.page.locator("h1").count() == 1, visit.page.url


def check_narrow(visit: Visit) -> None:
    """On a telephone tables may scroll, the page does not."""
    visit.page.set_viewport_size(NARROW)
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= NARROW["width"], (visit.page.url, width)


def kinds_of_pages(
    visit: Visit, site: Site, *, shape: Callable[[Site, str], str] = shape
) -> dict[str, str]:
    """Open a page of each kind that can be reached by links; the address of each kind."""
    waiting, found = [site.at("/")], {shape(site, site.at("/")): site.at("/")}
    files: dict[str, str] = {}
    while waiting and len(found) <= MOST_PAGES:
        address = waiting.pop(0)
        visit.said.clear()
        visit.requested.clear()
        visit.page.set_viewport_size({"width": 1200, "height": 800})
        visit.open(address)
        check_page(visit, site)
        for one in links(visit, site):
            known = files if is_file(one) else found
            if shape(site, one) not in known:
                known[shape(site, one)] = one
                if known is found:
                    waiting.append(one)
        check_narrow(visit)
    assert len(found) <= MOST_PAGES, sorted(found)
    for one in files.values():
        answer = visit.page.request.get(one)
        assert answer.status == 200, one
        assert answer.headers["x-content-type-options"] == "nosniff"
    return found
