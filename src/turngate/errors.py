"""Every error says who is at fault and what to do, in one line.

    TurngateError
    ├── UserError            the configuration, a key, a file, a missing extra   exit 2
    │   ├── ConfigError          a field is wrong: names file, field, nearest name
    │   ├── NotReady             several things are wrong: carries one line for each
    │   ├── ConfigChanged        resume with another configuration: carries the diff
    │   ├── UnknownComponent     no editor, evaluator, gate, scenario or reader of that name
    │   ├── MissingExtra         the component needs `pip install 'turngate[EXTRA]'`
    │   ├── MissingWeights       the component needs weights that are not here
    │   ├── MissingKey           the component needs an API key that is not set
    │   ├── BadImage             a file is not an image that can be read
    │   ├── Paused               the next image comes from a program that is not at work
    │   └── NoSuchRun            a folder holds no run
    ├── ProviderError        a remote model or server: limit, refusal, time-out  exit 3
    │   └── QuotaExhausted       a daily limit: the run can be resumed after the reset
    ├── MachineError         disk, memory, permissions                           exit 4
    │   ├── DamagedRun           a run folder does not hold what it should
    │   └── RunLocked            another process works on the run                exit 5
    └── InternalError        a bug of turngate or of a component                exit 70

The command line prints the first three without a traceback. A run that ends early by its own limits is not an
error: see `turngate.cli.errors`.

Failures of a single editor call or evaluation are *results* (`NoImage`, `Unscored`, `Failed`), not exceptions:
they are recorded in the ledger and the gate's policy deals with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

__all__ = [
    "BadImage",
    "ConfigChanged",
    "ConfigError",
    "DamagedRun",
    "Fault",
    "InternalError",
    "MachineError",
    "MissingExtra",
    "MissingKey",
    "MissingWeights",
    "NoSuchRun",
    "NotReady",
    "Paused",
    "ProviderError",
    "QuotaExhausted",
    "RunLocked",
    "TurngateError",
    "UnknownComponent",
    "UserError",
    "counted",
    "one_line",
    "shortened",
]

Fault = Literal["user", "provider", "machine", "us"]
"""Who is at fault for a failure."""


class TurngateError(Exception):
    """Base class. `str(error)` is one line that says what to do."""

    fault: ClassVar[Fault] = "us"
    exit_code: ClassVar[int] = 70


class UserError(TurngateError):
    """The user can mend it: a configuration, a file, a key, a missing extra."""

    fault = "user"
    exit_code = 2


class ConfigError(UserError):
    """A configuration field is wrong."""


class NotReady(ConfigError):
    """Several things are wrong with what shall be run. `faults` has one line for each."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)

    def __reduce__(self) -> tuple[type[NotReady], tuple[tuple[str, ...]]]:
        return type(self), (self.faults,)


class ConfigChanged(UserError):
    """A run was resumed with another configuration. `diff` lists (field, recorded value, new value)."""

    def __init__(self, message: str, diff: list[tuple[str, object, object]]) -> None:
        super().__init__(message)
        self.diff = diff

    def __reduce__(self) -> tuple[type[ConfigChanged], tuple[str, list[tuple[str, object, object]]]]:
        return type(self), (str(self), self.diff)


class UnknownComponent(ConfigError):
    """No component of that name is built in, installed as a plug-in, or importable."""


class MissingExtra(UserError):
    """A component needs packages that an extra installs."""


class MissingWeights(UserError):
    """A component needs weights that are not on this machine."""


class MissingKey(UserError):
    """A component needs an API key."""


class BadImage(UserError):
    """Bytes or a file that cannot be read as an image."""


class NoSuchRun(UserError):
    """A folder holds no run."""


class Paused(UserError):
    """The run goes on when somebody brings the next image; what was recorded stays."""


class ProviderError(TurngateError):
    """A remote model or server failed: rate limit, refusal, time-out, bad answer."""

    fault = "provider"
    exit_code = 3


class QuotaExhausted(ProviderError):
    """A limit that only time lifts; what was recorded stays, and the run can be resumed."""


class MachineError(TurngateError):
    """Disk, memory or permissions."""

    fault = "machine"
    exit_code = 4


class DamagedRun(MachineError):
    """A run folder does not hold what its ledger says."""


class RunLocked(MachineError):
    """Another process works on the run."""

    exit_code = 5


class InternalError(TurngateError):
    """A bug of turngate or of a component: please report it."""


def one_line(text: object, limit: int | None = None) -> str:
    """`text` (an error, an answer) with every run of white space as one space, cut to `limit` characters and a mark."""
    line = " ".join(str(text).split())
    return line if limit is None else shortened(line, limit)


def counted(number: int, noun: str, *, grouped: bool = False) -> str:
    """`1 turn`, `2 turns`; for nouns whose plural ends in s. `grouped` writes 2,000 for 2000."""
    return f"{number:{',' if grouped else ''}} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, limit: int) -> str:
    """`text`, or its first `limit` characters and a mark that says how many more there were."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]} [cut: {left_out} more characters]"
