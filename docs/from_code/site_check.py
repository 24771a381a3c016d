"""Checks a built site: no page needs a network. `python -m docs.from_code.site_check site`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(https?://[^"' >]+)"""
    r"""|<link[^>]*\srel=["']?(?:stylesheet|preload|icon)["']?[^>]*\shref=["']?(https?://[^"' >]+)"""
)


def fetched(site: Path) -> list[str]:
    """What pages of the site would fetch from elsewhere."""
    return [
        f"{page.relative_to(site)} fetches {match[1] or match[2]}"
        for page in sorted(site.rglob("*.html"))
        for match in _FETCHED.finditer(page.read_text(encoding="utf-8"))
    ]


def main() -> int:
    """Exit status 1 where something is fetched, or where there is no site."""
    site = Path(sys.argv[1])
    if not (site / "index.html").is_file():
        print(f"{site} has no index.html")
        return 1
    found = fetched(site)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
