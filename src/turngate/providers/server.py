"""Whose server a remote component asks: its address, fit to be recorded, and whether it is the shipped fake one."""

from __future__ import annotations

import http.client
import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Generic, TypeVar
from urllib.parse import SplitResult, urlsplit, urlunsplit

from turngate.component import FAKE_SERVER_HEADER

__all__ = ["Answered", "is_fake", "is_fake_server", "public_url", "server_url"]

T = TypeVar("T")

_SECONDS = 2.0
"""A server on this machine says who it is at once, or is busy with something else than being fake."""


@dataclass(frozen=True)
class Answered(Generic[T]):
    """An answer together with who gave it."""

    answer: T
    fake: bool
    """The shipped fake server gave it."""


def server_url(given: str | None, variable: str, default: str) -> str:
    """The address that a client library will use, without secrets: the configured one, its environment's, its own."""
    return public_url(given or os.environ.get(variable, "").strip() or default)


def public_url(url: str) -> str:
    """`url` without user, password, query and fragment; empty where it is none."""
    parts = _split(url)
    if parts is None or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if parts.port is None else f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, place, parts.path, "", ""))


def is_fake(headers: Mapping[str, str] | None) -> bool:
    """Whether an answer with these headers came from the shipped fake server; proxies pass its header on."""
    return headers is not None and any(name.lower() == FAKE_SERVER_HEADER for name in headers)


def is_fake_server(url: str) -> bool:
    """Ask the server at `url` who it is, if it is on this machine; False where nobody answers within two seconds.

    The fake server listens on loopback only, so others are not bothered. Sends no key.
    """
    parts = _split(url)
    if parts is None or not _is_loopback(parts.hostname or ""):
        return False
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    link = kind(parts.hostname or "", parts.port, timeout=_SECONDS)
    try:
        link.request("GET", "/")
        return is_fake(dict(link.getresponse().getheaders()))
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        link.close()


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a port that is no number
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") else None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
