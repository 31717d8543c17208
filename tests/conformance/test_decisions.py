"""The project's own corpus: what a line of rules says of a request, one JSON line per case.

Each line is one that `fwdperm explain --file` takes, with what must come out of it: `expect` is an action, or several
parted by `|` where either is right. `about` says what the case is about, and why where that is not plain.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fwdperm.cli.common import Locations
from fwdperm.cli.explaining import Bulk

CASES = [json.loads(line) for line in (Path(__file__).parent / "decisions.jsonl").read_text().splitlines()]
GROUPS = sorted({case["id"].rpartition("-")[0] for case in CASES})


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Bulk:
    place = tmp_path_factory.mktemp("root")
    return Bulk(
        Locations(root=place / "root", state=place / "state", config=place / "rules.toml", config_is_named=False)
    )


@pytest.mark.parametrize("group", GROUPS)
def test_every_case_of_the_group_is_decided_as_it_should_be(group: str, bulk: Bulk) -> None:
    """No false allow, and no ask for what is harmless."""
    wrong: list[Any] = []
    for case in (one for one in CASES if one["id"].rpartition("-")[0] == group):
        asked = {field: value for field, value in case.items() if field not in ("about", "expect")}
        told = bulk.decide(json.dumps(asked).encode(), number=1)
        assert told["id"] == case["id"]
        if told["action"] not in case["expect"].split("|"):
            wrong.append((case["id"], case.get("value", case.get("values")), told["action"], told["reason"]))
    assert wrong == []


def test_cases_are_many_of_every_kind_and_each_has_a_name() -> None:
    """A corpus that lost its cases would pass."""
    assert len({case["id"] for case in CASES}) == len(CASES) >= 1_000
    assert all(case["about"] for case in CASES)
    expected = Counter(case["expect"] for case in CASES)
    assert min(expected["allow"], expected["ask"], expected["deny"]) >= 150
