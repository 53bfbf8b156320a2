"""One exporter on its way out: counted, quiet, and able to give up."""

from __future__ import annotations

import logging
from collections.abc import Callable

from turngate.traces.telemetry._quiet import install, quiet

__all__ = ["Delivery"]

_log = logging.getLogger(__name__)


class Delivery:
    """Counts what an exporter took and lost, warns once, and refuses everything after `stop`.

    `what` is what it carries ("spans"), `target` where to, `shutdown` the exporter's own.
    """

    def __init__(self, what: str, target: str, shutdown: Callable[[], object]) -> None:
        install()
        self.delivered = 0
        self.lost = 0
        """What was handed over and has not arrived; see `send`."""
        self._what = what
        self._target = target
        self._shutdown = shutdown
        self._stopped = False
        self._warned = False

    def send(self, count: int, export: Callable[[], bool], *, supersedes: bool = False) -> bool:
        """Run `export`, which carries `count` items and says whether they arrived.

        With `supersedes` this export repeats what those before it carried: only the latest can be lost.
        """
        self.lost = count if supersedes else self.lost + count  # until it has arrived
        if not self._stopped:
            with quiet():
                arrived = export()
            if arrived:
                self.delivered += count
                self.lost -= count
                return True
        if not self._warned and not self._stopped:
            self._warned = True
            _log.warning("telemetry: %s takes no %s: they are lost, and counted", self._target, self._what)
        return False

    def stop(self) -> None:
        """Refuse everything from now on and end a wait for the next try."""
        self._stopped = True
        with quiet():
            self._shutdown()

    def shutdown(self) -> None:
        """Close the exporter, unless it was stopped."""
        if not self._stopped:
            with quiet():
                self._shutdown()
