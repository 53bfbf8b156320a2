"""Remembers what was worked out for a pair of images, so that the next evaluator does not do it again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["Memo"]

_T = TypeVar("_T")


class Memo(Generic[_T]):
    """The last answers by key; of threads that ask for the same one, the first works and the others wait for it."""

    def __init__(self, kept: int = 64) -> None:
        self._kept = kept
        self._known: OrderedDict[Hashable, Future[_T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The answer to `key`, from `make` where it is not known; an exception is passed on and not remembered."""
        with self._lock:
            answer = self._known.get(key)
            mine = answer is None
            if answer is None:
                answer = self._known[key] = Future()
                if len(self._known) > self._kept:
                    self._known.popitem(last=False)
        if mine:
            try:
                answer.set_result(make())
            except BaseException as error:
                with self._lock:
                    self._known.pop(key, None)
                answer.set_exception(error)
        return answer.result()
