"""`turngate study`: the command, its progress and its answer on the terminal."""

from turngate.cli.study.command import follow_and_answer, study_command

__all__ = ["follow_and_answer", "study_command"]
