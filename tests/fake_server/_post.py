"""Requests without an SDK."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

__all__ = ["post"]


def post(url: str, body: bytes = b"{}") -> tuple[int, Any]:
    """Status and JSON of the answer."""
    try:
        with urlopen(Request(url, body, {"content-type": "application/json"}), timeout=30) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)
