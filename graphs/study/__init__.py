"""Studies: a grid of runs from one file. Arms share origins, editors and random numbers."""

from turngate.graphs.study.config import StudyConfig
from turngate.graphs.study.plan import Job, Study, check_study, parse_study, plan_study, read_study, same_origins
from turngate.graphs.study.running import Finished, run_jobs, run_study, unwatched

__all__ = [
    "Finished",
    "Job",
    "Study",
    "StudyConfig",
    "check_study",
    "parse_study",
    "plan_study",
    "read_study",
    "run_jobs",
    "run_study",
    "same_origins",
    "unwatched",
]
