"""One turn, two turns: where there is one of everything, nothing says `1 turns`."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import yaml

from turngate.errors import counted

from .program import Done

Turngate = Callable[..., Done]
Write = Callable[..., Path]

_NOUNS = (
    "turns|images|runs|attempts|rows|files|scores|frames|results|chains|calls|episodes|candidates|inputs|spans|arms|"
    "origins|controls|labels|pairs|times|tests|repeats|scenarios|editors"
)
_WRONG = re.compile(rf"(?<![\d.,/])1 (?:new sound |sound |editor |recorded )?(?:{_NOUNS})\b|\w\(s\)")


def wrong(text: str) -> list[str]:
    return [match.group() for match in _WRONG.finditer(text)]


def words(page: Path) -> str:
    """Text of the page; what is in another cell or block is apart."""
    text = re.sub(r"(?s)<(script|style)\b.*?</\1>", " ", page.read_text())
    text = re.sub(r"</?(?:small|b|i|em|a|code)\b[^>]*>", "", re.sub(r"\s+", " ", text))
    return html.unescape(re.sub(r"<[^>]+>", "|", text))


def test_numbers_and_their_nouns() -> None:
    assert [counted(number, "turn") for number in (0, 1, 2)] == ["0 turns", "1 turn", "2 turns"]
    assert counted(2000, "editor call", grouped=True) == "2,000 editor calls"
    assert wrong("1 turns, 11 turns, 1 image(s)") == ["1 turns", "e(s)"]


def test_one_of_everything(turngate: Turngate, write: Write, tmp_path: Path) -> None:
    gate = {"type": "threshold", "evaluator": "gray", "at": 0.9}
    run = write(turns=1, gate=gate, truth={"measure": "psnr", "damaged_at": 2})
    shared = yaml.safe_load(run.read_text())
    shared.pop("origin")
    study = {
        "name": "s", "question": "Why?", "run": shared, "origins": ["skimage:coffee"],
        "arms": {"strict": {"gate": gate}}, "controls": ["no-gate"],
    }  # fmt: skip
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    for call in (
        "run run.yaml --out one", "show one", "list .", "validate one", "export one --out rows.jsonl",
        "export one --table turns --out turns.jsonl", "export one --as frames/step_{turn}.png", "score one --with psnr",
        "score one --with niqe --turns 1", "compare one one", "replay one --set gate.at=0.1",
        "import frames/step_{turn}.png --dry-run", "import frames/step_{turn}.png --out imported",
        "study study.yaml --plan", "study study.yaml --out s", "report one",
        "calibrate one --evaluator gray --alpha 0.6",
    ):  # fmt: skip
        done = turngate(*call.split())
        assert done.code == 0, (call, done.err)
        assert not wrong(done.out + done.err), (call, wrong(done.out + done.err), done.out, done.err)
    for page in (tmp_path / "one" / "report.html", tmp_path / "s" / "index.html"):
        assert not wrong(words(page)), (page.name, wrong(words(page)))
