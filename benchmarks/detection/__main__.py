"""How soon alarms come, how often without cause, and whether they name it.

`python -m benchmarks.detection [--only PART] [--quick]`. A part is a module beside this one with a
function `main(*, quick)`.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from importlib.util import find_spec

PARTS = (
    "false-alarms",
    "delay",
    "scales",
    "counts",
    "against-reference",
    "cause",
    "causes",
    "streams",
)


def main() -> None:
    modules = {part: f"benchmarks.detection.{part.replace('-', '_')}" for part in PARTS}
    there = [part for part, module in modules.items() if find_spec(module)]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", choices=there, help="one part")
    parser.add_argument("--quick", action="store_true", help="a smoke run of few streams")
    arguments = parser.parse_args()
    for part in [arguments.only] if arguments.only else there:
        import_module(modules[part]).main(quick=arguments.quick)


if __name__ == "__main__":
    main()
