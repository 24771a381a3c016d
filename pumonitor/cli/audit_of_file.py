"""What `pumonitor audit` does with one file of scores and labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pumonitor.cli.audit_options import Fair, share_of, widths_of
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.cli.progress import progress_bar
from pumonitor.cli.readings import class_prior_of, label_frequency_of

if TYPE_CHECKING:
    from pumonitor.audit.verdicts import Audit
    from pumonitor.sources.one_table.scored_rows import ScoredRows


def plan_of_file(
    file: str,
    *,
    labels: str,
    scores: str,
    threshold: float | None,
    cases: int | None,
    width: list[str] | None,
    metric: list[str] | None,
    above: str | None,
    class_prior: str,
    label_frequency: str | None,
    fair: Fair,
    chart: Path | None,
    as_json: bool,
) -> None:
    """Plan an audit of a file, and print it."""
    threshold = 0.5 if threshold is None else threshold
    prior = class_prior_of(class_prior, confidence_level=0.95)
    frequency, widths = label_frequency_of(label_frequency), widths_of(width)
    share = share_of(above)
    if chart is not None and chart.suffix not in (".png", ".svg"):
        msg = f"{str(chart)!r} must end with .png or .svg"
        raise typer.BadParameter(msg, param_hint="--chart")
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.audit_plan import plan_audit_table
            from pumonitor.cli.audit_files import write_width_chart
            from pumonitor.sources import read_score_table

            table = read_score_table(
                file, labels=labels, scores=scores, threshold=threshold, progress=step
            )
            found = plan_audit_table(
                table,
                threshold=threshold,
                cases=cases,
                width=widths,
                metrics=metric or None,
                class_prior=prior,
                label_frequency=frequency,
                above=share,
                fair=fair.value,
                progress=step,
            )
            if chart is not None:
                step("Simulating audits of other sizes", None)
                write_width_chart(found, chart)
        if as_json:
            typer.echo(json.dumps(found.to_dict(), allow_nan=False))
            return
        from pumonitor.cli.audit_tables import print_plan

        print_plan(found, source=file, asked=cases)


def draw_of_file(
    file: str,
    *,
    labels: str,
    scores: str,
    id_column: str,
    out: Path,
    threshold: float | None,
    cases: int | None,
    width: list[str] | None,
    metric: list[str] | None,
    above: str | None,
    column: list[str] | None,
    seed: str | None,
    class_prior: str,
    label_frequency: str | None,
    design: Path | None,
) -> None:
    """Plan an audit of a file, draw its cases and write them."""
    threshold = 0.5 if threshold is None else threshold
    prior = class_prior_of(class_prior, confidence_level=0.95)
    frequency, widths = label_frequency_of(label_frequency), widths_of(width)
    share = share_of(above)
    apart = design or _beside(out)
    shown = [one for one in column or () if one != id_column]
    hidden = {labels: "label", scores: "score"}
    for one in shown:
        if one in hidden:
            msg = f"'{one}' is the {hidden[one]}: reviewers who see it judge by it"
            raise typer.BadParameter(msg, param_hint="--column")
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            import secrets

            from pumonitor.audit_plan import draw_audit, plan_audit
            from pumonitor.cli.audit_files import refuse_existing, write_audit
            from pumonitor.cli.audit_tables import print_plan

            refuse_existing(out, apart)
            read = reviewed_rows(file, labels, scores, threshold, [id_column, *shown], step)
            score, ids = read.scores[scores], read.texts[id_column]
            planned = plan_audit(
                read.labels,
                score,
                threshold=threshold,
                cases=cases,
                width=widths,
                metrics=metric or None,
                class_prior=prior,
                label_frequency=frequency,
                above=share,
                progress=step,
            )
            step("Drawing", None)
            drawn = draw_audit(
                ids, read.labels, score, plan=planned, seed=seed or secrets.token_hex(16)
            )
            by_id = {
                name: dict(zip(map(str.strip, ids), read.texts[name], strict=True))
                for name in shown
            }
            write_audit(drawn, out, apart, columns=by_id)
        print_plan(planned, source=file, asked=cases)
        typer.echo(
            f"{len(drawn.cases)} cases of audit {drawn.name} are in {out}: fill in its column "
            "verdict with 1, 0 or undecided, in the order of the file.\n"
            f"The design is in {apart}: keep it from the reviewers."
        )


def read_of_file(verdicts: Path, *, design: Path | None, as_json: bool) -> None:
    """Read verdicts on an audit of a file, and print what they come to."""
    with errors_as_messages():
        found = verdicts_of_file(verdicts, design, Fair.check)
        said = list(found.verdicts.values())
        counts = {
            "cases": len(found.design.cases),
            "positive": said.count(1),
            "negative": said.count(0),
            "undecided": said.count(None),
            "unread": found.unread,
        }
        if as_json:
            refused = {one.reason: one.count for one in found.refused}
            typer.echo(json.dumps({"audit": found.design.name, **counts, "refused": refused}))
            return
        from pumonitor.cli.terminal import Console

        console = Console(highlight=False)
        console.print(
            f"Audit {found.design.name}, {counts['cases']} cases: {counts['positive']} positive, "
            f"{counts['negative']} negative, {counts['undecided']} undecided, {counts['unread']} "
            "not reviewed yet.",
            markup=False,
        )
        for one in found.refused:
            console.print(f"Not used: {one}", markup=False)
        if found.one_sided is not None:
            console.print(f"Warning: {found.one_sided}", markup=False)


def show_of_file(
    file: str,
    *,
    labels: str,
    scores: str,
    id_column: str,
    verdicts: Path,
    design: Path | None,
    fair: Fair,
    label_frequency: str | None,
    confidence_level: float,
    report: Path | None,
    as_json: bool,
) -> None:
    """Evaluate a file with an audit, and print it."""
    frequency = label_frequency_of(label_frequency)
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.evaluation import evaluate

            reviewed = verdicts_of_file(verdicts, design, fair)
            threshold = reviewed.design.threshold
            rows = reviewed_rows(file, labels, scores, threshold, [id_column], step)
            step("Estimating", None)
            ev = evaluate(
                rows.labels,
                rows.scores[scores],
                threshold=threshold,
                audit=reviewed,
                ids=rows.texts[id_column],
                label_frequency=frequency,
                confidence_level=confidence_level,
            )
            if report is not None:
                step("Writing the report", None)
                from pumonitor.cli.written_report import write_report

                plain = evaluate(
                    rows.labels,
                    rows.scores[scores],
                    threshold=threshold,
                    confidence_level=confidence_level,
                )
                write_report(ev, report, source=file, without_audit=plain)
        if as_json:
            typer.echo(json.dumps(ev.to_dict(), allow_nan=False))
            return
        from pumonitor.cli.audit_tables import bins_found, undecided_in_words
        from pumonitor.cli.estimates_table import rendered
        from pumonitor.cli.terminal import Console

        console = Console(highlight=False)
        for part in rendered(ev, name=file, width=console.width):
            console.print(part)
        if ev.audit is not None:
            console.print(bins_found(ev.audit.by_bin()))
            for sentence in undecided_in_words(ev):
                console.print(sentence, markup=False)
        if report is not None:
            console.print(f"Report: {report}", markup=False)


def _beside(cases: Path) -> Path:
    from pumonitor.cli.audit_files import design_beside

    return design_beside(cases)


def verdicts_of_file(path: Path, design: Path | None, fair: Fair) -> Audit:
    """The audit whose cases a file holds, with its verdicts."""
    from pumonitor.audit.verdicts import read_verdicts
    from pumonitor.cli.audit_files import read_design, read_verdict_rows
    from pumonitor.errors import InputError

    beside = _beside(path)
    if not path.is_file():
        msg = f"there is no file {path} of cases with verdicts"
        raise InputError(msg)
    if design is None and not beside.is_file():
        msg = (
            f"there is no file {beside}, the design that was written beside the cases: say where "
            "it is with --design"
        )
        raise InputError(msg)
    drawn = read_design(design or beside)
    return read_verdicts(drawn, read_verdict_rows(path), fair=fair.value)


def reviewed_rows(
    file: str, labels: str, scores: str, threshold: float, texts: list[str], step: Any
) -> ScoredRows:
    """Labels, scores and ids of the rows that an audit is of."""
    from pumonitor.sources.one_table.scored_rows import read_scored_rows

    return read_scored_rows(
        file, labels=labels, thresholds={scores: threshold}, texts=texts, progress=step
    )
