"""Evaluation results as plain JSON, for rows and stored calls."""

from __future__ import annotations

from typing import Any

from turngate.evaluators import Failed, Result, Score, Skipped, Unscored

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
                "flags": list(result.flags),
            }
        case Unscored():
            return {"status": "unscored", "why": result.why, "detail": result.detail}
        case Failed():
            return {"status": "failed", "why": result.error, "fault": result.fault, "detail": result.detail}
        case Skipped():
            return {"status": "skipped", "why": result.why}


def result_from_json(answer: dict[str, Any]) -> Result:
    """The result that `result_to_json` took apart."""
    match answer["status"]:
        case "scored":
            known = {name: answer[name] for name in ("value", "label", "explanation", "components")}
            return Score(**known, flags=tuple(answer["flags"]))
        case "unscored":
            return Unscored(answer["why"], answer["detail"])
        case "failed":
            return Failed(answer["fault"], answer["why"], answer["detail"])
        case _:
            return Skipped(answer["why"])


def why(result: Result) -> str:
    """Why there is no score, in one line."""
    match result:
        case Unscored():
            return f"unscored: {result.why}"
        case Failed():
            return f"failed: {result.error} {result.detail}".strip()
        case _:
            return ""
