"""Scores targets with evaluators; what is there is not computed again, and every result is written as it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from turngate.evaluators.bulk.item import Item, Named, Scored
from turngate.evaluators.bulk.scorer import Batcher
from turngate.evaluators.score_key import Inputs
from turngate.rescoring.pass_log import HOLD_SECONDS, PassLog
from turngate.rescoring.rows import Known, scored_row
from turngate.rescoring.tally import Tally
from turngate.rescoring.targets import Place, Target
from turngate.traces.rescored.table import ScoreTable

__all__ = ["Rescoring"]


class Rescoring:
    """One `turngate score`: run it, then read the numbers."""

    def __init__(self, batcher: Batcher, retry_failed: bool = False) -> None:
        """`retry_failed`: ask again where the latest answer is a failure; the failure stays in the table."""
        self._batcher = batcher
        self._retry_failed = retry_failed
        self.tallies = {by.name: Tally() for by in batcher.evaluators}
        """Name -> results on the images that were asked for, new and old."""
        self.added = 0
        """New rows."""
        self.images = 0
        """Images that are done with."""
        self.idle = 0
        """Of those: everything was known."""

    def run(self, targets: Sequence[Target]) -> Iterator[int]:
        """Score target by target; yields how many images were finished, again and again.

        Raises what evaluators raise that would meet every later image too (a used-up quota), and `MachineError` when
        a table cannot be written. Closing the iterator ends the work; what was written stays.
        """
        for target in targets:
            with closing(ScoreTable(target.table)) as table:
                yield from self._one(target, table)

    def _one(self, target: Target, table: ScoreTable) -> Iterator[int]:
        known = Known(table.results())
        tries: dict[tuple[str, str], int] = {}
        old: list[tuple[str, str]] = []

        def is_owed(item: Item, by: Named, inputs: Inputs) -> bool:  # called from several threads
            asked, key = known.latest(item, by, inputs)
            if key is None or (self._retry_failed and known.rows[key][0] == "failed"):
                tries[item.id, by.name] = asked + 1
                return True
            old.append((by.name, key))
            return False

        log = PassLog(target, self._batcher.evaluators, table)
        try:
            with closing(self._batcher.run(target.items, is_owed)) as steps:
                for step in steps:
                    rows = [
                        scored_row(
                            one, log.id, target.places.get(one.item.id, Place()), tries[one.item.id, one.by.name]
                        )
                        for one in step.scored
                    ]
                    log.add(rows, at_once=any(_is_dear(one) for one in step.scored))
                    for row in rows:
                        self.tallies[row.evaluator].add(row.status, row.value, row.why, row.fault)
                    self.images += step.finished
                    self.idle += step.idle
                    yield step.finished
        except (KeyboardInterrupt, GeneratorExit, SystemExit) as error:
            log.end("interrupted", type(error).__name__)
            raise
        except BaseException as error:
            log.end("failed", " ".join(str(error).split())[:300])
            raise
        else:
            log.end("complete", None)
        finally:
            self.added += log.added
            for name, key in old:
                self.tallies[name].add(*known.rows[key])


def _is_dear(one: Scored) -> bool:
    """It cost money, or more time than a kill may cost."""
    return one.by.facts.paid or one.ended_ns - one.started_ns > HOLD_SECONDS * 1e9
