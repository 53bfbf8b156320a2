"""Any metric of pyiqa by its own name. pyiqa's licence is non-commercial: it is imported only when one is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from turngate.component import ComponentConfig, missing_modules
from turngate.errors import ConfigError, one_line
from turngate.evaluators.evaluator import EvalInput, EvaluatorInput, Facts, FactsOnly
from turngate.evaluators.full_reference.base import described, reference_of, size_scored
from turngate.evaluators.pyiqa.build import alone, build, obstacle, repeatable
from turngate.evaluators.pyiqa.catalogue import CatalogueEntry, entry_of, read_catalogue, versions
from turngate.evaluators.pyiqa.weights import Weights, what_is_missing
from turngate.evaluators.registration import VERSION, Align, register
from turngate.evaluators.result import Failed, Result, Score, Unscored
from turngate.weights.hub import offline
from turngate.weights.torch_device import out_of_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PyiqaConfig", "PyiqaMetric"]

_TOO_SMALL = ("Kernel size can't be greater than", "Padding size should be less than")
"""What torch says when an image, or one of its scales, is smaller than a filter."""


class PyiqaConfig(ComponentConfig):
    """Which weights, where to run, and what a full-reference metric compares with."""

    paths: ClassVar[tuple[str, ...]] = ("weights",)
    """Fields that are paths relative to the configuration file."""

    weights: Path | None = None
    """A file of weights, or a folder that holds those that pyiqa would download, by their names (for `qrealign`: a
    folder that transformers can load). None: torch's cache, packages that ship them, pyiqa's hub."""
    allow_pickle: bool = False
    """Open weights of your own that hold more than numbers. They can run any code: only for files that you trust."""
    local_files_only: bool = False
    """Never download. `TURNGATE_OFFLINE=1` in the environment says so for all."""
    device: str = "cpu"
    """Device as torch names it."""
    out_of_memory: Literal["fail", "cpu"] = "fail"
    """When an image does not fit into the device's memory: no score for it (`fail`), or one more try on the CPU, with
    the flag `device:cpu`."""
    threads: int = Field(default=2, ge=1, le=1024)
    """Threads of torch on the CPU, whatever the machine has: their number moves BRISQUE by up to 0.002."""
    against: Literal["origin", "previous"] = "origin"
    """Full-reference metrics only: the origin, or the image that was edited."""
    align: Align = "none"
    """Full-reference metrics only: what is undone first, see `psnr`."""


class PyiqaMetric:
    """A metric of pyiqa (`pyiqa:musiq`, `pyiqa:lpips`, ...); non-commercial licence, needs the extra `iqa`.

    Direction and range are pyiqa's own statements, put right where they are known to be wrong; ranges are approximate.
    Full-reference metrics compare with the origin or the image that was edited, after registration. Images are scored
    one by one, in single precision and with fixed random numbers: neither the batch nor the machine's number of cores
    can change a value.
    """

    Config: ClassVar[type[ComponentConfig]] = PyiqaConfig
    requires: ClassVar[Mapping[str, str]] = {"pyiqa": "iqa", "torch": "iqa", "torchvision": "iqa"}

    def __init__(self, config: PyiqaConfig) -> None:
        """Build the metric.

        Raises `UnknownComponent`, `ConfigError`, `MissingExtra` or `MissingWeights`, each in one line.
        """
        self.config = config
        self._entry = entry_of(config.type.partition(":")[2])
        if not self._entry.compares and (config.align, config.against) != ("none", "origin"):
            raise ConfigError(f"{config.type} compares with nothing: leave `align` and `against` out")
        problem = obstacle(self._entry, config.device)
        if problem is not None:
            raise problem
        local_only = config.local_files_only or offline()
        weights = Weights(self._entry, config.weights, config.allow_pickle)
        self._metric = build(self._entry, config.device, weights, local_only)
        self.facts = _facts(self._entry, config, weights.fingerprint)
        self._on_the_cpu = cache(lambda: build(self._entry, "cpu", weights, local_only))

    @classmethod
    def members(cls) -> list[str]:
        """Types of all metrics; none without pyiqa."""
        return [] if "pyiqa" in missing_modules(cls) else [f"pyiqa:{name}" for name in read_catalogue()]

    @classmethod
    def facts_of(cls, config: PyiqaConfig) -> Facts:
        """Facts without building the metric or importing pyiqa; raises as `__init__` does for an unknown name."""
        return _facts(entry_of(config.type.partition(":")[2]), config, "")

    @classmethod
    def outline(cls, config: PyiqaConfig) -> FactsOnly:
        """Its facts. The metric is built for it and let go: only that tells whether all of its files are here."""
        return FactsOnly(cls(config).facts)

    @classmethod
    def missing(cls, config: PyiqaConfig | None) -> str | None:
        """Weights, which most metrics fetch at their first use."""
        if config is None:  # of the whole family
            return None
        entry = entry_of(config.type.partition(":")[2])
        problem = obstacle(entry, config.device)
        if problem is not None:
            return str(problem)
        return what_is_missing(entry, config.weights, config.local_files_only or offline())

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        """Score each input by itself; NaN is `Unscored("undefined")`, an exception inside pyiqa `Failed`."""
        return [self._one(eval_input) for eval_input in batch]

    def _one(self, eval_input: EvalInput) -> Result:
        if not self._entry.compares:
            return self._value(eval_input, eval_input.candidate.rgb)
        reference = reference_of(eval_input, self.config.against)
        if reference is None:
            return Unscored("no_reference", f"{self.facts.name} needs the {self.config.against}")
        pair = register(eval_input.candidate, reference, self.config.align)
        side = min(pair.reference.shape[:2])
        if side < self._entry.min_size:
            detail = f"{self.facts.name} needs {self._entry.min_size} pixels, what is compared has {side}"
            return described(Unscored("too_small", detail), pair)
        return described(self._value(eval_input, pair.candidate, pair.reference), pair)

    def _value(self, eval_input: EvalInput, *images: NDArray[np.uint8] | NDArray[np.float32]) -> Result:
        """pyiqa's value for H x W x 3 images, 0..255: the candidate, and the reference where there is one."""
        try:
            return self._asked(self._metric, self.config.device, eval_input, images)
        except Exception as error:
            if not out_of_memory(error):
                raise
            if self.config.out_of_memory == "fail":
                return Failed("machine", "OutOfMemoryError", one_line(error, 300))
        result = self._asked(
            self._on_the_cpu(), "cpu", eval_input, images
        )  # out of `except`, which holds the GPU's memory
        return replace(result, flags=("device:cpu", *result.flags))

    def _asked(
        self, metric: Any, device: str, eval_input: EvalInput, images: Sequence[NDArray[np.uint8] | NDArray[np.float32]]
    ) -> Score | Unscored | Failed:
        """Raises what says that memory does not suffice."""
        import torch

        # Interpolation by `shift` overshoots a little; pyiqa refuses what is outside 0..1.
        tensors = [
            torch.tensor(image).permute(2, 0, 1)[None].float().div(255).clamp(0, 1).to(device) for image in images
        ]
        captions = {"caption_list": [eval_input.instruction]} if self._entry.captioned else {}
        try:
            with alone(), repeatable(self.config.threads), torch.inference_mode():
                answer = metric(*tensors, **captions)
                value = float(answer[0] if isinstance(answer, tuple | list) else answer)
        except (AssertionError, ValueError, ArithmeticError, RuntimeError) as error:
            if out_of_memory(error):
                raise
            # Flat and small images end in exceptions of all these kinds inside pyiqa.
            detail = one_line(error, 300)
            if any(message in detail for message in _TOO_SMALL):
                return Unscored("too_small", detail)
            if detail.startswith("No face detected"):  # by the metrics that look at faces only
                return Unscored("undefined", detail)
            if images[0].min() == images[0].max():
                return Unscored("flat", detail)
            return Failed("us", type(error).__name__, detail)
        try:
            return Score(value)
        except ValueError:
            return Unscored("undefined", f"{self.facts.name} is {value} on this image")


def _facts(entry: CatalogueEntry, config: PyiqaConfig, fingerprint: str) -> Facts:
    inputs: set[EvaluatorInput] = {"candidate"}
    if entry.compares:
        inputs.add(config.against)
    if entry.captioned:
        inputs.add("instruction")
    device = config.device.partition(":")[0]
    aligned = f"registration{VERSION}" if entry.compares and config.align != "none" else ""
    parts = (versions(), device if device != "cpu" else "", aligned, fingerprint)
    return Facts(
        name=config.type,
        version="+".join(part for part in parts if part),
        direction=entry.direction,
        range=entry.range,
        range_is_approximate=True,
        tolerance=1e-3,
        inputs=frozenset(inputs),
        min_size=entry.min_size,
        weights=str(config.weights or entry.weights_line),
        weights_licence="see the metric's authors; pyiqa itself: PolyForm Noncommercial and S-Lab",
        source=f"pyiqa's {entry.network}",
        size_scored=f"{size_scored(config.align)}; then as pyiqa resizes inside"
        if entry.compares
        else "as pyiqa resizes inside",
    )
