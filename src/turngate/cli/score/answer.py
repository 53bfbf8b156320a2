"""What `turngate score` found, as a table or as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from turngate.cli.columns import print_rows, print_words
from turngate.errors import counted

if TYPE_CHECKING:
    from turngate.rescoring import Choice, Rescoring, Target

__all__ = ["ScoreProgress", "say_scores", "worst_code"]


_CODES = {"user": 2, "provider": 3, "machine": 4, "us": 70}


def say_scores(choice: Choice, work: Rescoring, targets: Sequence[Target], seconds: float, as_json: bool) -> None:
    """Print the numbers of the evaluators on the images that were asked for."""
    answer = _answer(choice, work, targets, seconds)
    if as_json:
        print(json.dumps(answer, ensure_ascii=False))
        return
    print_rows([_row(one) for one in answer["evaluators"]], left=("better", "left out"))
    for name, results in work.counts.items():
        bias = results.position_bias
        if bias.pairs:
            print_words(f"{'WARNING: ' if bias.always else ''}{name} {bias.words}", error=True)
    for name, why in choice.left_out.items():
        print_words(f"left out: {name}: {why}", error=True)
    if answer["partial"]:
        only = f"only {answer['chosen']} of {counted(answer['images'], 'image')} {_were(answer['chosen'])} asked for"
        print_words(f"{only}: {answer['selection']}", error=True)
    if not work.added:
        print_words(f"nothing to do: all of it was scored before ({answer['tables'][0]})", error=True)
        return
    speed = f"{(work.images - work.idle) / max(seconds, 1e-9):.3g} images/s"
    where = (
        answer["tables"][0] if len(answer["tables"]) == 1 else f"{len(answer['tables'])} files, one beside each ledger"
    )
    print_words(f"{counted(work.added, 'result')} added in {seconds:.1f} s ({speed}): {where}", error=True)


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def worst_code(work: Rescoring) -> int:
    """0, or the code of who is at fault when some evaluator gave nothing but failures."""
    faults = [counts.only_failed for counts in work.counts.values()]
    return max((_CODES[fault] for fault in faults if fault), default=0)


def _answer(choice: Choice, work: Rescoring, targets: Sequence[Target], seconds: float) -> dict[str, Any]:
    chosen, images = sum(len(target.jobs) for target in targets), sum(target.images for target in targets)
    return {
        "of": [target.name for target in targets],
        "tables": [str(target.table) for target in targets],
        "images": images,
        "chosen": chosen,
        "partial": chosen < images,
        "selection": dict(targets[0].selection) if targets else {},
        "added": work.added,
        "nothing_to_do": not work.added,
        "seconds": round(seconds, 3),
        "evaluators": [
            {
                "name": by.name,
                "type": by.config.type,
                "version": by.facts.version,
                "parameters": by.parameters,
                "better": by.facts.direction,
                **work.counts[by.name].as_dict(),
            }
            for by in choice.evaluators
        ],
        "left_out": choice.left_out,
    }


def _row(one: Mapping[str, Any]) -> dict[str, str]:
    counts = {name: str(one[name]) for name in ("scored", "unscored", "failed")}
    numbers = {name: "-" if one[name] is None else f"{one[name]:.5g}" for name in ("mean", "min", "max")}
    return {"evaluator": one["name"], "better": one["better"], **counts, **numbers, "left out": _left_out(one)}


def _left_out(one: Mapping[str, Any]) -> str:
    """What mean, min and max leave out: why there is no score, images that compare with themselves, and origins."""
    reasons = [f"{why} {number}" for why, number in sorted(one["reasons"].items())]
    untouched = [f"{one['untouched']} untouched"] if one["untouched"] else []
    origins = [counted(one["origins"], "origin")] if one["origins"] else []
    return ", ".join([*reasons, *untouched, *origins])


# How far `turngate score` is, on standard error: a bar on a terminal, plain lines elsewhere.

_EVERY_SECONDS = 10.0
"""Between two plain lines."""


class ScoreProgress:
    """Context manager; tell it of finished images."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._total = total
        self._done = 0
        self._began = self._printed = time.monotonic()
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        on_terminal = self._console.is_terminal and not quiet
        self._bar = Progress(*columns, console=self._console, transient=True) if on_terminal else None
        self._task = TaskID(0)

    def __enter__(self) -> ScoreProgress:
        if self._bar is not None:
            self._task = self._bar.add_task("images", total=self._total)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def rate(self) -> float:
        """Images per second so far."""
        return self._done / max(time.monotonic() - self._began, 1e-9)

    def finished(self, images: int) -> None:
        """Some more images are done."""
        self._done += images
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=f"images, {self.rate:.3g}/s")
        elif images and time.monotonic() - self._printed > _EVERY_SECONDS:
            self._printed = time.monotonic()
            left = (self._total - self._done) / self.rate
            line = f"{self._done}/{counted(self._total, 'image')}, {self.rate:.3g}/s, about {left:.0f} s left"
            self._console.print(line, markup=False)
