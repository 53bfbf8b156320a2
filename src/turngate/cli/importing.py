"""`turngate import`: recorded frames become a study of recorded runs."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turngate.cli.options import json_option, out_option, quiet_option
from turngate.cli.places import check_place

if TYPE_CHECKING:
    from turngate.importing import FoundChain, FoundTree, FrameVerdict, ImportedStudy, ImportSettings, MatchedVerdicts

__all__ = ["import_command"]

_EVALUATORS = ("brisque", "niqe", "drift")
"""What scores the frames unless `--with` says otherwise: offline, without extras, one with a reference."""
_LISTED = 40
"""Most chains and problems that are listed on a terminal; `--json` has all of them."""


@click.command("import")
@click.argument("source", required=False)
@click.option("--map", "table", type=click.Path(path_type=Path), help="CSV or JSONL that lists path, turn, origin, ...")
@click.option(
    "--layout", type=click.Choice(["numbered", "edit-drift", "round-trip", "gif"]), help="A known tree, by name."
)
@click.option("--origin", help="Where the origins are, by the same fields: 'seeds/{origin}.*'.")
@click.option("--labels", type=click.Path(path_type=Path), help="CSV of people's verdicts: path, damaged (0 or 1).")
@click.option("--label-columns", metavar="path=A,damaged=B", help="Columns of --labels, where they are not guessed.")
@click.option("--by", help="Whose verdicts they are; default the name of the label file.")
@click.option("--yes", "-y", is_flag=True, help="Take the guessed columns without asking.")
@click.option("--with", "words", multiple=True, metavar="NAME", help="psnr, mine=psnr, suite:NAME, {type: ..., ...}.")
@click.option("--truth", metavar="YAML", help="{measure: ..., damaged_at: ...}, or none.")
@click.option("--scenario", metavar="NAME|YAML", help="What was asked for, where the paths and the map do not say it.")
@click.option(
    "--ideal", type=click.Choice(["origin", "round-trip", "unknown"]), help="What perfect frames would equal."
)
@click.option("--arm", "arms", multiple=True, metavar="NAME=GATE", help="Also replay the chains with a gate.")
@click.option("--renumber", is_flag=True, help="Count the frames 1, 2, 3, whatever their numbers: closes gaps.")
@click.option("--name", help="Name of the study; default made of the source.")
@click.option("--dry-run", is_flag=True, help="Say which chains there are and what is wrong with them; write nothing.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Chains that go at a time.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@out_option("Folder of the study; default runs/NAME. What is finished there is not done again.")
@quiet_option
@json_option
def import_command(source: str | None, **options: Any) -> int:
    """Make recorded runs of frames that lie in a folder, a run for each chain, and a study page of them.

    SOURCE is a path pattern with fields, 'root/{origin}/{setting}/rep{repeat}/step_{turn}.png', or with --layout a
    folder; with --map there is none.
    """
    return _import(source, _Options(**options))


class _Options:
    """What was given on the command line."""

    table: Path | None
    layout: Any
    origin: str | None
    labels: Path | None
    label_columns: str | None
    by: str | None
    yes: bool
    words: tuple[str, ...]
    truth: str | None
    scenario: str | None
    ideal: str | None
    arms: tuple[str, ...]
    renumber: bool
    name: str | None
    dry_run: bool
    jobs: int
    retry_failed: bool
    out: Path | None
    quiet: bool
    as_json: bool

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)


def _import(source: str | None, options: _Options) -> int:
    from turngate.importing import import_study

    tree = _found(source, options)
    settings = _settings(source, options, tree)
    folder = options.out or Path("runs") / settings.name
    planned = import_study(tree.chains, settings, folder)
    matched = _verdicts(tree.chains, options)
    problems = [*tree.all_problems(), *(matched.problems if matched else ())]
    notes = [*tree.notes, *_decided(planned, options)]
    if options.dry_run and options.as_json:
        print(json.dumps({"study": settings.name, **_facts(tree, matched, problems, notes)}, ensure_ascii=False))
        return 0
    if not options.as_json:
        _say_found(tree, matched, problems, notes)
    if options.dry_run:
        click.echo("nothing was written: leave --dry-run out")
        return 0
    return _run(planned, options, tree, matched, problems, notes)


def _found(source: str | None, options: _Options) -> FoundTree:
    from turngate.errors import ConfigError, UserError
    from turngate.importing import from_layout, from_map, from_pattern, is_pattern

    if source is not None and not is_pattern(source):
        check_place(Path(source), "import", "runs", "folder", "file", "image")

    if options.table is not None:
        if source is not None or options.layout is not None:
            raise ConfigError("--map: the file lists the frames: give neither a pattern nor --layout")
        tree = from_map(options.table, options.origin, options.renumber)
    elif source is None:
        raise ConfigError(
            "give a path pattern such as 'root/{origin}/step_{turn}.png', a folder with --layout, or --map"
        )
    elif options.layout is not None:
        tree = from_layout(options.layout, source, options.origin, options.renumber)
    elif is_pattern(source):
        tree = from_pattern(source, options.origin, options.renumber)
    else:
        raise ConfigError(
            f"{source} has no field: write {{turn}} where the number of the frame stands, or give a folder and "
            "--layout numbered"
        )
    if not tree.chains:
        raise UserError(f"nothing to import: {tree.problems[0] if tree.problems else 'no chain was found'}")
    return tree


def _settings(source: str | None, options: _Options, tree: FoundTree) -> ImportSettings:
    from turngate.errors import ConfigError
    from turngate.importing import ImportSettings, check_arm_names
    from turngate.rescoring import evaluator_configs

    ideal: Any = {"round-trip": "round_trip"}.get(options.ideal or "", options.ideal)
    if ideal is None and options.layout == "round-trip":
        ideal = "round_trip"
    if options.scenario is not None and options.ideal is not None:
        raise ConfigError("--ideal: a scenario says itself what its ideal is: leave one of both out")
    arms: dict[str, Any] = {}
    for text in options.arms:
        name, equals, gate = text.partition("=")
        if not equals:
            raise ConfigError(
                f"--arm {text}: write NAME=GATE, for instance 'drift={{type: threshold, evaluator: drift, at: 1}}'"
            )
        arms[name.strip()] = _yaml(gate, f"--arm {name}")
    check_arm_names(arms)
    truth: Any = "default" if options.truth is None else _yaml(options.truth, "--truth")
    if options.truth is not None and truth != "none" and not isinstance(truth, Mapping):
        raise ConfigError("--truth: write {measure: ..., damaged_at: ...}, or none")
    words = options.words or _EVALUATORS
    return ImportSettings(
        name=_study_name(source, options),
        source=str(options.table or source),
        evaluators={} if words == ("none",) else evaluator_configs(words),
        truth=None if truth == "none" else truth,
        scenario=None if options.scenario is None else _yaml(options.scenario, "--scenario"),
        ideal=ideal,
        arms=arms,
        labelled=options.labels is not None
        or any(frame.damaged is not None for c in tree.chains for frame in c.frames),
    )


def _yaml(text: str, option: str) -> Any:
    import yaml

    from turngate.errors import ConfigError

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"{option}: not valid YAML: {text!r}") from None


def _study_name(source: str | None, options: _Options) -> str:
    from turngate.errors import ConfigError
    from turngate.importing import PathPattern, is_pattern

    if options.name is not None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", options.name):
            raise ConfigError(f"--name {options.name!r}: up to 64 letters, digits, '.', '_' and '-'")
        return options.name
    if options.out is not None:
        named = options.out.resolve().name
    elif options.table is not None:
        named = options.table.stem
    else:
        assert source is not None
        named = (PathPattern(source).root if is_pattern(source) else Path(source)).resolve().name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", named).strip("-._")[:64] or "imported"


def _verdicts(chains: Sequence[FoundChain], options: _Options) -> MatchedVerdicts | None:
    """The verdicts of `--labels`, after the columns were shown and confirmed."""
    from turngate.errors import ConfigError
    from turngate.importing import match_verdicts, read_verdicts

    if options.labels is None:
        if options.label_columns is not None:
            raise ConfigError("--label-columns: they are of --labels FILE")
        return None
    given = read_verdicts(options.labels)
    columns = given.guess() if options.label_columns is None else given.chosen(options.label_columns)
    verdicts = given.verdicts(columns)
    if options.label_columns is None and not options.yes and not options.dry_run:
        _confirm(options.labels, columns, verdicts, options)
    elif options.label_columns is None and not options.as_json:
        click.echo(f"labels: {options.labels}: columns {columns} (guessed)", err=True)
    return match_verdicts(chains, verdicts, options.labels)


def _confirm(file: Path, columns: object, verdicts: Sequence[FrameVerdict], options: _Options) -> None:
    from turngate.errors import ConfigError, UserError

    if not sys.stdin.isatty() or options.as_json:
        raise ConfigError(
            f"--labels: {file}: the columns seem to be {columns}: confirm with --yes, or give --label-columns {columns}"
        )
    click.echo(f"{file}: the columns seem to be {columns}", err=True)
    for word, damaged in (("damaged", True), ("sound", False), ("without a verdict", None)):
        of_kind = [one.path for one in verdicts if one.damaged is damaged]
        if of_kind:
            click.echo(f"  {len(of_kind)} {word}, for instance {of_kind[0]}", err=True)
    if not click.confirm("Is that right?", default=True, err=True):
        raise UserError("nothing was imported: name the columns with --label-columns path=NAME,damaged=NAME")


# What was found, and what was decided.


def _decided(planned: ImportedStudy, options: _Options) -> list[str]:
    """Which evaluators and truth measure the chains, and why these."""
    config = planned.study.jobs[0].config
    names = ", ".join(config.evaluators) or "none"
    notes = [f"evaluators: {names}" + ("" if options.words else " (offline and cheap; others with --with)")]
    truths = dict.fromkeys(_truth_words(job.config) for job in planned.study.jobs)
    chosen = "" if options.truth is not None else "; another with --truth"
    notes.append(f"truth: {' or '.join(truths)}{chosen}")
    if planned.study.config.labels:
        notes.append("people's verdicts lead the truths; what has none is not known by them")
    if any(job.config.scenario.type == "custom" for job in planned.study.jobs) and options.scenario is None:
        ideal = {"origin": "every frame should equal the origin", "round_trip": "every second frame should equal it"}
        kinds = {getattr(job.config.scenario, "ideal", None) for job in planned.study.jobs}
        words = [ideal.get(str(kind), "what a perfect frame would be is not known") for kind in sorted(kinds, key=str)]
        notes.append(f"ideal: {' or '.join(words)}; otherwise say so with --ideal or --scenario")
    return notes


def _truth_words(config: Any) -> str:
    truth = config.truth
    if truth is None:
        return "none, for what a perfect frame would be is not known (labels, control regions or a judge could tell)"
    measure = truth.measure if isinstance(truth.measure, str) else truth.measure.type
    return f"{measure}, damaged at {truth.damaged_at:g}"


def _facts(
    tree: FoundTree, matched: MatchedVerdicts | None, problems: Sequence[str], notes: Sequence[str]
) -> dict[str, Any]:
    """Plain JSON of what was found."""
    chains = [
        {
            "origin": chain.origin, "setting": chain.setting, "editor": chain.editor, "repeat": chain.repeat,
            "turns": chain.turns, "frames": len(chain.frames), "gaps": chain.gaps, "first_turn": chain.first_turn,
            "unreadable": [frame.turn for frame in chain.unreadable], "labels": _labelled(number, chain, matched),
            "origin_file": str(chain.start.file),
        }
        for number, chain in enumerate(tree.chains)
    ]  # fmt: skip
    return {"chains": chains, "problems": list(problems), "notes": list(notes)}


def _labelled(number: int, chain: FoundChain, matched: MatchedVerdicts | None) -> int:
    own = sum(frame.damaged is not None for frame in chain.frames)
    return own + (sum(place[0] == number for place in matched.found) if matched else 0)


def _say_found(tree: FoundTree, matched: MatchedVerdicts | None, problems: Sequence[str], notes: Sequence[str]) -> None:
    from turngate.cli.columns import plain, print_rows, print_words
    from turngate.errors import counted
    from turngate.importing import turn_ranges

    rows = [
        {
            "origin": plain(chain.origin, 40),
            "setting": plain(chain.setting, 40) or "-",
            "model": plain(chain.editor, 40) or "-",
            "repeat": chain.fields.get("repeat", "-"),
            "turns": str(chain.turns),
            "gaps": turn_ranges(turn + chain.first_turn for turn in chain.gaps) or "none",
            "labels": str(_labelled(number, chain, matched)),
        }
        for number, chain in enumerate(tree.chains[:_LISTED])
    ]
    print_rows(rows, left=("origin", "setting", "model"))
    if len(tree.chains) > _LISTED:
        click.echo(f"and {counted(len(tree.chains) - _LISTED, 'chain')} more")
    frames = counted(sum(len(chain.frames) for chain in tree.chains), "frame")
    origins = counted(len({chain.origin for chain in tree.chains}), "origin")
    print_words(f"{counted(len(tree.chains), 'chain')} of {origins}, {frames} after the origins.")
    for note in notes:
        print_words(note)
    for problem in problems[:_LISTED]:
        click.echo(f"note: {plain(problem, 400)}", err=True)
    if len(problems) > _LISTED:
        click.echo(f"note: and {len(problems) - _LISTED} more, all of them with --json", err=True)


# The runs, and the page.


def _run(
    planned: ImportedStudy,
    options: _Options,
    tree: FoundTree,
    matched: MatchedVerdicts | None,
    problems: Sequence[str],
    notes: Sequence[str],
) -> int:
    from turngate.cli.report import summary_reader
    from turngate.cli.study import follow_and_answer
    from turngate.errors import counted
    from turngate.graphs.study import run_jobs, unwatched
    from turngate.importing import write_labels

    study, recheck = planned.prepare()
    folder = planned.folder
    for problem in recheck.changed:
        click.echo(f"note: {problem}", err=True)
    by = options.by or (options.labels or options.table or Path("people")).stem
    verdicts = _all_verdicts(tree.chains, matched)
    if verdicts:
        file, added = write_labels(planned, verdicts, by, recheck.left)
        if not options.as_json:
            click.echo(f"labels: {counted(added, 'row')} added to {file}")
    facts = {**_facts(tree, matched, problems, notes), "changed": list(recheck.changed)}
    found = run_jobs(study, folder, unwatched, options.jobs, options.retry_failed, recheck.left)
    reads = summary_reader(None, None)
    code = follow_and_answer(found, study, folder, options.quiet, options.as_json, reads, more=facts)
    if not options.as_json:
        run = shlex.quote(str(folder / planned.study.jobs[0].path))
        click.echo(f"next: turngate replay {run} --set 'gate={{type: threshold, evaluator: NAME, at: LIMIT}}'")
        click.echo("next: turngate import ... --arm 'NAME={type: ..., ...}' replays every chain with a gate")
    return max(code, 2 if recheck.changed else 0)


def _all_verdicts(
    chains: Sequence[FoundChain], matched: MatchedVerdicts | None
) -> dict[tuple[int, int], tuple[bool | None, str, str]]:
    found: dict[tuple[int, int], tuple[bool | None, str, str]] = {
        (number, frame.turn): (frame.damaged, "", "")
        for number, chain in enumerate(chains)
        for frame in chain.frames
        if frame.damaged is not None
    }
    if matched is not None:
        found |= {place: (one.damaged, one.failure, one.by) for place, one in matched.found.items()}
    return found
