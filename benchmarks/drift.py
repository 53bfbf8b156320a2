"""Do `drift` and `drift_chain` tell early turns of decaying chains from late ones, and keep quiet on clean edits?

    python benchmarks/drift.py [--weights FOLDER] [--chains FOLDER] [--quick]

Chains of 30 turns start from photographs inside scikit-image's wheel, at most 384 pixels a side. `--weights` (or
TURNGATE_WEIGHTS) holds `taef2_encoder.pth` and `taef2_decoder.pth` for `vae`, which needs torch and is left out
otherwise. `--chains` keeps the images, so that a second call only scores. Making all chains took 33 minutes of four
processes that shared two busy cores, scoring them 12 (164 s of CPU time). `--quick`: two photographs, five editors, 15
turns, two edits per kind, 46 s of CPU time.

`AUC` compares turns 0 and 1 with turns 10 and later, `AUC 1` turn 1 alone with them. `held out` is `AUC` with alarm
levels and exponent learnt from clean edits and from the chains of all other families of editors on the tuning
photographs (`_drift_levels.learn`). All of them are on the test photographs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _drift_chains import EDITORS_SHOWN, FAMILIES, chain
from _drift_inputs import CLEAN, GREY, MIXED, SIDE, TEST, TUNING, Edit, photograph
from _drift_levels import Found, Run, auc, learn, value

from turngate import EvalInput, Evaluator, Picture, Score
from turngate.evaluators import EVALUATORS
from turngate.evaluators.drift import ALARM

QUICK = ("span x4", "style", "jpeg moving", "sim nano-banana-pro", "sim nano-banana-2")


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--weights", type=Path, default=os.environ.get("TURNGATE_WEIGHTS"))
    options.add_argument("--chains", type=Path)
    options.add_argument("--quick", action="store_true")
    chosen = options.parse_args()
    weights = Path(chosen.weights) if chosen.weights else None
    tuning, test, grey = (names[: 2 if chosen.quick else None] for names in (TUNING, TEST, GREY))
    seeds, turns = (2, 15) if chosen.quick else (8, 30)
    calibration = _clean("clean edits, tuning photographs", tuning, CLEAN, seeds)
    _clean("clean edits, test photographs", test, CLEAN, seeds)
    _clean("clean edits, photographs without colour", grey, CLEAN, seeds)
    _clean("several clean edits at once, test photographs and those without colour", (*test, *grey), MIXED, seeds)
    names = [name for name in EDITORS_SHOWN if (name in QUICK or not chosen.quick) and (name != "vae" or weights)]
    images = {
        name: {photo: chain(name, photo, turns, weights, chosen.chains) for photo in _photos(name, tuning, test)}
        for name in names
    }
    learnt = {name: _runs("drift", images[name], tuning) for name in names}
    _print_chains(learnt, {name: _runs("drift", images[name], test) for name in names}, calibration)
    for raw in ({"type": "drift", "reference": "first"}, {"type": "drift_chain"}):
        _print_later(raw, {name: _runs(raw, images[name], test) for name in names})
    _print_time()


def _photos(name: str, tuning: Sequence[str], test: Sequence[str]) -> Sequence[str]:
    """The autoencoder is slow: one tuning and two test photographs."""
    return (*tuning[:1], *test[:2]) if name == "vae" else (*tuning, *test)


def _components(evaluator: Evaluator, sample: EvalInput) -> Found:
    (result,) = evaluator.evaluate([sample])
    if not isinstance(result, Score):
        raise SystemExit(f"not scored: {result}")
    return result.components


def _runs(raw: Any, images: Mapping[str, Mapping[int, Picture]], photos: Sequence[str]) -> list[Run]:
    return [_scored(raw, images[photo]) for photo in photos if photo in images]


def _scored(raw: Any, images: Mapping[int, Picture]) -> Run:
    """Components by turn, from turn 2 on without the origin; the history are the turns kept before."""
    evaluator = EVALUATORS.build(EVALUATORS.configure(raw, "evaluator"))
    needs_origin = "origin" in evaluator.facts.inputs
    found: dict[int, Found] = {}
    accepted: tuple[Picture, ...] = ()
    for turn, picture in images.items():
        if needs_origin or accepted:
            sample = EvalInput(picture, origin=images[0], first=accepted[0] if accepted else None, history=accepted)
            found[turn] = _components(evaluator, sample)
        if turn:
            accepted = (*accepted, picture)
    return found


def _clean(title: str, names: Sequence[str], edits: Mapping[str, Edit], seeds: int) -> list[Found]:
    drift = EVALUATORS.build(EVALUATORS.configure("drift", "evaluator"))
    found: dict[str, list[Found]] = {name: [] for name in edits}
    for number, photo in enumerate(names):
        rgb = photograph(photo, SIDE)
        origin = Picture.from_rgb(rgb)
        for name, edit in edits.items():
            for seed in range(seeds):
                candidate = Picture.from_rgb(edit(rgb, np.random.default_rng([number, seed])))
                found[name].append(_components(drift, EvalInput(candidate, origin=origin)))
    everything = [one for kind in found.values() for one in kind]
    print(f"\n{title} ({seeds} random edits per kind and photograph, {len(names)} photographs)")
    print(f"{'edit':<38}{'n':>5}{'median':>8}{'highest':>9}{'>= 1':>6}  heaviest component at the highest")
    for name, scored in [*found.items(), ("all", everything)]:
        values = [value(one) for one in scored]
        worst = scored[int(np.argmax(values))]
        heaviest = max(ALARM, key=lambda part: worst[part] / ALARM[part])
        alarms = sum(one >= 1 for one in values)
        print(f"{name:<38}{len(values):>5}{statistics.median(values):>8.2f}{max(values):>9.2f}{alarms:>6}  {heaviest}")
    for what, quantile in (("99th percentile", 0.99), ("highest", 1.0)):
        levels = (f"{name} {np.quantile([one[name] for one in everything], quantile):.2f}" for name in ALARM)
        print(f"{what}: {', '.join(levels)}")
    return everything


def _print_chains(
    learnt: Mapping[str, Sequence[Run]], tried: Mapping[str, Sequence[Run]], clean: Sequence[Found]
) -> None:
    print(f"\n{'drift from the origin':<22}{'n':>3}{'AUC':>7}{'AUC 1':>7}{'held out':>9}  {_HEAD}")
    for name, runs in tried.items():
        family = next(word for word in FAMILIES if name.startswith(word))
        levels, exponent = learn(clean, [other for key, other in learnt.items() if not key.startswith(family)])
        numbers = f"{auc(runs):>7.3f}{auc(runs, first=1):>7.3f}{auc(runs, levels, exponent):>9.3f}"
        print(f"{name:<22}{len(runs):>3}{numbers}  {_turns(runs)}")


def _print_later(raw: Mapping[str, str], tried: Mapping[str, Sequence[Run]]) -> None:
    title = " ".join(raw.values())
    print(f"\n{title:<22}{'n':>3}{'AUC':>7}  {_HEAD}   (AUC: turns 2 and 3 against 10 and later)")
    for name, runs in tried.items():
        print(f"{name:<22}{len(runs):>3}{auc(runs, first=2):>7.3f}  {_turns(runs)}")


_SHOWN = (1, 2, 3, 5, 10, 20, 30)
_HEAD = "medians at turns " + ", ".join(map(str, _SHOWN)) + "; first alarm, per photograph (median)"


def _turns(runs: Sequence[Run]) -> str:
    medians = [f"{statistics.median(value(run[at]) for run in runs):.2f}" if at in runs[0] else "-" for at in _SHOWN]
    firsts = [next((turn for turn, found in run.items() if value(found) >= 1), None) for run in runs]
    middle = statistics.median(float("inf") if first is None else first for first in firsts)
    told = " ".join("-" if first is None else str(first) for first in firsts)
    return f"{' '.join(f'{median:>5}' for median in medians)}; {told} ({middle:g})"


def _print_time() -> None:
    print("\nside    CPU ms per candidate (median of 5)")
    for side in (512, 1024, 2048):
        rgb = np.kron(photograph(TUNING[0], 256), np.ones((side // 256, side // 256, 1), dtype=np.uint8))
        origin, times = Picture.from_rgb(rgb), []
        drift = EVALUATORS.build(EVALUATORS.configure("drift", "evaluator"))
        for offset in range(6):
            candidate = Picture.from_rgb(np.roll(rgb, offset, 0))
            started = time.process_time()
            _components(drift, EvalInput(candidate, origin=origin))
            times.append((time.process_time() - started) * 1e3)
        print(f"{side:>4}  {statistics.median(times[1:]):>8.0f}")


if __name__ == "__main__":
    main()
