"""What 100 turns of each local editor do to a photograph, in numbers and pictures, with no gate.

    python benchmarks/editors.py [--photo astronaut] [--turns 100] [--only NAME...] [--sheets FOLDER]

Prints scores at turns 1, 5, 10, 20, 50, 100 (brisque, niqe, piqe, drift: lower is better; psnr and ssim to the origin
after alignment: higher is better) and the median CPU time of an edit. `--sheets` writes a labelled contact sheet per
editor. An editor that lacks something here is left out with a line that says what: `vae` reads its weights from the
folder that TURNGATE_WEIGHTS names. 512 x 512 pixels, half a minute to three minutes per editor on one core.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from turngate import Edited, Editor, EditRequest, EvalInput, Evaluator, Picture, Score
from turngate.agent.editors import EDITORS
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import UserError
from turngate.evaluators import EVALUATORS
from turngate.evaluators.scoring import score
from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin

TURNS = (1, 5, 10, 20, 50, 100)
WEIGHTS = Path(os.environ.get("TURNGATE_WEIGHTS", "weights"))
EDITORS_SHOWN: dict[str, dict[str, Any]] = {
    "span x4": {"type": "span"},
    "span x4, bicubic": {"type": "span", "kernel": "bicubic"},
    "span x2": {"type": "span", "scale": 2},
    "style 25": {"type": "style"},
    "style 25, jitter": {"type": "style", "phase_jitter": True},
    "vae taef2": {
        "type": "vae",
        "model": "taef2",
        "encoder": str(WEIGHTS / "taef2_encoder.pth"),
        "decoder": str(WEIGHTS / "taef2_decoder.pth"),
    },
    "codec jpeg q50": {"type": "codec", "quality": 50},
    "codec jpeg q50, jitter": {"type": "codec", "quality": 50, "resize_jitter": 0.02},
    "codec png": {"type": "codec", "format": "png"},
    "simulated nano-banana-pro": {"type": "simulated"},
    "simulated nano-banana-2": {"type": "simulated", "signature": "nano-banana-2"},
    "simulated flux2-dev": {"type": "simulated", "signature": "flux2-dev"},
    "simulated qwen-image-edit": {"type": "simulated", "signature": "qwen-image-edit"},
}
METRICS: dict[str, Any] = {
    "brisque": "brisque",
    "niqe": "niqe",
    "piqe": "piqe",
    "drift": "drift",
    "psnr": {"type": "psnr", "align": "shift"},
    "ssim": {"type": "ssim", "align": "shift"},
}
TILE, LABEL, COLUMNS = 256, 26, 4


def main() -> None:
    """Print one block per editor."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--photo", default="astronaut")
    options.add_argument("--turns", type=int, default=100)
    options.add_argument("--only", nargs="+", choices=EDITORS_SHOWN, default=list(EDITORS_SHOWN), metavar="NAME")
    options.add_argument("--sheets", type=Path)
    chosen = options.parse_args()
    origin = load_origin(OriginConfig(image=f"skimage:{chosen.photo}", size=512))
    metrics = {name: EVALUATORS.build(EVALUATORS.configure(raw, name)) for name, raw in METRICS.items()}
    print("| editor | turn | " + " | ".join(METRICS) + " | CPU ms |")
    print("|---" * (len(METRICS) + 3) + "|")
    for name in chosen.only:
        try:
            editor = EDITORS.build(EDITORS.configure(EDITORS_SHOWN[name], name))
        except UserError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        shown = {"origin": origin}
        for turn, picture, milliseconds in _chain(editor, origin, chosen.turns):
            shown[f"turn {turn}"] = picture
            print(
                f"| {name} | {turn} | {' | '.join(_cells(metrics, picture, origin))} | {milliseconds:.0f} |", flush=True
            )
        if chosen.sheets:
            chosen.sheets.mkdir(parents=True, exist_ok=True)
            slug = "-".join(name.replace(",", "").split())
            _sheet(shown).save(chosen.sheets / f"editor-{slug}.jpg", quality=80, optimize=True)


def _chain(editor: Editor, origin: Picture, turns: int) -> Iterator[tuple[int, Picture, float]]:
    """The images at `TURNS` with the median CPU time of an edit until then; each turn edits the image before."""
    current, spent = origin, []
    scenario = SCENARIOS.build(SCENARIOS.configure("replicate", "scenario"))
    for turn in range(1, turns + 1):
        step = scenario.instruction(turn)
        started = time.process_time()
        answer = editor.edit(EditRequest((current,), step.text, turn, 1, 1000 + turn, operation=step.operation))
        spent.append((time.process_time() - started) * 1e3)
        assert isinstance(answer, Edited), answer
        current = answer.picture or Picture.from_bytes(answer.data)
        if turn in TURNS:
            yield turn, current, statistics.median(spent)


def _cells(metrics: dict[str, Evaluator], picture: Picture, origin: Picture) -> list[str]:
    results = [score(metric, [EvalInput(picture, origin=origin)])[0] for metric in metrics.values()]
    return [f"{result.value:.2f}" if isinstance(result, Score) else type(result).__name__ for result in results]


def _sheet(pictures: dict[str, Picture]) -> Image.Image:
    """Rows of tiles, each below its label."""
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (TILE * min(COLUMNS, len(pictures)), (TILE + LABEL) * rows), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(18)
    for index, (label, picture) in enumerate(pictures.items()):
        left, top = index % COLUMNS * TILE, index // COLUMNS * (TILE + LABEL)
        draw.text((left + 6, top + 3), label, fill="black", font=font)
        tile = Image.fromarray(np.asarray(picture.rgb)).resize((TILE, TILE), Image.Resampling.LANCZOS)
        sheet.paste(tile, (left, top + LABEL))
    return sheet


if __name__ == "__main__":
    main()
