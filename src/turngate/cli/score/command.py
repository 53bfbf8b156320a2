"""`turngate score`."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from turngate.cli.columns import plain
from turngate.cli.options import json_option, out_option, quiet_option
from turngate.cli.places import PlacePath
from turngate.errors import counted
from turngate.whole_file import whole_file

if TYPE_CHECKING:
    from turngate.rescoring import Target

__all__ = ["score_command"]


@click.command("score")
@click.argument("path", type=PlacePath("run", "run.json", "study", "runs", "image", "file", "folder"))
@click.argument("more", nargs=-1)
@click.option("--with", "words", multiple=True, metavar="NAME...", help="psnr, mine=psnr, suite:NAME, {type: ...}.")
@click.option("--turns", metavar="1-10,20", help="Of runs: only these turns; 0 is the origin.")
@click.option("--limit", type=click.IntRange(1), help="Most images to score, of each run.")
@click.option("--origin", type=click.Path(path_type=Path), help="Of a folder: what all images are compared with.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Threads; default one per processor, at most 8.")
@click.option("--batch", type=click.IntRange(1, 1024), default=4, show_default=True, help="Images per call.")
@click.option("--no-cache", is_flag=True, help="Compute everything; see TURNGATE_CACHE.")
@click.option("--retry-failed", is_flag=True, help="Ask again where an evaluator failed before.")
@click.option("--skip-missing", is_flag=True, help="Leave out evaluators that cannot run here, and say which.")
@click.option("--format", "kind", type=click.Choice(["csv", "parquet"]), help="Export all scores, old and new.")
@out_option("With --format: file to export to; otherwise the file that keeps the scores of a folder or manifest.")
@quiet_option
@json_option
def score_command(
    path: Path,
    more: tuple[str, ...],
    words: tuple[str, ...],
    turns: str | None,
    limit: int | None,
    origin: Path | None,
    jobs: int | None,
    batch: int,
    no_cache: bool,
    retry_failed: bool,
    skip_missing: bool,
    kind: str | None,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Score PATH, a run, a study, a folder of images or a CSV manifest, with more evaluators: rows are added.

    Several names may follow --with. What was scored before is not computed again.
    """
    from turngate.cli.score.answer import ScoreProgress, say_scores, worst_code
    from turngate.errors import ConfigError
    from turngate.evaluators.bulk import Batcher, default_cache
    from turngate.image_files import left_out_words
    from turngate.rescoring import Rescoring, choose, find, turns_in

    if as_json and kind == "csv" and out is None:
        raise ConfigError("--json with --format csv: say with --out where the CSV goes, or leave --format out")
    if kind == "parquet" and out is None:
        raise ConfigError("--format parquet: say with --out where to write it")
    found = find(path, origin, None if kind else out)
    if turns is not None and not found.runs:
        raise ConfigError("--turns: only a run has turns")
    chosen_turns = None if turns is None else turns_in(turns)
    named = (*words, *more)
    if kind is not None and not named:
        return _export(list(found.targets(None, None, False)), kind, out, as_json)
    choice = choose(named, found.offers, skip_missing)
    with_history = any("history" in by.facts.inputs for by in choice.evaluators)
    targets = list(found.targets(chosen_turns, limit, with_history))
    for target in targets:
        if target.left_out:
            click.echo(f"note: {plain(left_out_words(target.left_out))}", err=True)
    paid = [by.name for by in choice.evaluators if by.facts.paid]
    if paid:
        most = counted(sum(len(one.jobs) for one in targets), "image")
        click.echo(f"note: {', '.join(paid)}: paid for, up to {most}", err=True)
    cache = None if no_cache else default_cache()
    batcher = Batcher(choice.evaluators, cache, jobs or min(os.cpu_count() or 1, 8), batch)
    work = Rescoring(batcher, retry_failed)
    signal.signal(signal.SIGTERM, _terminated)
    began = time.monotonic()
    try:
        with ScoreProgress(sum(len(target.jobs) for target in targets), quiet or as_json) as progress:
            for images in work.run(targets):
                progress.finished(images)
    except (KeyboardInterrupt, SystemExit):
        were = f"{counted(work.added, 'result')} {'was' if work.added == 1 else 'were'} added"
        click.echo(f"{were}; the same command goes on from here", err=True)
        raise
    if kind is not None:
        return _export(targets, kind, out, as_json)
    say_scores(choice, work, targets, time.monotonic() - began, as_json)
    return worst_code(work)


def _export(targets: Sequence[Target], kind: str, out: Path | None, as_json: bool) -> int:
    from turngate.errors import MachineError
    from turngate.traces.rescored import score_lines, write_scores_csv, write_scores_parquet

    lines = score_lines((target.name, target.table) for target in targets)
    if kind == "csv" and out is None:
        write_scores_csv(lines, sys.stdout)
        return 0
    assert out is not None
    try:
        if kind == "parquet":
            with whole_file(out) as part:
                count = write_scores_parquet(lines, part)
        else:
            with whole_file(out) as part, part.open("w", encoding="utf-8", newline="") as file:
                count = write_scores_csv(lines, file)
    except OSError as error:
        raise MachineError(f"cannot write {out}: {error.strerror or error}") from error
    if as_json:
        print(json.dumps({"results": count, "file": str(out)}, ensure_ascii=False))
    else:
        click.echo(f"{counted(count, 'result')} written to {out}", err=True)
    return 0


def _terminated(number: int, frame: Any) -> NoReturn:
    raise SystemExit(128 + number)
