"""`turngate fake-server`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from turngate.cli.columns import plain
from turngate.cli.options import json_option

__all__ = ["fake_server_command"]


@click.command("fake-server")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 (default) takes a free one."
)
@click.option(
    "--script", "path", type=click.Path(path_type=Path), help="YAML or JSON file: which call is answered how."
)
@click.option(
    "--answer", "answers", multiple=True, metavar="CALL=ANSWER", help="Add to the script, e.g. --answer 3=no_image."
)
@click.option("--quiet", "-q", is_flag=True, help="No line per call.")
@json_option
def fake_server_command(port: int, path: Path | None, answers: tuple[str, ...], quiet: bool, as_json: bool) -> int:
    """Serve fake Gemini and OpenAI-compatible endpoints on loopback until SIGINT or SIGTERM.

    Nothing is a model here: edits are the image with seeded noise, judgements and token counts are made up.
    """
    from turngate.fake_server.app import make_app
    from turngate.fake_server.script import Script, read_script, with_answers
    from turngate.loopback import HOST, bind, serve

    script = with_answers(read_script(path) if path else Script(), answers)
    listening = bind(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}"
    key = "fake" if script.require_key is None else "KEY"
    environment = {
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": key,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": key,
    }

    def ready() -> None:
        if as_json:
            print(json.dumps({"url": url, "environment": environment}), flush=True)
        else:
            settings = " ".join(f"{name}={value}" for name, value in environment.items())
            print(f"ready at {url}: export {settings}", flush=True)

    serve(make_app(script, on_answered=lambda entry: None if quiet else _print_call(entry)), listening, ready)
    return 0


def _print_call(entry: dict[str, Any]) -> None:
    what = f"{entry['kind']} {entry['call']} {entry['model']}: {entry['answer']}" if entry["call"] else entry["path"]
    print(plain(f"{what} -> {entry['status']}"), file=sys.stderr, flush=True)
