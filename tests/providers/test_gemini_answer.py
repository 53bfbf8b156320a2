"""What is read alike of a Gemini answer by editors and judges."""

from __future__ import annotations

import warnings
from typing import Any

from google.genai.types import GenerateContentResponse

from turngate.providers.gemini import TokenCount, blocked, count, finish_reason


def answer(**fields: Any) -> GenerateContentResponse:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # values that the library does not know are the point here
        return GenerateContentResponse.model_validate(fields)


def test_thoughts_are_counted_with_the_answer_and_apart() -> None:
    """As Google bills them; images only where the details name them."""
    usage = {
        "prompt_token_count": 700,
        "prompt_tokens_details": [{"modality": "TEXT", "token_count": 184}, {"modality": "IMAGE", "token_count": 516}],
        "candidates_token_count": 1130,
        "candidates_tokens_details": [{"modality": "IMAGE", "token_count": 1120}],
        "thoughts_token_count": 300,
    }
    assert count(answer(usage_metadata=usage)) == TokenCount(700, 516, 1430, 1120, 300)
    bare = {"prompt_token_count": 700, "candidates_token_count": 10}
    assert count(answer(usage_metadata=bare)) == TokenCount(700, None, 10, None, None)
    assert count(answer(usage_metadata={"thoughts_token_count": 5})) == TokenCount(thoughts=5), "nothing is made up"
    assert count(answer()) == TokenCount()


def test_a_blocked_prompt_says_why_in_one_line() -> None:
    assert blocked(answer()) is None
    assert blocked(answer(prompt_feedback={})) is None
    told = {"block_reason": "SAFETY", "block_reason_message": "not\nthis " + "x" * 600}
    line = blocked(answer(prompt_feedback=told))
    assert (
        line is not None and line.startswith("SAFETY not this xxx") and line.endswith("xx [cut: 116 more characters]")
    )
    assert blocked(answer(prompt_feedback={"block_reason": "NEW_ONE"})) == "NEW_ONE"


def test_a_finish_reason_that_the_library_does_not_know_is_kept() -> None:
    for reason, told in (("STOP", "STOP"), ("IMAGE_NEW", "IMAGE_NEW"), (None, None)):
        (candidate,) = answer(candidates=[{"finish_reason": reason}]).candidates or []
        assert finish_reason(candidate) == told
