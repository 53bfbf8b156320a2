"""Brings together the weights that one metric opens, before pyiqa is asked for it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from turngate.errors import ConfigError, MachineError, MissingWeights, one_line
from turngate.evaluators.no_reference.parameters import BRISQUE, NIQE, parameters
from turngate.evaluators.pyiqa.table import FILES
from turngate.weights.hub import offline
from turngate.weights.version import folder_version

__all__ = ["OURS", "Weights", "fetch", "files_of", "gather", "named", "what_is_missing", "write_ours"]


# Where the weights of pyiqa's metrics are: given by the user, in the caches, or inside other packages.

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


# Downloads one file of weights, whole or not at all.

_SECONDS = 60
"""Longest silence of a server."""


def fetch(file: WeightFile, wanted_by: str) -> Path:
    """Download to where pyiqa looks for it; raises `MissingWeights` and leaves nothing behind when that fails.

    pyiqa's own downloads take a file that was cut short for a whole one, and CLIP's leave it there.
    """
    import httpx

    target = file.home
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    except OSError as error:
        raise MachineError(f"cannot write to {target.parent}: {error.strerror}: set TORCH_HOME to another") from error
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as out:
            _copy(file, out.write)
        part.chmod(0o644)
        part.replace(target)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise MissingWeights(
            f"{wanted_by}: {file.name} is not on this machine and {file.url} cannot be had ({_reason(error)}): "
            f"download it where there is network, then put it into {target.parent} or give its folder as `weights`"
        ) from error
    except OSError as error:
        raise MachineError(f"cannot write {target}: {error.strerror or error}: is the disk full?") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return target


def _copy(file: WeightFile, write: Callable[[bytes], object]) -> None:
    """Raises `httpx.HTTPError`, also when the answer ends early, or `ValueError` for other bytes than promised."""
    import httpx

    digest = hashlib.sha256()
    with httpx.stream("GET", file.url, follow_redirects=True, timeout=_SECONDS) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_bytes():
            write(chunk)
            digest.update(chunk)
    if file.sha256 not in (None, digest.hexdigest()):
        raise ValueError("its checksum is wrong")


def _reason(error: Exception) -> str:
    return one_line(error, 100) or type(error).__name__


_PICKLES = (".pth", ".pt", ".pkl", ".bin", ".ckpt")


@dataclass(frozen=True)
class Weights:
    """What to open, and what to tell pyiqa."""

    links: dict[WeightFile, Path | None]
    """Where each file lies that pyiqa can be made to look for elsewhere; None for our own numbers."""
    file: Path | None = None
    """The user's own file, whatever its name: `pretrained_model_path`."""
    model: Path | None = None
    """The user's folder of a transformers model."""
    fingerprint: str = ""
    """Of what the user gave; empty without."""


def named(metric: str) -> str:
    """The files of weights that a metric opens, in one line."""
    files = files_of(metric)
    return "as pyiqa fetches them" if files is None else ", ".join(file.name for file in files) or "none"


def what_is_missing(metric: str, weights: Path | None = None, local_only: bool = False) -> str | None:
    """Which files are not on this machine, in one line; None when all are, or when that is not known."""
    missing = ", ".join(file.name for file in files_of(metric) or () if not file.is_here(weights))
    if not missing:
        return None
    return f"weights that are not here: {missing} ({_why()})" if local_only else f"fetched at the first use: {missing}"


def gather(metric: str, weights: Path | None, local_only: bool, allow_pickle: bool) -> Weights:
    """Find or download everything; raises `MissingWeights` or `ConfigError` in one line."""
    name, files = f"pyiqa:{metric}", files_of(metric)
    given: dict[WeightFile, Path] = {}
    own = None
    if weights is not None:
        if weights.is_dir() and (weights / "config.json").is_file():
            return Weights({}, model=weights, fingerprint=folder_version(weights))
        given = _given(name, files or (), weights)
        own = weights if weights.is_file() and not given else None
        if not allow_pickle:
            for file, path in given.items():
                _refuse_code(name, path, file.sha256)
            if own is not None:
                _refuse_code(name, own)
    if files is None and local_only:
        raise MissingWeights(f"{name}: what it needs is not known, and {_why()}: nothing may be downloaded")
    # The user's own file takes the place of what pyiqa would load into its own network, not of the backbone.
    needed = [file for file in files or () if own is None or file.place != "pyiqa"]
    missing = [file for file in needed if file not in given and file.found() is None and file.name not in OURS]
    if missing and local_only:
        raise MissingWeights(_not_here(name, missing))
    for file in missing:
        if not file.is_repository:
            fetch(file, name)
    places = {file: given.get(file) or file.found() for file in needed if not file.is_repository}
    links = {file: path for file, path in places.items() if file.movable}
    return Weights(links, own, None, _fingerprint([*given.values(), *([own] if own else [])]))


def _given(name: str, files: Sequence[WeightFile], weights: Path) -> dict[WeightFile, Path]:
    if not weights.exists():
        raise MissingWeights(f"{name}: no weights at {weights}: check the path")
    given = {file: path for file in files if (path := file.given(weights)) is not None}
    if weights.is_dir() and not given:
        wanted = ", ".join(file.name for file in files if file.movable) or "a config.json and what belongs to it"
        raise MissingWeights(f"{name}: {weights} does not hold what it needs ({wanted}): check the folder")
    return given


def _not_here(name: str, missing: Sequence[WeightFile]) -> str:
    wanted = ", ".join(file.name if file.is_repository else str(file.home) for file in missing)
    hint = ", or give a folder that holds it as `weights`" if all(file.movable for file in missing) else ""
    return f"{name} needs {wanted}, and {_why()}, so nothing is downloaded: put it there{hint}"


def _why() -> str:
    return "TURNGATE_OFFLINE is set" if offline() else "local_files_only is set"


def _refuse_code(name: str, path: Path, sha256: str | None = None) -> None:
    """Raise `ConfigError` for a pickle that holds more than numbers: pyiqa would run what is in it.

    A file with a known `sha256` is what its authors published, and then it may (CLIP's are TorchScript).
    """
    if path.suffix.lower() not in _PICKLES or (sha256 is not None and _sha256(path) == sha256):
        return
    import torch

    try:
        torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a pickle may fail in any way
        raise ConfigError(
            f"{name}: {path} is damaged, or holds more than numbers and could run code when it is loaded "
            f"({type(error).__name__}): set `allow_pickle: true` only if you trust it"
        ) from error


def _fingerprint(paths: Sequence[Path]) -> str:
    return hashlib.sha256("".join(sorted(map(_sha256, paths))).encode()).hexdigest()[:8] if paths else ""


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# The numbers behind our own BRISQUE and NIQE, in the files that pyiqa reads.


def write_ours(path: Path) -> None:
    """Write `path`, which is called as one of `_pyiqa_files.OURS`; the same numbers as in pyiqa's hub."""
    if path.name.startswith("niqe"):
        from scipy.io import savemat

        pristine = parameters(*NIQE)
        savemat(path, {"mu_prisparam": pristine["mean"][None], "cov_prisparam": pristine["covariance"]})
        return
    import torch

    model = parameters(*BRISQUE)
    vectors = (torch.tensor(model["coefficients"]).float(), torch.tensor(model["support_vectors"]).float())
    torch.save(vectors, path)
