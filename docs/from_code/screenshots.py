"""Pictures for README and documentation: pages and a report of the demonstration, by Chromium.

``make screenshots`` calls it with the demonstration's folder. Pictures are of one height whatever
the page has, so that they can stand in a text.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["MOST_BYTES", "PICTURES", "SCHEMES", "Picture", "place_of"]

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
SCHEMES = ("light", "dark")
MOST_BYTES = 200_000
_WIDTH = 1180
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a page: from the top, or from the first element that a selector finds."""

    name: str
    path: str
    height: int
    begins: str = ""


PICTURES = (
    Picture("pages-overview", "", 440),
    Picture("pages-monitor", "monitors/spam-filter-flipped", 1106),
    Picture("pages-alerts", "alerts", 620),
    Picture("pages-decide", "monitors/spam-filter/decide?value=20&cost=1", 900, "#brings"),
    Picture(
        "pages-window",
        "monitors/spam-filter/windows/2012-02-13T00:00:00Z",
        760,
        ".figures",
    ),
)

REPORT = Picture("report", "report-audit.html", 395, ".verdict")
_REPORT_SCALE = 1.5


def place_of(picture: Picture, scheme: str) -> Path:
    """The file of a picture."""
    return FOLDER / f"{picture.name}-{scheme}.png"


@contextmanager
def _pages(folder: Path) -> Iterator[str]:
    from pumonitor.monitor.app import open_ledger, utc_now
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.dashboard.server import pages_server

    configuration = read_configuration(folder / "alerts.yaml", needs="ledger").configuration
    with (
        open_ledger(configuration) as ledger,
        pages_server("127.0.0.1:0", configuration.monitors, ledger, clock=utc_now) as address,
    ):
        yield address


@contextmanager
def _chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        )
        yield browser
        browser.close()


def _take(page: Any, address: str, picture: Picture, place: Path) -> None:
    answer = page.goto(address + picture.path)
    if not answer.ok:
        sys.exit(f"{picture.path} answers {answer.status}")
    top = page.locator(picture.begins).first.bounding_box()["y"] - 16 if picture.begins else 0
    whole = page.evaluate("document.documentElement.scrollHeight")
    height = min(picture.height, whole - top)
    page.screenshot(
        path=place,
        full_page=True,
        clip={"x": 0, "y": top, "width": _WIDTH, "height": height},
    )
    size = place.stat().st_size
    print(f"{place.relative_to(FOLDER.parents[1])}  {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{place.name} is larger than {MOST_BYTES:,} bytes")


def main() -> None:
    """Take all pictures of the folder that is named."""
    if len(sys.argv) != 2:
        sys.exit("python -m docs.from_code.screenshots FOLDER-OF-THE-DEMONSTRATION")
    folder = Path(sys.argv[1]).resolve()
    viewport = {"width": _WIDTH, "height": 900}
    with _pages(folder) as address, _chromium() as browser:
        for scheme in SCHEMES:
            page = browser.new_page(color_scheme=scheme, viewport=viewport)
            for picture in PICTURES:
                _take(page, address, picture, place_of(picture, scheme))
        page = browser.new_page(viewport=viewport, device_scale_factor=_REPORT_SCALE)
        _take(page, f"{folder.as_uri()}/", REPORT, FOLDER / f"{REPORT.name}.png")


if __name__ == "__main__":
    main()
