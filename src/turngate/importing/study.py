"""From found chains to a study of recorded runs: one run for each chain and arm."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from turngate.agent.editors import EDITORS
from turngate.agent.editors.replay import RecordedAs
from turngate.agent.scenarios import SCENARIOS
from turngate.errors import ConfigError, UserError
from turngate.graphs.components import build_components
from turngate.graphs.config import RunConfig
from turngate.graphs.load import parse_config
from turngate.graphs.study import Job, Study, StudyConfig
from turngate.importing.chains import FoundChain
from turngate.importing.prepared import frame_file, manifest_of, prepare_chain
from turngate.traces.analysis.labels import LabelRow, append_labels, read_labels
from turngate.traces.analysis.study import StudyView
from turngate.traces.run_folder import RunFolder

__all__ = [
    "IdealChoice",
    "ImportSettings",
    "ImportedStudy",
    "Recheck",
    "check_arm_names",
    "import_study",
    "write_labels",
]

RECORDED = "recorded"
"""Arm of the chains as they were recorded: every frame is accepted."""

NO_INSTRUCTION = "The instruction is not on record."
"""What stands in the place of an instruction that nobody gave."""

IdealChoice = Literal["origin", "round_trip", "unknown"]

_LABELS = "labels.csv"


@dataclass(frozen=True)
class ImportSettings:
    """How the chains are measured."""

    name: str
    source: str
    """Where they came from, in words."""
    evaluators: Mapping[str, Any]
    truth: Mapping[str, Any] | Literal["default"] | None = "default"
    """`default`: PSNR to the ideal where that is known, else the control rectangles where there are some, else none."""
    scenario: Any = None
    """What was asked for; None: the instructions on record, or that there are none."""
    ideal: IdealChoice | None = None
    """What a perfect editor's frames equal; None: the origin where no instruction is on record, else unknown."""
    arms: Mapping[str, Any] = field(default_factory=dict)
    """Name -> gate that the chains are replayed with."""
    labelled: bool = False
    """People's verdicts come with the frames: they lead the truths."""


@dataclass(frozen=True)
class Recheck:
    """Chains that were imported before."""

    left: tuple[Path, ...]
    """Folders of runs that are not touched, relative to the study's: they are whole, or their frames were changed."""
    changed: tuple[str, ...]
    """One line for each chain whose frames are not those of its run any more; it is left as it is."""


@dataclass(frozen=True)
class ImportedStudy:
    """What is to be run."""

    study: Study
    chains: tuple[FoundChain, ...]
    jobs_of: tuple[tuple[Job, ...], ...]
    """The jobs of each chain, the arm `recorded` first."""
    folder: Path

    def prepare(self) -> tuple[Study, Recheck]:
        """Write the list of every chain's frames, and extract those of animated images.

        Raises `UserError` where another study lives in the folder, `MachineError` when it cannot be written.
        """
        _check_folder(self.folder, self.study.config.question)
        finished: list[Path] = []
        changed: list[str] = []
        left_out: set[Path] = set()
        for chain, jobs in zip(self.chains, self.jobs_of, strict=True):
            whole, problem = prepare_chain(chain, jobs, self.folder)
            finished += whole
            if problem:
                changed.append(problem)
                left_out |= {job.path for job in jobs}
        # What is changed keeps its runs as they are: it is in the study, and nothing is done about it.
        return self.study, Recheck((*finished, *sorted(left_out)), tuple(changed))


def import_study(chains: Sequence[FoundChain], settings: ImportSettings, folder: Path) -> ImportedStudy:
    """The study of these chains in `folder`, every run checked; raises `ConfigError`, and writes nothing."""
    question = f"What became of the images in {settings.source}, turn by turn?"
    run = {"evaluators": dict(settings.evaluators), "telemetry": {"exporter": "none"}, "driver": "loop"}
    gates: dict[str, Any] = {RECORDED: "always_accept", **settings.arms}
    config = StudyConfig(
        name=settings.name,
        question=question,
        notes=(
            f"Imported from {settings.source}: {len(chains)} recorded chains. Nothing was edited here: every turn "
            "serves the frame that was recorded."
        ),
        run=run,
        arms={name: {"gate": gate} for name, gate in gates.items()},
        controls=(),
        labels=_LABELS if settings.labelled or (folder / _LABELS).exists() else None,
    )
    names = _folder_names(chains)
    jobs_of: list[list[Job]] = [[] for _ in chains]
    for arm, gate in gates.items():
        for chain, name, jobs in zip(chains, names, jobs_of, strict=True):
            checked = _run_config(chain, name, arm, gate, run, settings, folder.resolve())
            editor = chain.editor or "recorded"
            jobs.append(Job(arm, False, chain.origin, chain.setting, editor, chain.repeat, checked, Path(arm, name)))
    ordered = tuple(jobs[number] for number in range(len(gates)) for jobs in jobs_of)
    _check_components(ordered)
    return ImportedStudy(Study(config, ordered), tuple(chains), tuple(map(tuple, jobs_of)), folder)


def _check_folder(folder: Path, question: str) -> None:
    """Raise `UserError` where another study lives; an import goes on where the same source was imported before."""
    if not (folder / "study.json").exists():
        return
    before = StudyView.load(folder).config.get("question")
    if before != question:
        raise UserError(f"{folder} holds another study ({before}): choose another folder with --out, or another --name")


def _check_components(jobs: Iterable[Job]) -> None:
    """Build what measures and decides, once for each kind: what cannot work together is an error before any run."""
    stand_in = EDITORS.configure({"type": "codec"}, "editor")  # the frames are not read for it
    known: set[str] = set()
    for job in jobs:
        config = job.config
        if any(truth.measure == "simulator" for truth in config.truths.values()):
            raise ConfigError("--truth: recorded frames have no simulator's record: measure it with an evaluator")
        key = config.model_dump_json(include={"scenario", "turns", "evaluators", "truth", "gate"})
        if key not in known:
            known.add(key)
            build_components(config.model_copy(update={"editor": stand_in}))


def _folder_names(chains: Sequence[FoundChain]) -> list[str]:
    """A folder's name for each chain, each name once: made of its own fields, so that more chains change none."""
    found: list[str] = []
    taken: set[str] = set()
    for chain in chains:
        repeat = chain.fields.get("repeat", "")
        parts = (chain.origin, chain.setting, chain.editor, f"r{int(repeat) if repeat.isdecimal() else repeat}")
        name = "--".join(_slug(text) for text in (parts if repeat else parts[:3]) if text)
        number = 1
        while (unique := name if number == 1 else f"{name}--{number}").lower() in taken:
            number += 1
        taken.add(unique.lower())
        found.append(unique)
    return found


def _slug(text: str) -> str:
    name = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._]+", "-", text)).strip("-.")
    return name[:40].strip("-.") or "x"


def _run_config(
    chain: FoundChain,
    name: str,
    arm: str,
    gate: Any,
    run: Mapping[str, Any],
    settings: ImportSettings,
    folder: Path,
) -> RunConfig:
    ideal = _ideal(chain, settings)
    raw: dict[str, Any] = {
        **run,
        "name": re.sub(r"[^A-Za-z0-9._-]", "-", f"{arm}-{name}")[:64].rstrip("-"),
        "origin": {"image": str(frame_file(chain.start, folder, name))},
        "scenario": settings.scenario if settings.scenario is not None else _scenario(chain, ideal),
        "turns": chain.turns,
        "editor": {
            "type": "replay",
            "source": str(manifest_of(folder, name)),
            "incomplete": True,
            "recorded_as": RecordedAs(
                fields=dict(chain.fields), first_turn=chain.first_turn, turn_digits=chain.turn_digits
            ).model_dump(),
        },
        "gate": gate,
        "on_reject": {"attempts": 1, "then": "skip"},
        "truth": _truth(chain, ideal, settings),
        "score_cache": True,
    }
    return parse_config(raw, f"{chain.label}, arm {arm}")


def _ideal(chain: FoundChain, settings: ImportSettings) -> IdealChoice:
    if settings.ideal is not None:
        return settings.ideal
    said = chain.shared_instruction or any(frame.instruction for frame in chain.frames)
    return "unknown" if said else "origin"


def _scenario(chain: FoundChain, ideal: IdealChoice) -> dict[str, Any]:
    ideal_field = {} if ideal == "unknown" else {"ideal": ideal}
    of_turn = {frame.turn: frame for frame in chain.frames}
    general = chain.shared_instruction or NO_INSTRUCTION
    if not any(frame.instruction or frame.box for frame in chain.frames):
        return {"type": "custom", "instructions": [general], "cycle": True, **ideal_field}
    said: list[Any] = []
    for turn in range(1, chain.turns + 1):
        frame = of_turn.get(turn)
        text = (frame.instruction if frame else None) or general
        said.append({"text": text, "box": list(frame.box)} if frame and frame.box else text)
    return {"type": "custom", "instructions": said, **ideal_field}


def _truth(chain: FoundChain, ideal: IdealChoice, settings: ImportSettings) -> Mapping[str, Any] | None:
    if settings.truth != "default":
        return settings.truth
    if chain.regions:
        regions = [list(box) for box in chain.regions]
        return {"measure": {"type": "control_regions", "regions": regions, "align": "crop"}, "damaged_at": 20}
    if settings.scenario is not None:
        scenario = SCENARIOS.build(SCENARIOS.configure(settings.scenario, "--scenario"))
        known = scenario.ideal is not None
    else:
        known = ideal != "unknown"
    if not known:
        return None
    return {"measure": {"type": "psnr", "align": "shift"}, "damaged_at": 22}


# Labels: rows of the file that the study's page, the viewer and `turngate study --labels` read.


def write_labels(
    planned: ImportedStudy,
    verdicts: Mapping[tuple[int, int], tuple[bool | None, str, str]],
    by: str,
    left: Collection[Path] = (),
) -> tuple[Path, int]:
    """Add verdicts to the study's label file; those that it has already are not written again.

    `verdicts` maps (number of the chain, turn) to verdict, words and person; `by` names who has none. A verdict is
    about a frame, so it stands in the runs of every arm, but for those in `left` that are not there. Returns the file
    and the number of rows that were added.
    """
    file = planned.folder / _LABELS
    known: dict[tuple[str, int, str], LabelRow] = {}
    if file.exists():
        for _, row in read_labels(file).rows:
            known[row.run, row.turn, row.by] = row
    added = []
    absent = {path for path in left if not RunFolder(planned.folder / path).exists()}
    for (number, turn), (damaged, failure, person) in sorted(verdicts.items()):
        for job in planned.jobs_of[number]:
            if job.path in absent:
                continue
            row = LabelRow(
                run=job.path.as_posix(),
                turn=turn,
                attempt=1 if turn else None,
                damaged=damaged,
                failure=failure,
                by=person or by,
            )
            before = known.get((row.run, row.turn, row.by))
            if before is None or (before.damaged, before.failure) != (row.damaged, row.failure):
                added.append(row)
    append_labels(file, added)
    return file, len(added)


def check_arm_names(names: Iterable[str]) -> None:
    """Raise `ConfigError` for an arm that cannot be a folder's name."""
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", name) or "--" in name or name == RECORDED:
            raise ConfigError(
                f"--arm {name}: a name has up to 40 letters, digits, '.', '_' and single '-', and is not {RECORDED!r}"
            )
