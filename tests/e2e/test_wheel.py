"""The built wheel works in an environment that has nothing of this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from what git tracks."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    tar = subprocess.run(["tar", "--null", "-T", "-", "-c"], cwd=ROOT, input=files, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=source, input=tar.stdout, check=True)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(command, capture_output=True, check=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_everything(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "turngate/py.typed", "turngate/agent/editors/networks/span.py", "turngate/graphs/machine.py",
        "turngate/cli/template.yaml",
        *(f"turngate/evaluators/no_reference/data/{name}" for name in ("brisque_live.npz", "NOTICE")),
        *(f"turngate/pages/report/{name}" for name in ("run.html.j2", "report.css", "turns.js")),
    ):  # fmt: skip
        assert name in names
    pages = {name.partition("/share/doc/turngate/")[2] for name in names if "/share/doc/turngate/" in name}
    assert {"tutorial.md", "gates.md", "editors/span.md", "design/truth.md"} <= pages
    assert not [name for name in names if "labelled" in name and name.endswith(".yaml")], "texts to measure readers on"
    assert not [name for name in names if name.split("/")[0] in ("agent", "graphs", "evaluators", "traces", "tests")]


@pytest.mark.slow
def test_the_wheel_runs_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    """Only the wheel is installed; its dependencies are lent from here, this checkout is not."""
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, capture_output=True, check=True)
    site = next((environment / "lib").glob("python*/site-packages"))
    # A path in a .pth file is searched last, and the .pth files inside it (this checkout's among them) are not read.
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (tmp_path / "c.yaml").write_text(
        "{origin: 'skimage:coffee', scenario: replicate, turns: 2, editor: {type: codec, quality: 20}, "
        "evaluators: [brisque, niqe, drift, psnr], gate: {type: threshold, evaluator: drift, at: 1}}"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OTEL"))}
    run = [str(environment / "bin" / "turngate"), "run", "c.yaml", "--out", "run", "--json"]
    done = subprocess.run(run, cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"status": "complete"' in done.stdout
    assert (tmp_path / "run" / "report.html").exists()
    where = "import turngate, turngate.agent, turngate.traces; print(turngate.__file__, turngate.traces.__file__)"
    found = subprocess.run(
        [str(python), "-c", where], cwd=tmp_path, env=clean, capture_output=True, text=True, check=True
    )
    assert all(path.startswith(str(site)) for path in found.stdout.split())
