"""The gate in somebody else's loop: what is offered is scored, decided, recorded, and can be gone on with."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from skimage import data

import turngate
from turngate import Decision, EvalInput, Facts, OpenRun, Past, Reading, RunView, Score, open_run
from turngate.agent.gates.threshold import Threshold, ThresholdConfig
from turngate.errors import BadImage, ConfigChanged, ConfigError, RunLocked, UserError
from turngate.graphs.config import RunConfig
from turngate.graphs.embedded import picture_of
from turngate.traces.run_folder import RunFolder

Config = Callable[..., RunConfig]
Run = Callable[..., tuple[Any, RunView]]

PHOTO = Image.fromarray(data.astronaut()).resize((96, 96))  # type: ignore[no-untyped-call]
PSNR = {"type": "threshold", "evaluator": "psnr", "at": 30}


def jpeg(image: Image.Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def opened(folder: Path, **fields: Any) -> OpenRun:
    return open_run(folder, **{"origin": PHOTO, "evaluators": ["psnr"], "gate": PSNR, "turns": 3, **fields})


def test_a_loop_of_ones_own(tmp_path: Path) -> None:
    """Verdict, reason, scores and what to do next; an ordinary run folder with what the program said."""
    with opened(tmp_path / "run", on_reject={"attempts": 2}) as run:
        good = run.offer(
            jpeg(run.current.to_pil(), 95), "add a hat", reasoning="done", model="m-1", usage={"cost_usd": 0.5}
        )
        first = run.current
        bad = run.offer(jpeg(run.current.to_pil(), 3), "add a bag")
        again = run.offer(None, "add a bag", why="safety", detail="blocked")
        assert run.current.sha256 == first.sha256
        last = run.offer(jpeg(run.current.to_pil(), 4))
        with pytest.raises(UserError, match=r"nothing can be offered: .*"):
            while True:
                last = run.offer(jpeg(run.current.to_pil(), 4))
    assert (good.verdict, good.accepted, good.next, good.action) == ("accept", True, "go_on", "accept")
    assert good.scores["psnr"] is not None and f"{good.scores['psnr']:.2f}" in good.reason
    assert (bad.turn, bad.attempt, bad.verdict, bad.next) == (2, 1, "reject", "retry")
    assert (again.turn, again.attempt, again.next, again.scores) == (2, 2, "go_on", {"psnr": None})
    assert "blocked" in again.reason
    assert (last.turn, last.next, last.status) == (3, "stop", "complete")
    view = RunView.load(tmp_path / "run")
    assert (view.status, [one.row.instruction for one in view.attempts[:3]]) == (
        "complete",
        ["add a hat", "add a bag", "add a bag"],
    )
    row = view.attempts[0].row
    assert (row.reasoning, row.model, row.cost_usd, row.simulated) == ("done", "m-1", 0.5, False)
    assert (view.attempts[2].row.why, view.attempts[2].row.outcome) == ("safety", "no_image")


def test_it_decides_as_the_loop_does(config: Config, run: Run, tmp_path: Path) -> None:
    """The images of a recorded run, offered one by one, get the same scores, truths and decisions."""
    fields: dict[str, Any] = {
        "origin": "skimage:astronaut",
        "turns": 12,
        "evaluators": ["brisque", "psnr"],
        "gate": {"type": "relative", "evaluator": "psnr", "reference": "first", "margin": 4},
        "on_reject": {"attempts": 2, "then": "rollback"},
        "truth": {"measure": "psnr", "damaged_at": 25},
    }
    settings = config(**fields, editor={"type": "scripted", "stochastic": True, "default": "noise:6"})
    settings = settings.model_copy(update={"origin": settings.origin.model_copy(update={"size": 96})})
    _, played = run(settings)
    images = RunFolder(tmp_path / "run").images
    with open_run(tmp_path / "mine", size=96, ideal="origin", **fields) as mine:
        for attempt in played.attempts:
            assert (mine.turn, mine.attempt) == (attempt.row.turn, attempt.row.attempt)
            assert mine.current.sha256 == attempt.row.input_image
            mine.offer(images.get(attempt.row.image or ""))
        assert mine.status == "complete"
    offered = RunView.load(tmp_path / "mine")
    assert {one.decision.action for one in played.attempts} >= {"accept", "retry", "rollback"}
    for ours, theirs in zip(offered.attempts, played.attempts, strict=True):
        assert ours.decision.model_copy(update={"at_ns": 0}) == theirs.decision.model_copy(update={"at_ns": 0})
        assert {n: s.value for n, s in ours.scores.items()} == {n: s.value for n, s in theirs.scores.items()}
        assert ours.truth is not None and theirs.truth is not None and ours.truth.value == theirs.truth.value


ARRAY = np.asarray(PHOTO)


@pytest.mark.parametrize(
    "image",
    [
        PHOTO,
        ARRAY,
        ARRAY.astype(np.float32) / 255,
        ARRAY[None],
        np.dstack([ARRAY, np.full(ARRAY.shape[:2], 255, np.uint8)]),
        jpeg(PHOTO, 90),
        "FILE",
        "skimage:astronaut",
    ],
    ids=["Pillow", "uint8", "float", "batch of one", "RGBA", "bytes", "path", "shipped"],
)
def test_every_form_of_an_origin(tmp_path: Path, image: Any) -> None:
    (tmp_path / "photo.png").write_bytes(picture_of(PHOTO, "photo").data)
    image = tmp_path / "photo.png" if isinstance(image, str) and image == "FILE" else image
    with opened(tmp_path / "run", origin=image, size=96) as run:
        assert (run.current.width, run.current.height) == (96, 96)
        near = np.abs(run.current.rgb.astype(int) - ARRAY).mean()
        assert near == 0 if not isinstance(image, bytes | str) else near < 8
        run.offer(run.current.to_pil())
    assert RunView.load(tmp_path / "run").attempts[0].decision.verdict == "accept"


def test_pillow_keeps_what_changes_what_is_seen() -> None:
    """Orientation and profile of an opened file are applied as for the file itself."""
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    PHOTO.crop((0, 0, 96, 40)).save(buffer, "JPEG", exif=exif, quality=90)
    from_file = picture_of(buffer.getvalue(), "file")
    from_pillow = picture_of(Image.open(io.BytesIO(buffer.getvalue())), "image")
    assert (from_pillow.width, from_pillow.height) == (40, 96)
    assert from_pillow.pixel_identity == from_file.pixel_identity


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((3, 96, 96), np.uint8), "channels last"),
        (np.full((8, 8, 3), 2.0), "beyond 0 to 1"),
        (np.zeros((8, 8, 3), np.int64), "int64"),
        (Image.new("F", (8, 8)), "mode F"),
        (object(), "object of object"),
        (Path("nowhere.png"), "nowhere.png"),
    ],
    ids=["channels first", "floats", "integers", "mode F", "no image", "no file"],
)
def test_what_is_no_image_is_refused_and_not_recorded(tmp_path: Path, image: Any, words: str) -> None:
    with opened(tmp_path / "run") as run:
        with pytest.raises(BadImage, match=words):
            run.offer(image)
        assert (run.turn, run.attempt, run.status) == (1, 1, "running")
    assert not RunView.load(tmp_path / "run").attempts


def test_bytes_that_cannot_be_decoded_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as run:
        got = run.offer(b"\x89PNG and no more", "add a hat")
        assert (got.verdict, got.next) == ("reject", "go_on")
    row = RunView.load(tmp_path / "run").attempts[0].row
    assert (row.outcome, row.why, row.instruction) == ("no_image", "undecodable", "add a hat")
    kept = RunFolder(tmp_path / "run").images.get(row.extras[0]["image"])
    assert kept == b"\x89PNG and no more"


def test_it_goes_on_where_it_ended(tmp_path: Path) -> None:
    """The folder alone is enough; other settings are refused; only one program at a time holds it."""
    with opened(tmp_path / "run") as run:
        run.offer(jpeg(PHOTO, 95), "one")
        with pytest.raises(RunLocked), opened(tmp_path / "run"):
            pass
    assert RunView.load(tmp_path / "run").status == "interrupted"
    with pytest.raises(ConfigChanged, match=r"gate\.at"), opened(tmp_path / "run", gate={**PSNR, "at": 20}):
        pass
    with open_run(tmp_path / "run") as run:
        assert (run.turn, run.status) == (2, "running")
        run.offer(jpeg(PHOTO, 94), "two")
    with opened(tmp_path / "run") as run:
        run.offer(jpeg(PHOTO, 93), "three")
    view = RunView.load(tmp_path / "run")
    assert (view.status, [one.row.instruction for one in view.attempts]) == ("complete", ["one", "two", "three"])
    with open_run(tmp_path / "run") as run, pytest.raises(UserError, match="the run has ended"):
        run.offer(jpeg(PHOTO, 92))
    with pytest.raises(UserError, match="is not open"):
        run.offer(jpeg(PHOTO, 92))


def test_a_program_that_breaks_leaves_a_run_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), opened(tmp_path / "run") as run:
        run.offer(jpeg(PHOTO, 95))
        1 / 0  # noqa: B018
    view = RunView.load(tmp_path / "run")
    assert (view.status, len(view.attempts)) == ("failed", 1)


class Lazy:
    """A gate that was written in the program."""

    reads = frozenset({"mean"})
    reads_truth = False

    def __init__(self, most: float) -> None:
        self.config = {"most": most}
        self.asked = 0

    def decide(self, scores: dict[str, Reading], past: Past) -> Decision:
        self.asked += 1
        return Decision("accept" if scores["mean"].value < self.config["most"] else "reject", f"asked {past.turn}")


class Mean:
    """An evaluator that was written in the program."""

    facts = Facts("mean", "1", "lower", (0, 255))

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Any]:
        return [Score(float(sample.candidate.gray.mean())) for sample in batch]


def test_objects_of_the_program(tmp_path: Path) -> None:
    """They are used themselves, recorded by their name, and needed again to go on."""
    gate = Lazy(200)
    with opened(tmp_path / "run", evaluators=[Mean(), "psnr"], gate=gate) as run:
        got = run.offer(PHOTO)
    assert (got.verdict, gate.asked, set(got.scores)) == ("accept", 1, {"mean", "psnr"})
    recorded = RunFolder(tmp_path / "run").info().config
    assert recorded["gate"] == {"type": f"object:{__name__}:Lazy", "described": "{'most': 200}"}
    assert recorded["evaluators"]["mean"]["type"] == f"object:{__name__}:Mean"
    with pytest.raises(ConfigError, match=r"Mean: only a program that gives it again"), open_run(tmp_path / "run"):
        pass
    with pytest.raises(ConfigChanged, match=r"gate\.described"):
        opened(tmp_path / "run", evaluators=[Mean(), "psnr"], gate=Lazy(100)).__enter__()
    with opened(tmp_path / "run", evaluators=[Mean(), "psnr"], gate=Lazy(200)) as run:
        assert run.turn == 2


def test_an_object_that_its_configuration_makes_again_needs_no_program(tmp_path: Path) -> None:
    named = ThresholdConfig(type="threshold", evaluator="psnr", at=30)
    with opened(tmp_path / "run", gate=Threshold(named)) as run:
        run.offer(PHOTO)
    with open_run(tmp_path / "run") as run:
        assert run.turn == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"gate": Lazy}, "Lazy is a class"),
        ({"gate": Mean()}, "an object of Mean is no gate: it lacks decide, reads, reads_truth"),
        ({"origin": None}, "give `origin`"),
        ({"gate": None}, "gate: is missing"),
        ({"truth": {"measure": "psnr", "damaged_at": 25}}, "ideal result"),
        ({"trun": 3}, "did you mean 'turns'"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as told:
        opened(tmp_path / "run", **fields).__enter__()
    assert "\n" not in str(told.value)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_usage_that_nobody_knows_is_an_error(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as run, pytest.raises(ConfigError, match="did you mean 'cost_usd'"):
        run.offer(PHOTO, usage={"cost_used": 1})


ASKING = {"on_reject": {"then": "ask_human"}, "gate": {**PSNR, "at": 60}}


def test_a_person_decides_in_the_program(tmp_path: Path) -> None:
    with opened(tmp_path / "run", **ASKING) as run:
        got = run.offer(jpeg(PHOTO, 50), "add a hat")
        assert (got.verdict, got.next, run.status) == (None, "review", "waiting")
        with pytest.raises(UserError, match=r"run\.review"):
            run.offer(PHOTO)
        done = run.review(accept=True, comment="fine")
        assert (done.verdict, done.next, done.turn, run.turn) == ("accept", "go_on", 1, 2)
        with pytest.raises(UserError, match="waits for a person"):
            run.review(accept=True)
    assert RunView.load(tmp_path / "run").attempts[0].decision.rule == "human"


@pytest.mark.slow
def test_a_person_decides_on_the_command_line(tmp_path: Path) -> None:
    """The image that waits is kept when its program goes; the command decides, and the program goes on."""
    with opened(tmp_path / "run", **ASKING) as run:
        run.offer(jpeg(PHOTO, 50), "add a hat")
    assert RunView.load(tmp_path / "run").status == "waiting"
    with open_run(tmp_path / "run") as run:
        assert (run.status, run.last and run.last.next) == ("waiting", "review")
    command = [str(Path(sys.executable).with_name("turngate")), "resume", str(tmp_path / "run"), "--accept"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "waits for an image" in done.stdout, "Traceback" in done.stderr) == (11, True, False)
    view = RunView.load(tmp_path / "run")
    assert [(one.row.instruction, one.decision.rule) for one in view.attempts] == [("add a hat", "human")]
    with open_run(tmp_path / "run") as run:
        assert (run.turn, run.current.media_type) == (2, "image/jpeg")


def test_an_answer_that_was_stored_and_not_decided_is_decided_first(tmp_path: Path) -> None:
    """A process that died between the two: nothing is asked twice, nothing is lost."""

    class Dies(Lazy):
        def decide(self, scores: dict[str, Reading], past: Past) -> Decision:
            if self.asked == 0 and past.turn == 2:
                self.asked = 1
                raise KeyboardInterrupt
            return Decision("accept", "yes")

    fields: dict[str, Any] = {"evaluators": [Mean()], "gate": Dies(1)}
    with pytest.raises(KeyboardInterrupt), opened(tmp_path / "run", **fields) as run:
        run.offer(jpeg(PHOTO, 95), "one")
        run.offer(jpeg(PHOTO, 94), "two")
    assert len(RunView.load(tmp_path / "run").attempts) == 1
    with opened(tmp_path / "run", **fields) as run:
        assert run.last is not None and (run.last.turn, run.last.verdict, run.turn) == (2, "accept", 3)
    assert [one.row.instruction for one in RunView.load(tmp_path / "run").attempts] == ["one", "two"]


def test_where_the_edit_was_meant_is_known_to_evaluators(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"evaluators": ["outside_edit"], "gate": "always_accept"}
    edited = ARRAY.copy()
    edited[:48, :48] = 255
    with opened(tmp_path / "run", **fields) as run:
        told = run.offer(edited, "whiten", edit_boxes=[(0, 0, 0.5, 0.5)])
    assert told.scores["outside_edit"] == pytest.approx(0, abs=0.5)
    with open_run(tmp_path / "run") as run:
        unknown = run.offer(edited, "whiten")
    assert unknown.scores["outside_edit"] is None


def test_in_an_event_loop(tmp_path: Path) -> None:
    async def work() -> tuple[str, int]:
        async with opened(tmp_path / "run") as run:
            first = await run.aoffer(jpeg(PHOTO, 95), "add a hat")
            await run.aoffer(PHOTO)
            return first.next, run.turn

    assert asyncio.run(work()) == ("go_on", 3)
    assert RunView.load(tmp_path / "run").status == "interrupted"


def test_it_joins_the_trace_of_its_program(tmp_path: Path) -> None:
    from opentelemetry.sdk.trace import TracerProvider

    tracer = TracerProvider().get_tracer("host")
    with tracer.start_as_current_span("agent") as span, opened(tmp_path / "run") as run:
        run.offer(PHOTO)
    started = RunFolder(tmp_path / "run").ledger().events()[0]
    assert f"{span.get_span_context().trace_id:032x}" in started.data["traceparent"]


def test_a_run_of_another_editor_is_not_gone_on_with(config: Config, run: Run, tmp_path: Path) -> None:
    run(config(turns=1))
    with pytest.raises(UserError, match="come from the editor 'scripted'"):
        open_run(tmp_path / "run").__enter__()
    assert turngate.open_run is open_run
