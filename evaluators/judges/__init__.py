"""Vision-language models as evaluators: one way to ask and to read the answer, three ways to reach a model."""
