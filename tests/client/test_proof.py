"""The proof that a requester was started by us: the recipe, and that every part of it counts."""

from __future__ import annotations

import hashlib
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from fwdperm.wire.proof import digest_of, is_same_digest, prove

EXAMPLE: dict[str, Any] = {
    "request_id": "fp-1-a",
    "created_ms": 1764500000000,
    "session": "child",
    "agent": "reviewer",
    "surface": "bash",
    "values": ("git push", "git  push"),
    "cwd": "/home/me/wörk",
}
KNOWN = "bb80c0f1cf2061a1827dcb4b26a61444d824b37a97245a27d5326c25f2f51b27"
text = st.text(st.characters(codec="utf-8"), max_size=12)
fields = st.fixed_dictionaries(
    {
        "request_id": text,
        "created_ms": st.integers(0, 1 << 50),
        "session": text,
        "agent": text,
        "surface": text,
        "values": st.lists(text, min_size=1, max_size=3).map(tuple),
        "cwd": text,
    }
)


def by_the_recipe(token: str, said: dict[str, Any]) -> str:
    """The recipe once more, written from its words."""
    parts = [said["request_id"], str(said["created_ms"]), said["session"], said["agent"], said["surface"]]
    parts += [*said["values"], said["cwd"]]
    message = "\n".join(f"{len(part.encode())}:{part}" for part in parts).encode()
    return hashlib.blake2s(message, key=hashlib.blake2s(token.encode()).digest()).hexdigest()


@given(text, fields)
def test_the_proof_follows_its_recipe(token: str, said: dict[str, Any]) -> None:
    assert prove(token, **said) == by_the_recipe(token, said)


@given(text, fields, text, fields)
def test_two_different_questions_or_tokens_never_share_a_proof(
    token: str, said: dict[str, Any], other_token: str, other: dict[str, Any]
) -> None:
    assume((token, said) != (other_token, other))
    assert prove(token, **said) != prove(other_token, **other)


def test_values_that_only_differ_in_where_the_line_breaks_stand_do_not_share_a_proof() -> None:
    one = prove("t", **(EXAMPLE | {"values": ("a\nb",)}))
    assert one != prove("t", **(EXAMPLE | {"values": ("a", "b")}))
    assert one != prove("t", **(EXAMPLE | {"values": ("a\n1:b",)}))


def test_a_known_answer_for_clients_in_other_languages() -> None:
    assert prove("secret", **EXAMPLE) == KNOWN
    assert digest_of(b"{}\n") == "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"


@given(text, text)
def test_digests_are_the_same_only_when_they_are(one: str, other: str) -> None:
    assert is_same_digest(one, other) == (one == other and one.isascii())
    assert is_same_digest(one, one) == one.isascii()
