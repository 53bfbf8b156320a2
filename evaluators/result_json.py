"""Evaluation results as plain JSON, for rows, stored calls and the score cache."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from turngate.evaluators.result import Failed, Result, Score, Skipped, Unscored
from turngate.evaluators.usage import Usage

__all__ = ["result_from_json", "result_to_json", "why"]


def result_to_json(result: Result) -> dict[str, Any]:
    """Fields of a score row."""
    match result:
        case Score():
            return {
                "status": "scored",
                "value": result.value,
                "label": result.label,
                "explanation": result.explanation,
                "components": dict(result.components),
                **_told(result),
            }
        case Unscored():
            return {"status": "unscored", "why": result.why, "detail": result.detail, **_told(result)}
        case Failed():
            failed = {"status": "failed", "why": result.error, "fault": result.fault, "detail": result.detail}
            return {**failed, **_told(result)}
        case Skipped():
            return {"status": "skipped", "why": result.why}


def result_from_json(answer: dict[str, Any]) -> Result:
    """The result that `result_to_json` took apart."""
    match answer["status"]:
        case "scored":
            known = {name: answer[name] for name in ("value", "label", "explanation", "components")}
            return Score(**known, **_untold(answer))
        case "unscored":
            return Unscored(answer["why"], answer["detail"], **_untold(answer))
        case "failed":
            return Failed(answer["fault"], answer["why"], answer["detail"], **_untold(answer))
        case _:
            return Skipped(answer["why"])


def _told(result: Score | Unscored | Failed) -> dict[str, Any]:
    return {"flags": list(result.flags), "usage": asdict(result.usage) if result.usage else {}}


def _untold(answer: dict[str, Any]) -> dict[str, Any]:
    usage = answer.get("usage")
    return {"flags": tuple(answer.get("flags", ())), "usage": Usage(**usage) if usage else None}


def why(result: Result) -> str:
    """Why there is no score, in one line."""
    match result:
        case Unscored():
            return f"unscored: {result.why}"
        case Failed():
            return f"failed: {result.error} {result.detail}".strip()
        case _:
            return ""
