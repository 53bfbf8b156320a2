"""The command line. Each command is imported when it is used, so that `--help` stays fast."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

import click

__all__ = ["cli", "main"]

_COMMANDS = {
    "new": ("run", "Write a commented configuration to start from."),
    "run": ("run", "Run a configuration."),
    "resume": ("run", "Continue a run from where its ledger ends."),
    "fork": ("run", "Start a child run from a turn of another run."),
    "study": ("study", "Run the arms of a study and compare them."),
    "import": ("importing", "Make recorded runs and a study page of frames that lie in a folder."),
    "show": ("show", "Show one run in numbers."),
    "replay": ("replay", "Decide a run's candidates again with another gate, as far as the record reaches."),
    "calibrate": (
        "calibrate",
        "Find a limit with a stated false-alarm rate, and its rate on photographs left out.",
    ),
    "compare": ("show", "Say how two runs differ, and where they part."),
    "list": ("show", "List the runs below a folder."),
    "report": ("report", "Write a run's report.html again."),
    "view": ("view", "Look at runs and studies in the browser: live, for labelling and review."),
    "plot": ("report", "Write the figures of a study for print."),
    "score": ("score", "Score runs, folders of images or manifests with more evaluators; adds, never overwrites."),
    "validate": ("export", "Check that a run folder holds what its ledger says."),
    "export": ("export", "Export a run as JSONL, CSV or Parquet."),
    "editors": ("components", "List the editors and whether they can run here."),
    "evaluators": ("components", "List the evaluators with their facts."),
    "gates": ("components", "List the gates."),
    "scenarios": ("components", "List the scenarios."),
    "readers": ("components", "List the readers of reasoning summaries."),
    "graph": ("components", "Print the state machine as Mermaid, or draw it."),
    "doctor": ("doctor", "Say what can run here and what is missing."),
    "docs": ("docs", "List the pages of the documentation, or print one."),
    "schema": ("export", "Print the JSON Schema of configuration, run.json, ledger rows and summary."),
    "fake-server": ("fake_server", "Serve fake Gemini and OpenAI-compatible endpoints on loopback."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]  # `list` is a module of this package as soon as that command was used

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = importlib.import_module(f"turngate.cli.{_COMMANDS[name][0]}")
        command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and name not in _COMMANDS:
            from turngate.registry import nearest

            if name == "help":
                return "help", _help, args[1:]
            ctx.fail(f"no command is called {name!r}{nearest(name, [*_COMMANDS, 'help'])}")
        return super().resolve_command(ctx, args)


@click.command("help")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def _help(ctx: click.Context, name: str | None) -> None:
    """`turngate help [COMMAND]` is what `turngate [COMMAND] --help` is."""
    ctx.exit(cli.main([*([name] if name else []), "--help"], ctx.find_root().info_name, standalone_mode=False))


@click.group(
    cls=_Lazy,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `turngate docs tutorial`. `turngate docs` lists the other pages.",
)
@click.version_option(package_name="turngate")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Do evaluator-gated image-editing loops catch or propagate degradation over 100 turns?"""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Entry point of the `turngate` command."""
    # Threads that wait for each other must sleep, not spin, and BLAS needs none beside evaluators that run in parallel:
    # on a busy machine either cost a factor of ten. Read when the libraries are loaded, so set before any import.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Pillow tells of every odd field of a file; what matters of it is in rows and messages of ours.
    warnings.filterwarnings("ignore", category=UserWarning, module="PIL")
    from turngate.cli.errors import guarded

    raise SystemExit(guarded(cli))
