"""Conformance kit: does a component keep its contract? Raises `AssertionError` with the rule that is broken."""

from turngate.testing.check_editor import check_editor
from turngate.testing.check_evaluator import check_evaluator
from turngate.testing.check_gate import check_gate

__all__ = ["check_editor", "check_evaluator", "check_gate"]
