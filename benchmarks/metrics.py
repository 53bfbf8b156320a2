"""What one image costs each metric of ours and the same metric of pyiqa, and how far the two values are apart.

    python benchmarks/metrics.py [--rounds 7] [--threads 1]

The photograph of the astronaut at 512 x 512, and mirrored to 1024 x 1024, against its own JPEG of quality 40. A round
times each metric of both kinds once; the table gives medians and their ratio. pyiqa reads our parameter files, so both
compute with the same numbers. The comment in the JPEG makes it a new pair each round: aligned PSNR pays for the
registration, aligned SSIM finds it done. Without pyiqa only our columns are filled. About a minute.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table
from skimage import data

from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

NAMES = ("brisque", "niqe", "piqe", "psnr", "ssim")
ALIGNED = ("psnr", "ssim")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--threads", type=int, default=1, help="threads of torch; ours always use one")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours = {name: _build({"type": name}) for name in NAMES}
        aligned = {f"{name}, aligned": _build({"type": name, "align": "shift"}) for name in ALIGNED}
        theirs = _pyiqa(Path(folder), given.threads)
        table = Table("metric", "pixels", "ms", "pyiqa ms", "pyiqa / ours", "difference")
        for side in (512, 1024):
            _measure(table, side, given.rounds, ours | aligned, theirs)
    Console().print(table)


def _measure(table: Table, side: int, rounds: int, ours: dict[str, Evaluator], theirs: dict[str, Evaluator]) -> None:
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    values: dict[tuple[str, str], float] = {}
    for turn in range(rounds):
        for kind, evaluators in (("ours", ours), ("pyiqa", theirs)):
            for name, evaluator in evaluators.items():
                sample = _sample(side, turn)  # decoded, but nothing is known about it yet
                start = time.perf_counter()
                result = score(evaluator, [sample])[0]
                times[kind, name].append((time.perf_counter() - start) * 1000)
                if isinstance(result, Score):
                    values[kind, name] = result.value
    for name in ours:
        mine = statistics.median(times["ours", name])
        row = [name, f"{side}", f"{mine:.1f}"]
        if name in theirs:
            other = statistics.median(times["pyiqa", name])
            row += [f"{other:.1f}", f"{other / mine:.2f}", f"{values['ours', name] - values['pyiqa', name]:+.5f}"]
        table.add_row(*row)


def _sample(side: int, turn: int) -> EvalInput:
    photograph = getattr(data, "astronaut")()  # noqa: B009  # scikit-image ships no types
    missing = side - photograph.shape[0]
    pixels = np.pad(photograph, ((0, missing), (0, missing), (0, 0)), mode="symmetric")
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=40, comment=f"{turn}")
    return EvalInput(Picture.from_bytes(buffer.getvalue()), origin=Picture.from_rgb(pixels))


def _build(raw: dict[str, Any]) -> Evaluator:
    return EVALUATORS.build(EVALUATORS.configure(raw, raw["type"]))


def _pyiqa(folder: Path, threads: int) -> dict[str, Evaluator]:
    if importlib.util.find_spec("pyiqa") is None:
        return {}
    import torch
    from scipy.io import savemat

    import turngate.evaluators

    torch.set_num_threads(threads)
    shipped = Path(turngate.evaluators.__file__).parent / "data"
    with np.load(shipped / "brisque_live.npz") as model:
        vectors = torch.tensor(model["coefficients"]).float(), torch.tensor(model["support_vectors"]).float()
    torch.save(vectors, folder / "brisque.pth")
    with np.load(shipped / "niqe_pristine.npz") as pristine:
        savemat(folder / "niqe.mat", {"mu_prisparam": pristine["mean"][None], "cov_prisparam": pristine["covariance"]})
    weights = {"brisque": str(folder / "brisque.pth"), "niqe": str(folder / "niqe.mat")}
    return {name: _build({"type": f"pyiqa:{name}", "weights": weights.get(name)}) for name in NAMES}


if __name__ == "__main__":
    main()
