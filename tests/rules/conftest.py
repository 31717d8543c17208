"""What the tests of this room share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def lines_run() -> Callable[[Callable[[], object]], int]:
    """Give a function that counts the lines executed in a call: a measure of work that no clock blurs."""

    def counted(call: Callable[[], object]) -> int:
        count = 0

        def trace(_frame: object, _event: str, _argument: object) -> object:
            nonlocal count
            count += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)
        return count

    return counted
