"""What is known about pyiqa's metrics before one is built, and how one behaves."""

from __future__ import annotations

import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage import data
from tests.evaluators.warps import worse_and_worse
from tests.packages import need_pyiqa

from turngate.errors import ConfigError, UnknownComponent
from turngate.evaluators import EVALUATORS, EvalInput, Facts, Failed, Result, Score, Unscored
from turngate.evaluators.pyiqa import PyiqaConfig, PyiqaMetric, read_catalogue
from turngate.evaluators.scoring import score
from turngate.picture import Picture
from turngate.testing import check_evaluator

need_pyiqa()


def facts(name: str) -> Facts:
    return PyiqaMetric.facts_of(PyiqaConfig(type=f"pyiqa:{name}"))


def photo(name: str) -> Picture:
    return Picture.from_rgb(getattr(data, name)())


def result(raw: Any, picture: Picture, **more: Any) -> Result:
    return score(EVALUATORS.build(EVALUATORS.configure(raw, "x")), [EvalInput(picture, **more)])[0]


def test_the_whole_list_has_facts() -> None:
    names = [name.removeprefix("pyiqa:") for name in PyiqaMetric.members()]
    assert len(names) == len(set(names)) > 90
    for name in names:
        told = facts(name)
        low, high = told.range
        assert low < high and told.range_is_approximate and told.deterministic and told.batch_invariant
        assert told.min_size >= 1
        assert "Noncommercial" in told.weights_licence


@pytest.mark.parametrize(
    ("name", "direction", "needs"),
    [
        ("musiq", "higher", {"candidate"}),
        ("brisque", "lower", {"candidate"}),
        ("afine_nr", "lower", {"candidate"}),
        ("lpips", "lower", {"candidate", "origin"}),
        ("topiq_fr", "higher", {"candidate", "origin"}),
        ("clipscore", "higher", {"candidate", "instruction"}),
        ("dmm", "lower", {"candidate", "origin"}),  # pyiqa says higher; it is 0 for identical images
    ],
)
def test_direction_and_needs(name: str, direction: str, needs: set[str]) -> None:
    assert facts(name).direction == direction
    assert set(facts(name).inputs) == needs


def test_ranges() -> None:
    assert facts("musiq").range == (0, 100)
    assert facts("brisque").range == (0, 150)  # approximate: C33, it can be negative
    assert facts("pi").range == (0, math.inf)
    assert facts("afine_all").range == (-math.inf, 2)
    assert facts("nima").range == (1, 10)
    assert facts("psnr").range == (0, 80)


def test_the_version_names_what_changes_values() -> None:
    from importlib.metadata import version

    plain = facts("musiq").version
    assert plain == f"{version('pyiqa')}+torch{version('torch')}"
    assert PyiqaMetric.facts_of(PyiqaConfig(type="pyiqa:musiq", device="cuda:1")).version == f"{plain}+cuda"


def test_facts_and_configurations_import_neither_torch_nor_pyiqa() -> None:
    code = (
        "import sys\nfrom turngate import parse_config\nfrom turngate.cli.components import all_names, describe\n"
        "names = all_names('evaluators')\n"
        "parse_config({'origin': 'skimage:astronaut', 'scenario': 'replicate', 'editor': 'codec', 'gate': "
        "'always_accept', 'evaluators': ['suite:nr-all']}, 'x')\n"
        "told = describe('evaluators', [name for name in names if name.startswith('pyiqa:')])\n"
        "assert len(told) > 90 and all(one['better'] for one in told)\n"
        "assert not {'torch', 'pyiqa'} & set(sys.modules), 'a heavy import'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("raw", "error", "words"),
    [
        ("pyiqa:musik", UnknownComponent, "did you mean 'pyiqa:musiq'"),
        ("pyiqa:zzzzzz", UnknownComponent, "turngate evaluators --all"),
        ("pyiqa:fid", ConfigError, "compares sets of images"),
        ("pyiqa:maclip", ConfigError, "runs on CUDA only"),
        ({"type": "pyiqa:niqe", "align": "shift"}, ConfigError, "compares with nothing"),
        ({"type": "pyiqa:niqe", "threads": 0}, ConfigError, "threads"),
    ],
)
def test_what_cannot_be_built_is_told_in_one_line(raw: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as told:
        EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    assert "\n" not in str(told.value)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cuda:99", "banana"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(ConfigError, match="device: torch cannot use"):
        EVALUATORS.build(EVALUATORS.configure({"type": "pyiqa:psnr", "device": device}, "x"))


NO_DOWNLOAD = [
    *(name for name, entry in read_catalogue().items() if not (entry.loads_weights or entry.cuda_only)),
    *("brisque", "niqe"),
]
"""Metrics that need no weights, or those that turngate ships."""


RANKED = {
    "brisque", "niqe", "piqe", "psnr", "psnry", "ssim", "ms_ssim", "cw_ssim", "gmsd", "vif", "fsim", "vsi", "nlpd",
    "mad",
}  # fmt: skip
"""Metrics whose word about the better direction is held to a photograph and a worse copy."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_DOWNLOAD)
def test_conformance(name: str) -> None:
    raw = {"type": f"pyiqa:{name}", "local_files_only": True, "threads": 1}
    evaluator = EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    high, wide = (max(evaluator.facts.min_size, side) for side in (128, 136))
    best, *_, worst = worse_and_worse()
    small = [Picture.from_rgb(np.ascontiguousarray(each.rgb[:high, :wide])) for each in (best, worst)]
    check_evaluator(evaluator, small, ranked=name in RANKED)


def test_what_runs_offline_is_known() -> None:
    assert {"piqe", "entropy", "psnr", "ssim", "ms_ssim", "vif", "fsim"} <= set(NO_DOWNLOAD)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("psnr", "none"),
        ("musiq", "musiq_koniq_ckpt-e95806b9.pth"),
        ("lpips-vgg", "LPIPS_v0.1_vgg-a78928a0.pth"),
        ("clipiqa+", "CLIP-IQA%2B_learned_prompts-603f3273.pth"),
        ("dmm", "as pyiqa fetches them"),  # a backbone of torchvision
    ],
)
def test_weights_as_pyiqas_source_names_them(name: str, weights: str) -> None:
    assert facts(name).weights == weights


@pytest.mark.slow
@pytest.mark.parametrize("configured", ["fail", "cpu"])
def test_out_of_memory(configured: str) -> None:
    """C37, simulated: the CPU takes over where that is set, for this image only; otherwise there is no score."""
    import torch

    raw = {"type": "pyiqa:piqe", "out_of_memory": configured}
    evaluator = EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    assert isinstance(evaluator, PyiqaMetric)
    sample, whole = EvalInput(photo("chelsea")), evaluator._metric
    asked = []

    def full(*given: Any, **more: Any) -> Any:
        asked.append(1)
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    evaluator._metric = full
    first = score(evaluator, [sample])[0]
    assert len(asked) == 1
    evaluator._metric = whole
    second = score(evaluator, [sample])[0]
    assert isinstance(second, Score) and second.flags == ()
    if configured == "cpu":
        assert first == Score(second.value, flags=("device:cpu",))
    else:
        assert isinstance(first, Failed) and (first.fault, first.error) == ("machine", "OutOfMemoryError")


PUBLISHED = {
    "brisque": (94.6454, -0.1077, 1.0774, 5.1418, 66.8386),
    "niqe": (15.6532, 3.6549, 3.2342, 3.1922, 9.0727),
    "piqe": (100.0, 21.6242, 35.8646, 41.1471, 76.9485),
}
"""pyiqa's own calibration values for the five distorted images that its wheel ships, I03, I04, I06, I08 and I19."""
OTHER_PROCESSOR = {"brisque": 0.05, "niqe": 0.01, "piqe": 0.3}
"""How far single precision may take the same code from them: BRISQUE was 0.0075 away on one processor. A tie of luma
moves NIQE by up to 0.01, and one block in 768 is 0.13 of PIQE: two of them may differ."""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PUBLISHED))
def test_shipped_numbers_are_pyiqas(name: str) -> None:
    """BRISQUE and NIQE without any download give what pyiqa publishes; C33: one BRISQUE is negative."""
    [package] = find_spec("pyiqa").submodule_search_locations  # type: ignore[union-attr, misc]
    images = sorted((Path(package).parent / "ResultsCalibra" / "dist_dir").glob("I*.bmp"))
    if len(images) != 5:
        pytest.skip("this build of pyiqa ships no calibration images")
    evaluator = EVALUATORS.build(EVALUATORS.configure({"type": f"pyiqa:{name}", "local_files_only": True}, "x"))
    results = score(evaluator, [EvalInput(Picture.from_file(image)) for image in images])
    values = [one.value for one in results if isinstance(one, Score)]
    assert values == pytest.approx(PUBLISHED[name], abs=OTHER_PROCESSOR[name])


@pytest.mark.slow
def test_threads_of_the_process_do_not_matter() -> None:
    """BRISQUE moves with torch's threads; the adapter fixes them and gives the process's own number back."""
    import torch

    evaluator = EVALUATORS.build(EVALUATORS.configure({"type": "pyiqa:brisque", "local_files_only": True}, "x"))
    sample, before = EvalInput(photo("coffee")), torch.get_num_threads()
    values = []
    try:
        for threads in (1, 4):
            torch.set_num_threads(threads)
            values.append(score(evaluator, [sample])[0])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert values[0] == values[1]


@pytest.mark.slow
def test_random_numbers_of_the_process_are_left_alone() -> None:
    evaluator = EVALUATORS.build(EVALUATORS.configure({"type": "pyiqa:psnr"}, "x"))
    picture = photo("coffee")
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    score(evaluator, [EvalInput(picture, origin=picture)])
    assert np.random.random() == expected


@pytest.mark.slow
def test_images_that_are_too_small_are_told() -> None:
    tiny = Picture.from_rgb(np.random.default_rng(1).integers(0, 256, (95, 200, 3)).astype(np.uint8))
    told = result({"type": "pyiqa:niqe", "local_files_only": True}, tiny)
    assert isinstance(told, Unscored) and told.why == "too_small" and "96" in told.detail
