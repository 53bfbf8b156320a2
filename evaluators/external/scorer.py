"""Any scorer that is a program of its own: it is asked line by line, in a process that cannot harm this one."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from turngate.component import ComponentConfig
from turngate.errors import ConfigError, MissingWeights, one_line
from turngate.evaluators.evaluator import EvalInput, EvaluatorInput, Facts
from turngate.evaluators.external.process import LineProcess, ProcessEnded
from turngate.evaluators.registration import same_pixels
from turngate.evaluators.result import IDENTICAL, Failed, Result, Score, Unscored
from turngate.picture import EXTENSIONS, Picture

__all__ = ["ExternalConfig", "ExternalScorer"]

_GIVE_UP = 3
"""Images in a row that cost the program its life: then it is not started again."""


class ExternalConfig(ComponentConfig):
    """How the program is started, and what is known about its scores: nothing can be asked of it."""

    paths: ClassVar[tuple[str, ...]] = ("folder",)
    """Fields that are paths relative to the configuration file."""

    command: list[str] = Field(min_length=1)
    """The program and its arguments; no shell reads them."""
    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]{0,40}$")
    """What it is, for the record."""
    version: str = Field(min_length=1)
    """Yours: another version, another number. It is part of every cache key."""
    direction: Literal["higher", "lower"]
    """Which way is better."""
    range: tuple[float, float] | None = None
    """Lowest and highest score; a score outside is a failure. None for any number."""
    reference: Literal["origin", "first", "previous"] | None = None
    """An image that the program is given to compare with."""
    instruction: bool = False
    """Send the instruction of the turn along."""
    min_size: int = Field(default=1, ge=1)
    """Smaller images (shortest side, pixels) are not sent."""
    deterministic: bool = True
    """The same image always gets the same score."""
    timeout_seconds: float = Field(default=120, gt=0, le=86_400)
    """Longest time for one image; then the program is ended."""
    start_seconds: float = Field(default=600, ge=0, le=86_400)
    """Added for the first image after a start, while weights are loaded."""
    folder: Path | None = None
    """Where the program is started; here by default."""
    files: list[Path] = Field(default=[])
    """What must be there (weights, code), relative to `folder`: a missing one is an error before the first image."""
    weights_licence: str = "see its authors"
    """For the record."""

    @field_validator("range")
    @classmethod
    def _upwards(cls, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
        if bounds is not None and not bounds[0] < bounds[1]:
            raise ValueError("the range goes from low to high")
        return bounds


class ExternalScorer:
    """A scorer that is a program of its own, over a line protocol (the code of RALI's authors, for instance)."""

    Config: ClassVar[type[ComponentConfig]] = ExternalConfig
    requires: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: ExternalConfig) -> None:
        """Raises `ConfigError` when there is no such program, `MissingWeights` for missing files."""
        self.config = config
        files = _missing_files(config)
        if files:
            raise MissingWeights(files)
        program = _program(config)
        if program is None:
            raise ConfigError(_no_program(config))
        inputs: set[EvaluatorInput] = {"candidate"}
        if config.reference:
            inputs.add(config.reference)
        if config.instruction:
            inputs.add("instruction")
        self.facts = Facts(
            name=_name(config),
            version=config.version,
            direction=config.direction,
            range=config.range or (float("-inf"), float("inf")),
            deterministic=config.deterministic,
            inputs=frozenset(inputs),
            min_size=config.min_size,
            weights=", ".join(str(path) for path in config.files) or "the program's own",
            weights_licence=config.weights_licence,
            source=" ".join(config.command),
        )
        self._process = LineProcess([program, *config.command[1:]], config.folder)
        self._lock = threading.Lock()
        self._asked = 0
        self._lost = 0

    @classmethod
    def missing(cls, config: ExternalConfig | None) -> str | None:
        """A program that speaks the line protocol of docs/judges.md (for RALI: its authors' checkout)."""
        if config is None:
            return None
        problems = [_missing_files(config), None if _program(config) else _no_program(config)]
        return "; ".join(filter(None, problems)) or None

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score the images one after the other. A program that ends is started once more for the same image."""
        with self._lock:
            return [self._one(sample) for sample in batch]

    def close(self) -> None:
        """End the program; the next image starts it again."""
        self._process.close()

    def _one(self, sample: EvalInput) -> Result:
        reference = getattr(sample, self.config.reference) if self.config.reference else None
        if self.config.reference and reference is None:
            return Unscored("no_reference", f"{self.facts.name} needs the {self.config.reference}")
        if self._lost >= _GIVE_UP:
            return Failed(
                "user", "given_up", f"the program ended over {_GIVE_UP} images in a row: it is not started again"
            )
        with tempfile.TemporaryDirectory(prefix="turngate-") as folder:
            question: dict[str, Any] = {"image": _write(sample.candidate, Path(folder), "candidate")}
            question["reference"] = _write(reference, Path(folder), "reference") if reference else None
            if self.config.instruction:
                question["instruction"] = sample.instruction
            for again in (True, False):
                self._asked += 1
                seconds = self.config.timeout_seconds + (0 if self._process.alive else self.config.start_seconds)
                try:
                    answer, noise = self._process.ask({"id": str(self._asked), **question}, seconds)
                except ProcessEnded as ended:
                    if not again or ended.why not in ("crashed", "killed"):
                        self._lost += 1
                        return Failed("machine" if ended.why == "killed" else "user", ended.why, str(ended))
                else:
                    self._lost = 0
                    flags = (f"noise:{noise} lines",) if noise else ()
                    if reference is not None and same_pixels(sample.candidate, reference):
                        flags = (*flags, IDENTICAL)
                    return self._result(answer, flags if again else (*flags, "restarted"))
        raise AssertionError("unreachable")

    def _result(self, answer: Mapping[str, Any], flags: tuple[str, ...]) -> Result:
        if "error" in answer:
            return Failed("user", "scorer", one_line(answer["error"], 500), flags)
        if "unscored" in answer:
            return Unscored("undefined", one_line(answer["unscored"], 500), flags)
        value: Any = answer.get("score")
        try:
            result = Score(value, flags=flags)
        except ValueError as error:
            what = "not_finite" if isinstance(value, float) else "not_a_number"
            return Failed("user", what, str(error), flags)
        low, high = self.facts.range
        if not low <= result.value <= high:
            return Failed("user", "range", f"{result.value:g} is outside {low:g}..{high:g}", flags)
        return result


def _name(config: ExternalConfig) -> str:
    return f"{config.type}:{config.name}" if config.name else config.type


def _missing_files(config: ExternalConfig) -> str | None:
    base = config.folder or Path()
    missing = [str(path) for path in (base, *(base / file for file in config.files)) if not path.exists()]
    if not base.exists():
        missing = missing[:1]
    return f"{_name(config)}: there is no {', no '.join(missing)}: check `folder` and `files`" if missing else None


def _program(config: ExternalConfig) -> str | None:
    """The program as a path that does not depend on where it is started."""
    first = config.command[0]
    own = (config.folder or Path()) / first
    found = str(own) if "/" in first and own.is_file() else shutil.which(first)
    return str(Path(found).absolute()) if found else None


def _no_program(config: ExternalConfig) -> str:
    return f"{config.type}.command: there is no program {config.command[0]!r} here"


def _write(picture: Picture, folder: Path, name: str) -> str:
    """The image as a file, bytes as received."""
    path = folder / f"{name}.{EXTENSIONS.get(picture.media_type, 'bin')}"
    path.write_bytes(picture.data)
    return str(path)
