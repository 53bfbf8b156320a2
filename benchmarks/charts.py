"""How often a control chart refuses sound images: the real gates on simulated scores, run by run.

    python benchmarks/charts.py [--runs 2000] [--seed 1]

Prints, per kind of noise, chart and warm-up, the percentage of runs with a first rejection by turn 25 / 100 after the
warm-up. All images are sound; the score is lower-is-better. Then the same for scores that slide slowly, and for damage
(a lasting step of 1 and 2 SDs in the 11th turn after the warm-up) the share found within 20 turns. As in the loop, only
accepted images enter a chart's memory, and it ends at the first rejection. About half an hour on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from turngate.agent.gate import Accepted, Gate, Past, Reading
from turngate.agent.gates import GATES

Scores = NDArray[np.float64]

CHARTS: dict[str, dict[str, Any]] = {
    "k_sigma": {"type": "k_sigma"},
    "cusum": {"type": "cusum"},
    "ewma": {"type": "ewma"},
    "page_hinkley": {"type": "page_hinkley", "delta": 0.5, "threshold": 5},
    "page_hinkley, delta 0": {"type": "page_hinkley", "delta": 0, "threshold": 5},
}
"""Defaults; Page-Hinkley, which has none, in SDs of the noise."""
WARMUPS = (5, 10, 20, 30, None)
"""None: mean and SD are known."""
BY = (25, 100)
"""Turns after the warm-up."""
CALIBRATED = 200
"""Calibration scores of the conformal gate."""


def normal(rng: np.random.Generator, runs: int, turns: int) -> Scores:
    """Independent normal scores, runs x turns, mean 0 and SD 1 as all of these."""
    return rng.standard_normal((runs, turns))


def heavy(rng: np.random.Generator, runs: int, turns: int) -> Scores:
    """Independent scores with heavy tails: Student's t with 4 degrees of freedom."""
    return np.asarray(rng.standard_t(4, (runs, turns)) / np.sqrt(2))


def correlated(rng: np.random.Generator, runs: int, turns: int) -> Scores:
    """Normal scores with a correlation of 0.3 from each turn to the next (AR(1), begun 50 turns before)."""
    return np.asarray(
        lfilter([np.sqrt(1 - 0.3**2)], [1, -0.3], rng.standard_normal((runs, turns + 50)), axis=1)[:, 50:]
    )


NOISES: dict[str, Callable[[np.random.Generator, int, int], Scores]] = {
    "independent normal": normal, "heavy tails (t, 4)": heavy, "lag-1 correlation 0.3": correlated,
}  # fmt: skip


def chart(name: str, warmup: int | None) -> Gate:
    """A chart of `CHARTS` over the evaluator `q`."""
    known: dict[str, Any] = {"baseline": {"mean": 0, "sd": 1}} if "page" not in name else {"warmup": 0}
    return GATES.build(
        GATES.configure({**CHARTS[name], "evaluator": "q", **(known if warmup is None else {"warmup": warmup})}, "gate")
    )


def first_rejection(gate: Gate, scores: Sequence[float]) -> int | None:
    """Turn of the first candidate that is rejected; the ones before it are accepted one after the other."""
    accepted: list[Accepted] = []
    for turn, value in enumerate(scores, 1):
        readings = {"q": Reading("q", value, "lower")}
        if gate.decide(readings, Past(turn, 1, 0, {}, accepted)).verdict == "reject":
            return turn
        accepted.append(Accepted(turn, readings))
    return None


def alarms(gate: Gate, scores: Scores, warmup: int) -> list[int | None]:
    """Of each run (a row), the turn after the warm-up in which it first rejects."""
    found = [first_rejection(gate, row) for row in scores.tolist()]
    return [None if turn is None else turn - warmup for turn in found]


def share(turns: Sequence[int | None], by: int) -> float:
    """Share of runs with a rejection until then."""
    return sum(turn is not None and turn <= by for turn in turns) / len(turns)


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    head = " | ".join("known" if warmup is None else str(warmup) for warmup in WARMUPS)
    for title, noise in NOISES.items():
        _title(f"Sound images, {title}: % of runs with a false alarm by turn 25 / 100", f"chart | {head}")
        for name in CHARTS:
            cells = [_cell(chosen, noise, name, warmup, 0.0) for warmup in WARMUPS]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    _title("Independent normal, limits of a known baseline around an estimate of 5 images", "chart |")
    for name in [*CHARTS][:3]:
        print(f"| {name} | {_unwidened(chosen, name, 5)} |", flush=True)
    _title("Sound images that slide by 0.02 SD a turn, from turn 1 on", f"chart | {head}")
    for name in [*CHARTS][:4]:
        print(f"| {name} | {' | '.join(_cell(chosen, normal, name, w, 0.02) for w in WARMUPS)} |", flush=True)
    _conformal(chosen)
    _title("Damage: % found within 20 turns of a lasting step of 1 / 2 SDs (false alarms before it left out)",
           f"chart | {head}")  # fmt: skip
    for name in [*CHARTS][:4]:
        print(f"| {name} | {' | '.join(_found(chosen, name, warmup) for warmup in WARMUPS)} |", flush=True)


def _cell(chosen: argparse.Namespace, noise: Callable[..., Scores], name: str, warmup: int | None, slide: float) -> str:
    turns = (warmup or 0) + BY[-1]
    scores = noise(np.random.default_rng(chosen.seed), chosen.runs, turns) + slide * np.arange(turns)
    found = alarms(chart(name, warmup), scores, warmup or 0)
    return " / ".join(f"{100 * share(found, by):.1f}" for by in BY)


def _unwidened(chosen: argparse.Namespace, name: str, estimated: int) -> str:
    """What the limits would do if the estimate were taken for the truth."""
    scores = normal(np.random.default_rng(chosen.seed), chosen.runs, estimated + BY[-1])
    found = []
    for row in scores:
        usual = row[:estimated]
        baseline = {"mean": float(usual.mean()), "sd": float(usual.std(ddof=1))}
        gate = GATES.build(GATES.configure({**CHARTS[name], "evaluator": "q", "baseline": baseline}, "gate"))
        found.append(first_rejection(gate, row[estimated:].tolist()))
    return " / ".join(f"{100 * share(found, by):.1f}" for by in BY)


def _found(chosen: argparse.Namespace, name: str, warmup: int | None) -> str:
    cells, before = [], 10
    for step in (1.0, 2.0):
        turns = (warmup or 0) + before + 20
        scores = normal(np.random.default_rng(chosen.seed), chosen.runs, turns)
        scores[:, turns - 20 :] += step
        later = [turn for turn in alarms(chart(name, warmup), scores, warmup or 0) if turn is None or turn > before]
        cells.append(f"{100 * share(later, turns):.0f}")
    return " / ".join(cells)


def _conformal(chosen: argparse.Namespace) -> None:
    """One edit's rate is not a run's, and both grow when sound images slide away from the calibration."""
    _title(
        f"conformal, alpha 0.01 and 0.05, {CALIBRATED} calibration scores, all of turn 1",
        "slide, SD a turn | alpha | % of candidates, turn 1 / 25 / 100 | % of runs, turn 25 / 100 | 1 - (1 - alpha)^n",
    )
    rng = np.random.default_rng(chosen.seed)
    calibration = rng.standard_normal((chosen.runs, CALIBRATED))
    noise = rng.standard_normal((chosen.runs, BY[-1]))
    for slide in (0.0, 0.02, 0.05):
        for alpha in (0.01, 0.05):
            refused = np.zeros(noise.shape, dtype=bool)
            for row, known, scores in zip(refused, calibration, noise + slide * np.arange(BY[-1]), strict=True):
                config = {"type": "conformal", "evaluator": "q", "alpha": alpha, "calibration": known.tolist()}
                gate = GATES.build(GATES.configure(config, "gate"))
                limit = gate.decide({"q": Reading("q", 0.0, "lower")}, Past(1, 1, 0)).thresholds["q"]
                row[:] = scores > limit
            each = " / ".join(f"{100 * refused[:, turn - 1].mean():.1f}" for turn in (1, *BY))
            runs = " / ".join(f"{100 * refused[:, :by].any(axis=1).mean():.0f}" for by in BY)
            told = " / ".join(f"{100 * (1 - (1 - alpha) ** by):.0f}" for by in BY)
            print(f"| {slide} | {alpha} | {each} | {runs} | {told} |", flush=True)


def _title(title: str, head: str) -> None:
    print(f"\n{title}\n\n| {head} |\n{'|---' * (head.count(' | ') + 1)}|", flush=True)


if __name__ == "__main__":
    main()
