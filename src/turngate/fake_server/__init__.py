"""Fake Gemini and OpenAI-compatible endpoints on loopback that answer, and fail, by script.

Nothing here is a model: an edit adds seeded noise to the image that was sent, a judge fills in the schema that it was
given, token counts are invented. It is a shipped fake, so that runs against remote models can be tried for nothing and
without network: `turngate fake-server`.
"""
