"""Where the files of a tiny autoencoder are, and which version they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from turngate.errors import MissingWeights
from turngate.registry import nearest
from turngate.weights.hub import check_repository, fetch
from turngate.weights.version import fingerprint, snapshot_version

__all__ = ["NAMES", "VaeFiles"]

NAMES = ("taesd", "taesdxl", "taesd3", "taef1", "taef2")
"""Tiny autoencoders for the latents of SD 1 and 2, SDXL, SD 3, FLUX.1 and FLUX.2: `madebyollin/NAME` on the hub."""

_KINDS = (".safetensors", ".pth")


@dataclass(frozen=True)
class VaeFiles:
    """The files of one network."""

    files: tuple[Path, ...]
    """[config.json, weights], [weights], or [encoder, decoder]."""
    name: str

    @classmethod
    def pair(cls, encoder: Path, decoder: Path) -> VaeFiles:
        """Two state dicts; raises `MissingWeights` when one is not there."""
        for field, file in (("encoder", encoder), ("decoder", decoder)):
            if not file.is_file():
                raise MissingWeights(f"no file {file}: check editor.{field}")
        return cls((encoder, decoder), f"{encoder.stem}+{decoder.stem}")

    @classmethod
    def inside(cls, folder: Path, name: str) -> VaeFiles:
        """What `save_pretrained` writes, `NAME.safetensors`, or `NAME_encoder` and `NAME_decoder` (.safetensors, .pth).

        Raises `MissingWeights` when the folder holds none of these.
        """
        config, whole = folder / "config.json", folder / f"{name}.safetensors"
        if config.is_file() and len(weights := list(folder.glob("*.safetensors"))) == 1:
            return cls((config, *weights), folder.resolve().name)
        if whole.is_file():
            return cls((whole,), name)
        halves = [[folder / f"{name}_{half}{kind}" for kind in _KINDS] for half in ("encoder", "decoder")]
        found = [path for half in halves for path in [path for path in half if path.is_file()][:1]]
        if len(found) == len(halves):
            return cls(tuple(found), name)
        raise MissingWeights(
            f"{folder} holds no {name}: neither config.json with one .safetensors file, nor {whole.name}, nor "
            f"{halves[0][1].name} and {halves[1][1].name}"
        )

    @classmethod
    def on_the_hub(cls, model: str, revision: str | None, local_only: bool) -> VaeFiles:
        """Fetch a name or repository unless it is in the hub's cache; raises `MissingWeights` when it cannot be had."""
        repository = f"madebyollin/{model}" if model in NAMES else model
        check_repository(repository, "editor", nearest(model, list(NAMES)))
        folder = fetch(repository, revision, local_only, ("*.safetensors", "config.json"), "editor")
        return cls.inside(folder, Path(repository).name)

    @property
    def fingerprint(self) -> str:
        """12 hex digits."""
        return fingerprint({file.name: file for file in self.files})

    @property
    def version(self) -> str:
        """`organisation/name@commit` of a snapshot, else `name@fingerprint`."""
        return snapshot_version(self.files[0].parent) or f"{self.name}@{self.fingerprint}"
