"""Public data sets of the demonstration, the benchmarks and the tests.

A table is looked for in the folder that the environment variable PUMONITOR_DATA names (without it,
``pumonitor/data`` in the user's cache), then in an installed package. `fetch_all` brings missing
ones from their public archive into the folder; `load_table` never uses the network. However a table
came, SHA-256 of its content is compared with the one in `TABLE`.
"""

from benchmarks.datasets.errors import DatasetMissingError, DatasetWrongError, FetchError
from benchmarks.datasets.fetching import fetch, fetch_all
from benchmarks.datasets.finding import VARIABLE, available, data_folder, load_table, missing
from benchmarks.datasets.message import missing_message
from benchmarks.datasets.packaged import rdataset
from benchmarks.datasets.preparing import prepare
from benchmarks.datasets.table import TABLE, Entry

__all__ = [
    "TABLE",
    "VARIABLE",
    "DatasetMissingError",
    "DatasetWrongError",
    "Entry",
    "FetchError",
    "available",
    "data_folder",
    "fetch",
    "fetch_all",
    "load_table",
    "missing",
    "missing_message",
    "prepare",
    "rdataset",
]
