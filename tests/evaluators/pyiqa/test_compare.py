"""Full-reference metrics of pyiqa: registered like our own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.program import OFFLINE, python_path
from tests.evaluators.comparing import build, result_of, scored
from tests.evaluators.warps import WEAR, cropped, photograph, worse_and_worse
from tests.packages import need_pyiqa

from turngate.errors import ConfigError
from turngate.evaluators import Unscored
from turngate.picture import Picture
from turngate.testing import check_evaluator


@pytest.mark.slow
def test_full_reference_metrics_of_pyiqa_are_registered_too() -> None:
    need_pyiqa()
    raw = {"type": "pyiqa:ms_ssim", "threads": 1}
    aligned = {**raw, "align": "full"}
    origin = photograph("astronaut", 384)
    worn = WEAR["noise of 40 levels"]
    moved = np.ascontiguousarray(worn(cropped(origin, (5, 2, 380, 381)))[:, ::-1])
    plain, unaligned = scored(raw, worn(origin), origin), scored(raw, moved, origin)
    result = scored(aligned, moved, origin)
    assert abs(result.value - plain.value) < abs(unaligned.value - plain.value) / 4
    assert result.flags[0] == "mirrored"
    assert result.components["crop_x"] == pytest.approx(100 * 9 / 384, abs=0.1)
    half = scored(raw, cropped(origin, (0, 0, 384, 384), (192, 192)), origin)
    assert half.flags == ("resized:192x192->384x384",)
    small = [Picture.from_rgb(each.rgb[:176, :168].copy()) for each in worse_and_worse()[:2]]
    check_evaluator(build(aligned), small)


@pytest.mark.slow
def test_a_reference_that_is_too_small_is_no_failure() -> None:
    """The candidate is brought to the reference's size."""
    need_pyiqa()
    origin = photograph("coffee", 256)
    result = result_of("pyiqa:ms_ssim", origin, origin[:100])
    assert isinstance(result, Unscored)
    assert (result.why, result.flags) == ("too_small", ("resized:256x171->256x100",))
    assert "needs 161 pixels, what is compared has 100" in result.detail


@pytest.mark.slow
def test_metrics_without_a_reference_take_no_alignment() -> None:
    need_pyiqa()
    with pytest.raises(ConfigError, match="compares with nothing"):
        build({"type": "pyiqa:piqe", "align": "crop"})


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What LPIPS and DISTS open, by pyiqa's names, with numbers that were drawn: distances, if of no meaning."""
    torch, models = pytest.importorskip("torch"), pytest.importorskip("torchvision").models
    folder = tmp_path_factory.mktemp("untrained")
    draw = torch.Generator().manual_seed(5)

    def tensor(name: str, like: Any) -> Any:
        if not name.startswith("features") or like.ndim < 2:  # not looked at, or a bias: one zero stands for all
            return torch.zeros(1).expand(like.shape)
        return torch.randn(like.shape, generator=draw) * (2 / like[0].numel()) ** 0.5

    for make, file in ((models.alexnet, "alexnet-owt-7be5be79.pth"), (models.vgg16, "vgg16-397923af.pth")):
        with torch.device("meta"):
            shapes = make(weights=None).state_dict()
        torch.save({name: tensor(name, like) for name, like in shapes.items()}, folder / file)
    heads = {f"lin{layer}.model.1.weight": torch.rand((1, size, 1, 1), generator=draw)
             for layer, size in enumerate((64, 192, 384, 256, 256))}  # fmt: skip
    torch.save(heads, folder / "LPIPS_v0.1_alex-df73285e.pth")
    weights = {name: torch.rand((1, 1475, 1, 1), generator=draw) for name in ("alpha", "beta")}
    torch.save(weights, folder / "DISTS_weights-f5e65c96.pth")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lpips", "dists"])
def test_learned_distances_after_registration(untrained: Path, name: str) -> None:
    need_pyiqa()
    raw = {"type": f"pyiqa:{name}", "weights": str(untrained), "local_files_only": True, "threads": 1}
    origin = photograph("coffee", 256)
    blur = WEAR["blur of 3 pixels"]
    moved = blur(cropped(origin, (5, 2, 252, 168)))
    plain, unaligned = scored(raw, blur(origin), origin), scored(raw, moved, origin)
    aligned = scored({**raw, "align": "crop"}, moved, origin)
    assert scored(raw, origin, origin).value == pytest.approx(0, abs=1e-5)
    assert plain.value > 0
    assert abs(aligned.value - plain.value) < abs(unaligned.value - plain.value) / 3
    assert aligned.components["crop_x"] == pytest.approx(100 * 9 / 256, abs=0.3)
    assert aligned.flags[0].startswith("cropped:")
    if name == "lpips":
        small = origin[50:130, 80:160]
        worse = [Picture.from_rgb(np.ascontiguousarray(rgb)) for rgb in (small, WEAR["noise of 40 levels"](small))]
        check_evaluator(build({**raw, "align": "crop"}), worse, ranked=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lpips", "dists"])
def test_missing_weights_are_said_in_one_line(name: str, tmp_path: Path) -> None:
    """In a process without network and with an empty cache, as on a new machine."""
    need_pyiqa()
    (tmp_path / "c.yaml").write_text(
        f"{{origin: 'skimage:astronaut', scenario: replicate, turns: 1, editor: scripted, gate: always_accept, "
        f"evaluators: {{x: {{type: 'pyiqa:{name}', align: crop}}}}}}"
    )
    done = subprocess.run(
        [sys.executable, "-c", "from turngate.cli import main; main()", "run", "c.yaml", "--quiet"],
        cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "HOME": str(tmp_path), "TORCH_HOME": str(tmp_path), "OFFLINE_LOG": str(tmp_path / "log"),
             "PYTHONPATH": python_path(OFFLINE)},
    )  # fmt: skip
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"turngate: evaluators.x: pyiqa:{name}: ")
    assert "not on this machine" in line
