"""Conformance kit: does a part keep its contract? Raises `AssertionError` with the rule that is broken."""

from turngate.testing.check_gate import check_gate

__all__ = ["check_gate"]
