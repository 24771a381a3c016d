"""Public data sets of the demonstration, the benchmarks and the tests.

A table is looked for in the folder that the environment variable PUMONITOR_DATA names (without it,
``pumonitor/data`` in the user's cache), then in an installed package. `fetch_all` brings missing
ones from their public archive into the folder; `load_table` never uses the network. However a table
came, SHA-256 of its content is compared with the one in `TABLE`.
"""

from pumonitor.datasets.errors import DatasetMissingError, DatasetWrongError, FetchError
from pumonitor.datasets.fetching import fetch, fetch_all
from pumonitor.datasets.finding import VARIABLE, available, data_folder, load_table, missing
from pumonitor.datasets.message import missing_message
from pumonitor.datasets.packaged import rdataset
from pumonitor.datasets.preparing import prepare
from pumonitor.datasets.table import TABLE, Entry

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
