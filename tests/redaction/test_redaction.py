"""Redaction: what is a secret is taken out whole, what is none stays, and what cannot be told is called unsure."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fwdperm.redaction import MARK, redact, redacted_text

SECRET = "hunter2-Zq9"  # noqa: S105 - nobody's
RANDOM = "q8Zr4LmX0vTn2KcB7yWd5PsJ3hGf6RaE1uQ"


@pytest.mark.parametrize(
    "text",
    [
        f"password: {SECRET}",
        f"password={SECRET}",
        f"DB_PASSWORD={SECRET} ./run",
        f"export CLIENT_SECRET='{SECRET} and more'",
        f"deploy --token {SECRET} --now",
        f"deploy --api-key={SECRET}",
        f'{{"access_token": "{SECRET}", "a": 1}}',
        f'{{\\"secretKey\\": \\"{SECRET}\\"}}',
        f"curl -H 'Authorization: Basic {SECRET}aaaa' http://h",
        f"curl -H 'X-Api-Key: {SECRET}' http://h",
        f"Cookie: session={SECRET}; theme=dark",
        f"git clone https://bob:{SECRET}@host/x.git",
        f"curl -u bob:{SECRET} http://h",
        f"curl --user 'bob:{SECRET}' http://h",
        f"psql postgres://app:{SECRET}@db/app",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----",
        f"passphrase := {SECRET}",
        f"sessionToken => {SECRET}",
    ],
)
def test_a_secret_in_every_known_form_is_taken_out(text: str) -> None:
    found = redact(text)
    assert SECRET not in found.text
    assert MARK in found.text
    assert found.count > 0
    assert found.is_sure


@pytest.mark.parametrize(
    "token",
    [
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl",
        "glpat-abcdefGHIJKL12345678",
        "xoxb-123456789012-abcdef",
        "sk-ant-api03-abcdefghijklmnop",
        "sk_live_abcdefghij12",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA1234567890abcdefghijk",
        "npm_abcdefghijklmnopqrstuvwx",
        "hf_abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123",
        RANDOM,
    ],
)
def test_a_token_is_known_by_its_own_look(token: str) -> None:
    found = redact(f"echo {token} | tee x")
    assert found.text == f"echo {MARK} | tee x"
    assert found.is_sure


@pytest.mark.parametrize(
    "text",
    [
        "answer to root/fp-1796053139965-261f8b975885720b, for tree root",
        "git status",
        "grep -rn password src/",
        "git log --author=bob",
        "pytest tests/test_auth.py -k token",
        "cat src/secrets.py | head",
        "python -m pip install --user tool",
        "src/components/dashboard/widgets/index2/main.tsx",
        "tests/test_a.py::TestModel::test_a_very_long_name_of_a_test_that_goes_on_v2",
        "550e8400-e29b-41d4-a716-446655440000",
        "PWD=/w/proj make",
        "export TOKEN=$TOKEN",
        "run --password $PASS",
        "ls --sort=time; tail /var/log/auth.log",
        "",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == redact(text)
    assert (redact(text).text, redact(text).count, redact(text).is_sure) == (text, 0, True)


@pytest.mark.parametrize(
    "text",
    [
        f'token="{SECRET}',
        f"password='{SECRET}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}",
        f"pass''word={SECRET}",
        f'to"k"en={SECRET}',
        f"pass\\word={SECRET}",
        f"pass\u200bword={SECRET}",
        "plain\u202etext",
    ],
)
def test_what_cannot_be_delimited_is_called_unsure(text: str) -> None:
    assert redact(text).is_sure is False


def test_what_is_unsure_is_cut_to_its_end_where_its_beginning_is_known() -> None:
    assert SECRET not in redacted_text(f'token="{SECRET} and all that follows')
    assert SECRET not in redacted_text(f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}")


PIECES = st.sampled_from(
    [
        "password", "token", "--api-key", "=", ":", " ", '"', "'", "\\", "\n", "$X", MARK, "[", "]", RANDOM, "://", "@",
        "a:b", "-u ", "Bearer ", "-----BEGIN X-----", "-----END X-----", "eyJaaaaaaaaa.bbbbb", "ghp_" + "a1" * 10, "x",
        "_", "-", ".",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60))
@example(f"token={MARK}x")
def test_redacting_again_changes_nothing(text: str) -> None:
    """The journal relies on it: a record that was tidied once is tidied for ever."""
    once = redact(text).text
    assert redact(once).text == once


@given(
    before=st.text(alphabet="ab c\n/.", max_size=20),
    after=st.text(alphabet="ab c\n/.", max_size=20),
    secret=st.text(alphabet="abcXYZ012_-", min_size=6, max_size=40).filter(lambda text: text[0].isalnum()),
    form=st.sampled_from(["password={}", "--token {}", "API_KEY='{}'", '"secret": "{}"', "http://u:{}@h/"]),
)
def test_a_secret_never_outlives_redaction_wherever_it_stands(before: str, after: str, secret: str, form: str) -> None:
    text = f"{before} {form.format(secret)} {after}"
    if secret not in f"{before} {form.format('')} {after} {MARK}":
        assert secret not in redact(text).text


@pytest.mark.parametrize(
    "hostile",
    ["password='\"", "-----BEGIN X-----", "token=", "x=\\\\", "://a", "--user a:", RANDOM + " ", "a.", "[redacted]"],
)
def test_time_is_linear_in_the_text(hostile: str) -> None:
    """Eight times the text may take at most sixty times as long: squared would be sixty-four and more."""

    def took(length: int) -> float:
        text = hostile * (length // len(hostile))
        best = 1e9
        for _ in range(3):
            start = time.perf_counter()
            redact(text)
            best = min(best, time.perf_counter() - start)
        return best

    assert took(64_000) < 60 * max(took(8_000), 0.0005)
