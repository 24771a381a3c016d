"""The packaged file of Vega is what its lock makes, as far as this can be seen offline."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

from docs.from_code.chart_library.__main__ import LIBRARY, NOTICES

HERE = Path(__file__).resolve().parents[2] / "docs" / "from_code" / "chart_library"
MOST_BYTES = 300_000


def test_it_is_the_file_that_the_notices_are_of() -> None:
    of_file = hashlib.sha256(LIBRARY.read_bytes()).hexdigest()
    assert f"SHA-256 of vega.js: {of_file}\n" in NOTICES.read_text(encoding="utf-8")


def test_every_package_in_it_is_locked_by_a_digest_and_has_its_notice() -> None:
    locked = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert all(
        one["integrity"].startswith("sha512-") and "resolved" not in one
        for name, one in locked.items()
        if name
    )
    noticed = set(re.findall(r"^([\w-]+) (\d[\d.]*) \(", NOTICES.read_text("utf-8"), re.MULTILINE))
    versions = {
        (name.rpartition("node_modules/")[2], one["version"])
        for name, one in locked.items()
        if name
    }
    assert {"vega", "vega-lite", "vega-interpreter"} <= {name for name, _ in noticed}
    assert noticed <= versions


def test_it_is_small_when_it_is_sent_compressed() -> None:
    assert len(gzip.compress(LIBRARY.read_bytes())) < MOST_BYTES
