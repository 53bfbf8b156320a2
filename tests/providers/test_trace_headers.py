"""Trace context reaches calls that are made further down, in tasks and threads too."""

from __future__ import annotations

import asyncio

from turngate.providers.calling import below, run_blocking, trace_headers

OUTER, INNER = {"traceparent": "00-outer"}, {"traceparent": "00-inner", "tracestate": "a=b"}


async def asked() -> dict[str, str]:
    return (await asyncio.gather(*(asyncio.to_thread(trace_headers) for _ in range(2))))[1]


def test_nobody_traces() -> None:
    assert trace_headers() == {}
    with below({}):
        assert run_blocking(asked()) == {}


def test_the_nearest_place_counts() -> None:
    with below(OUTER):
        with below(INNER):
            assert trace_headers() == run_blocking(asked()) == INNER
        assert trace_headers() == run_blocking(asked()) == OUTER
    assert trace_headers() == {}


def test_inside_a_running_loop() -> None:
    """As in a notebook, where the call is made in another thread."""

    async def main() -> dict[str, str]:
        with below(OUTER):
            return run_blocking(asked())

    assert asyncio.run(main()) == OUTER


def test_what_was_handed_out_is_ones_own() -> None:
    with below(OUTER):
        trace_headers()["traceparent"] = "changed"
        assert trace_headers() == OUTER
