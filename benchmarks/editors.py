"""What 100 turns of each local editor do to a photograph, in numbers and pictures, with no gate.

    python benchmarks/editors.py [--photo astronaut] [--turns 100] [--sheets FOLDER]

Prints scores at turns 1, 5, 10, 20, 50, 100 (brisque, niqe, piqe, drift: lower is better; psnr and ssim to the origin
after alignment: higher is better) and the median time of an edit. `--sheets` writes a contact sheet per editor.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from turngate import Edited, EditRequest, Picture, Sample, Score
from turngate.agent.editors import EDITORS
from turngate.evaluators import EVALUATORS
from turngate.evaluators.scoring import score
from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin

TURNS = (1, 5, 10, 20, 50, 100)
EDITORS_SHOWN: dict[str, dict[str, Any]] = {
    "span x4": {"type": "span"},
    "span x4, bicubic": {"type": "span", "kernel": "bicubic"},
    "codec jpeg q50": {"type": "codec", "quality": 50},
    "codec jpeg q50, jitter": {"type": "codec", "quality": 50, "resize_jitter": 0.02},
    "codec png": {"type": "codec", "format": "png"},
    "simulated (by hand)": {"type": "simulated"},
}
METRICS: dict[str, Any] = {
    "brisque": "brisque",
    "niqe": "niqe",
    "piqe": "piqe",
    "drift": "drift",
    "psnr": {"type": "psnr", "align": "shift"},
    "ssim": {"type": "ssim", "align": "shift"},
}


def main() -> None:
    """Print one block per editor."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--photo", default="astronaut")
    options.add_argument("--turns", type=int, default=100)
    options.add_argument("--sheets", type=Path)
    chosen = options.parse_args()
    origin = load_origin(OriginConfig(image=f"skimage:{chosen.photo}", size=512))
    metrics = {name: EVALUATORS.build(EVALUATORS.configure(raw, name)) for name, raw in METRICS.items()}
    print("| editor | turn | " + " | ".join(METRICS) + " | ms per edit |")
    print("|---" * (len(METRICS) + 3) + "|")
    for name, raw in EDITORS_SHOWN.items():
        editor = EDITORS.build(EDITORS.configure(raw, name))
        current, shown, spent = origin, [origin], []
        for turn in range(1, chosen.turns + 1):
            started = time.perf_counter()
            answer = editor.edit(EditRequest((current,), "", turn, 1, 1000 + turn))
            spent.append((time.perf_counter() - started) * 1e3)
            assert isinstance(answer, Edited)
            current = answer.picture or Picture.from_bytes(answer.data)
            if turn in TURNS:
                shown.append(current)
                results = [score(metric, [Sample(current, origin=origin)])[0] for metric in metrics.values()]
                cells = [f"{r.value:.2f}" if isinstance(r, Score) else type(r).__name__ for r in results]
                print(f"| {name} | {turn} | {' | '.join(cells)} | {statistics.median(spent):.0f} |", flush=True)
        if chosen.sheets:
            chosen.sheets.mkdir(parents=True, exist_ok=True)
            file = "-".join(word.strip("(),") for word in name.split()) + ".jpg"
            _sheet(shown).save(chosen.sheets / file, quality=85)


def _sheet(pictures: list[Picture]) -> Image.Image:
    side = 256
    sheet = Image.new("RGB", (side * len(pictures), side))
    for index, picture in enumerate(pictures):
        sheet.paste(Image.fromarray(np.asarray(picture.rgb)).resize((side, side)), (index * side, 0))
    return sheet


if __name__ == "__main__":
    main()
