"""Turns every failure of a command into one line and an exit code."""

from __future__ import annotations

import json
import sys
import traceback

import click

from turngate.errors import TurngateError
from turngate.traces.redact import redact

__all__ = ["guarded"]


def guarded(command: click.Command) -> int:
    """Run a command; returns the exit code. With `--json` a failure is one JSON object too."""
    try:
        result = command.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _say("user", error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        return _say("user", "interrupted", 130)
    except TurngateError as error:
        if error.fault == "us":
            traceback.print_exc()
        return _say(error.fault, str(error), error.exit_code)
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


def _say(fault: str, message: str, code: int) -> int:
    line = redact(" ".join(message.split()))
    if "--json" in sys.argv:
        print(json.dumps({"error": {"fault": fault, "message": line, "exit_code": code}}, ensure_ascii=False))
    print(f"turngate: {line}", file=sys.stderr)
    return code
