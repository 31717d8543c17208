"""Names and paths: what they are, and what never becomes one."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import ChildError
from fwdperm.inbox.layout import SENTINEL, Layout, file_name, mail_stem

LAYOUT = Layout(Path("/r"))


def test_the_tree_has_the_shape_children_know() -> None:
    assert LAYOUT.request("a b", "r1") == Path("/r/sessions/a%20b/requests/r1.json")
    assert LAYOUT.response("a b", "r1") == Path("/r/sessions/a%20b/responses/r1.json")
    assert LAYOUT.beat("a b") == Path("/r/serving/a%20b.json")


@given(st.text(max_size=80))
def test_no_session_id_leaves_its_directory(session: str) -> None:
    try:
        path = LAYOUT.inbox(session)
    except ChildError:
        return
    assert PurePosixPath(path).parent == PurePosixPath("/r/sessions")
    assert path.name not in {"", ".", ".."}
    assert path.name == quote(session.strip(), safe="-_.!~*'()")


@given(st.text(max_size=140))
def test_no_stem_leaves_its_directory(stem: str) -> None:
    try:
        name = file_name(stem)
    except ValueError:
        return
    assert "/" not in name
    assert not name.startswith(".")
    assert mail_stem(name) == stem


@pytest.mark.parametrize("name", [SENTINEL, "x.json.12.34.tmp", ".fwdperm-12.json", "x.JSON", "json", ""])
def test_what_is_nobodys_mail(name: str) -> None:
    assert mail_stem(name) is None
