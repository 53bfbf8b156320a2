"""Scores many images with many evaluators, in threads, with a cache."""

from turngate.evaluators.bulk.cache import (
    Inputs,
    ScoreCache,
    cache_folder,
    cached_score,
    default_cache,
    inputs_hash,
    score_key,
)
from turngate.evaluators.bulk.job import ImageSource, NamedEvaluator, Scored, ScoreJob, ScoringStep
from turngate.evaluators.bulk.scorer import Batcher

__all__ = [
    "Batcher",
    "ImageSource",
    "Inputs",
    "NamedEvaluator",
    "ScoreCache",
    "ScoreJob",
    "Scored",
    "ScoringStep",
    "cache_folder",
    "cached_score",
    "default_cache",
    "inputs_hash",
    "score_key",
]
