"""Where a monitor's labels come from, how late they are, and what more of them would tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.windows import PaneRecord, WindowRecord
from pumonitor.monitor.views.labels import (
    ArrivalView,
    IntervalView,
    LabelOriginView,
    LabelsToCome,
    LabelsView,
    WindowLabelsView,
)
from pumonitor.monitor.windows.known_labels import known_labels
from pumonitor.ports import ReviewerCounts

_WINDOWS: Final = 60
_ORIGINS: Final = {
    "not reviewed": "Complaint alone",
    "score": "Reviewed for its score",
    "random": "Reviewed by chance",
    "audit": "Reviewed by an audit, being silent",
    "complaint": "Reviewed because of its complaint",
    "rule": "Reviewed by a rule",
    "stopped": "Declined outright, no verdict",
}


def label_health(ledger: Ledger, monitor: Monitor, *, with_arrivals: bool = True) -> LabelsView:
    """Facts about labels that page, API and `pumonitor insights` show, from stored counts.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
    with_arrivals : bool
        Whether to tell how labels arrive, for which statistics are loaded.
    """
    records = windows_that_tell(ledger, monitor.name)
    looks = [(record, look) for record in records if (look := _last_look(record))]
    facts: dict[str, Any] = {
        "monitor": monitor.name,
        "has_reviews": bool(monitor.reviews),
        "arrivals": _arrivals(monitor, [record for record, _ in looks]) if with_arrivals else (),
        "windows": _windows(ledger, monitor, looks[-_WINDOWS:]),
    }
    stored = _newest_mature(ledger, monitor.name)
    if stored is None:
        return LabelsView(**facts)
    counts = next(
        (
            pane.counts
            for record, _ in looks
            for pane in record.panes
            if (record.window_key, pane.number) == (stored.window_key, stored.number)
        ),
        None,
    )
    return LabelsView(
        **facts,
        window_start=stored.window.start,
        window_end=stored.window.end,
        state="final" if stored.evaluation.get("state") == "final" else "mature",
        **({} if counts is None else _of_counts(counts)),
        **_of_evaluation(ledger, stored),
    )


def windows_that_tell(ledger: Ledger, monitor: str) -> list[WindowRecord]:
    """The newest windows and the newest mature ones, which may be older, in order of time."""
    records, _ = ledger.windows_before(None, monitor=monitor, limit=_WINDOWS)
    if starts := _mature_starts(ledger, monitor):
        after = max(starts) + timedelta.resolution
        records += ledger.windows_before(after, monitor=monitor, limit=_WINDOWS)[0]
    by_key = {record.window_key: record for record in records}
    return sorted(by_key.values(), key=lambda record: record.window.start)


def _last_look(record: WindowRecord) -> PaneRecord | None:
    """The newest pane that was collected."""
    return next((pane for pane in reversed(record.panes) if pane.counts is not None), None)


def _newest_mature(ledger: Ledger, monitor: str) -> StoredEvaluation | None:
    """That of all rows of the newest mature window, of the version with most of them."""
    starts = _mature_starts(ledger, monitor)
    if not starts:
        return None
    evaluations = ledger.evaluations(monitor, start=max(starts), segment="")

    def rows(stored: StoredEvaluation) -> int:
        settings = stored.evaluation.get("settings") or {}
        return int(settings.get("n_labeled") or 0) + int(settings.get("n_unlabeled") or 0)

    return max(evaluations, key=rows, default=None)


def _mature_starts(ledger: Ledger, monitor: str) -> list[datetime]:
    """Start of the newest mature window of each model version."""
    newest = ledger.newest_mature(monitor)
    return [start for (_, segment), start in newest.items() if segment == ""]


def _of_counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Origins, what nobody sees, and reviewers."""
    predictions, labels = int(counts.get("predictions") or 0), counts.get("labels")
    if labels is None:
        known = sum(counts.get("arrivals", ()))
        origin = LabelOriginView(name="Confirmed", cases=known, positive=known)
        return {"predictions": predictions, "origins": (origin,), "known_positives": known}
    origins = tuple(_origins(labels["rows"]))
    rows = {name: sum(both) for name, both in labels["rows"].items()}
    waiting = sum(origin.waiting for origin in origins)
    return {
        "predictions": predictions,
        "origins": origins,
        "not_reviewed": (rows.get("not reviewed", 0) + waiting) / max(predictions, 1),
        "stopped": labels["rows"].get("stopped", (0, 0))[0] / max(predictions, 1),
        "known_positives": sum(origin.positive for origin in origins),
        "reviewers": tuple(ReviewerCounts(**reviewer) for reviewer in labels["reviewers"]),
    }


def _origins(rows: Mapping[str, Sequence[int]]) -> Iterator[LabelOriginView]:
    by_reason: dict[str, dict[str, Sequence[int]]] = {}
    for name, both in rows.items():
        reason, _, verdict = name.partition(", ")
        by_reason.setdefault(reason, {})[verdict] = both
    for reason, title in _ORIGINS.items():
        verdicts = by_reason.get(reason)
        if verdicts is None:
            continue
        if "" in verdicts:
            silent, complained = verdicts[""]
            cases = complained if reason == "not reviewed" else silent + complained
            yield LabelOriginView(name=title, cases=cases, positive=complained)
            continue
        total = {verdict: sum(both) for verdict, both in verdicts.items()}
        # A complaint after a case was cleared says that it was cleared by mistake.
        is_complaint = reason == "complaint"
        came = {verdict: both[1] for verdict, both in verdicts.items()}
        mistaken = 0 if is_complaint else came.get("negative", 0)
        unseen = sum(came.get(name, 0) for name in ("undecided", "reviewers differ", "waiting"))
        yield LabelOriginView(
            name=title,
            cases=sum(total.values()),
            positive=total.get("positive", 0) + mistaken + unseen,
            negative=total.get("negative", 0) - mistaken,
            both=sum(came.values()),
            undecided=total.get("undecided", 0),
            differing=total.get("reviewers differ", 0),
            waiting=total.get("waiting", 0),
        )


def _of_evaluation(ledger: Ledger, stored: StoredEvaluation) -> dict[str, Any]:
    """Positives that are estimated, and what more reviews would tell."""
    evaluation = stored.evaluation
    prior, settings = evaluation.get("class_prior"), evaluation.get("settings")
    facts: dict[str, Any] = {}
    if prior is not None and settings is not None and prior["value"] is not None:
        rows = settings["n_labeled"] + settings["n_unlabeled"] + settings.get("n_negative", 0)
        ends = (None if prior[end] is None else prior[end] * rows for end in ("low", "high"))
        low, high = ends
        facts["positives"] = IntervalView(value=prior["value"] * rows, low=low, high=high)
    if "reviews" not in evaluation.get("made_with", {}):
        return facts
    # Statistics are loaded with these, which commands that only read do without.
    from pumonitor.monitor.windows.evaluation.audited_windows import read_again
    from pumonitor.reviews.next_reviews import next_reviews
    from pumonitor.reviews.reading import ReviewedEstimates

    table = next(
        (
            series.table()
            for series in ledger.series(stored.window_key, stored.number)
            if (series.model_version, series.segment) == (stored.model_version, "")
        ),
        None,
    )
    reading = None if settings is None else read_again(evaluation, table)
    if isinstance(reading, ReviewedEstimates):
        facts["next_reviews"] = next_reviews(reading)
    return facts


def _arrivals(monitor: Monitor, records: Sequence[WindowRecord]) -> tuple[ArrivalView, ...]:
    from pumonitor.monitor.windows.labels_to_come import arrival_of

    schedule = monitor.pane_schedule
    ages = schedule.ages[: schedule.mature + 1]
    panes = [
        (record.window.start, ages[pane.number], pane.counts)
        for record in records
        for pane in record.panes
        if pane.counts is not None
        and pane.number < len(ages)
        and (not monitor.reviews or "labels" in pane.counts)
    ]

    def arriving(known: str) -> list[IntervalView]:
        arrival = arrival_of(
            [(start, age, float(_known(counts, known))) for start, age, counts in panes], ages
        )
        return [_number(arrival.share_known(age)) for age in ages]

    both = zip(ages, arriving("verdicts"), arriving("complaints"), strict=True)
    return tuple(
        ArrivalView(age_days=age / timedelta(days=1), verdicts=verdicts, complaints=complaints)
        for age, verdicts, complaints in both
    )


def _known(counts: Mapping[str, Any], what: str) -> int:
    """Verdicts or complaints; labels of any kind where there are no reviews."""
    labels = known_labels(counts)
    if labels is None:
        return sum(counts.get("arrivals", ())) if what == "complaints" else 0
    return labels.complaints if what == "complaints" else labels.verdicts + labels.undecided


def _number(share: Any) -> IntervalView:
    if share.undefined_reason is not None:
        return IntervalView()
    return IntervalView(value=float(share.value), low=float(share.low), high=float(share.high))


def _windows(
    ledger: Ledger, monitor: Monitor, looks: Sequence[tuple[WindowRecord, PaneRecord]]
) -> tuple[WindowLabelsView, ...]:
    if not looks:
        return ()
    since, until = looks[0][0].window.start, looks[-1][0].window.end
    frequencies = {
        row.window_start: IntervalView(value=row.value, low=row.low, high=row.high)
        for row in ledger.results(
            monitor.name, since=since, until=until, segment="", metrics=["label_frequency"]
        )
    }
    nothing = IntervalView()
    windows = []
    for record, look in looks:
        labels = known_labels(look.counts or {})
        windows.append(
            WindowLabelsView(
                start=record.window.start,
                state=look.state,
                predictions=int((look.counts or {}).get("predictions") or 0),
                complaints=_known(look.counts or {}, "complaints"),
                verdicts=None if labels is None else labels.verdicts,
                undecided=None if labels is None else labels.undecided,
                to_come=_to_come(ledger, monitor.name, record, look),
                label_frequency=frequencies.get(record.window.start, nothing),
            )
        )
    return tuple(windows)


def _to_come(
    ledger: Ledger, monitor: str, record: WindowRecord, look: PaneRecord
) -> LabelsToCome | None:
    """As the evaluation of the look has it."""
    if look.state != "provisional" or "labels" not in (look.counts or {}):
        return None
    for stored in ledger.evaluations(monitor, start=record.window.start, segment=""):
        plain_facts = stored.evaluation.get("labels_to_come")
        if plain_facts is not None:
            return LabelsToCome(**plain_facts)
    return None
