"""Editors that ask a provider: Gemini, and servers that speak OpenAI's images-edit protocol."""

from turngate.agent.editors.remote.gemini import GeminiConfig, GeminiEditor
from turngate.agent.editors.remote.openai import OpenAIEditor

__all__ = [
    "GeminiConfig",
    "GeminiEditor",
    "OpenAIEditor",
]
