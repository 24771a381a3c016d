"""A window: its estimates, what is doubtful, what it was made from, and its revisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.dashboard.address import version_read
from pumonitor.monitor.dashboard.pages.how_computed import how_computed
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.insights import doubts_in, prior_said
from pumonitor.monitor.ledger.records.results import PublishedResult, StoredEvaluation
from pumonitor.names import COUNTS, GROUPS, MEANING, UNCORRECTED_OF, title

__all__ = ["window_page"]

_AN_INSTANT: Final = timedelta(microseconds=1)


def window_page(
    site: Site, name: str, start: datetime, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """What the page of a window shows; None if there is no such window or revision.

    Parameters
    ----------
    site : Site
    name : str
    start : datetime
    query : mapping of str to str
        ``version``, ``segment`` and ``revision``.

    Raises
    ------
    InputError
        If the revision is no number.
    """
    segment, version = query.get("segment", ""), version_read(query.get("version"))
    wanted = _revision(query.get("revision"))
    with site.at_once() as ledger:
        records = ledger.windows(name, since=start, until=start + _AN_INSTANT)
        if not records:
            return None
        record = records[-1]
        evaluations = ledger.evaluations(name, start=start, segment=segment, revisions="all")
        versions = sorted({one.model_version for one in evaluations})
        counted = ledger.results(
            name,
            since=start,
            until=record.window.end,
            segment=segment,
            metrics=["predictions"],
        )
        if version is None:
            most = max(counted, key=lambda row: row.value or 0.0, default=None)
            version = "" if most is None else most.model_version
        own = [one for one in evaluations if one.model_version == version]
        of_revision = [one for one in own if wanted in (None, one.revision)]
        if own and not of_revision:
            return None
        chosen = of_revision[-1] if of_revision else None
        rows = ledger.results(
            name,
            since=start,
            until=record.window.end,
            model_version=version,
            segment=segment,
            revisions="all",
        )
    found = {} if chosen is None else _of_revision(rows, chosen)
    before = _before(own, chosen)
    return {
        "monitor": name,
        "zone": site.zone(name),
        "now": site.clock(),
        "record": record,
        "version": version,
        "versions": versions,
        "segment": segment,
        "chosen": chosen,
        "revisions": own,
        "state": next(iter(found.values())).state if found else None,
        "groups": _groups(
            found,
            {} if before is None else _of_revision(rows, before),
            {} if chosen is None else chosen.evaluation,
        ),
        "counts": {COUNTS[one]: found[one] for one in COUNTS if one in found},
        "before": before,
        "doubts": () if chosen is None else doubts_in(chosen.evaluation),
        "class_prior_said": "" if chosen is None else prior_said(chosen.evaluation),
    }


def _of_revision(
    rows: tuple[PublishedResult, ...], chosen: StoredEvaluation
) -> dict[str, PublishedResult]:
    return {row.metric: row for row in rows if row.revision == chosen.revision}


def _before(
    own: list[StoredEvaluation], chosen: StoredEvaluation | None
) -> StoredEvaluation | None:
    """The revision before, whose numbers have changed since."""
    earlier = [one for one in own if chosen is not None and one.revision < chosen.revision]
    return earlier[-1] if earlier else None


def _groups(
    found: Mapping[str, PublishedResult],
    before: Mapping[str, PublishedResult],
    evaluation: Mapping[str, Any],
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Estimates under their headings, each with its uncorrected one and what it was before."""
    groups = []
    for heading, names in GROUPS.items():
        lines = [
            {
                "name": one,
                "title": title(one),
                "meaning": MEANING.get(one, ""),
                "row": found[one],
                "uncorrected": found.get(UNCORRECTED_OF.get(one, "")),
                "before": before.get(one),
                "computed": how_computed(one, evaluation),
            }
            for one in names
            if one in found
        ]
        if lines and not heading.startswith("Uncorrected"):
            groups.append((heading, lines))
    return groups


def _revision(given: str | None) -> int | None:
    if given in (None, ""):
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 9):
        msg = "revision must be a whole number"
        raise InputError(msg)
    return int(given)
