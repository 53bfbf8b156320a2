"""How often the intervals of a study contain the truth, and how often a study without effects claims one.

    python benchmarks/intervals.py [--worlds 4000] [--studies 1000] [--seed 1]

Prints, per world and number of origins, the coverage and the mean width of each kind of interval where 95 % are
claimed; then, for studies in which no gate of one's own does anything, the share with a false discovery at 0.05. The
worlds are in `_interval_worlds.py`, the kinds in `_interval_methods.py`. Takes about ten minutes with the defaults,
`--worlds 200 --studies 50` half a minute. The numbers do not depend on the machine.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
from _interval_methods import METHODS
from _interval_worlds import WORLDS, World, exposure

from turngate.traces.analysis.statistics import adjusted, sign_flip_p, smallest_p

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

ORIGINS = (5, 8, 16, 32)
CLAIMED = 0.05


def coverage(world: World, origins: int, count: int, seed: int) -> list[str]:
    """Cells of one row of the table: coverage and mean width of each method."""
    rng = np.random.default_rng([seed, WORLDS.index(world), origins])
    drawn = world.draw(rng, count, origins).mean(axis=2)
    cells = []
    for method in METHODS.values():
        low, high = method(drawn, world.bounds)
        # A hair of room: an end that is the mean itself should not miss it by rounding.
        held = (low <= world.mean + 1e-9) & (world.mean - 1e-9 <= high)
        cells.append(f"{held.mean():.3f} ({(high - low).mean():.2f})")
    return cells


def draw_arm(rng: Generator, chance: NDArray[np.float64], speed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Progress and exposure of one arm that does nothing, one run per origin: 2 x origins."""
    return np.stack([speed * rng.beta(4, 2, speed.shape), exposure(rng, chance)])


def draw_study(rng: Generator, origins: int, arms: int, works: int) -> tuple[list[float | None], list[float | None]]:
    """p of the own arms, two each, of which the first `works` do something; and p of the controls.

    All are held against the same runs without a gate. An own arm that works has a tenth of the chance to break and 0.3
    of the progress; the controls have 0, 0.1 and 0.3 of both, so they truly differ, as controls are there to do.
    """
    chance, speed = rng.beta(6, 1, origins), rng.beta(4, 2, origins)
    base = draw_arm(rng, chance, speed)
    own = [draw_arm(rng, chance * (0.1 if arm < works else 1), speed) for arm in range(arms)]
    for arm in range(works):
        own[arm][0] *= 0.3
    controls = [draw_arm(rng, chance * keep, speed) * [[keep], [1]] for keep in (0.0, 0.1, 0.3)]
    return _p_values(own, base), _p_values(controls, base)


def _p_values(arms: list[NDArray[np.float64]], base: NDArray[np.float64]) -> list[float | None]:
    return [sign_flip_p((row - other).tolist()) for arm in arms for row, other in zip(arm, base, strict=True)]


def false_discoveries(origins: int, arms: int, works: int, count: int, seed: int) -> list[list[str]]:
    """Two rows: with the controls in the family, and with the own arms only."""
    rng = np.random.default_rng([seed, origins, arms, works])
    shares: dict[str, list[float]] = {"own arms and 3 controls": [], "own arms only": []}
    for _ in range(count):
        own, controls = draw_study(rng, origins, arms, works)
        for family, found in zip(([*own, *controls], own), shares.values(), strict=True):
            named = [p is not None and p <= CLAIMED for p in adjusted(family)][: len(own)]
            found.append(sum(named[2 * works :]) / max(1, sum(named)))
    setting = [f"{arms}", f"{works}", f"{origins}"]
    return [
        [*setting, family, f"{np.mean(np.array(found) > 0):.3f}", f"{np.mean(found):.3f}"]
        for family, found in shares.items()
    ]


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--worlds", type=int, default=4000, help="simulated studies per row of the first table")
    options.add_argument("--studies", type=int, default=1000, help="simulated studies per row of the second table")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    error = (0.95 * 0.05 / chosen.worlds) ** 0.5
    print(
        f"Coverage (mean width), {chosen.worlds} studies a row: standard error of a coverage of 0.95 is {error:.3f}\n"
    )
    print(f"| world | n | {' | '.join(METHODS)} |\n|---|---|{'---|' * len(METHODS)}")
    for world in WORLDS:
        for origins in ORIGINS:
            print(f"| {world.name} | {origins} | {' | '.join(coverage(world, origins, chosen.worlds, chosen.seed))} |")
    print(f"\nFalse discoveries among own arms at {CLAIMED}, {chosen.studies} studies a row, two tests an arm\n")
    print("| own arms | of these with an effect | n | family | any false discovery | mean false share |")
    print("|---|---|---|---|---|---|")
    for origins in (8, 12):
        for arms, works in ((3, 0), (8, 0), (8, 4)):
            for row in false_discoveries(origins, arms, works, chosen.studies, chosen.seed):
                print(f"| {' | '.join(row)} |")
    numbers = range(4, 17)
    print(f"\n| n | {' | '.join(map(str, numbers))} |\n|---|{'---|' * len(numbers)}")
    print(f"| smallest p | {' | '.join('-' if (p := smallest_p(n)) is None else f'{p:.3g}' for n in numbers)} |")


if __name__ == "__main__":
    main()
