"""What a command is called with: an example of each, and one line for a call that lacks something."""

from __future__ import annotations

from collections.abc import Mapping

import click

__all__ = ["EXAMPLES", "usage_words"]

EXAMPLES: Mapping[str, str] = {
    "calibrate": "runs/clean --evaluator drift",
    "compare": "runs/A runs/B",
    "export": "runs/A --format csv --out a.csv",
    "fork": "runs/A --turn 2 --set gate=always_accept",
    "import": "'frames/{origin}/step_{turn}.png'",
    "plot": "runs/STUDY --out figures",
    "replay": "runs/A --set gate.at=1",
    "report": "runs/A",
    "resume": "runs/A",
    "run": "my.yaml --set turns=3 --out my-run",
    "score": "runs/A --with niqe",
    "show": "runs/A",
    "study": "studies/quick.yaml --plan",
    "validate": "runs/A",
}
"""Command -> arguments that it can be called with; one for each command that needs any."""


def usage_words(error: click.ClickException) -> str:
    """What is wrong with a call, in one line that begins with the command; with an example where something lacks."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    name = context.info_name if context is not None and context.parent is not None else None
    if name is None:
        return error.format_message()
    if isinstance(error, click.MissingParameter) and error.param is not None:
        lacks = error.param.opts[0] if error.param.param_type_name == "option" else error.param.human_readable_name
        what = f"{lacks} {'are' if error.param.nargs == -1 else 'is'} missing"
        return f"{name}: {what}, for instance: turngate {name} {EXAMPLES.get(name, '')}".rstrip()
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    return f"{name}: {message.replace('. Did', ', did')}: see turngate {name} --help"
