"""How well a candidate is laid on its reference, on known warps of worn photographs.

Prints four tables. By warp, wear and photograph: share of cases that are trusted, error in pixels of the candidate
(mean distance of the four corners from where they really are: median, largest of the trusted ones, number above a
pixel, how many of these have the flag `uncertain`, how many others have), the same for translation only (`align:
shift`) and for SIFT features with RANSAC (OpenCV, upright only), and by how much the PSNR differs from that of the
same wear without a warp (median, furthest). Then CPU milliseconds by size. 14 photographs of scikit-image's wheel, or
with `--held-out` five that nothing was set on; about 20 minutes on one core, `--photographs 3` for a look.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from typing import Any

import cv2
import numpy as np
from _drift_inputs import photograph, rounded
from _register_warps import HELD_OUT, PHOTOGRAPHS, WARPS, WEAR, Case, case
from numpy.typing import NDArray
from PIL import Image
from rich.console import Console
from rich.table import Table

from turngate.evaluators import EVALUATORS, EvalInput, Score
from turngate.evaluators.registration import Align, Geometry, locate, register
from turngate.evaluators.scoring import score
from turngate.picture import Picture

COLUMNS = ("cases", "trusted", "error", "largest", "> 1 px", "flagged", "others flagged", "shift: error", "largest",
           "SIFT: error", "largest", "PSNR: new", "furthest", "PSNR: shift", "furthest")  # fmt: skip
_CLEAN = 60.0
"""dB from which a candidate has no wear: one resampling then counts for more than what is measured."""


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--photographs", type=int, default=len(PHOTOGRAPHS))
    options.add_argument("--held-out", action="store_true")
    given = options.parse_args()
    groups: dict[str, dict[str, list[dict[str, float]]]] = {
        kind: defaultdict(list) for kind in ("warp", "wear", "photograph")
    }
    for number, name in enumerate((HELD_OUT if given.held_out else PHOTOGRAPHS)[: given.photographs]):
        for warp_number, (warp_name, warp) in enumerate(WARPS.items()):
            for wear_number, wear in enumerate(WEAR):
                one = case(name, warp, wear, 10_000 * number + 100 * warp_number + wear_number)
                row = _measured(one, upright=not warp.mirrored and not warp.quarters and warp.size == 1)
                groups["warp"][warp_name].append(row)
                groups["wear"][wear].append(row)
                groups["photograph"][name].append(row)
    console = Console(width=200)
    for kind, rows in groups.items():
        table = Table(kind, *COLUMNS)
        for label, measured in rows.items():
            table.add_row(label, *_cells(measured))
        console.print(table)
    console.print(_times())


def _measured(one: Case, upright: bool) -> dict[str, float]:
    candidate, reference = Picture.from_rgb(one.candidate), Picture.from_rgb(one.reference)
    geometry = locate(candidate, reference, "full")
    row = {"trusted": float(geometry.refused is None)}
    truth = _psnr(Picture.from_rgb(one.unmoved), reference, "none")
    comparable = truth < _CLEAN and one.candidate.size == one.unmoved.size
    if geometry.refused is None:
        row["new"] = _error(one, _corners(geometry))
        row["flagged"] = float(any(flag.startswith("uncertain") for flag in geometry.flags()))
        if comparable:
            row["new dB"] = _psnr(candidate, reference, "full") - truth
    if upright:
        moved = register(candidate, reference, "shift").components
        height, width = one.reference.shape[:2]
        frame = np.array([(x, y) for x in (0, width) for y in (0, height)], dtype=float)
        row["shift"] = _error(one, frame - [moved["shift_x"], moved["shift_y"]])
        if comparable:
            row["shift dB"] = _psnr(candidate, reference, "shift") - truth
        matrix = _sift(one)
        if matrix is not None:
            row["sift"] = _error(one, frame @ matrix[:, :2].T + matrix[:, 2])
    return row


def _cells(rows: list[dict[str, float]]) -> list[str]:
    def column(name: str) -> list[float]:
        return [row[name] for row in rows if name in row]

    def pair(values: list[float], form: str) -> list[str]:
        if not values:
            return ["", ""]
        return [format(statistics.median(values), form), format(max(values, key=abs), form)]

    errors, flagged = column("new"), column("flagged")
    told = [flag for error, flag in zip(errors, flagged, strict=True) if error > 1]
    return [
        f"{len(rows)}", f"{statistics.mean(column('trusted')):.1%}", *pair(errors, ".2f"),
        f"{len(told)}", f"{sum(told):.0f}", f"{sum(flagged) - sum(told):.0f}",
        *pair(column("shift"), ".1f"), *pair(column("sift"), ".1f"),
        *pair(column("new dB"), "+.2f"), *pair(column("shift dB"), "+.2f"),
    ]  # fmt: skip


def _error(one: Case, corners: NDArray[np.float64]) -> float:
    return float(np.hypot(*(corners - one.corners).T).mean())


def _corners(geometry: Geometry) -> NDArray[np.float64]:
    """Where the reference's corners are in the candidate as it came, pixels from its left top edge."""
    width, height = geometry.candidate
    view = geometry.view
    found = np.array(
        [
            ((view.scale_x * u + view.offset_x) * width, (view.scale_y * v + view.offset_y) * height)
            for u in (0, 1)
            for v in (0, 1)
        ]
    )
    if geometry.orientation.mirrored:
        found[:, 0] = width - found[:, 0]
    for _ in range(geometry.orientation.quarters):
        found, width, height = np.stack([height - found[:, 1], found[:, 0]], axis=1), height, width
    return found


def _sift(one: Case) -> NDArray[np.float64] | None:
    """Affine matrix from reference to candidate, of edge positions; None when too few features agree."""
    finder: Any = getattr(cv2, "SIFT_create")()  # noqa: B009  # missing from OpenCV's own types
    found = [
        finder.detectAndCompute(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), None) for rgb in (one.reference, one.candidate)
    ]
    if any(features is None or len(features) < 2 for _, features in found):
        return None
    matches = cv2.BFMatcher().knnMatch(found[0][1], found[1][1], k=2)
    good = [first for first, second in matches if first.distance < 0.75 * second.distance]
    if len(good) < 3:
        return None
    here = np.array([found[0][0][match.queryIdx].pt for match in good])
    there = np.array([found[1][0][match.trainIdx].pt for match in good])
    cv2.setRNGSeed(0)
    matrix: Any = cv2.estimateAffine2D(here + 0.5, there + 0.5)[0]
    return matrix if matrix is not None and np.isfinite(matrix).all() else None


def _psnr(candidate: Picture, reference: Picture, align: Align) -> float:
    evaluator = EVALUATORS.build(EVALUATORS.configure({"type": "psnr", "align": align}, "psnr"))
    result = score(evaluator, [EvalInput(candidate, origin=reference)])[0]
    assert isinstance(result, Score)
    return result.value


def _times() -> Table:
    """Median CPU milliseconds of a registration, pictures decoded: noise 40 and a crop of about 2 %."""
    table = Table("pixels", "shift", "crop", "full")
    whole = photograph("astronaut.png", 512)
    for side in (512, 1024, 2048):
        big = np.asarray(Image.fromarray(whole).resize((side, side), Image.Resampling.LANCZOS))
        lost = side // 50
        cut = Image.fromarray(big[lost // 2 :, lost:]).resize((side, side), Image.Resampling.LANCZOS)
        cells = []
        for align in ("shift", "crop", "full"):
            times = []
            for turn in range(3):
                noise = np.random.default_rng(turn).normal(0, 40, big.shape)
                candidate = Picture.from_rgb(rounded(np.asarray(cut) + noise))
                reference = Picture.from_rgb(big)
                start = time.process_time()
                register(candidate, reference, align)
                times.append((time.process_time() - start) * 1000)
            cells.append(f"{statistics.median(times):.0f}")
        table.add_row(f"{side}", *cells)
    return table


if __name__ == "__main__":
    main()
