"""How far a chain of edits has worn an image."""

from turngate.evaluators.drift.drift import ALARM, EXPONENT, UNITS, Drift, DriftChain, DriftConfig, combine

__all__ = ["ALARM", "EXPONENT", "UNITS", "Drift", "DriftChain", "DriftConfig", "combine"]
