"""`turngate study`: the command, its progress and its answer on the terminal."""

from turngate.cli.study.command import study_command

__all__ = ["study_command"]
