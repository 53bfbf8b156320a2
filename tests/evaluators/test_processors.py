"""Our own metrics record the same numbers whatever kernels the libraries choose for the processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turngate.evaluators.registration import GRID

from ._on_a_processor import METRICS

BUILT: Any = np.show_config(mode="dicts")
NUMPY = ",".join(BUILT["SIMD Extensions"].get("found", []))
OPENCV = "AVX512-SKX,AVX2,AVX,FP16,SSE4.2,SSE4.1"
GLIBC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX"
KERNELS: dict[str, dict[str, str]] = {
    "as it is, two threads": {"TEST_THREADS": "2"},
    "OpenBLAS of 2013, one thread": {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"},
    "OpenCV without AVX-512": {"OPENCV_CPU_DISABLE": "AVX512-SKX", "OPENBLAS_CORETYPE": "Nehalem"},
    "no AVX, no FMA": {
        "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1", "OPENCV_CPU_DISABLE": OPENCV,
        "OPENCV_IPP": "disabled", "NPY_DISABLE_CPU_FEATURES": NUMPY, "GLIBC_TUNABLES": GLIBC,
    },
}  # fmt: skip
"""Environment variables; what a processor does not have is not disabled, so elsewhere some do nothing."""


def results(kernels: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Of `_on_a_processor` in a process of its own."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "OPENCV_", "NPY_"))}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("_on_a_processor.py"))],
        env={**plain, "TEST_THREADS": "1", **kernels}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, dict[str, Any]]]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(KERNELS, pool.map(results, KERNELS.values()), strict=True))


def registered(case: str) -> bool:
    return case.endswith((" full", " geometry", " drift", " drift_chain"))


@pytest.mark.slow
@pytest.mark.parametrize("kernels", list(KERNELS)[1:])
def test_values_do_not_hang_on_the_kernels(found: dict[str, dict[str, dict[str, Any]]], kernels: str) -> None:
    """To the last recorded decimal. A fit may take the next step of its grid: once among all of these."""
    here, there = found["as it is, two threads"], found[kernels]
    assert len(here) == 9 * len(METRICS)
    assert sum(one["status"] == "scored" for one in here.values()) >= len(here) - 3
    stepped = set()
    for case, one in here.items():
        other = there[case]
        if one != other and registered(case):
            stepped.add(case.partition(":")[0])
            assert other["value"] == pytest.approx(one["value"], abs=0.01), case
            for side in ("shift_x", "shift_y"):
                assert other["components"].get(side, 0) == pytest.approx(one["components"].get(side, 0), abs=2 / GRID)
        else:
            assert one == other, case
    assert len(stepped) <= 1, stepped
