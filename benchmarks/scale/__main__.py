"""Parts by name: `python -m benchmarks.scale rows spark --rows 100000000`; without any, their list.

Each part is a module of its own, which takes the options it knows: `python -m benchmarks.scale.rows
--help`.
"""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from typing import Final

__all__ = ["main"]

PARTS: Final = {
    "rows": "up to 1e9 generated rows in 100 days of Parquet, with a fitted line",
    "spark": "Spark, days of a million rows in one job, against DuckDB",
    "spark_job": "30 days counted to a table by a Spark server of 2 GB, killed in the middle",
    "windows": "100 windows of a million rows counted together, against one by one",
    "exact": "counts as if there were 5e12 rows",
    "ledger": "a ledger of 1,000 monitors",
}


def main() -> None:
    """Run the parts that are named, one after another, with the options that follow."""
    given = sys.argv[1:]
    first = next((place for place, one in enumerate(given) if one.startswith("-")), len(given))
    names, options = given[:first], given[first:]
    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        told = "\n".join(f"  {name:<10}{what}" for name, what in PARTS.items())
        sys.exit(f"usage: python -m benchmarks.scale PART... [OPTIONS]\n\nparts:\n{told}")
    for name in names:
        module = f"benchmarks.scale.{name}"
        if find_spec(module) is None:
            sys.exit(f"{module} is not there")
        print(f"{name}: {PARTS[name]}", flush=True)
        sys.argv = [module, *options]
        runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
