"""A client of a hub of models on this machine."""

from __future__ import annotations

from tests.weights.hub import hub_client, hub_client_process

__all__ = ["hub_client", "hub_client_process"]
