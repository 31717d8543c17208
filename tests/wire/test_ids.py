"""Names that become directory names."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdperm.errors import ChildError
from fwdperm.wire.ids import decode_session, encode_session, is_request_id


@given(session=st.text(min_size=1, max_size=40))
def test_a_session_is_encoded_as_javascript_does_or_refused(session: str) -> None:
    try:
        name = encode_session(session)
    except ChildError:
        return
    assert name == quote(session.strip(), safe="-_.!~*'()")
    assert "/" not in name
    assert not name.startswith(".")
    assert decode_session(name) == session.strip()


@pytest.mark.parametrize("session", ["", " ", ".", "..", ".hidden", "unknown", "x" * 201, "\ud800", "\u00e9" * 40])
def test_what_cannot_name_an_inbox_is_refused(session: str) -> None:
    with pytest.raises(ChildError):
        encode_session(session)


@pytest.mark.parametrize("name", ["%", "%2", "%zz", "%2f", "a b", "%C3", ".", "..", "a%41"])
def test_a_directory_nobody_would_have_made_is_nobodys_inbox(name: str) -> None:
    assert decode_session(name) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", True),
        ("A1._-", True),
        ("", False),
        (".a", False),
        ("-a", False),
        ("a/b", False),
        ("a" * 128, True),
        ("a" * 129, False),
        ("\u00e9", False),
        ("a\n", False),
    ],
)
def test_request_ids(text: str, expected: bool) -> None:
    assert is_request_id(text) is expected
