"""What pyiqa has and says about its metrics, read from its source without importing it, and corrected."""

from __future__ import annotations

import difflib
import importlib.util
import re
import runpy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

from turngate.errors import ConfigError, MissingExtra, UnknownComponent
from turngate.evaluators.evaluator import Direction

__all__ = ["CatalogueEntry", "entry_of", "module_of", "read_catalogue", "versions"]

_SETS = frozenset({"fid", "fid_dinov2", "inception_score", "sfid"})
"""They compare two sets of images, so one image has no value."""
_LOWER = frozenset({"dmm"})
"""pyiqa calls it higher-better; it is a distance, 0 for identical images."""
_RANGES: Mapping[str, tuple[float, float]] = {
    "fgresq_pair": (0.0, 1.0),  # pyiqa lists four outputs; the first is the candidate's quality
    "nima": (1.0, 10.0),  # the mean of marks from 1 to 10
    "nima-vgg16-ava": (1.0, 10.0),
    "psnr": (0.0, 80.0),  # identical images
    "psnry": (0.0, 80.0),
}
_SMALLEST: Mapping[str, int] = {
    "brisque": 9, "brisque_matlab": 9, "clipiqa": 31, "clipiqa+": 31, "clipiqa+_rn50_512": 31,
    "clipiqa+_vitL14_512": 14, "cnniqa": 7, "cw_ssim": 64, "dbcnn": 16, "deepdc": 16, "dmm": 126, "fsim": 2, "gmsd": 2,
    "ilniqe": 5, "liqe": 224, "liqe_mix": 224, "lpips": 31, "lpips+": 31, "lpips-vgg": 16, "lpips-vgg+": 16, "mad": 16,
    "ms_ssim": 161, "msswd": 8, "niqe": 96, "niqe_matlab": 96, "pieapp": 64, "piqe": 8, "ssim": 11, "ssimc": 11,
    "stlpips": 24, "stlpips-vgg": 20, "vif": 33, "wadiqam_fr": 33, "wadiqam_nr": 33,
}  # fmt: skip
"""Shortest side that was seen to work (networks without training); smaller images end in an exception or in NaN."""


@dataclass(frozen=True)
class CatalogueEntry:
    """One metric."""

    name: str
    """pyiqa's name."""
    compares: bool
    """Full reference."""
    direction: Direction
    range: tuple[float, float]
    """Approximate, as pyiqa says."""
    network: str
    """pyiqa's class."""
    min_size: int
    captioned: bool
    """It compares with a text."""
    cuda_only: bool
    """It runs on no other device, whatever is set."""
    weights: tuple[str, ...]
    """Files of pyiqa's hub that its source names for this metric; empty where it names none, or leaves a choice."""
    loads_weights: bool
    """Its source loads some, those of a backbone included."""

    @property
    def weights_line(self) -> str:
        """The files of weights in one line."""
        return ", ".join(self.weights) or ("as pyiqa fetches them" if self.loads_weights else "none")


def entry_of(name: str) -> CatalogueEntry:
    """Raises `UnknownComponent`, `ConfigError` for a metric of sets, `MissingExtra` without pyiqa."""
    if name in _SETS:
        raise ConfigError(f"pyiqa:{name} compares sets of images: it has no value for one")
    found = read_catalogue().get(name)
    if found is None:
        close = difflib.get_close_matches(name, read_catalogue(), n=1)
        hint = f"did you mean 'pyiqa:{close[0]}'?" if close else "`turngate evaluators --all` lists them"
        raise UnknownComponent(f"pyiqa has no metric {name!r}; {hint}")
    return found


@cache
def read_catalogue() -> Mapping[str, CatalogueEntry]:
    """Metric -> what is known about it, without those that compare sets; raises `MissingExtra` without pyiqa."""
    spec = importlib.util.find_spec("pyiqa")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("pyiqa is not installed: pip install 'turngate[iqa]'")
    listed = runpy.run_path(str(Path(spec.submodule_search_locations[0]) / "default_model_configs.py"))
    configs: Mapping[str, Mapping[str, Any]] = listed["DEFAULT_CONFIGS"]
    return MappingProxyType(
        {name: _entry(name, config) for name, config in sorted(configs.items()) if name not in _SETS}
    )


@cache
def _modules() -> Mapping[str, str]:
    """Module of `pyiqa.archs` -> its source text; nothing is imported."""
    spec = importlib.util.find_spec("pyiqa")
    folders = (spec.submodule_search_locations or []) if spec else []
    files = sorted(file for folder in folders for file in Path(folder, "archs").glob("*_arch.py"))
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def module_of(network: str) -> tuple[str, str]:
    """Module of `pyiqa.archs` that defines a class, and its source text; both empty when there is none."""
    return next((found for found in _modules().items() if f"class {network}(" in found[1]), ("", ""))


@cache
def versions() -> str:
    """Versions of pyiqa and torch, which change values: `0.1.16+torch2.14.1`."""
    return "+torch".join(_version(package) for package in ("pyiqa", "torch"))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _entry(name: str, config: Mapping[str, Any]) -> CatalogueEntry:
    options = dict(config["metric_opts"])
    network = str(options.pop("type"))
    _, source = module_of(network)
    direction: Literal["lower", "higher"] = "lower" if config.get("lower_better") or name in _LOWER else "higher"
    return CatalogueEntry(
        name,
        compares=config["metric_mode"] == "FR",
        direction=direction,
        range=_RANGES.get(name) or _range(str(config.get("score_range", ""))),
        network=network,
        min_size=_SMALLEST.get(name, 1),
        captioned=name == "clipscore",
        cuda_only=name == "maclip",
        weights=_weights(source, [value for value in options.values() if isinstance(value, str)]),
        loads_weights=_LOADS.search(source) is not None,
    )


_FILE = re.compile(r"""(?:['"]([^'"]+)['"]:\s*)?get_url_from_name\(\s*(?:name=)?['"]([^'"]+)['"]""")
"""A file of pyiqa's hub, with the key under which a module keeps its address."""
_LOADS = re.compile(r"get_url_from_name|pretrained|\bclip\b|torchvision.*models")


def _weights(source: str, options: Sequence[str]) -> tuple[str, ...]:
    """The one file of a module, or the one whose key is made of the metric's options (`0.1_alex`); as on the disk."""
    files = _FILE.findall(source)
    keys = {*options, *(f"{one}{mark}{other}" for one, other in permutations(options, 2) for mark in "_-")}
    names = {name for key, name in files if key in keys} or {name for _, name in files}
    return (quote(names.pop()),) if len(names) == 1 else ()


def _range(text: str) -> tuple[float, float]:
    """pyiqa's "~0, ~100" as numbers; infinite where it says nothing."""
    low, high = ([bound.strip().lstrip("~") for bound in text.split(",")] + ["", ""])[:2]
    try:
        return float(low or "-inf"), float(high or "inf")
    except ValueError:
        return float("-inf"), float("inf")
