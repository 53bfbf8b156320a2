"""Where the files that a metric of pyiqa asks for may lie already: with the user, in a cache, in a package, in ours."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from turngate.errors import ConfigError, MissingWeights
from turngate.evaluators.no_reference.statistics import BRISQUE, NIQE, parameters
from turngate.evaluators.pyiqa.catalogue import CatalogueEntry
from turngate.weights.hub import offline
from turngate.weights.version import folder_version

__all__ = ["Weights", "file_name", "forbidden_by", "hub_folder", "what_is_missing", "write_ours"]

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

_PICKLES = (".pth", ".pt", ".pkl", ".bin", ".ckpt")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Weights:
    """The weights of one metric: what the user gave, and what else is on this machine."""

    def __init__(self, entry: CatalogueEntry, given: Path | None, allow_pickle: bool) -> None:
        """Raises `MissingWeights` for a path that does not exist, `ConfigError` for a file that could run code."""
        self.options: dict[str, str] = {}
        """Further arguments of `pyiqa.create_metric`."""
        self._folder: Path | None = None
        self.used: dict[str, Path] = {}
        """Name -> file of the user's that the metric was built with."""
        self._name, self._allow_pickle, self._given = f"pyiqa:{entry.name}", allow_pickle, given
        if given is None:
            return
        if not given.exists():
            raise MissingWeights(f"{self._name}: no weights at {given}: check the path")
        if (given / "config.json").is_file():
            self.options["model"] = str(given)
        elif given.is_dir() or given.name in {form for name in entry.weights for form in (name, unquote(name))}:
            self._folder = given
        else:
            self._check(given, None)
            self.options["pretrained_model_path"] = str(given)
            self.used[given.name] = given

    def find(self, url: str, cache: Path, scratch: Path) -> Path | None:
        """The file that pyiqa asks for by this address, where it is here: the user's, in torch's `cache`, in a package.

        The numbers that turngate ships are written into the folder `scratch`.

        Raises `ConfigError` for a file of the user's that could run code.
        """
        name = file_name(url)
        sha256 = next(iter(_SHA256.findall(url)), None)  # CLIP's addresses hold it
        given = None if self._folder is None else _in_folder(self._folder, name)
        if given is not None:
            self._check(given, sha256)
            self.used[name] = given
            return given
        found = _at_hand(name, cache)
        if found is None and name in OURS:
            found = scratch / name
            if not found.exists():
                write_ours(found)
        return found if found is None or sha256 in (None, _sha256(found)) else None

    @property
    def given(self) -> Path | None:
        """What the user gave, once something in it was used."""
        return self._given if self.used or self.options else None

    @property
    def is_folder(self) -> bool:
        """The user's files replace those of pyiqa's cache by their names."""
        return self._folder is not None

    @property
    def fingerprint(self) -> str:
        """Of what the user gave and the metric was built with; empty without."""
        if "model" in self.options:
            return folder_version(Path(self.options["model"]))
        hashes = sorted(map(_sha256, self.used.values()))
        return hashlib.sha256("".join(hashes).encode()).hexdigest()[:8] if hashes else ""

    def _check(self, path: Path, sha256: str | None) -> None:
        """Raise `ConfigError` for a pickle that holds more than numbers: pyiqa would run what is in it.

        A file with a known `sha256` is what its authors published, and then it may (CLIP's are TorchScript).
        """
        if sha256 is not None:
            if _sha256(path) != sha256:
                raise ConfigError(f"{self._name}: {path} is damaged: its SHA-256 is not {sha256}")
            return
        if self._allow_pickle or path.suffix.lower() not in _PICKLES:
            return
        import torch

        try:
            torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # a pickle may fail in any way
            raise ConfigError(
                f"{self._name}: {path} is damaged, or holds more than numbers and could run code when it is loaded "
                f"({type(error).__name__}): set `allow_pickle: true` only if you trust it"
            ) from error


def what_is_missing(entry: CatalogueEntry, given: Path | None, local_only: bool) -> str | None:
    """Files that pyiqa's source names for the metric and that are not here, in one line; None when there are none.

    Backbones are not among them: what they need is seen when the metric is built.
    """
    if given is not None and (given.is_file() or (given / "config.json").is_file()):
        return None
    here = [given] if given is not None else []
    names = [name for name in entry.weights if name not in OURS and _at_hand(name, hub_folder()) is None]
    missing = ", ".join(name for name in names if not any(_in_folder(folder, name) for folder in here))
    if not missing:
        return None
    if local_only:
        return f"weights that are not here: {missing} ({forbidden_by()})"
    return f"fetched at the first use: {missing}"


def forbidden_by() -> str:
    """Why nothing may be downloaded."""
    return "TURNGATE_OFFLINE is set" if offline() else "local_files_only is set"


def file_name(url: str) -> str:
    """Name under which pyiqa and torch keep what is at this address (`+` stays `%2B`)."""
    return urlsplit(url).path.rpartition("/")[2]


def hub_folder() -> Path:
    """torch's hub cache, known without importing torch."""
    hub = sys.modules.get("torch.hub")
    if hub is not None:
        return Path(hub.get_dir())
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser() / "hub"


def _in_folder(folder: Path, name: str) -> Path | None:
    """The file of this name in `folder`, in a folder directly below it (torch's cache has such), or `folder` itself."""
    for form in (name, unquote(name)):
        if folder.is_file():
            if folder.name == form:
                return folder
            continue
        near = next((path for path in (folder / form, *sorted(folder.glob(f"*/{form}"))) if path.is_file()), None)
        if near is not None:
            return near
    return None


def _at_hand(name: str, cache: Path) -> Path | None:
    """In torch's cache, or in a package that ships it."""
    cached = _in_folder(cache, name)
    if cached is not None:
        return cached
    package, inside = _PACKAGES.get(name, ("", ""))
    spec = importlib.util.find_spec(package) if package else None
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders if (path := Path(folder) / inside).is_file()), None)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# The numbers behind our own BRISQUE and NIQE, in the files that pyiqa reads.


def write_ours(path: Path) -> None:
    """Write `path`, which is called as one of `OURS`; the same numbers as in pyiqa's hub."""
    if path.name.startswith("niqe"):
        from scipy.io import savemat

        pristine = parameters(*NIQE)
        savemat(path, {"mu_prisparam": pristine["mean"][None], "cov_prisparam": pristine["covariance"]})
        return
    import torch

    model = parameters(*BRISQUE)
    vectors = (torch.tensor(model["coefficients"]).float(), torch.tensor(model["support_vectors"]).float())
    torch.save(vectors, path)
