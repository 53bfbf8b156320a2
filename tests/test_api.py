"""The public surface: what is exported exists, and importing it stays light."""

from __future__ import annotations

import subprocess
import sys

import turngate


def test_everything_that_is_exported_exists() -> None:
    assert turngate.__all__ == sorted(turngate.__all__)
    for name in turngate.__all__:
        assert getattr(turngate, name).__doc__


def test_import_is_light() -> None:
    heavy = ["torch", "langgraph", "google.genai", "pyiqa", "transformers", "skimage", "plotly", "opentelemetry.sdk"]
    code = f"import turngate, turngate.cli, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_is_light() -> None:
    code = (
        "import sys; sys.argv = ['turngate', '--help']\n"
        "import turngate.cli\n"
        "try: turngate.cli.main()\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "print([m for m in ('torch', 'langgraph', 'google.genai', 'pydantic', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "study" in done.stdout
    assert done.stdout.strip().endswith("[]")
