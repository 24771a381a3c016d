"""Which versions of engines were seen to count as DuckDB does, and what is said of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pumonitor.sources.engines.registry import EngineKind, engine_kind
from pumonitor.sources.windows.counts_engine import Engine, EngineRemarks

VERIFIED: Final[Mapping[str, tuple[str, ...]]] = {
    "duckdb": ("1", "2"),
    "postgresql": ("16",),
    "sqlite": ("3",),
    "mariadb": ("10.11",),
    "chdb": ("26",),
    "pyspark": ("4",),
}
"""By the name of the dialect, what versions begin with for which `pumonitor engines verify` found
no difference. DuckDB itself is what the others are compared with."""


def is_verified(engine: str, version: str) -> bool:
    """Whether a version of an engine was verified.

    Examples
    --------
    >>> is_verified("mariadb", "10.11.19"), is_verified("mariadb", "10.1.1")
    (True, False)
    """
    return any(f"{version}.".startswith(f"{one}.") for one in VERIFIED.get(engine, ()))


def remarks_on(engines: Iterable[Engine]) -> EngineRemarks:
    """What a user should know of the engines that read both tables."""
    doubts: dict[str, None] = {}
    limits: dict[str, None] = {}
    unverified: dict[str, str] = {}
    for engine in engines:
        name, version = engine.dialect.name, engine.version()
        kind = engine_kind(name)
        if not is_verified(name, version):
            unverified = {"name": name, "version": version}
            doubts[_not_verified(name, version, kind)] = None
        # Files and frames are read by an engine of the same name, which cannot write either.
        if kind is not None and name != "duckdb":
            limits |= dict.fromkeys(_limits(kind))
    return EngineRemarks(unverified=unverified, doubts=tuple(doubts), limits=tuple(limits))


def _not_verified(name: str, version: str, kind: EngineKind | None) -> str:
    title = name if kind is None else kind.title
    never = "" if kind is None or kind.was_run else ", and none of it was run on the real service"
    return (
        f"{title} {version} was not verified{never}: its counts may differ from DuckDB's; run "
        "pumonitor engines verify with its url"
    )


def _limits(kind: EngineKind) -> list[str]:
    found: list[str] = []
    if not kind.read_only:
        found.append(
            f"{kind.title} is not kept from writing but by the rights of the user: give it one "
            "that may only read"
        )
    if not kind.snapshot:
        found.append(
            f"{kind.title} gives no snapshot: rows written while a window is counted may be seen "
            "by one statement and not by the other; let a window end before its rows are complete"
        )
    return found
