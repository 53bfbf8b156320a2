"""Executes the code blocks of README and docs: Python is run, YAML must be a valid configuration, bash is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import yaml
from sybil import Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, SkipParser

# One thread per process, as there is one process per core: threads of BLAS and OpenMP that wait for each other on small
# pictures took ten times the work. Read when the libraries are loaded, which is after this file.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def _check_yaml(example: Example) -> None:
    """A block with arms is a study, one with an origin a run's configuration, any other must at least be YAML."""
    from turngate import parse_config
    from turngate.graphs.study import read_study

    raw = yaml.safe_load(example.parsed)
    if isinstance(raw, dict) and "arms" in raw:
        path = Path(mkdtemp()) / f"{Path(example.path).stem}-line-{example.line}.yaml"
        path.write_text(example.parsed, encoding="utf-8")
        read_study(path)
    elif isinstance(raw, dict) and "origin" in raw:
        parse_config(raw, f"{example.path}, line {example.line}")


def _run_python(example: Example) -> None:
    """Run the block without what earlier ones left behind: a reader copies one block alone."""
    for name in set(example.namespace) - {"bash_folder"}:
        del example.namespace[name]
    PythonEvaluator()(example)


def _run_bash(example: Example) -> None:
    """Run the block in the document's own temporary folder, stopping at the first command that fails."""
    folder = example.namespace.setdefault("bash_folder", mkdtemp())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euc", example.parsed]
    done = subprocess.run(  # noqa: S603 - our own documentation
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{example.path}, line {example.line}: exit code {done.returncode}\n{done.stderr}"


pytest_collect_file = Sybil(
    parsers=[
        SkipParser(),
        CodeBlockParser(language="python", evaluator=_run_python),
        CodeBlockParser(language="yaml", evaluator=_check_yaml),
        CodeBlockParser(language="bash", evaluator=_run_bash),
    ],
    patterns=["*.md"],
).pytest()
