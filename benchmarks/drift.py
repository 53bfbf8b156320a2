"""Does `drift` tell early turns of decaying chains from late ones, and does it keep quiet on clean edits?

    python benchmarks/drift.py [--photographs 10] [--turns 25] [--vae FOLDER] [--sheets FOLDER]

Chains start from photographs inside scikit-image's wheel. FOLDER of `--vae` holds `taef2_encoder.pth` and
`taef2_decoder.pth` (needs torch; left out otherwise). `--sheets` writes one contact sheet per chain. Ten photographs
take about 15 minutes on one shared core, with the autoencoder about 45; three take 3 minutes without it.

`AUC` compares turns 0 and 1 with turns 10 and later, `AUC 1` turn 1 alone with them. `held out` is `AUC` with alarm
levels and exponent learnt from clean edits and from all other editors' chains (see `learn`).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from _drift_chains import NETWORKS, SIMULATED, STATIONARY, Turn, chain, vae
from _drift_inputs import CALIBRATION, CLEAN, FRESH, MIXED, photograph
from numpy.typing import NDArray
from PIL import Image

from turngate.evaluators import Sample, Score
from turngate.evaluators.drift import ALARM, EXPONENT, Drift, DriftConfig
from turngate.picture import Picture

Found = Mapping[str, float]
SEEDS = 8


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--photographs", type=int, default=len(CALIBRATION))
    options.add_argument("--turns", type=int, default=25)
    options.add_argument("--vae", type=Path)
    options.add_argument("--sheets", type=Path)
    chosen = options.parse_args()
    photographs = {name: photograph(name) for name in CALIBRATION[: chosen.photographs]}
    fresh = {name: photograph(name) for name in FRESH}
    calibration = _clean(photographs, CLEAN)
    _print_clean("clean edits, photographs the levels were set on", calibration)
    _print_clean("clean edits, fresh photographs", _clean(fresh, CLEAN))
    _print_clean("several clean edits at once, fresh photographs", _clean(fresh, MIXED))
    editors: dict[str, Turn] = {name: make() for name, make in NETWORKS.items()}
    if chosen.vae:
        editors["vae taef2"] = vae(chosen.vae)
    editors |= SIMULATED | STATIONARY
    chains = {name: _chains(name, turn, photographs, chosen.turns, chosen.sheets) for name, turn in editors.items()}
    _print_chains(chains, [found for kinds in calibration.values() for found in kinds])
    _print_time(photographs[CALIBRATION[0]])


def _score(drift: Drift, origin: Picture, rgb: NDArray[np.uint8]) -> Found:
    (result,) = drift.evaluate([Sample(Picture.from_rgb(rgb), origin=origin)])
    if not isinstance(result, Score):
        raise SystemExit(f"not scored: {result}")
    return result.components


def _clean(photographs: Mapping[str, NDArray[np.uint8]], edits: Mapping[str, object]) -> dict[str, list[Found]]:
    drift = Drift(DriftConfig(type="drift"))
    found: dict[str, list[Found]] = {name: [] for name in edits}
    for number, rgb in enumerate(photographs.values()):
        origin = Picture.from_rgb(rgb)
        for name in edits:
            edit = (CLEAN | MIXED)[name]
            for seed in range(SEEDS):
                found[name].append(_score(drift, origin, edit(rgb, np.random.default_rng([number, seed]))))
    return found


def _chains(
    name: str, turn: Turn, photographs: Mapping[str, NDArray[np.uint8]], turns: int, sheets: Path | None
) -> list[list[Found]]:
    drift = Drift(DriftConfig(type="drift"))
    found = []
    for number, (photo, rgb) in enumerate(photographs.items()):
        images = chain(turn, rgb, turns, number)
        found.append([_score(drift, Picture.from_rgb(rgb), image) for image in images])
        if sheets:
            sheets.mkdir(parents=True, exist_ok=True)
            shown = [images[at] for at in (0, 1, 2, 3, 5, 10, 20) if at < len(images)]
            Image.fromarray(np.concatenate(shown, axis=1)).save(sheets / f"{name} {Path(photo).stem}.png")
    return found


def value(found: Found, levels: Found = ALARM, exponent: float = EXPONENT) -> float:
    """Drift with other alarm levels or another exponent."""
    return float(sum((found[name] / levels[name]) ** exponent for name in levels) ** (1 / exponent))


def auc(low: Sequence[float], high: Sequence[float]) -> float:
    """Chance that a value of `high` is above one of `low`; ties count half."""
    first, second = np.array(low)[:, None], np.array(high)[None, :]
    return float(((second > first) + 0.5 * (second == first)).mean())


def learn(clean: Sequence[Found], chains: Sequence[list[list[Found]]]) -> tuple[dict[str, float], float]:
    """Levels and exponent from clean edits and some editors' chains.

    A level is the geometric mean of the 99th percentile on clean edits and the 90th percentile at turns from 10 on, or
    three times the former where the chains hardly show that component. The exponent is the one of 2, 3, 4 and 8 with
    the highest lowest AUC over the chains.
    """
    levels = {}
    for name in ALARM:
        quiet = max(float(np.quantile([found[name] for found in clean], 0.99)), 0.05 * ALARM[name])
        late = float(np.quantile([turn[name] for runs in chains for run in runs for turn in run[10:]], 0.9))
        levels[name] = float(np.sqrt(quiet * late)) if late > 3 * quiet else 3 * quiet

    def lowest(exponent: float) -> float:
        return min(_auc(runs, levels, exponent) for runs in chains)

    return levels, max((2.0, 3.0, 4.0, 8.0), key=lowest)


def _auc(runs: list[list[Found]], levels: Found = ALARM, exponent: float = EXPONENT, first: int = 0) -> float:
    early = [value(turn, levels, exponent) for run in runs for turn in run[first:2]]
    return auc(early, [value(turn, levels, exponent) for run in runs for turn in run[10:]])


def _print_clean(title: str, found: Mapping[str, list[Found]]) -> None:
    print(f"\n{title} ({SEEDS} random edits per kind and photograph)")
    print(f"{'edit':<38}{'n':>5}{'median':>8}{'highest':>9}{'>= 1':>6}  heaviest component at the highest")
    for name, scored in [*found.items(), ("all", [one for kind in found.values() for one in kind])]:
        values = [value(one) for one in scored]
        worst = scored[int(np.argmax(values))]
        heaviest = max(ALARM, key=lambda part: worst[part] / ALARM[part])
        alarms = sum(one >= 1 for one in values)
        print(f"{name:<38}{len(values):>5}{statistics.median(values):>8.2f}{max(values):>9.2f}{alarms:>6}  {heaviest}")


def _print_chains(chains: Mapping[str, list[list[Found]]], clean: Sequence[Found]) -> None:
    decaying = {name: runs for name, runs in chains.items() if name not in STATIONARY}
    print(f"\nchains of {len(next(iter(chains.values()))[0]) - 1} turns")
    head = f"{'editor':<24}{'AUC':>7}{'AUC 1':>7}{'held out':>9}"
    print(f"{head}  drift at turns 1, 2, 3, 5, 10, 20 (medians)  first alarm per photograph")
    shown = [at for at in (1, 2, 3, 5, 10, 20) if at < len(next(iter(chains.values()))[0])]
    for name, runs in chains.items():
        others = [other for key, other in decaying.items() if key != name]
        levels, exponent = learn(clean, others)
        medians = " ".join(f"{statistics.median(value(run[at]) for run in runs):6.2f}" for at in shown)
        firsts = [next((str(at) for at, turn in enumerate(run) if value(turn) >= 1), "-") for run in runs]
        print(
            f"{name:<24}{_auc(runs):>7.3f}{_auc(runs, first=1):>7.3f}{_auc(runs, levels, exponent):>9.3f}  "
            f"{medians}  {' '.join(firsts)}"
        )


def _print_time(rgb: NDArray[np.uint8]) -> None:
    drift, origin, candidate = Drift(DriftConfig(type="drift")), Picture.from_rgb(rgb), Picture.from_rgb(rgb[::-1])
    times = []
    for _ in range(21):
        started = time.perf_counter()
        drift.evaluate([Sample(candidate, origin=origin)])
        times.append((time.perf_counter() - started) * 1e3)
    first, rest = times[0], statistics.median(times[1:])
    size = f"{rgb.shape[1]} x {rgb.shape[0]}"
    print(f"\n{size}: {rest:.0f} ms a candidate, {first / rest:.1f} times that with a new reference")


if __name__ == "__main__":
    main()
