"""What the simulated editor's signatures do to real photographs, in numbers and pictures. All damage is by hand.

    python benchmarks/calibration.py [--signatures NAME ...] [--photos NAME ...] [--turns 100] [--sheets FOLDER]

Prints, per signature and photograph, brisque, niqe and piqe (lower is better) and psnr to the origin after alignment
(dB, higher is better) at turns 0, 1, 5, 10, 20, 50, 100; then on how many photographs each metric is better at turns
5, 10 and 20 than at turn 1, though the images are worse; then the median processor time of an edit. `--sheets` writes a
contact sheet per signature: the first two photographs whole, and a detail of each at its own size. About five minutes
on one core.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
from pathlib import Path
from typing import Any

from PIL import Image

from turngate import Edited, EditRequest, EvalInput, Evaluator, Picture, Score
from turngate.agent.editors import EDITORS
from turngate.agent.editors.simulated import SIGNATURES
from turngate.evaluators import EVALUATORS
from turngate.evaluators.scoring import score
from turngate.graphs.config import OriginConfig
from turngate.graphs.origin import load_origin

TURNS = (0, 1, 5, 10, 20, 50, 100)
LATER = (5, 10, 20)
"""Compared with turn 1, as the paper does."""
PHOTOS = ("astronaut", "coffee", "chelsea", "rocket")
METRICS: dict[str, Any] = {
    "brisque": "brisque",
    "niqe": "niqe",
    "piqe": "piqe",
    "psnr": {"type": "psnr", "align": "shift"},
}
FOOLED = ("brisque", "niqe", "piqe")
"""Metrics that look at the image alone; lower is better."""
CELL = 200
"""Side of one picture of a contact sheet, pixels."""


def main() -> None:
    """Print the tables, one signature after the other."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--signatures", nargs="+", choices=list(SIGNATURES), default=list(SIGNATURES))
    options.add_argument("--photos", nargs="+", default=list(PHOTOS))
    options.add_argument("--turns", type=int, default=100)
    options.add_argument("--sheets", type=Path)
    chosen = options.parse_args()
    origins = {name: load_origin(OriginConfig(image=f"skimage:{name}", size=512)) for name in chosen.photos}
    metrics = {name: EVALUATORS.build(EVALUATORS.configure(raw, name)) for name, raw in METRICS.items()}
    turns = [turn for turn in TURNS if turn <= chosen.turns]
    print("| signature | photograph | metric | " + " | ".join(map(str, turns)) + " |")
    print("|---" * (len(turns) + 3) + "|")
    summaries = []
    for signature in chosen.signatures:
        chains, spent, values = {}, [], {}
        for photo, origin in origins.items():
            chains[photo], times = chain(signature, origin, chosen.turns)
            spent += times
            for name, metric in metrics.items():
                values[photo, name] = {t: _value(metric, made, origin) for t, made in chains[photo].items()}
                cells = [f"{value:.1f}" for value in values[photo, name].values()]
                print(f"| {signature} | {photo} | {name} | {' | '.join(cells)} |", flush=True)
        better = [_improved([values[photo, name] for photo in origins]) for name in FOOLED]
        summaries.append([signature, *better, f"{statistics.median(spent):.0f}"])
        if chosen.sheets:
            chosen.sheets.mkdir(parents=True, exist_ok=True)
            shown = {photo: list(chains[photo].values()) for photo in chosen.photos[:2]}
            (chosen.sheets / f"simulated-{signature}.jpg").write_bytes(_sheet(shown))
    print("\nPhotographs on which a metric prefers turns 5, 10 and 20 to turn 1:\n")
    print(f"| signature | {' | '.join(FOOLED)} | ms per edit |\n{'|---' * (len(FOOLED) + 2)}|")
    for row in summaries:
        print("| " + " | ".join(row) + " |")


def chain(signature: str, origin: Picture, turns: int) -> tuple[dict[int, Picture], list[float]]:
    """The pictures of the turns that are shown, and milliseconds of every edit."""
    editor = EDITORS.build(EDITORS.configure({"type": "simulated", "signature": signature}, signature))
    shown, spent, current = {0: origin}, [], origin
    for turn in range(1, turns + 1):
        started = time.process_time()
        answer = editor.edit(EditRequest((current,), "", turn, 1, 1000 + turn))
        spent.append((time.process_time() - started) * 1e3)
        assert isinstance(answer, Edited) and answer.picture is not None
        current = answer.picture
        if turn in TURNS:
            shown[turn] = current
    return shown, spent


def _value(metric: Evaluator, picture: Picture, origin: Picture) -> float:
    result = score(metric, [EvalInput(picture, origin=origin)])[0]
    return result.value if isinstance(result, Score) else float("nan")


def _improved(chains: list[dict[int, float]]) -> str:
    """On how many photographs the metric falls below its value at turn 1, at turns 5, 10 and 20 alike."""
    wins = [all(values[turn] < values[1] for turn in LATER if turn in values) for values in chains]
    return f"{sum(wins)} of {len(wins)}"


def _sheet(chains: dict[str, list[Picture]]) -> bytes:
    """JPEG of at most 250 kB: columns are turns; of each photograph one row is whole, one a detail at its own size."""
    sheet = Image.new("RGB", (CELL * max(map(len, chains.values())), 2 * CELL * len(chains)))
    for row, pictures in enumerate(chains.values()):
        for column, picture in enumerate(pictures):
            image = Image.fromarray(picture.rgb)
            left, top = int(0.35 * image.width), int(0.1 * image.height)
            whole = image.resize((CELL, round(CELL * image.height / image.width)), Image.Resampling.LANCZOS)
            sheet.paste(whole, (column * CELL, 2 * row * CELL + (CELL - whole.height) // 2))
            sheet.paste(image.crop((left, top, left + CELL, top + CELL)), (column * CELL, (2 * row + 1) * CELL))
    for quality in range(85, 20, -5):
        buffer = io.BytesIO()
        sheet.save(buffer, "JPEG", quality=quality)
        if buffer.tell() <= 250_000:
            break
    return buffer.getvalue()


if __name__ == "__main__":
    main()
