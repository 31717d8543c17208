"""A web search is no address: it may be judged, unless it carries a secret out."""

from __future__ import annotations

import pytest
from guard_cases import class_of

from fwdperm.guard.classes import Danger


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("search: how to sort a list", Danger.RULED),
        ("search: site:example.org file:///etc/passwd", Danger.RULED),
        ("search: ghp_0123456789abcdefghijABCDEFGHIJ012345", Danger.DANGEROUS),
        ("searching: how to sort a list", Danger.DANGEROUS),
        ("how to sort a list", Danger.DANGEROUS),
    ],
)
def test_a_search_is_ruled_and_what_only_looks_like_one_is_not(value: str, expected: Danger) -> None:
    assert class_of("web", value).danger is expected
