"""`turngate score`: the command, its progress and its answer on the terminal."""

from turngate.cli.score.command import score_command

__all__ = ["score_command"]
