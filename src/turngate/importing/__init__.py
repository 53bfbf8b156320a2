"""From frames on disk to recorded runs in a study, and back: what `turngate import` and `export --as` do."""

from turngate.importing.chains import FoundChain, FoundTree, turn_ranges
from turngate.importing.layouts import LAYOUTS, Layout, from_layout
from turngate.importing.pattern import PathPattern, is_pattern
from turngate.importing.sources import from_map, from_pattern
from turngate.importing.study import (
    IdealChoice,
    ImportedStudy,
    ImportSettings,
    check_arm_names,
    import_study,
    write_labels,
)
from turngate.importing.verdicts import (
    FrameVerdict,
    LabelColumns,
    MatchedVerdicts,
    VerdictFile,
    match_verdicts,
    read_verdicts,
)
from turngate.importing.written import WrittenFrames, write_frames

__all__ = [
    "LAYOUTS",
    "FoundChain",
    "FoundTree",
    "FrameVerdict",
    "IdealChoice",
    "ImportSettings",
    "ImportedStudy",
    "LabelColumns",
    "Layout",
    "MatchedVerdicts",
    "PathPattern",
    "VerdictFile",
    "WrittenFrames",
    "check_arm_names",
    "from_layout",
    "from_map",
    "from_pattern",
    "import_study",
    "is_pattern",
    "match_verdicts",
    "read_verdicts",
    "turn_ranges",
    "write_frames",
    "write_labels",
]
