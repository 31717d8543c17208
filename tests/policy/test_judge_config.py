"""The judge's settings: one mistake, and there is no judge until it is mended."""

from __future__ import annotations

import pytest

from fwdperm.judge.setup import BASE_URL, KEY_ENV, MODEL, JudgeSetup, Prices
from fwdperm.policy.config import read_settings
from fwdperm.rules.rule import LayerKind
from fwdperm.rules.toml_file import read_config


def read(text: str) -> tuple[JudgeSetup | None, list[str]]:
    settings, problems = read_settings(read_config(text, file="c.toml", kind=LayerKind.USER))
    return settings.judge, [str(problem) for problem in problems]


def test_without_the_table_there_is_no_judge() -> None:
    assert read("") == (None, [])


def test_an_empty_table_is_the_small_model_with_the_key_of_its_variable() -> None:
    judge, problems = read("[judge]\n")
    assert problems == []
    assert judge == JudgeSetup(model=MODEL, base_url=BASE_URL, key_env=KEY_ENV)


def test_every_setting_is_read() -> None:
    judge, problems = read(
        """
[judge]
model = "local"
base_url = "http://127.0.0.1:8080"
key_command = ["pass", "show", "judge"]
deadline_s = 8
calls_per_hour = 100
dollars_per_hour = 0.5
advise = true
schema = false
context = "A web shop."
[judge.prices]
input = 1
output = 5.0
cache_read = 0.1
cache_write = 1.25
"""
    )
    assert problems == []
    assert judge == JudgeSetup(
        model="local",
        base_url="http://127.0.0.1:8080",
        key_env="",
        key_command=("pass", "show", "judge"),
        deadline_s=8.0,
        calls_per_hour=100,
        dollars_per_hour=0.5,
        prices=Prices(1.0, 5.0, 0.1, 1.25),
        advises=True,
        has_schema=False,
        context="A web shop.",
    )


def test_the_key_of_one_service_is_not_sent_to_another() -> None:
    """An address of its own comes with a key of its own, or with none."""
    judge, _ = read('[judge]\nbase_url = "http://localhost:1234"\n')
    assert judge is not None
    assert (judge.key_env, judge.key_command) == ("", ())
    judge, _ = read('[judge]\nbase_url = "https://gateway.example"\nkey_env = "GATEWAY_KEY"\n')
    assert judge is not None
    assert judge.key_env == "GATEWAY_KEY"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("judge = true", "not a table"),
        ('[judge]\nbase-url = "https://x.example"', "unknown key `judge.base-url`"),
        ('[judge]\nmodel = ""', "judge.model"),
        ('[judge]\nbase_url = "ftp://x"', "judge.base_url"),
        ('[judge]\nbase_url = "https://me:secret@x"', "judge.base_url"),
        ('[judge]\nbase_url = "x.example"', "judge.base_url"),
        ('[judge]\nkey_env = "A-B"', "judge.key_env"),
        ('[judge]\nkey_command = "pass show"', "judge.key_command"),
        ("[judge]\nkey_command = []", "judge.key_command"),
        ('[judge]\nkey_env = "A"\nkey_command = ["b"]', "both name a key"),
        ("[judge]\ndeadline_s = 0", "judge.deadline_s"),
        ("[judge]\ndeadline_s = true", "judge.deadline_s"),
        ("[judge]\ndeadline_s = nan", "judge.deadline_s"),
        ("[judge]\ncalls_per_hour = 0", "judge.calls_per_hour"),
        ("[judge]\ncalls_per_hour = 1.5", "judge.calls_per_hour"),
        ("[judge]\ndollars_per_hour = -1", "judge.dollars_per_hour"),
        ("[judge]\ndollars_per_hour = 1", "needs prices"),
        ("[judge]\nprices = 3", "four prices"),
        ("[judge.prices]\ninput = 1", "four prices"),
        ('[judge]\nadvise = "yes"', "judge.advise"),
        ('[judge]\nschema = "no"', "judge.schema"),
        ("[judge]\ncontext = 3", "judge.context"),
    ],
)
def test_any_mistake_switches_the_judge_off_and_says_where(text: str, said: str) -> None:
    judge, problems = read(text)
    assert judge is None
    assert any(said in problem for problem in problems)
    assert not any("secret" in problem and "judge.base_url" not in problem for problem in problems)


def test_it_can_be_switched_off_by_word() -> None:
    assert read("[judge]\nenabled = false\n") == (None, [])


def test_an_unencrypted_address_elsewhere_is_a_warning() -> None:
    judge, problems = read('[judge]\nbase_url = "http://gateway.internal"\n')
    assert judge is not None
    assert "unencrypted" in problems[0]
