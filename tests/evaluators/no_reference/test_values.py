"""Values of our own metrics: golden ones, pyiqa's on the same files, and behaviour on images that bite."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from skimage import data
from tests.packages import need_pyiqa

from turngate.errors import ConfigError, MissingWeights
from turngate.evaluators import EVALUATORS, EvalInput, Score, Unscored
from turngate.evaluators.no_reference.parameters import parameters
from turngate.evaluators.scoring import score
from turngate.picture import Picture


def photo(name: str, crop: tuple[int, int] | None = None) -> Picture:
    pixels = getattr(data, name)()[:, :, :3]
    return Picture.from_rgb(np.ascontiguousarray(pixels[: crop[0], : crop[1]] if crop else pixels))


def value(raw: Any, picture: Picture, origin: Picture | None = None) -> float:
    evaluator = EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    result = score(evaluator, [EvalInput(picture, origin=origin, previous=origin)])[0]
    assert isinstance(result, Score), result
    return result.value


def jpeg(picture: Picture, quality: int) -> Picture:
    buffer = io.BytesIO()
    Image.fromarray(picture.rgb).save(buffer, "JPEG", quality=quality)
    return Picture.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("name", "brisque", "niqe", "piqe"),
    [("astronaut", 2.869, 3.064, 33.759), ("chelsea", 2.572, 2.572, 33.39), ("coffee", 30.07, 4.062, 27.80)],
)
def test_golden_values(name: str, brisque: float, niqe: float, piqe: float) -> None:
    """pyiqa's values at native size, measured elsewhere with the weights of its hub."""
    picture = photo(name)
    assert value("brisque", picture) == pytest.approx(brisque, abs=0.02)
    assert value("niqe", picture) == pytest.approx(niqe, abs=0.005)
    assert value("piqe", picture) == pytest.approx(piqe, abs=0.01)


CASES = [("astronaut", None), ("coffee", None), ("chelsea", None), ("astronaut", (301, 277)), ("coffee", (193, 391))]


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """pyiqa's own BRISQUE, NIQE and PIQE, with our parameters in the files that it reads."""
    need_pyiqa()
    torch = pytest.importorskip("torch")
    from scipy.io import savemat

    from turngate.evaluators.no_reference.brisque import _SHA256 as BRISQUE
    from turngate.evaluators.no_reference.niqe import _SHA256 as NIQE

    folder: Path = tmp_path_factory.mktemp("weights")
    model, pristine = parameters("brisque_live.npz", BRISQUE), parameters("niqe_pristine.npz", NIQE)
    sv = (torch.tensor(model["coefficients"]).float()[:, None], torch.tensor(model["support_vectors"]).float())
    torch.save(sv, folder / "brisque.pth")
    savemat(folder / "niqe.mat", {"mu_prisparam": pristine["mean"][None], "cov_prisparam": pristine["covariance"]})
    return {"brisque": folder / "brisque.pth", "niqe": folder / "niqe.mat", "piqe": None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "on_photographs", "on_jpegs"), [("brisque", 0.05, 0.6), ("niqe", 0.001, 0.001), ("piqe", 0.005, 0.005)]
)
def test_agrees_with_pyiqa(official: dict[str, Any], name: str, on_photographs: float, on_jpegs: float) -> None:
    """pyiqa's BRISQUE works in single precision and fills the flat areas of a JPEG with rounding noise."""
    weights = official[name]
    adapter: dict[str, Any] = {"type": f"pyiqa:{name}", **({"weights": str(weights)} if weights else {})}
    for photograph, crop in CASES:
        picture = photo(photograph, crop)
        for candidate, tolerance in ((picture, on_photographs), (jpeg(picture, 30), on_jpegs)):
            assert value(name, candidate) == pytest.approx(value(adapter, candidate), abs=tolerance), (photograph, crop)


def test_pyiqa_says_what_is_missing() -> None:
    need_pyiqa()
    with pytest.raises(ConfigError, match="did you mean 'pyiqa:musiq'"):
        EVALUATORS.build(EVALUATORS.configure("pyiqa:musik", "x"))
    with pytest.raises(MissingWeights, match="check the path"):
        EVALUATORS.build(EVALUATORS.configure({"type": "pyiqa:niqe", "weights": "/no/such/file"}, "x"))


@pytest.mark.parametrize("name", ["brisque", "niqe", "piqe"])
@pytest.mark.parametrize("level", [0, 128, 255])
def test_flat_images_have_no_score(name: str, level: int) -> None:
    flat = Picture.from_rgb(np.full((192, 192, 3), level, dtype=np.uint8))
    result = score(EVALUATORS.build(EVALUATORS.configure(name, "x")), [EvalInput(flat)])[0]
    assert isinstance(result, Unscored | Score)
    if name != "piqe":
        assert isinstance(result, Unscored) and result.why == "flat"


def test_brisque_can_be_negative() -> None:
    """C33: simulated damage makes a photograph's BRISQUE negative; nothing clips it."""
    from turngate.agent.editor import Edited, EditRequest
    from turngate.agent.editors import EDITORS

    editor = EDITORS.build(EDITORS.configure({"type": "simulated", "severity": 8}, "e"))
    answer = editor.edit(EditRequest((photo("chelsea"),), "", 1, 1, 5))
    assert isinstance(answer, Edited)
    assert value("brisque", Picture.from_bytes(answer.data)) < 0


def test_shipped_parameters_are_named_in_the_notice() -> None:
    import hashlib

    import turngate.evaluators

    folder = Path(turngate.evaluators.__file__).parent / "no_reference" / "data"
    notice = (folder / "NOTICE").read_text()
    for path in folder.glob("*.npz"):
        assert path.name in notice
        assert hashlib.sha256(path.read_bytes()).hexdigest() in notice
