"""Runs written row by row, for tests of what is made from a run."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from skimage import data

from turngate.picture import Picture, encode_png
from turngate.traces.ledger import Ledger
from turngate.traces.recorded import RecordedOrigin, Resolved
from turngate.traces.records import AttemptRow, DecisionRow, ScoreRow, TruthRow
from turngate.traces.run_folder import RunFolder, RunInfo

Pixels = NDArray[np.uint8]

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"></script>"
    " \x1b[31mred\x1b[0m \u202egnp.exe\u202c 日本 שלום {{ 7*7 }} &amp; \u200b\U000e0041end"
)
"""Markup, an element's end, terminal escapes, a right-to-left override, real right-to-left text, a template."""


def photograph(size: int, name: str = "astronaut") -> Pixels:
    """A square photograph of scikit-image."""
    picture = Image.fromarray(getattr(data, name)()).convert("RGB")
    edge = min(picture.size)
    return np.asarray(picture.crop((0, 0, edge, edge)).resize((size, size), Image.Resampling.LANCZOS))


def degraded(pixels: Pixels, damage: float, seed: int) -> Pixels:
    """Noise and a lift of the contrast that grow with `damage` (0..1)."""
    noise = np.random.default_rng(seed).normal(0, 60 * damage, pixels.shape)
    lifted = (pixels.astype(float) - 128) * (1 + damage) + 128
    return np.clip(lifted + noise, 0, 255).astype(np.uint8)


def jpeg(pixels: Pixels) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


@dataclass
class Writer:
    """Writes one run and keeps where it stands, as the loop does."""

    path: Path
    size: int = 64
    turns: int = 10
    evaluators: dict[str, str] = field(default_factory=lambda: {"brisque": "lower", "psnr": "higher"})
    gate: dict[str, Any] = field(default_factory=lambda: {"type": "threshold", "evaluator": "brisque", "at": 40.0})
    on_reject: dict[str, Any] = field(default_factory=lambda: {"attempts": 3, "then": "skip"})
    truth: bool = True
    simulated: bool = True
    name: str = "demo"

    def __post_init__(self) -> None:
        self.folder = RunFolder(self.path)
        self.origin = photograph(self.size)
        png = encode_png(self.origin)
        self.image = self.origin_sha = self.folder.images.put(png, "image/png")
        self.image_turn = 0
        self.clock = 1_800_000_000_000_000_000
        self.folder.create(
            RunInfo(
                run=f"20261130-101500-{self.name}-1a2b3c4d",
                created="2026-11-30T10:15:00+00:00",
                config=self._config(),
                origin=RecordedOrigin.model_validate({
                    "image": self.origin_sha, "media_type": "image/png", "width": self.size, "height": self.size,
                    "normalised": [], "source": "skimage:astronaut",
                }),
                resolved=Resolved.model_validate({
                    "editor": {"model": "sharpener-1", "stochastic": True, "paid": False},
                    "simulated": self.simulated,
                    "evaluators": {name: _facts(name, way) for name, way in self.evaluators.items()},
                    "truth": None,
                    "scenario": {"ideal": "origin"},
                }),
                made_with={
                    "python": "3.11.2", "platform": "Linux-test", "packages": {"turngate": "0.1.0", "numpy": "2.4.0"},
                    "git": {"revision": "0123456789abcdef0123456789abcdef01234567", "dirty": True},
                },
            )
        )  # fmt: skip
        self.ledger: Ledger = self.folder.ledger(read_only=False, durable=False)
        scores = [
            self._score(0, 0, name, way, 20.0 if way == "lower" else 50.0) for name, way in self.evaluators.items()
        ]
        self.ledger.add_scores(scores, [self._truth(0, 0, 0.0)] if self.truth else [])

    def attempt(
        self,
        turn: int,
        number: int = 1,
        *,
        image: bytes | None,
        scores: dict[str, Any],
        damage: float | None = 0.0,
        verdict: Any = "accept",
        action: Any = "accept",
        taken: int | None = None,
        reason: str = "brisque 30 <= 40",
        evidence: dict[str, Any] | None = None,
        thresholds: dict[str, float] | None = None,
        after: tuple[str, int] | None = None,
        status_after: Any = "running",
        **more: Any,
    ) -> str | None:
        """Record one attempt; `scores` maps an evaluator to a value, or to the fields of a result without one."""
        sha, outcome = None, "no_image"
        shape: dict[str, Any] = {"why": "safety"}
        if image is not None:
            picture = Picture.from_bytes(image)
            sha = self.folder.images.put(image, picture.media_type)
            outcome = "no_change" if sha == self.image else "edited"
            shape = {
                "media_type": picture.media_type,
                "width": picture.width,
                "height": picture.height,
                "size_bytes": len(image),
            }
        fields: dict[str, Any] = {
            "seed": 1000 * turn + number, "instruction": "Produce an exact replica of the provided image.",
            "history": "previous", "input_image": self.image, "input_turn": self.image_turn,
            "simulated": self.simulated, "model": "sharpener-1", **shape, **more,
        }  # fmt: skip
        if thresholds is None:
            thresholds = {self.gate["evaluator"]: 40.0} if evidence is None and "evaluator" in self.gate else {}
        start = self._tick()
        fields |= {"turn": turn, "attempt": number, "outcome": outcome, "image": sha}
        row = AttemptRow(started_ns=start, ended_ns=self._tick(), **fields)
        results = [self._score(turn, number, name, way, scores.get(name)) for name, way in self.evaluators.items()]
        if after is not None:
            self.image, self.image_turn = after
        elif action in ("accept", "force_accept") and sha is not None and sha != self.image:
            self.image, self.image_turn = sha, turn
        decision = DecisionRow(
            turn=turn, attempt=number, verdict=verdict, rule="gate", reason=reason, action=action,
            evidence={"value": 30.0} if evidence is None else evidence,
            thresholds=thresholds,
            taken_attempt=taken if taken is not None else number if action in ("accept", "force_accept") else None,
            image_after=self.image, image_turn_after=self.image_turn, closes_turn=action != "retry",
            status_after=status_after, at_ns=self._tick(),
        )  # fmt: skip
        truth = self._truth(turn, number, damage) if self.truth and sha is not None else None
        self.ledger.record(row, results, truth, decision)
        return sha

    def close(self, status: str = "complete", reason: str = "") -> Path:
        """End the run."""
        self.ledger.add_event("ended", {"status": status, "reason": reason})
        self.ledger.close()
        return self.path

    def _config(self) -> dict[str, Any]:
        return {
            "name": self.name, "origin": {"image": "skimage:astronaut", "sha256": self.origin_sha},
            "scenario": {"type": "replicate"}, "turns": self.turns, "seed": 7, "seed_policy": "per_attempt",
            "history": "previous", "editor": {"type": "sharpen", "amount": 1.5},
            "evaluators": {name: {"type": name} for name in self.evaluators}, "gate": self.gate,
            "on_reject": self.on_reject, "on_unscored": {"policy": "reject", "tries": 3},
            "truth": {"measure": "simulator", "damaged_at": 0.5} if self.truth else None,
        }  # fmt: skip

    def _score(self, turn: int, attempt: int, name: str, direction: Any, value: Any) -> ScoreRow:
        fields = value if isinstance(value, dict) else {"status": "skipped", "why": "no_image"}
        if value is not None and not isinstance(value, dict):
            fields = {"status": "scored", "value": float(value)}
        return ScoreRow(
            turn=turn, attempt=attempt, evaluator=name, type=name, version="1", direction=direction,
            started_ns=self._tick(), ended_ns=self._tick(), **fields,
        )  # fmt: skip

    def _truth(self, turn: int, attempt: int, damage: float | None) -> TruthRow:
        damaged = None if damage is None else damage >= 0.5
        return TruthRow(
            turn=turn, attempt=attempt, measure="simulator", value=damage, damaged_at=0.5, damaged=damaged,
            detail="" if damage is not None else "the simulator recorded none",
        )  # fmt: skip

    def _tick(self) -> int:
        self.clock += 40_000_000
        return self.clock


def long_run(path: Path, turns: int, attempts: int, size: int, start: int = 1, **settings: Any) -> Path:
    """A run that degrades slowly: a blind metric likes sharpening, so the gate lets most of it through."""
    writer = Writer(path, size=size, turns=turns, **settings)
    for turn in range(start, turns + 1):
        damage = min(1.0, 0.9 * turn / turns)
        for number in range(1, attempts + 1):
            last = number == attempts
            accept = last and turn % 12 != 0
            noisy = degraded(writer.origin, 0.6 * damage + 0.05 * (attempts - number), 1000 * turn + number)
            value = 20 + 15 * damage + (25 if not accept else 0) + number
            scores: dict[str, Any] = {"brisque": value, "psnr": 45 - 20 * damage - number}
            if turn % 17 == 0:
                scores["psnr"] = {"status": "unscored", "why": "undefined"}
            if turn % 23 == 0:
                scores["psnr"] = {
                    "status": "failed",
                    "why": "RuntimeError",
                    "fault": "machine",
                    "detail": "out of memory",
                }
            missing = turn % 29 == 0 and number == 1
            writer.attempt(
                turn, number, image=None if missing else encode_png(noisy), scores={} if missing else scores,
                damage=damage, verdict="accept" if accept else "reject",
                action="accept" if accept else "skip" if last else "retry",
                reason=f"brisque {value:.4g} {'<=' if accept else '>'} 40",
                evidence={"value": value}, thresholds={"brisque": 40.0},
                status_after="complete" if last and turn == turns else "running",
                reasoning="The image was reproduced faithfully; fine texture is crisp. " * 4,
            )  # fmt: skip
    return writer.close()


def study_of(
    folder: Path,
    runs: dict[str, Path] | list[dict[str, Any]],
    question: str = "?",
    notes: str = "",
    name: str = "demo",
    sensitivity: tuple[float, ...] = (),
) -> Path:
    """`study.json` in `folder` over runs that are there: an arm each, or rows with arm, origin, ... and path."""
    rows: list[dict[str, Any]] = (
        [{"arm": arm, "path": path} for arm, path in runs.items()] if isinstance(runs, dict) else runs
    )
    empty = {"control": False, "origin": "", "scenario": "", "editor": "", "repeat": 1}
    folder.mkdir(parents=True, exist_ok=True)
    study = {"name": name, "question": question, "notes": notes, "sensitivity": list(sensitivity)}
    planned = [{**empty, **row, "path": os.path.relpath(row["path"], folder)} for row in rows]
    (folder / "study.json").write_text(json.dumps({"study": study, "runs": planned}), encoding="utf-8")
    return folder


def _facts(name: str, direction: str) -> dict[str, Any]:
    return {
        "name": name, "version": "1", "direction": direction, "range": [0.0, 100.0], "range_is_approximate": True,
        "deterministic": True, "batch_invariant": True, "size_scored": "native", "weights": "none",
        "weights_licence": "none", "source": "a paper",
    }  # fmt: skip
