"""turngate: does an evaluator-gated image-editing loop catch or propagate degradation over 100 turns?"""
