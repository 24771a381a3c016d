"""`python -m deploy.grafana` writes the dashboard anew that `pumonitor export grafana` gives out.

With --check it says whether it is what would be written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from deploy.grafana.checked import unknown_keys
from deploy.grafana.dashboard import dashboard_json

_FILE: Final = (
    Path(__file__).parents[2] / "pumonitor" / "monitor" / "inspection" / "grafana_dashboard.json"
)


def main() -> int:
    """Returns 1 if the file is not what is made, or has keys that Grafana's SDK does not know."""
    parser = argparse.ArgumentParser(prog="python -m deploy.grafana", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    only_check = parser.parse_args().check
    made = dashboard_json()
    if not only_check:
        _FILE.write_text(made, encoding="utf-8")
    written = _FILE.read_text(encoding="utf-8")
    wrong = unknown_keys(json.loads(written))
    if written != made:
        wrong.append("it is not what python -m deploy.grafana writes")
    for one in wrong:
        sys.stderr.write(f"{_FILE.name}: {one}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
