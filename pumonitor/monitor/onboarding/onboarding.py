"""Make a working configuration from two files: propose each choice and let the user confirm it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.config.values.kinds import read_length, read_window_length, read_zone
from pumonitor.monitor.onboarding import proposals
from pumonitor.monitor.onboarding.answers import Answers, accept_proposals
from pumonitor.monitor.onboarding.column_choices import ColumnChoices
from pumonitor.monitor.onboarding.extent_notes import extent_notes, refuse_future
from pumonitor.monitor.onboarding.known_prior import (
    known_question,
    period_question,
    read_known,
    read_period,
)
from pumonitor.monitor.onboarding.label_origin import NOT_SAID, origin_question
from pumonitor.monitor.onboarding.onboarded import (
    Ask,
    Onboarded,
    Options,
    Question,
    ReviewQueue,
    StoppedRows,
)
from pumonitor.monitor.onboarding.pairing import pair_of_tables
from pumonitor.monitor.onboarding.review_choices import (
    MOST_VERDICT_WORDS,
    choose_reviews,
    stopped_rows,
)
from pumonitor.monitor.onboarding.table_reader import TableReader, open_tables
from pumonitor.monitor.onboarding.table_samples import ColumnSample, Extent, TableSample
from pumonitor.monitor.rules.reference.reference_windows import FEWEST_WINDOWS
from pumonitor.monitor.rules.windows.windows import WindowGrid
from pumonitor.ports import Clock
from pumonitor.sources.column_types.monitored_tables import LabelWords
from pumonitor.sources.reach.session import Progress
from pumonitor.text import given_text, number_text, percent_text

_DEFAULT_THRESHOLDS: Final = {"probability": 0.5, "unbounded": 0.0}


def onboard(
    files: Sequence[str],
    options: Options,
    *,
    ask: Ask = accept_proposals,
    progress: Progress | None = None,
    clock: Clock = lambda: datetime.now(UTC),
) -> Onboarded:
    """Read the files and make every choice; `ask` is called for those that no option makes.

    Parameters
    ----------
    files : sequence of str
        A folder, or files and patterns in any order; empty with both paths among the options.
    options : Options
    ask : callable
        Called with a `Question`.
    progress : callable, optional
    clock : callable
        Returns the time now, to recognise times in the future.

    Raises
    ------
    InputError
        If the two tables are not found, or a column is not valid for its role.
    """
    *pair, of_reviews = pair_of_tables(
        files,
        predictions=options.predictions,
        positives=options.positives,
        reviews=options.reviews,
    )
    if of_reviews is None and any(
        (options.verdict, options.words, options.decided_at, options.chosen_by, options.blocks)
    ):
        msg = (
            "--verdict, --word, --decided-at, --chosen-by and --blocks are of a table of reviews: "
            "name it with --reviews"
        )
        raise InputError(msg)
    paths = [*pair, *([] if of_reviews is None else [of_reviews])]
    with open_tables(paths, progress=progress) as (reader, locations):
        predictions, positives, *others = map(reader.table, locations)
        if options.predictions is None and proposals.is_turned(predictions, positives):
            predictions, positives = positives, predictions
        decisions = _Decisions(
            reader,
            predictions,
            positives,
            reviews=others[0] if others else None,
            options=options,
            ask=ask,
            now=clock(),
        )
        return decisions.all()


class _Decisions:
    """Makes the decisions in order and keeps the reason of each."""

    def __init__(
        self,
        reader: TableReader,
        predictions: TableSample,
        positives: TableSample,
        *,
        reviews: TableSample | None,
        options: Options,
        ask: Ask,
        now: datetime,
    ) -> None:
        self._now = now
        self._reader = reader
        self._predictions = predictions
        self._positives = positives
        self._reviews = reviews
        self._options = options
        self._answers = Answers(ask)
        self._answers.found("predictions", predictions.name, "has scores")
        self._answers.found("positives", positives.name, "refers to them")
        if reviews is not None:
            self._answers.found("reviews", reviews.name, "has verdicts of a queue")
        self._columns = ColumnChoices(
            reader, predictions, positives, options=options, answers=self._answers
        )

    def all(self) -> Onboarded:
        options = self._options
        ids = self._columns.ids()
        score = self._columns.column(
            "score", self._predictions, proposals.score_column, options.score
        )
        time = self._columns.column("time", self._predictions, proposals.time_column, options.time)
        known = self._columns.known_at()
        label, words = self._columns.label()
        origin = self._label_origin()
        if words is not None and words.negative and self._reviews is None:
            self._answers.notes.append(
                f"{self._positives.name} has negative outcomes too. If a review queue gave them, "
                "these are verdicts: name the table with --reviews, and one of complaints alone "
                "with --positives."
            )
        zone = self._zone(time, known)
        extent = self._extent(
            ids, time=time, score=score.name, known=known, label=label, words=words, zone=zone
        )
        scale = self._scale(extent, score.name)
        queue, stopped = self._queue(ids[0], zone)
        window = self._window(extent, queue)
        maturity = self._maturity(extent)
        threshold = self._threshold(scale, score.name)
        version = self._columns.model_version()
        propensity = None if queue is not None else self._propensity()
        reference = self._reference(extent, window=window, zone=zone, maturity=maturity)
        class_prior = None
        if queue is None:
            class_prior = self._class_prior(extent, reference, WindowGrid(every=window, zone=zone))
        used = {*ids, score.name, time.name, *([version.name] if version else [])}
        used |= {stopped.column} if stopped is not None else set()
        segments = proposals.segment_columns(self._predictions, used)
        return Onboarded(
            name=self._name(),
            predictions=self._predictions.name,
            positives=self._positives.name,
            id=ids[0],
            positives_id=ids[1],
            time=time.name,
            score=score.name,
            known_at=known.name if known is not None else None,
            label=label,
            label_words=words,
            model_version=version.name if version else None,
            propensity=propensity,
            segments=segments,
            time_zone=zone if time.kind == "naive" else None,
            known_zone=zone if known is not None and known.kind == "naive" else None,
            time_unit=time.time_unit,
            known_unit=known.time_unit if known is not None else None,
            zone=zone,
            window=window,
            score_scale=scale,
            maturity=maturity,
            threshold=threshold,
            class_prior=class_prior,
            reference=reference,
            findings=tuple(self._answers.findings),
            notes=tuple(self._answers.notes),
            label_origin=origin,
            reviews=queue,
            stopped=stopped,
        )

    def _label_origin(self) -> str | None:
        """Where confirmed positives come from, as the user says; implied by reviews."""
        if self._reviews is not None:
            return None
        answer = self._answers.answer(origin_question(), self._options.label_origin)
        if answer == NOT_SAID:
            self._answers.notes.append(
                "Where confirmed positives come from was not said (--label-origin): they are taken "
                "for a fair sample of the positives, and results will say so."
            )
            return None
        self._answers.found("label_origin", answer, "as given")
        if answer in {"queue", "both"}:
            self._answers.notes.append(
                "A queue prefers the cases that it looks at: recall, F1 and AUC have no value from "
                "such labels. Give the table of its verdicts with --reviews, and complaints "
                "alone with --positives."
            )
        return answer

    def _queue(self, id_: str, zone: str) -> tuple[ReviewQueue | None, StoppedRows | None]:
        """The review queue, and rows that were stopped outright; None without reviews."""
        if self._reviews is None:
            return None, None
        queue = choose_reviews(
            self._reader,
            self._predictions,
            self._reviews,
            id_=id_,
            options=replace(self._options, zone=zone),
            answers=self._answers,
        )
        self._answers.notes.append(
            "Beside reviews, positives are complaints alone. Reviews and complaints say how many "
            "positives there are: no class prior is needed."
        )
        return queue, stopped_rows(self._reader, self._predictions, self._answers)

    def _extent(
        self,
        ids: tuple[str, str],
        *,
        time: ColumnSample,
        score: str,
        known: ColumnSample | None,
        label: str | None,
        words: LabelWords | None,
        zone: str,
    ) -> Extent:
        """Rows and times of both tables, none in the future, with notes on what looks odd."""
        extent = self._reader.extent(
            self._predictions,
            self._positives,
            ids=ids,
            time=time,
            score=score,
            known_at=known,
            label=label,
            label_words=words,
        )
        known_naive = known is not None and known.kind == "naive"
        extent = proposals.in_zone(extent, zone, time=time.kind == "naive", known=known_naive)
        refuse_future(extent, self._predictions, time, self._positives, known, now=self._now)
        self._answers.notes += extent_notes(extent, self._predictions, self._positives)
        return extent

    def _propensity(self) -> str | None:
        column = proposals.propensity_column(self._positives)
        if column is None:
            return None
        self._answers.found("propensity", column.name, "by its name")
        return column.name

    def _zone(self, time: ColumnSample, known: ColumnSample | None) -> str:
        naive = [column.name for column in (time, known) if column and column.kind == "naive"]
        if not naive:
            return self._check_zone(self._options.zone or "UTC")
        why = f"{' and '.join(naive)} {'say' if len(naive) > 1 else 'says'} no zone: assumed"
        question = Question(what="zone", option="--zone", proposal="UTC", why=why)
        return self._check_zone(self._answers.decide(question, self._options.zone))

    def _check_zone(self, zone: str) -> str:
        try:
            return read_zone(zone)
        except ValueError as error:
            msg = f"--zone {error}"
            raise InputError(msg) from None

    def _scale(self, extent: Extent, score: str) -> str:
        if extent.least_score == extent.greatest_score and extent.predictions > 1:
            msg = (
                f"score column {score!r} of {self._predictions.name} is "
                f"{given_text(extent.least_score)} in all rows: a constant score ranks nothing; "
                "name another with --score"
            )
            raise InputError(msg)
        inside = extent.least_score >= 0 and extent.greatest_score <= 1
        scale = "probability" if inside else "unbounded"
        least, greatest = number_text(extent.least_score), number_text(extent.greatest_score)
        seen = f"{score} is between {least} and {greatest}"
        self._answers.found("score_scale", scale, seen)
        return scale

    def _window(self, extent: Extent, queue: ReviewQueue | None) -> str:
        confirmed = extent.matched + self._found_by_review(queue)
        name, each = proposals.window_for(extent, confirmed)
        if each < proposals.ENOUGH_CONFIRMATIONS and self._options.window is None:
            self._answers.notes.append(
                f"A window of {name} has about {each} confirmations, so its intervals will be wide."
            )
        why = f"about {each} confirmations in each"
        window = self._answers.decide(
            Question(what="window", option="--window", proposal=name, why=why), self._options.window
        )
        try:
            return read_window_length(window)
        except ValueError as error:
            msg = str(error) if isinstance(error, InputError) else f"--window {error}"
            raise InputError(msg) from None

    def _found_by_review(self, queue: ReviewQueue | None) -> int:
        """Positive verdicts, which confirm as complaints do."""
        if queue is None or self._reviews is None:
            return 0
        column = self._reviews.column(queue.verdict, option="--verdict")
        rows = self._reader.words(self._reviews, column, most=MOST_VERDICT_WORDS)
        return sum(rows[word] for word in queue.words.positive)

    def _maturity(self, extent: Extent) -> timedelta:
        proposal = proposals.maturity_for(extent)
        why = (
            "95% of the confirmations had arrived by then"
            if extent.delays
            else ("no label delay was found")
        )
        if not extent.delays:
            proposal = timedelta(days=30)
        text = self._answers.decide(
            Question(
                what="maturity", option="--maturity", proposal=shown_duration(proposal), why=why
            ),
            self._options.maturity,
        )
        try:
            return read_length(text)
        except ValueError as error:
            msg = f"--maturity {error}"
            raise InputError(msg) from None

    def _threshold(self, scale: str, score: str) -> float:
        given, default = self._options.threshold, _DEFAULT_THRESHOLDS[scale]
        by_default = self._reader.share_at_or_above(self._predictions, score, default)
        question = Question(
            what="threshold",
            option="--threshold",
            proposal=f"{default:g}",
            why=f"the middle of the scale, at which {percent_text(by_default)} of predictions are "
            "flagged; it is only a default: give the threshold at which your decisions are made",
        )
        text = self._answers.decide(question, None if given is None else f"{given:g}")
        try:
            threshold = float(text)
        except ValueError:
            msg = f"--threshold must be a number, got {text!r}"
            raise InputError(msg) from None
        flagged = self._reader.share_at_or_above(self._predictions, score, threshold)
        note = (
            f"At the threshold of {given_text(threshold)}, {percent_text(flagged)} of predictions "
            "are flagged."
        )
        if given is None and text == question.proposal:
            note += (
                " This is a default: precision, recall and F1 are for decisions at this score. "
                "Give your own with --threshold, or threshold in the configuration."
            )
        self._answers.notes.append(note)
        return threshold

    def _reference(
        self, extent: Extent, *, window: str, zone: str, maturity: timedelta
    ) -> tuple[str, str] | None:
        grid = WindowGrid(every=window, zone=zone)
        found = proposals.reference_windows(extent, grid=grid, maturity=maturity)
        count = len(found.reference)
        if count < FEWEST_WINDOWS:
            mature = len(found.windows)
            known = {0: "No window is", 1: "One window is"}.get(mature, f"{mature} windows are")
            self._answers.notes.append(
                f"{known} mature yet: when there are {2 * FEWEST_WINDOWS}, add a reference with "
                f"the first {FEWEST_WINDOWS} of them or more."
            )
            return None
        span = proposals.written_span(found.reference, grid=grid)
        why = f"the first {count} of {len(found.windows)} windows whose labels are mature"
        if count > len(found.windows) // 3:
            why += (
                ": more than a third, in order to estimate how much windows vary when nothing "
                "changes"
            )
        elif count == len(found.windows) // 3:
            why += ": a third of them"
        else:
            why += ": a third of them would go back longer than four weeks"
        if count < proposals.ENOUGH_REFERENCE_WINDOWS:
            self._answers.notes.append(
                f"A reference of {count} windows is too short to estimate well how much windows "
                f"vary when nothing changes: make it {proposals.ENOUGH_REFERENCE_WINDOWS} windows "
                "or longer when there are more."
            )
        self._answers.found("reference", f"{span[0]} to {span[1]}", why)
        return span

    def _class_prior(
        self, extent: Extent, reference: tuple[str, str] | None, windows: WindowGrid
    ) -> str:
        known = read_known(self._answers.answer(known_question(), self._options.known_prior))
        if known is None:
            why = (
                "estimated from the scores, if labels are a fair sample; a share known for a past "
                " period (--known-prior) or an audit (--audit) makes its interval narrower"
            )
            self._answers.found("class_prior", "auto", why)
            return "auto"
        question = period_question(extent, reference, windows)
        period = read_period(self._answers.answer(question, self._options.prior_period), windows)
        written = known.written(*period)
        self._answers.found("class_prior", written, "as given: it is followed from that period on")
        return written

    def _name(self) -> str:
        stem = re.sub(r"[^A-Za-z0-9]+", "-", Path.cwd().name).strip("-").lower()
        question = Question(
            what="name", option="--name", proposal=stem or "classifier", why="the folder's name"
        )
        return self._answers.decide(question, self._options.name)
