"""docs/evaluators.md names everything that there is, and links to what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.packages import need_pyiqa

from turngate.evaluators import EVALUATORS
from turngate.evaluators.pyiqa import PyiqaConfig, read_catalogue
from turngate.evaluators.suites import SUITES, members

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "evaluators.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_evaluator_has_a_row() -> None:
    table = TEXT.split("\n\nA result is", 1)[0]
    for name in EVALUATORS.builtin:
        assert (f"`{name}`" if not name.endswith(":") else f"`{name}NAME`") in table, name


def test_rows_say_what_the_facts_say() -> None:
    rows = {line.split("`")[1]: line for line in TEXT.splitlines() if line.startswith("| `")}
    for name in (*members("classic"), "drift", "drift_chain"):
        facts = EVALUATORS.build(EVALUATORS.configure(name, name)).facts
        assert f"| {facts.direction} |" in rows[name]
        assert all(need in rows[name] for need in facts.inputs - {"candidate"})
        assert facts.min_size == 1 or f"at least {facts.min_size} pixels" in rows[name], name
        assert ("about" in rows[name] or "80 dB" in rows[name]) == facts.range_is_approximate, name


def test_every_metric_of_pyiqa_is_named() -> None:
    need_pyiqa()
    named = set(re.findall(r"`([^`\s]+)`", section("pyiqa")))
    assert set(read_catalogue()) <= named


def test_every_setting_of_pyiqa_is_explained() -> None:
    for field in PyiqaConfig.model_fields:
        assert field == "type" or f"`{field}`" in section("pyiqa"), field


@pytest.mark.parametrize("suite", ["classic", "banana100-known"])
def test_suites_hold_what_is_written(suite: str) -> None:
    (row,) = (line for line in section("Suites").splitlines() if line.startswith(f"| `{suite}`"))
    for name in members(suite):
        assert name.removeprefix("pyiqa:") in row
    assert set(SUITES) == set(re.findall(r"^\| `([^`]+)` \|", section("Suites"), re.MULTILINE))


@pytest.mark.parametrize("page", ["evaluators.md", "drift.md", "extending.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text):
        path = DOCS / (target or page)
        assert path.exists(), target
        titles = {_anchor(title) for title in re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)}
        assert not anchor or anchor in titles, f"{target}#{anchor}"


def _anchor(title: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
