"""turngate: does an evaluator-gated image-editing loop catch or propagate degradation over 100 turns?

The names below are imported when they are first used, so `import turngate` loads neither langgraph nor torch.
"""

from __future__ import annotations

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turngate.agent.editor import Edited, Editor, EditRequest, NoImage
    from turngate.agent.gate import Decision, Gate, Past, Reading
    from turngate.component import ComponentConfig
    from turngate.evaluators import EvalInput, Evaluator, Facts, Failed, Score, Unscored
    from turngate.graphs.config import RunConfig
    from turngate.graphs.embedded import Offered, OpenRun, open_run
    from turngate.graphs.load import parse_config, read_config
    from turngate.graphs.runner import continue_run, fork_run, start_run
    from turngate.graphs.study import Study, parse_study, read_study, run_study
    from turngate.picture import Picture
    from turngate.traces.analysis.run import RunSummary, RunView, summarise
    from turngate.traces.analysis.study import StudyAnswer, read_answer
    from turngate.traces.frames import Frames, frames

__all__ = [
    "ComponentConfig",
    "Decision",
    "EditRequest",
    "Edited",
    "Editor",
    "EvalInput",
    "Evaluator",
    "Facts",
    "Failed",
    "Frames",
    "Gate",
    "NoImage",
    "Offered",
    "OpenRun",
    "Past",
    "Picture",
    "Reading",
    "RunConfig",
    "RunSummary",
    "RunView",
    "Score",
    "Study",
    "StudyAnswer",
    "Unscored",
    "continue_run",
    "fork_run",
    "frames",
    "open_run",
    "parse_config",
    "parse_study",
    "read_answer",
    "read_config",
    "read_study",
    "run_study",
    "start_run",
    "summarise",
]

__version__ = version("turngate")

_HOMES = {
    "turngate.agent.editor": ("EditRequest", "Edited", "Editor", "NoImage"),
    "turngate.agent.gate": ("Decision", "Gate", "Past", "Reading"),
    "turngate.evaluators": ("Evaluator", "Facts", "Failed", "EvalInput", "Score", "Unscored"),
    "turngate.graphs.config": ("RunConfig",),
    "turngate.graphs.embedded": ("Offered", "OpenRun", "open_run"),
    "turngate.graphs.load": ("parse_config", "read_config"),
    "turngate.graphs.runner": ("continue_run", "fork_run", "start_run"),
    "turngate.graphs.study": ("Study", "parse_study", "read_study", "run_study"),
    "turngate.traces.analysis.study": ("StudyAnswer", "read_answer"),
    "turngate.component": ("ComponentConfig",),
    "turngate.picture": ("Picture",),
    "turngate.traces.analysis.run.run_view": ("RunView",),
    "turngate.traces.analysis.run.summary": ("RunSummary", "summarise"),
    "turngate.traces.frames": ("Frames", "frames"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'turngate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
