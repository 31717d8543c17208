"""One house for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from house import House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()
