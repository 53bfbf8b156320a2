"""The version of a model's folder, under the name that the pyiqa evaluator knows it by."""

from turngate.weights.version import folder_version as version_of

__all__ = ["version_of"]
