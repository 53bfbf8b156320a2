"""The table of the last attempts of a run, as wide as the terminal and no wider."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from turngate.cli._text import plain
from turngate.traces.records import AttemptRecord, ScoreRow
from turngate.traces.run_folder import RunInfo

__all__ = ["LiveTable", "cost_of", "decision_of", "score_of", "truth_of"]

_NAME, _NUMBER = 12, 8
"""Widest head of an evaluator's column, and its narrowest body, in cells."""
_REASON = 24
"""A narrower column of reasons says too little: then only the last reason stands, beneath the table."""
_GAP = 2
_ACTIONS = {"force_accept": "forced in", "keep_best": "keep best", "rollback": "roll back"}
_COLOURS = {"accept": "green", "accept_masked": "green", "reject": "yellow"}


class LiveTable:
    """Which columns stand in the table is settled by the run's configuration and the width."""

    def __init__(self, info: RunInfo) -> None:
        self._truth = info.config.get("truth") is not None
        names = list(info.config["evaluators"])
        read = _texts(info.config["gate"])
        self._evaluators = sorted(names, key=lambda name: name not in read)
        """Those that the gate reads come first."""

    def render(self, recent: Sequence[AttemptRecord], width: int) -> tuple[Table, list[Text]]:
        """The table, and lines beneath it for what had no room."""
        costs = any(cost_of(record) is not None for record in recent)
        columns = [("turn", 4), ("attempt", 7), ("decision", 12)]
        columns += [("truth", 14)] if self._truth else []
        columns += [("US $", 7)] if costs else []
        room = width - sum(size + _GAP for _, size in columns)
        shown: dict[str, int] = {}
        for name in self._evaluators:
            size = max(_NUMBER, min(_NAME, cell_len(plain(name))))
            if room < size + _GAP:
                break
            shown[name] = size
            room -= size + _GAP
        reasons = room >= _REASON + _GAP
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, width=width)
        for number, (title, size) in enumerate([*columns, *shown.items()]):
            left = title in ("decision", "truth") and number < len(columns)
            table.add_column(_cut(title, size), width=size, justify="left" if left else "right", no_wrap=True)
        table.add_column("reason" if reasons else "", ratio=1, no_wrap=True, overflow="ellipsis")
        for record in recent:
            cells = [Text(str(record.attempt.turn)), Text(str(record.attempt.attempt)), _decision(record)]
            cells += [_truth(record)] if self._truth else []
            cells += [_money(cost_of(record))] if costs else []
            scores = {score.evaluator: score for score in record.scores}
            cells += [_cut(score_of(scores.get(name)), size) for name, size in shown.items()]
            table.add_row(*cells, Text(plain(record.decision.reason, 200) if reasons else ""))
        return table, list(self._beneath(recent, shown, reasons, width))

    def _beneath(
        self, recent: Sequence[AttemptRecord], shown: Iterable[str], reasons: bool, width: int
    ) -> Iterable[Text]:
        if not recent:
            return
        last = recent[-1]
        scores = {score.evaluator: score for score in last.scores}
        more = [name for name in self._evaluators if name not in shown]
        if more:
            yield _line(", ".join(f"{plain(name, 40)} {score_of(scores.get(name))}" for name in more), width)
        if not reasons:
            yield _line(plain(last.decision.reason, 200), width)


def decision_of(record: AttemptRecord) -> str:
    """What was decided and what followed, in a word or two."""
    decision = record.decision
    word = _ACTIONS.get(decision.action, decision.action)
    if record.attempt.outcome == "no_image":
        return "no image"
    if record.attempt.outcome == "no_change":
        return f"same, {word}"
    masked = decision.composite is not None and decision.composite["image"] is not None
    return "masked" if masked else word


def score_of(score: ScoreRow | None) -> str:
    """A value, or why there is none."""
    if score is None:
        return "-"
    return f"{score.value:.4g}" if score.value is not None else score.status


def truth_of(record: AttemptRecord) -> str:
    """The truth about a candidate: what is not known is called that."""
    truth = record.truth
    if truth is None:
        return "-"
    if truth.value is None or truth.damaged is None:
        return "not known"
    return f"{truth.value:.4g} {'damaged' if truth.damaged else 'sound'}"


def cost_of(record: AttemptRecord) -> float | None:
    """US dollars of the editor and of the judges; None when nothing told any."""
    told = (record.attempt.cost_usd, *(score.usage.get("cost_usd") for score in record.scores))
    known = [cost for cost in told if cost is not None]
    return sum(known) if known else None


def _decision(record: AttemptRecord) -> Text:
    return Text(decision_of(record), style=_COLOURS.get(record.decision.verdict, ""))


def _truth(record: AttemptRecord) -> Text:
    damaged = record.truth is not None and record.truth.damaged
    return Text(truth_of(record), style="red" if damaged else "")


def _money(cost: float | None) -> Text:
    return Text("-" if cost is None else f"{cost:.4f}")


def _cut(text: str, size: int) -> Text:
    line = plain(text)
    return Text(line if cell_len(line) <= size else set_cell_size(line, size - 1) + "…")


def _line(text: str, width: int) -> Text:
    return Text(_cut(text, width).plain, style="dim", no_wrap=True)


def _texts(value: Any) -> set[str]:
    """Every text in a part's configuration: the names of evaluators that it reads are among them."""
    if isinstance(value, dict):
        return {text for one in value.values() for text in _texts(one)}
    if isinstance(value, list | tuple):
        return {text for one in value for text in _texts(one)}
    return {value} if isinstance(value, str) else set()
