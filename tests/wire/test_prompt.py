"""Prompts and replies as they lie on disk."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fwdperm.errors import OperatorError
from fwdperm.wire.prompt import (
    Prompt,
    PromptJudge,
    PromptSuggestion,
    PromptUnit,
    Reply,
    ReplyKind,
    Scope,
    encode_form,
    parse_prompt,
    parse_reply,
)

PROMPT = Prompt(
    id="r1",
    inbox="root",
    digest="d1",
    chain=("root", "build"),
    surface="bash",
    values=("git push",),
    units=(PromptUnit(surface="bash", text="git push", action="ask", rule="git push *", origin="policy.toml:14"),),
    danger="ruled",
    why='rule ask "git push *"',
    judge=PromptJudge(verdict="escalate", risk="medium", reason="pushes"),
    suggestions=(PromptSuggestion(surface="bash", pattern="git push"),),
    created_at=1,
    deadline_at=2,
)


@pytest.mark.parametrize("kind", ["once", "always", "reject"])
def test_the_shape_without_feedback_stays_valid(kind: str) -> None:
    reply = parse_reply(json.dumps({"reply": kind}).encode())
    assert reply == Reply(reply=ReplyKind(kind))
    assert reply.note == ""
    assert encode_form(reply) == b'{"reply":"%s"}' % kind.encode()


def test_everything_an_always_may_carry() -> None:
    data = (
        b'{"reply":"always","feedback":" ok ","patterns":["git *"],"scope":"subtree","expiresInMs":3600000,'
        b'"id":"r1","inbox":"root","digest":"d1","via":"web","user":"ann"}'
    )
    reply = parse_reply(data)
    assert (reply.note, reply.patterns, reply.scope, reply.expires_in_ms) == (
        "ok",
        ("git *",),
        Scope.SUBTREE,
        3_600_000,
    )
    assert (reply.id, reply.inbox, reply.digest, reply.via, reply.user) == ("r1", "root", "d1", "web", "ann")
    assert json.loads(encode_form(reply)) == json.loads(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "reply is not JSON at line 1: expecting value"),
        (b"{}", "reply: `reply` is missing"),
        (b"[]", "reply: is `[]`: input should be an object"),
        (b'{"reply":"allow"}', "reply: `reply` is `allow`, expected `once`, `always` or `reject`"),
        (b'{"reply":true}', "reply: `reply` is `True`, expected `once`, `always` or `reject`"),
        (b'{"reply":"once","note":"x"}', "reply: unknown key `note`"),
        (b'{"reply":"always","expires_in_ms":5}', "reply: unknown key `expires_in_ms`"),
        (b'{"reply":"once","\\u001b[2J":1}', "reply: unknown key `\\u{1B}[2J`"),
        (b'{"reply":"reject","reply":"once"}', "reply holds the key 'reply' twice"),
        (b'{"reply":"always","expiresInMs":NaN}', "reply holds NaN, which is not JSON"),
        (b'{"reply":"always","expiresInMs":1.5}', "reply: `expiresInMs` is `1.5`: input should be a valid integer"),
        (b'{"reply":"always","expiresInMs":true}', "reply: `expiresInMs` is `True`: input should be a valid integer"),
        (b'{"reply":"always","expiresInMs":0}', "reply: `expiresInMs` is `0`: input should be greater than 0"),
        (b'{"reply":"always","patterns":"x"}', "reply: `patterns` is `x`: input should be a valid array"),
        (b'{"reply":"always","patterns":[]}', "reply: `patterns` is empty"),
        (b'{"reply":"always","patterns":[""]}', "reply: `patterns.0` is empty"),
        (
            b'{"reply":"always","scope":"world"}',
            "reply: `scope` is `world`, expected `requester`, `subtree`, `tree` or `project`",
        ),
        (b'{"reply":"once","scope":"tree"}', "reply: `scope` goes with `always`, not with `once`"),
        (b'{"reply":"reject","patterns":["x"]}', "reply: `patterns` goes with `always`, not with `reject`"),
        (b'{"reply":"once","expiresInMs":5}', "reply: `expiresInMs` goes with `always`, not with `once`"),
        (b'{"reply":"once","feedback":5}', "reply: `feedback` is `5`: input should be a valid string"),
        (
            b'{"reply":"once","feedback":"%s"}' % (b"a" * 2001),
            "reply: `feedback` is too long, expected at most 2000",
        ),
        (b'{"reply":"once","feedback":"\\ud800"}', "reply holds a lone surrogate"),
        (b'\xef\xbb\xbf{"reply":"once"}', "reply starts with a byte order mark"),
        (b'{"reply":' + b"[" * 100_000, "reply nests deeper than 32 levels"),
    ],
)
def test_anything_else_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(OperatorError) as caught:
        parse_reply(data)
    assert str(caught.value) == words


@given(st.binary(max_size=64) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    with pytest.raises(OperatorError) as caught:
        parse_reply(data)
    assert str(caught.value).isprintable()


def test_a_prompt_survives_the_disk() -> None:
    assert parse_prompt(encode_form(PROMPT)) == PROMPT
    assert b'"createdAt":1,"deadlineAt":2' in encode_form(PROMPT)


def test_a_later_prompts_new_keys_do_not_shut_old_readers_out() -> None:
    assert parse_prompt(encode_form(PROMPT)[:-1] + b',"colour":"red"}') == PROMPT


def test_a_prompt_of_an_unknown_version_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"prompt: `v` is `2`, expected 1"):
        parse_prompt(encode_form(PROMPT).replace(b'"v":1', b'"v":2'))


def test_a_prompt_cannot_be_changed_after_it_was_shown() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        PROMPT.values = ("rm -rf /",)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("danger", "grave"),
    [
        ("read-only", False),
        ("routine", False),
        ("ruled", False),
        ("dangerous", True),
        ("critical", True),
        ("new", True),
    ],
)
def test_a_class_not_known_to_be_mild_is_grave(danger: str, grave: bool) -> None:
    prompt = PROMPT.model_copy(update={"danger": danger})
    assert prompt.is_grave == grave
    assert prompt.offers_always == (not grave)


def test_always_is_not_offered_where_a_rule_wants_the_human_or_nothing_is_suggested() -> None:
    assert not PROMPT.model_copy(update={"only_human": True}).offers_always
    assert not PROMPT.model_copy(update={"suggestions": ()}).offers_always
