"""Images per second of `turngate score` on the suite `classic`, beside pyiqa called metric by metric on the same files.

    python benchmarks/scoring.py [--rounds 3] [--sides 512 1024 2048] [--files 4] [--jobs 2]

Files are JPEGs of the astronaut photograph (mirrored up to the side) of falling quality, compared with the undamaged
one. pyiqa gets the paths, as its own command does: each metric decodes each file again. It runs with as many threads of
torch as there are processors, and once more with one; for each metric the faster of the two counts. Ours decodes each
file once, scores it with every metric of the row and writes the table. Both use the same parameters of BRISQUE and
NIQE, in the same round; the ratio is the median of the rounds' ratios. `ciede2000` and `geometry` are in the suite but
not in pyiqa: the last row of a size times the whole suite without a counterpart. A quarter of an hour, nearly all of it
pyiqa's.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from skimage import data

from turngate.evaluators import EVALUATORS
from turngate.evaluators.bulk import Batcher, NamedEvaluator
from turngate.evaluators.suites import members
from turngate.rescoring import Rescoring, find

BLIND = ["brisque", "niqe", "piqe"]
COMPARING = ["psnr", "ssim", "ms_ssim"]
GROUPS = {
    "no reference (3)": BLIND,
    "full reference (3)": COMPARING,
    "both (6)": [*BLIND, *COMPARING],
    "classic (8)": members("classic"),
}
ROW = "{:>6}  {:<18}  {:>8}  {:>14}  {}"


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--sides", type=int, nargs="+", default=[512, 1024, 2048])
    options.add_argument("--files", type=int, default=4, help="at 2048 pixels; smaller ones are as many more")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    console = Console(width=100)
    console.print(ROW.format("pixels", "metrics", "images/s", "pyiqa images/s", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        theirs = _pyiqa()
        first = Path(folder) / "warm"
        origin = _files(first, 256, 1)
        _ours(first, origin, members("classic"), given.jobs)  # imports, tables and kernels of both, before the clock
        for metric in theirs:
            _theirs(first, origin, metric, theirs[metric], given.jobs)
        for side in given.sides:
            images, count = Path(folder) / str(side), max(1, given.files * 2048 // side)
            origin = _files(images, side, count)
            ours: dict[str, list[float]] = {name: [] for name in GROUPS}
            other: dict[str, list[float]] = {name: [] for name in GROUPS}
            for _ in range(given.rounds):
                seconds = {
                    metric: min(_theirs(images, origin, metric, call, n) for n in {1, given.jobs})
                    for metric, call in theirs.items()
                }
                for name, metrics in GROUPS.items():
                    ours[name].append(count / _ours(images, origin, metrics, given.jobs))
                    if set(metrics) <= set(theirs):
                        other[name].append(count / sum(seconds[metric] for metric in metrics))
            for name in GROUPS:
                ratios = [mine / that for mine, that in zip(ours[name], other[name], strict=False)]
                told = f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})" if ratios else ""
                beside = f"{statistics.median(other[name]):.3g}" if ratios else ""
                console.print(ROW.format(side, name, f"{statistics.median(ours[name]):.3g}", beside, told))


def _files(folder: Path, side: int, count: int) -> Path:
    """JPEGs in `folder`; returns the origin, which lies beside it."""
    folder.mkdir()
    name = "astronaut"  # scikit-image ships no types
    pixels = getattr(data, name)()
    pixels = pixels[:side, :side]
    while pixels.shape[0] < side:
        grown = min(side, 2 * pixels.shape[0]) - pixels.shape[0]
        pixels = np.pad(pixels, ((0, grown), (0, grown), (0, 0)), mode="symmetric")
    for number in range(count):
        Image.fromarray(pixels).save(folder / f"{number}.jpg", quality=90 - 50 * number // count)
    origin = folder.with_name(f"origin-{side}.png")
    Image.fromarray(pixels).save(origin)
    return origin


def _ours(folder: Path, origin: Path, metrics: Sequence[str], jobs: int) -> float:
    """Seconds from opening the folder to the last row in the table."""
    evaluators = []
    for metric in metrics:
        config = EVALUATORS.configure(metric, metric)
        evaluators.append(NamedEvaluator(metric, config, EVALUATORS.build(config)))
    with tempfile.TemporaryDirectory() as place:
        new = _never_seen(folder, Path(place) / "images")
        began = time.perf_counter()
        targets = list(find(new, origin, Path(place) / "scores.sqlite").targets(None, None, False))
        work = Rescoring(Batcher(evaluators, threads=jobs))
        for _ in work.run(targets):
            pass
        seconds = time.perf_counter() - began
    assert all(counts.by_status["failed"] == 0 for counts in work.counts.values())
    return seconds


def _never_seen(folder: Path, copies: Path) -> Path:
    """The same pictures under hashes of their own: what was worked out for a pair of images is remembered by them."""
    copies.mkdir()
    for file in folder.iterdir():
        (copies / file.name).write_bytes(file.read_bytes() + os.urandom(8))  # behind the end of a JPEG
    return copies


def _theirs(folder: Path, origin: Path, name: str, metric: Callable[..., Any], threads: int) -> float:
    """Seconds that one metric of pyiqa takes for all files."""
    import torch

    torch.set_num_threads(threads)
    reference = [str(origin)] if name in COMPARING else []
    began = time.perf_counter()
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        for path in sorted(folder.iterdir()):
            float(metric(str(path), *reference))
    return time.perf_counter() - began


def _pyiqa() -> dict[str, Callable[..., Any]]:
    """pyiqa's own metrics, BRISQUE and NIQE with the parameters that turngate ships."""
    import pyiqa

    from turngate.evaluators.pyiqa import write_ours

    found = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for name in [*BLIND, *COMPARING]:
            path = Path(folder) / {"brisque": "brisque_svm_weights.pth", "niqe": "niqe_modelparameters.mat"}.get(
                name, ""
            )
            given = {}
            if path != Path(folder):
                write_ours(path)
                given["pretrained_model_path"] = str(path)
            found[name] = pyiqa.create_metric(name, device="cpu", **given)
    return found


if __name__ == "__main__":
    main()
