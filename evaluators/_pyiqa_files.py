"""Where the weights of pyiqa's metrics are: given by the user, in the caches, or inside other packages."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from turngate.evaluators.pyiqa.table import FILES

__all__ = ["OURS", "WeightFile", "files_of", "hub_folder"]

OURS = ("brisque_svm_weights.pth", "niqe_modelparameters.mat")
"""Files whose numbers turngate ships for its own metrics."""

_PACKAGES = {
    "alex_shift_tolerant.pth": ("stlpips_pytorch", "weights/vST0.0/alex_shift_tolerant.pth"),
    "vgg_shift_tolerant.pth": ("stlpips_pytorch", "weights/vST0.0/vgg_shift_tolerant.pth"),
    "LPIPS_v0.1_alex-df73285e.pth": ("lpips", "weights/v0.1/alex.pth"),
    "LPIPS_v0.1_vgg-a78928a0.pth": ("lpips", "weights/v0.1/vgg.pth"),
    "DISTS_weights-f5e65c96.pth": ("DISTS_pytorch", "weights.pt"),
}
"""File of pyiqa's hub -> package that ships the same parameters (the keys were compared, one by one)."""

_CLIP = "https://openaipublic.azureedge.net/clip/models"
_FACE = "https://github.com/xinntao/facexlib/releases/download"
_SWIN = "https://github.com/SwinTransformer/storage/releases/download/v1.0.0"
_URLS = {
    "RN50.pt": f"{_CLIP}/afeb0e10f9e5a86da6080e35cf09123aca3b358a0c3e3b6c78a7b63bc04b6762/RN50.pt",
    "ViT-B-32.pt": f"{_CLIP}/40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af/ViT-B-32.pt",
    "ViT-L-14.pt": f"{_CLIP}/b8cca3fd41ae0c99ba7e8951adf17d267cdb84cd88be6f7c2e0eca1737a03836/ViT-L-14.pt",
    "detection_Resnet50_Final.pth": f"{_FACE}/v0.1.0/detection_Resnet50_Final.pth",
    "parsing_parsenet.pth": f"{_FACE}/v0.2.2/parsing_parsenet.pth",
    "swin_base_patch4_window12_384_22kto1k.pth": f"{_SWIN}/swin_base_patch4_window12_384_22kto1k.pth",
}


@dataclass(frozen=True)
class WeightFile:
    """One file that a metric opens, or one repository that it loads."""

    place: str
    """See `_pyiqa_table`."""
    name: str

    @property
    def is_repository(self) -> bool:
        """It is loaded by its repository's name, by a library that keeps its own cache."""
        return self.place in ("timm", "repo")

    @property
    def movable(self) -> bool:
        """pyiqa can be made to look for it elsewhere."""
        return self.place in ("pyiqa", "checkpoints", "clip")

    @property
    def home(self) -> Path:
        """Where pyiqa looks for it and downloads it to."""
        if self.place == "openai":
            return Path.home() / ".cache" / "clip" / self.name
        return hub_folder() / ("pyiqa" if self.place == "face" else self.place) / self.name

    @property
    def url(self) -> str:
        """Where it comes from."""
        endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        if self.is_repository:
            return f"{endpoint}/{self.name}"
        if self.name in _URLS:
            return _URLS[self.name]
        if self.place == "checkpoints" and self.name != "ARNIQA.pth":
            return f"https://download.pytorch.org/models/{self.name}"
        return f"{endpoint}/chaofengc/IQA-PyTorch-Weights/resolve/main/{self.name}"

    @property
    def sha256(self) -> str | None:
        """Known for CLIP, whose addresses hold it."""
        return self.url.split("/")[-2] if self.url.startswith(_CLIP) else None

    def given(self, weights: Path | None) -> Path | None:
        """The user's own copy: `weights` itself by its name, or a file of that name in this folder."""
        if weights is None or not self.movable:
            return None
        names = {self.name, unquote(self.name)}
        if weights.is_file():
            return weights if weights.name in names else None
        near = (weights / folder / name for folder in ("", self.place) for name in sorted(names))
        return next((path for path in near if path.is_file()), None)

    def found(self) -> Path | None:
        """In a cache or in a package that ships it; not `OURS`."""
        if self.is_repository:
            return _cached_repository(self.name)
        return self.home if self.home.is_file() else _packaged(self.name)

    def is_here(self, weights: Path | None = None) -> bool:
        """Whether it can be had without a network."""
        return self.given(weights) is not None or self.found() is not None or self.name in OURS


def files_of(metric: str) -> tuple[WeightFile, ...] | None:
    """What a metric opens; None for one that came with a later pyiqa than this table."""
    if metric not in FILES:
        return None
    return tuple(WeightFile(*entry.split("/", 1)) for entry in FILES[metric])


def hub_folder() -> Path:
    """torch's hub cache, known without importing torch."""
    hub = sys.modules.get("torch.hub")
    if hub is not None:
        return Path(hub.get_dir())
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser() / "hub"


def _packaged(name: str) -> Path | None:
    package, inside = _PACKAGES.get(name, ("", ""))
    spec = importlib.util.find_spec(package) if package else None
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders if (path := Path(folder) / inside).is_file()), None)


def _cached_repository(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    for file in ("config.json", "model.safetensors", "pytorch_model.bin"):
        path = try_to_load_from_cache(name, file)
        if isinstance(path, str):
            return Path(path)
    return None
