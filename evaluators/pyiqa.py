"""Any metric of pyiqa by its own name. pyiqa's licence is non-commercial: it is imported only when one is asked for."""

from __future__ import annotations

import contextlib
import io
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.error import URLError

from turngate.errors import ConfigError, MissingWeights, UnknownPart
from turngate.evaluators.evaluator import Facts, Sample
from turngate.evaluators.result import Failed, Result, Score, Unscored
from turngate.part import PartConfig
from turngate.registry import nearest

__all__ = ["PyiqaConfig", "PyiqaMetric"]

_lock = threading.Lock()


class PyiqaConfig(PartConfig):
    """Which weights, and where to run."""

    weights: Path | None = None
    """File or folder of weights, given to pyiqa as `pretrained_model_path`; None lets pyiqa use its cache or its hub.
    pyiqa unpickles it, which can run code: use only files you trust."""
    device: str = "cpu"
    """Device as torch names it."""


class PyiqaMetric:
    """A metric of pyiqa (`pyiqa:musiq`, `pyiqa:lpips`, ...); non-commercial licence, needs the extra `iqa`.

    Direction and range are pyiqa's own statements; ranges are approximate. Full-reference metrics compare with the
    origin. Images are scored one by one at their own size, so the batch cannot change a value.
    """

    Config: ClassVar[type[PartConfig]] = PyiqaConfig
    requires: ClassVar[Mapping[str, str]] = {"pyiqa": "iqa", "torch": "iqa", "torchvision": "iqa"}

    def __init__(self, config: PyiqaConfig) -> None:
        """Build the metric; raises `UnknownPart`, `ConfigError`, or `MissingWeights` when its weights are not here."""
        self.config = config
        self.name = config.type.partition(":")[2]
        self._metric, described, version = _build(self.name, config)
        reference = described.get("metric_mode") == "FR"
        low, high = _range(str(described.get("score_range", "")))
        self.facts = Facts(
            name=config.type,
            version=version,
            direction="lower" if described.get("lower_better", False) else "higher",
            range=(low, high),
            range_is_approximate=True,
            tolerance=1e-3,
            needs=frozenset({"candidate", "origin"}) if reference else frozenset({"candidate"}),
            weights=str(config.weights) if config.weights else "pyiqa's hub, or none",
            weights_licence="see the metric's authors; pyiqa itself: PolyForm Noncommercial and S-Lab",
            source=f"pyiqa {version}, {described.get('metric_opts', {}).get('type', self.name)}",
            size_scored="as pyiqa resizes inside",
        )

    def evaluate(self, batch: Sequence[Sample]) -> list[Result]:
        """Score each sample by itself; NaN is `Unscored("undefined")`, an exception inside pyiqa `Failed`."""
        return [self._one(sample) for sample in batch]

    def _one(self, sample: Sample) -> Result:
        import torch

        pictures = [sample.candidate]
        if "origin" in self.facts.needs and sample.origin is not None:
            pictures.append(sample.origin)
            if (sample.origin.width, sample.origin.height) != (sample.candidate.width, sample.candidate.height):
                return Unscored("undefined", "candidate and origin differ in size: pyiqa cannot compare them")
        tensors = [
            torch.tensor(picture.rgb).permute(2, 0, 1)[None].float().div(255).to(self.config.device)
            for picture in pictures
        ]
        try:
            with _quiet(), torch.inference_mode():
                value = float(self._metric(*tensors))
        except (AssertionError, ValueError, ArithmeticError, RuntimeError) as error:
            # Flat and small images end in exceptions of all these kinds inside pyiqa.
            return Failed("us", type(error).__name__, " ".join(str(error).split())[:300])
        try:
            return Score(value)
        except ValueError:
            return Unscored("undefined", f"{self.facts.name} is {value} on this image")


def _build(name: str, config: PyiqaConfig) -> tuple[Any, Mapping[str, Any], str]:
    with _quiet():
        import pyiqa
        from pyiqa.default_model_configs import DEFAULT_CONFIGS

        if name not in DEFAULT_CONFIGS:
            known = [f"pyiqa:{known}" for known in DEFAULT_CONFIGS]
            raise UnknownPart(f"pyiqa has no metric {name!r}{nearest(f'pyiqa:{name}', known)}")
        if config.weights is not None and not config.weights.exists():
            raise MissingWeights(f"{config.type}: no weights at {config.weights}: check the path")
        given = {} if config.weights is None else {"pretrained_model_path": str(config.weights)}
        try:
            metric = pyiqa.create_metric(name, device=config.device, **given)
        except TypeError as error:
            if given:
                raise ConfigError(f"{config.type} takes no weights file: leave `weights` out") from error
            raise
        except (URLError, OSError) as error:
            raise MissingWeights(
                f"{config.type}: its weights are not on this machine and the hub cannot be reached: download them "
                "where there is network, then set `weights: PATH` or copy them to ~/.cache/torch/hub/pyiqa"
            ) from error
    return metric, DEFAULT_CONFIGS[name], str(getattr(pyiqa, "__version__", "unknown"))


@contextlib.contextmanager
def _quiet() -> Any:
    """pyiqa prints to standard output and warns at import; standard output belongs to `--json`."""
    with _lock, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _range(text: str) -> tuple[float, float]:
    """pyiqa's "~0, ~100" as numbers; infinite where it says nothing."""
    bounds = [bound.strip().lstrip("~") for bound in text.split(",")]
    low, high = [*bounds, "", ""][:2]
    return float(low) if low else float("-inf"), float(high) if high else float("inf")
