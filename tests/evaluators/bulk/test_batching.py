"""Scoring many images: every image once, nothing twice, and what breaks is a result."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from skimage import data

from turngate.component import ComponentConfig
from turngate.errors import QuotaExhausted
from turngate.evaluators import EVALUATORS, EvalInput, Facts, Failed, Result, Score, Unscored
from turngate.evaluators.bulk import Batcher, ImageSource, NamedEvaluator, ScoreJob, ScoringStep
from turngate.evaluators.suites import members


class Heavy:
    """An evaluator that may not be asked twice at a time, with answers that a test chooses."""

    requires: ClassVar[dict[str, str]] = {"numpy": ""}

    def __init__(self, answer: Callable[[Sequence[EvalInput]], list[Result]], **facts: Any) -> None:
        values: dict[str, Any] = {"name": "heavy", "version": "1", "direction": "higher", "range": (0.0, 1e9)}
        self.facts = Facts(**{**values, **facts})
        self.sizes: list[int] = []
        self._answer, self._busy = answer, threading.Lock()

    def evaluate(self, batch: Sequence[EvalInput]) -> list[Result]:
        assert self._busy.acquire(blocking=False), "asked twice at a time"
        try:
            self.sizes.append(len(batch))
            time.sleep(0.005)
            return self._answer(batch)
        finally:
            self._busy.release()


def photo(name: str) -> NDArray[np.uint8]:
    pixels: NDArray[np.uint8] = getattr(data, name)()
    return pixels


def heavy(answer: Callable[[Sequence[EvalInput]], list[Result]], **facts: Any) -> tuple[NamedEvaluator, Heavy]:
    part = Heavy(answer, **facts)
    return NamedEvaluator("heavy", ComponentConfig(type="heavy"), part), part


def gray(batch: Sequence[EvalInput]) -> list[Result]:
    return [Score(float(sample.candidate.rgb.mean())) for sample in batch]


def named(raw: Any, name: str | None = None) -> NamedEvaluator:
    config = EVALUATORS.configure(raw, "x")
    return NamedEvaluator(name or config.type, config, EVALUATORS.build(config))


@pytest.fixture
def jobs(tmp_path: Path) -> list[ScoreJob]:
    """Ten images of known gray level; the fourth is no image, the seventh is not there."""
    found = []
    for level in range(10):
        path = tmp_path / f"{level}.png"
        Image.fromarray(np.full((16, 16, 3), level, dtype=np.uint8)).save(path)
        found.append(ScoreJob(str(level), ImageSource(path)))
    (tmp_path / "3.png").write_bytes(b"no image")
    (tmp_path / "6.png").unlink()
    return found


def results(steps: Sequence[ScoringStep]) -> dict[tuple[str, str], Result]:
    return {(one.job.id, one.evaluator.name): one.result for step in steps for one in step.scored}


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batch", [1, 3, 64])
def test_every_image_once(jobs: list[ScoreJob], threads: int, batch: int) -> None:
    by, part = heavy(gray)
    steps = list(Batcher([by, named("scripted")], threads=threads, batch=batch).run(jobs))
    assert sum(step.finished for step in steps) == 10
    found = results(steps)
    assert len(found) == 20 == sum(len(step.scored) for step in steps)
    for level in range(10):
        result = found[str(level), "heavy"]
        if level in (3, 6):
            assert isinstance(result, Failed) and (result.fault, result.error) == ("user", "BadImage")
            assert isinstance(found[str(level), "scripted"], Failed)
        else:
            assert result == Score(level)
            assert found[str(level), "scripted"] == Score(level / 255)
    assert max(part.sizes) <= batch


@pytest.mark.slow
def test_a_sample_alone_and_in_a_batch(tmp_path: Path) -> None:
    """C34: alone or in a batch of eight, with one thread or three, every classic metric gives the same value."""
    photograph = photo("astronaut")[:192, 100:292]
    Image.fromarray(photograph).save(tmp_path / "origin.png")
    origin = ImageSource(tmp_path / "origin.png")
    some = []
    for quality in range(30, 94, 8):
        path = tmp_path / f"{quality}.jpg"
        Image.fromarray(photograph).save(path, quality=quality)
        some.append(ScoreJob(str(quality), ImageSource(path), origin=origin))
    evaluators = [named(type_) for type_ in members("classic")]
    alone = results(list(Batcher(evaluators, threads=1, batch=1).run(some)))
    together = results(list(Batcher(evaluators, threads=3, batch=8).run(some)))
    assert len(alone) == 8 * len(evaluators)
    assert alone == together


def test_nothing_owed_is_neither_decoded_nor_asked(jobs: list[ScoreJob]) -> None:
    by, part = heavy(gray)
    owed = {"1", "2", "3"}
    steps = list(Batcher([by], threads=2).run(jobs, lambda job, _, inputs: job.id in owed))
    assert {name for name, _ in results(steps)} == owed
    assert sum(step.idle for step in steps) == 7
    assert sum(part.sizes) == 2  # the third is no image


def test_threads_that_wait_for_an_evaluator_do_not_ask_it_after_the_end(jobs: list[ScoreJob]) -> None:
    """Whoever stops the work of a judge that is paid for pays for no call that had not begun."""
    second, end = threading.Event(), threading.Event()
    asked: list[int] = []

    def slow(batch: Sequence[EvalInput]) -> list[Result]:
        asked.append(len(batch))
        if len(asked) == 2:
            second.set()
            end.wait(20)
        return gray(batch)

    by, _ = heavy(slow, paid=True)
    good = [job for job in jobs if job.id not in ("3", "6")]
    steps = Batcher([by], threads=4, batch=4).run(good)
    next(steps)
    assert second.wait(20)
    threading.Timer(0.3, end.set).start()  # `close` below returns when the call in hand does
    steps.close()
    assert asked == [1, 1]


def test_out_of_memory_is_the_machines_and_ends(jobs: list[ScoreJob]) -> None:
    """C37: recorded for each image, asked again only one by one, and never for ever."""

    class OutOfMemoryError(RuntimeError):
        """Called as torch's is."""

    def full(batch: Sequence[EvalInput]) -> list[Result]:
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    by, part = heavy(full)
    good = [job for job in jobs if job.id not in ("3", "6")]
    found = results(list(Batcher([by], threads=2, batch=4).run(good)))
    assert len(found) == 8
    assert {(one.fault, one.error) for one in found.values() if isinstance(one, Failed)} == {
        ("machine", "OutOfMemoryError")
    }
    assert sorted(part.sizes) == [1] * 8 + [4] * 2


def test_torch_out_of_memory() -> None:
    torch = pytest.importorskip("torch")
    from turngate.evaluators.scoring import score
    from turngate.picture import Picture

    def full(batch: Sequence[EvalInput]) -> list[Result]:
        raise torch.OutOfMemoryError("CUDA out of memory")

    _, part = heavy(full)
    result = score(part, [EvalInput(Picture.from_rgb(np.zeros((8, 8, 3), np.uint8)))])[0]
    assert isinstance(result, Failed) and result.fault == "machine"


def test_an_answer_that_is_paid_for_is_asked_for_alone(jobs: list[ScoreJob]) -> None:
    by, part = heavy(gray, paid=True, deterministic=False)
    list(Batcher([by], threads=4, batch=16).run(jobs))
    assert set(part.sizes) == {1}


def test_who_depends_on_the_order_gets_it(jobs: list[ScoreJob]) -> None:
    raw = {"type": "scripted", "rule": "sequence", "values": [*range(8)], "direction": "higher"}
    good = [job for job in jobs if job.id not in ("3", "6")]
    found = results(list(Batcher([named(raw)], threads=8, batch=2).run(good)))
    assert [found[job.id, "scripted"] for job in good] == [Score(number) for number in range(8)]


def test_what_would_meet_every_later_call_ends_it(jobs: list[ScoreJob]) -> None:
    def quota(batch: Sequence[EvalInput]) -> list[Result]:
        raise QuotaExhausted("the daily limit is used up")

    by, part = heavy(quota, paid=True)
    with pytest.raises(QuotaExhausted, match="daily"):
        list(Batcher([by], threads=1).run(jobs))
    assert len(part.sizes) == 1


def test_closing_ends_the_work(jobs: list[ScoreJob]) -> None:
    by, part = heavy(gray)
    steps = Batcher([by], threads=1, batch=1).run(jobs)
    next(steps)
    steps.close()
    assert sum(part.sizes) < 8


def test_references_by_role(tmp_path: Path) -> None:
    """Only what an evaluator needs is opened, and a broken reference costs only those who look at it."""
    for name, level in (("candidate", 100), ("origin", 110)):
        Image.fromarray(np.full((16, 16, 3), level, dtype=np.uint8)).save(tmp_path / f"{name}.png")
    (tmp_path / "previous.png").write_bytes(b"no image")
    source = {name: ImageSource(tmp_path / f"{name}.png") for name in ("candidate", "origin", "previous")}
    job = ScoreJob("x", source["candidate"], origin=source["origin"], previous=source["previous"])
    evaluators = [named("psnr"), named({"type": "psnr", "against": "previous"}, "last"), named("scripted")]
    found = results(list(Batcher(evaluators).run([job])))
    assert isinstance(found["x", "psnr"], Score)
    last = found["x", "last"]
    assert isinstance(last, Failed) and "previous.png is no image" in last.detail
    bare = results(list(Batcher(evaluators[:1]).run([ScoreJob("x", source["candidate"])])))["x", "psnr"]
    assert isinstance(bare, Unscored) and bare.why == "no_reference"


def test_a_stored_image_that_was_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    Image.fromarray(np.zeros((16, 16, 3), dtype=np.uint8)).save(path)
    result = results(list(Batcher([named("scripted")]).run([ScoreJob("x", ImageSource(path, "0" * 64))])))[
        "x", "scripted"
    ]
    assert isinstance(result, Failed) and (result.fault, result.error) == ("machine", "DamagedRun")


def test_light_evaluators_are_not_shared() -> None:
    light = {type_: named(type_).is_light for type_ in [*members("classic"), "scripted"]}
    assert Counter(light.values()) == {True: len(light)}
    members_ = {"rule": "mean", "members": {"a": "scripted", "b": "scripted"}, "type": "ensemble"}
    assert not named(members_).is_light
