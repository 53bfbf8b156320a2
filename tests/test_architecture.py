"""The house as docs/architecture.md draws it; `make lint` checks the imports between rooms."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "turngate"
READMES = [path for path in ROOT.glob("**/README.md") if not {".git", ".venv", "tests", "build"} & set(path.parts)]
PAGES = sorted([*READMES, ROOT / "docs" / "architecture.md"])
# Rooms whose files are imported one by one: contracts lie flat, and each command is a file of its own.
FLAT = {
    "turngate", "turngate.agent", "turngate.agent.editors", "turngate.agent.gates", "turngate.agent.scenarios",
    "turngate.agent.reasoning", "turngate.cli", "turngate.evaluators", "turngate.fake_server",
    "turngate.fake_server.gemini", "turngate.fake_server.openai", "turngate.graphs", "turngate.graphs.study",
    "turngate.pages", "turngate.providers", "turngate.testing", "turngate.traces", "turngate.traces.analysis",
    "turngate.traces.exports", "turngate.traces.telemetry", "turngate.weights",
}  # fmt: skip
SHARED = {"turngate.evaluators.full_reference.base", "turngate.evaluators.no_reference.statistics"}
"""Files that other families may import by name, because their family's face would be too much."""


def sources() -> list[Path]:
    """Python files of the product."""
    folders = [ROOT / name for name in ("agent", "evaluators", "graphs", "traces")]
    own = [
        path for path in PACKAGE.rglob("*.py") if not any((PACKAGE / folder.name) in path.parents for folder in folders)
    ]
    return own + [path for folder in folders for path in folder.rglob("*.py")]


def test_a_family_is_imported_by_its_face() -> None:
    graph = grimp.build_graph("turngate", cache_dir=None)
    packages = {module for module in graph.modules if graph.find_children(module)}
    wrong = []
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            family = imported.rpartition(".")[0]
            outside = module != family and not module.startswith(f"{family}.")
            if outside and imported not in packages and family not in FLAT and imported not in SHARED:
                wrong.append(f"{module} imports {imported}: import from {family}")
    assert not wrong, "\n".join(sorted(wrong))


def test_a_type_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for path in sources():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                homes[node.targets[0].id].append(str(path))
    types = {name: found for name, found in homes.items() if re.fullmatch(r"[A-Z][a-z]\w+", name)}
    assert len(types) > 300
    assert not {name: found for name, found in types.items() if len(found) > 1}


def test_files_and_folders_have_a_readable_size() -> None:
    files = sources()
    lines = [path.read_text(encoding="utf-8").count("\n") for path in files]
    assert median(lines) >= 100
    assert sum(number < 60 for number in lines) <= len(lines) / 5
    folders = Counter(path.parent for path in files)
    assert not {str(folder): count for folder, count in folders.items() if count > 25}
    assert not [str(path) for path, number in zip(files, lines, strict=True) if number > 450]


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "docs" / "architecture.md"], ids=lambda path: str(path.relative_to(ROOT))
)
def test_pages_name_files_that_exist(page: Path) -> None:
    """Every `name.py` and `folder/` in backquotes is there: beside the page, in the package, or at the top."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    named = re.findall(r"`([\w./]+(?:\.py|\.md|\.toml|\.yaml|/))`", text)
    rooms = [PACKAGE / room for room in ("agent", "evaluators", "traces", "pages", "graphs", "traces/analysis/study")]
    beside = [page.parent, PACKAGE, ROOT, *page.parent.glob("*/"), *(rooms if page.name == "architecture.md" else ())]
    missing = [name for name in named if not any((folder / name).exists() for folder in beside)]
    assert not missing


def test_every_room_has_a_readme() -> None:
    rooms = [path for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()]
    assert len(rooms) >= 10
    assert not [room.name for room in rooms if not (room / "README.md").exists()]
