"""Turns every failure of a command into one line and an exit code; the exit codes."""

from __future__ import annotations

import json
import signal
import sys
import traceback
from collections.abc import Sequence

import click

from turngate.cli.usage import usage_words
from turngate.errors import NotReady, TurngateError, one_line
from turngate.traces.redact import redact

__all__ = ["CODES", "code_for", "guarded"]


def guarded(command: click.Command) -> int:
    """Run a command; returns the exit code. With `--json` a failure is one JSON object too."""
    try:
        result = command.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _say("user", usage_words(error), 2)
    except (click.Abort, KeyboardInterrupt):
        return _say("user", "interrupted", 130)
    except TurngateError as error:
        if error.fault == "us":
            traceback.print_exc()
        return _say(error.fault, str(error), error.exit_code, error.faults if isinstance(error, NotReady) else ())
    except MemoryError:
        return _say("machine", "out of memory: use smaller images or fewer evaluators at once", 4)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        return _say("machine", f"{error.strerror or error}: {error.filename or 'no file named'}", 4)
    except Exception as error:
        print(redact(traceback.format_exc()), file=sys.stderr)
        return _say("us", f"{type(error).__name__}: {error}; this is a bug of turngate, please report it", 70)
    return result if isinstance(result, int) else 0


def _say(fault: str, message: str, code: int, faults: Sequence[str] = ()) -> int:
    """Print one line, or one for each of several faults."""
    from turngate.cli.columns import plain

    line = redact(one_line(message))
    if "--json" in sys.argv:
        told = {"fault": fault, "message": line, "exit_code": code}
        told |= {"faults": [redact(one_line(each)) for each in faults]} if faults else {}
        print(json.dumps({"error": told}, ensure_ascii=False))
    for each in faults or (line,):  # it may hold a provider's or a file's words
        print(f"turngate: {plain(redact(one_line(each)), 10_000)}", file=sys.stderr)
    return code


# Exit codes of the command line, by who is at fault and by how a run ended.

CODES = {
    0: "done: the run is complete, or the command found nothing wrong",
    1: "`validate` found something wrong",
    2: "the user is at fault: configuration, file, missing extra, key or weights, wrong usage",
    3: "a provider is at fault: rate limit, refusal, time-out",
    4: "the machine is at fault: disk, memory, permissions, damaged run",
    5: "another process works on the run",
    10: "the run ended before its last turn: stopped, attempts_exhausted or budget_exhausted",
    11: "the run waits: for a person, or for the next image of the program that makes them",
    70: "turngate or a component is at fault: please report it",
    130: "interrupted (SIGINT); the run can be resumed",
    143: "terminated (SIGTERM); the run can be resumed",
}
"""Exit code -> meaning."""

_BY_STATUS = {
    "complete": 0,
    "stopped": 10,
    "attempts_exhausted": 10,
    "budget_exhausted": 10,
    "waiting": 11,
}


def code_for(status: str, reason: str | None = None) -> int:
    """Exit code for a run's status.

    An interrupted run takes the signal's, which its reason names; without one it waits for its program.
    """
    if status == "interrupted":
        known = signal.Signals.__members__.get(reason or "")
        return _BY_STATUS["waiting"] if known is None else 128 + known
    return _BY_STATUS.get(status, 70)
