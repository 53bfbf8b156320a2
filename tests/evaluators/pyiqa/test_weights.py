"""Where pyiqa's weights come from, against a real server: cache, hub, folder, file, package; and what is refused."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from skimage import data
from tests.packages import need_pyiqa

from turngate.errors import ConfigError, MissingWeights
from turngate.evaluators import EVALUATORS, EvalInput, Evaluator, Score
from turngate.evaluators.scoring import score
from turngate.picture import Picture

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
need_pyiqa()

NAME = "CNNIQA_koniq10k-e6f14c91.pth"


class Hub(ThreadingHTTPServer):
    """Serves files by their last name, whole or cut short."""

    files: dict[str, bytes]
    cut: bool = False
    asked: list[str]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.asked = {}, []


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        self.server.asked.append(name)
        content = self.server.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if self.server.cut else content)

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub of our own, and empty caches."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TURNGATE_OFFLINE", raising=False)
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CNNIQA without training, in a file such as pyiqa's hub has."""
    EVALUATORS.build(EVALUATORS.configure("pyiqa:psnr", "x"))  # the adapter imports pyiqa first
    from pyiqa.archs.cnniqa_arch import CNNIQA

    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("cnniqa") / NAME
    torch.save({"params": CNNIQA(pretrained=None).state_dict()}, path)
    return path


def build(**settings: Any) -> Evaluator:
    return EVALUATORS.build(EVALUATORS.configure({"type": "pyiqa:cnniqa", **settings}, "x"))


def photo() -> Picture:
    name = "astronaut"
    return Picture.from_rgb(getattr(data, name)()[:96, 150:246])


def value(evaluator: Evaluator) -> float:
    result = score(evaluator, [EvalInput(photo())])[0]
    assert isinstance(result, Score)
    return result.value


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()]


def elsewhere(hub: Hub, tmp_path: Path) -> tuple[list[str], str]:
    """The metric built twice in a new process, for pyiqa learns the hub's address when it is imported."""
    code = (
        "import sys; from tests.evaluators.pyiqa.test_weights import build, value\n"
        "from turngate.errors import MissingWeights\n"
        "try:\n    print(value(build())); print(value(build()))\n"
        "except MissingWeights as error:\n    sys.exit(str(error))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[3],
        env={**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    return done.stdout.split(), done.stderr


def test_fetched_once_and_whole(hub: Hub, weights: Path, tmp_path: Path) -> None:
    hub.files[NAME] = weights.read_bytes()
    values, told = elsewhere(hub, tmp_path)
    assert len(values) == 2 and values[0] == values[1], told
    assert hub.asked == [NAME]
    assert left_in(tmp_path / "torch") == [NAME]
    assert not list(tmp_path.glob("turngate-weights-*"))
    assert str(value(build(local_files_only=True))) == values[0]


@pytest.mark.parametrize("cut", [True, False])
def test_a_failed_download_leaves_nothing(hub: Hub, weights: Path, tmp_path: Path, cut: bool) -> None:
    hub.cut, hub.files = cut, {NAME: weights.read_bytes()} if cut else {}
    values, told = elsewhere(hub, tmp_path)
    assert not values and hub.asked == [NAME]
    line = told.splitlines()[-1]
    assert f"{NAME} is not on this machine" in line and str(tmp_path / "torch/hub/pyiqa") in line
    assert left_in(tmp_path / "torch") == []


def test_a_wrong_checksum_is_not_linked(hub: Hub, tmp_path: Path) -> None:
    """CLIP's address holds its checksum; CLIP would write a whole file over the damaged one."""
    for place in ("torch/hub/clip", "mine"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "RN50.pt").write_bytes(b"not CLIP")
    raw = {"type": "pyiqa:clipiqa", "local_files_only": True}
    with pytest.raises(MissingWeights, match=r"needs RN50\.pt"):
        EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    with pytest.raises(ConfigError, match=r"RN50\.pt is damaged"):
        EVALUATORS.build(EVALUATORS.configure({**raw, "weights": str(tmp_path / "mine")}, "x"))


@pytest.mark.parametrize("how", ["environment", "setting"])
def test_offline_nothing_is_asked_for(hub: Hub, weights: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.files[NAME] = weights.read_bytes()
    if how == "environment":
        monkeypatch.setenv("TURNGATE_OFFLINE", "1")
    with pytest.raises(MissingWeights, match="OFFLINE is set" if how == "environment" else "local_files_only is set"):
        build(**({} if how == "environment" else {"local_files_only": True}))
    assert hub.asked == []


@pytest.mark.parametrize(
    ("name", "file"), [("lpips", "alexnet-owt-7be5be79.pth"), ("hyperiqa", "timm/resnet50.a1_in1k"), ("dmm", "vgg16-")]
)
def test_the_file_that_is_missing_is_named(hub: Hub, name: str, file: str) -> None:
    """A backbone of torchvision or timm too."""
    with pytest.raises(MissingWeights, match=file) as told:
        EVALUATORS.build(EVALUATORS.configure({"type": f"pyiqa:{name}", "local_files_only": True}, "x"))
    assert "local_files_only is set" in str(told.value) and "\n" not in str(told.value)


def test_pyiqa_that_was_imported_before(hub: Hub, tmp_path: Path) -> None:
    """It keeps its own cache: what turngate ships is lent to it, a folder of weights comes too late."""
    code = (
        "import sys, pyiqa; from turngate.evaluators import EVALUATORS\n"
        "raw = {'type': 'pyiqa:brisque', 'local_files_only': True}\n"
        "EVALUATORS.build(EVALUATORS.configure(raw, 'x'))\n"
        "EVALUATORS.build(EVALUATORS.configure({**raw, 'weights': sys.argv[1]}, 'x'))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("turngate.errors.ConfigError: pyiqa:brisque: pyiqa was imported")
    assert left_in(tmp_path / "torch") == []


def test_torch_keeps_its_cache(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(MissingWeights):
        build(local_files_only=True)
    assert torch.hub.get_dir() == str(tmp_path / "torch" / "hub")


@pytest.mark.parametrize("layout", ["file", "file by pyiqa's name", "folder", "folder like the cache"])
def test_weights_of_ones_own(hub: Hub, weights: Path, tmp_path: Path, layout: str) -> None:
    given = {
        "file": tmp_path / "mine.pth",
        "file by pyiqa's name": tmp_path / NAME,
        "folder": tmp_path / "mine" / NAME,
        "folder like the cache": tmp_path / "mine" / "pyiqa" / NAME,
    }[layout]
    given.parent.mkdir(parents=True, exist_ok=True)
    given.write_bytes(weights.read_bytes())
    evaluator = build(weights=str(tmp_path / "mine" if layout.startswith("folder") else given))
    (tmp_path / "torch" / "hub" / "pyiqa").mkdir(parents=True)
    (tmp_path / "torch" / "hub" / "pyiqa" / NAME).write_bytes(weights.read_bytes())
    fetched = build()
    assert value(evaluator) == value(fetched)
    assert evaluator.facts.version != fetched.facts.version  # another file of that name may hold other numbers


class Bomb:
    """Runs code when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("name", ["mine.pth", NAME])
def test_code_in_a_file_is_not_run(hub: Hub, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps({"params": Bomb(tmp_path / "mark")}))
    with pytest.raises(ConfigError, match="allow_pickle"):
        build(weights=str(tmp_path / name))
    assert not (tmp_path / "mark").exists()


def test_wrong_weights_are_told(hub: Hub, weights: Path, tmp_path: Path) -> None:
    torch.save({"params": {"other": torch.zeros(3)}}, tmp_path / "other.pth")
    with pytest.raises(ConfigError, match="does not hold its weights"):
        build(weights=str(tmp_path / "other.pth"))
    (tmp_path / "torn.pth").write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ConfigError, match="damaged"):
        build(weights=str(tmp_path / "torn.pth"))
    with pytest.raises(MissingWeights, match="check the path"):
        build(weights=str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingWeights, match=NAME):
        build(weights=str(tmp_path / "empty"))
    with pytest.raises(ConfigError, match="takes no weights called"):
        raw = {"type": "pyiqa:ssim", "weights": str(weights)}
        EVALUATORS.build(EVALUATORS.configure(raw, "x"))


def test_a_damaged_cache_is_told(hub: Hub, weights: Path, tmp_path: Path) -> None:
    home = tmp_path / "torch" / "hub" / "pyiqa" / NAME
    home.parent.mkdir(parents=True)
    home.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(MissingWeights, match="damaged"):
        build()


def test_a_package_that_ships_them(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ST-LPIPS' parameters lie in the wheel stlpips-pytorch; here in a package that is laid out like it."""
    EVALUATORS.build(EVALUATORS.configure("pyiqa:psnr", "x"))  # the adapter imports pyiqa first
    from pyiqa.archs.stlpips_arch import STLPIPS

    folder = tmp_path / "site" / "stlpips_pytorch" / "weights" / "vST0.0"
    folder.mkdir(parents=True)
    (tmp_path / "site" / "stlpips_pytorch" / "__init__.py").write_text("")
    torch.manual_seed(4)
    torch.save(STLPIPS(pretrained=False).state_dict(), folder / "alex_shift_tolerant.pth")
    raw = {"type": "pyiqa:stlpips", "local_files_only": True}
    with pytest.raises(MissingWeights):
        EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    monkeypatch.syspath_prepend(tmp_path / "site")
    evaluator = EVALUATORS.build(EVALUATORS.configure(raw, "x"))
    assert hub.asked == []
    same = score(evaluator, [EvalInput(photo(), origin=photo())])[0]
    assert isinstance(same, Score) and same.value == pytest.approx(0, abs=1e-6)
