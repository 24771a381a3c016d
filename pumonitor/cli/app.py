"""The command line application: its options and the list of its commands."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pumonitor import __version__
from pumonitor.cli.accept import accept
from pumonitor.cli.addresses import forget_addresses, masked
from pumonitor.cli.alerts import alerts
from pumonitor.cli.audit import audit
from pumonitor.cli.backfill import backfill
from pumonitor.cli.challenge import challenge
from pumonitor.cli.check import check
from pumonitor.cli.compare import compare
from pumonitor.cli.decide import decide
from pumonitor.cli.demo import demo
from pumonitor.cli.doctor import doctor
from pumonitor.cli.engines import engines
from pumonitor.cli.estimate_prior import estimate_prior
from pumonitor.cli.evaluate import evaluate
from pumonitor.cli.export import export
from pumonitor.cli.finish import finish
from pumonitor.cli.init import init
from pumonitor.cli.insights import insights
from pumonitor.cli.migrate import migrate
from pumonitor.cli.notes import notes
from pumonitor.cli.notify import notify
from pumonitor.cli.outcome import FAILED
from pumonitor.cli.pages import pages
from pumonitor.cli.plan import plan
from pumonitor.cli.promote import promote
from pumonitor.cli.report import report
from pumonitor.cli.results import results
from pumonitor.cli.run import run
from pumonitor.cli.schema import schema
from pumonitor.cli.serve import serve
from pumonitor.cli.tokens import tokens
from pumonitor.monitor.own_process import collect_garbage_seldom


class _MaskingGroup(TyperGroup):
    """Commands whose usage errors repeat no secret of what was typed."""

    def invoke(self, ctx: Any) -> object:
        """Run the command that was named."""
        forget_addresses()
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            error.message = masked(error.message)
            raise


app = typer.Typer(
    name="pumonitor",
    cls=_MaskingGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit status of every command: 0 success; 1 an alert fires (--fail-on-alert), or a "
        "challenger is not better; 2 wrong usage, or the configuration or the data have to be "
        "corrected; 3 another failure or an undelivered message, and trying again may help."
    ),
)


def _print_version(asked: bool) -> None:  # noqa: FBT001 (the signature Typer calls)
    if asked:
        typer.echo(f"pumonitor {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Estimate how well a binary classifier does when only positives ever get confirmed."""


_A_FILE, _A_MONITOR, _START = "One file", "A monitor", "Getting started"

app.command(rich_help_panel=_START)(demo)
app.command(rich_help_panel=_A_FILE)(evaluate)
app.command(rich_help_panel=_A_FILE)(compare)
app.command(rich_help_panel=_A_FILE)(decide)
app.command(rich_help_panel=_A_FILE)(estimate_prior)
app.add_typer(audit, name="audit", rich_help_panel=_A_FILE)
app.command(rich_help_panel=_A_MONITOR)(init)
app.command(rich_help_panel=_A_MONITOR)(check)
app.command(rich_help_panel=_A_MONITOR)(run)
app.command(rich_help_panel=_A_MONITOR)(backfill)
app.command(rich_help_panel=_A_MONITOR)(serve)
app.command(rich_help_panel=_A_MONITOR)(pages)
app.command(rich_help_panel=_A_MONITOR)(results)
app.command(rich_help_panel=_A_MONITOR)(report)
app.command(rich_help_panel=_A_MONITOR)(insights)
app.add_typer(alerts, name="alerts", rich_help_panel=_A_MONITOR)
app.add_typer(notes, name="notes", rich_help_panel=_A_MONITOR)
app.command(rich_help_panel=_A_MONITOR)(notify)
app.command(rich_help_panel=_A_MONITOR)(plan)
app.command(rich_help_panel=_A_MONITOR)(challenge)
app.command(rich_help_panel=_A_MONITOR)(promote)
app.add_typer(export, name="export", rich_help_panel=_A_MONITOR)
app.command(rich_help_panel=_A_MONITOR)(doctor)
app.command(rich_help_panel=_A_MONITOR)(accept)
app.add_typer(engines, name="engines", rich_help_panel=_A_MONITOR)
app.command(rich_help_panel=_A_MONITOR)(migrate)
app.add_typer(tokens, name="tokens", rich_help_panel=_A_MONITOR)
app.command(rich_help_panel=_A_MONITOR)(finish)
app.command(rich_help_panel=_A_MONITOR)(schema)


def main() -> None:
    """Run the command line. An unexpected error prints its traceback and exits with status 3."""
    collect_garbage_seldom()
    try:
        app()
    except Exception:  # noqa: BLE001
        traceback.print_exc()
        sys.exit(FAILED)
