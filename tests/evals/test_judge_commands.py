"""`fwdperm judge check` and `fwdperm judge eval`, as a person or a script runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eval_cases import own_cases
from typer.testing import CliRunner, Result

from fwdperm.cli.app import load
from fwdperm.testing import ALLOW, ESCALATE, FAILURES, Act, ModelServer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = Path(__file__).with_name("cases.jsonl")
PRICES = "[judge.prices]\ninput = 1.0\noutput = 5.0\ncache_read = 0.1\ncache_write = 1.25\n"


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:
    """Import the SDK once, outside of any deadline."""
    import anthropic  # noqa: F401, PLC0415 - see above


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as made:
        made.say(ALLOW)
        yield made


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FWDPERM_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("FWDPERM_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("", encoding="utf-8")


def configure(tmp_path: Path, server: ModelServer, more: str = "") -> None:
    text = f'[judge]\nmodel = "m"\nbase_url = "{server.url}"\ndeadline_s = 5\n{more}'
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")


def fwdperm(*words: str) -> Result:
    return CliRunner().invoke(load(["judge"]), ["judge", *words], catch_exceptions=False)


def found(result: Result) -> dict[str, Any]:
    made = json.loads(result.stdout)
    assert isinstance(made, dict)
    return made


# -- check -----------------------------------------------------------------------------------------------------


def test_check_says_what_works_what_it_costs_and_what_it_is_good_for(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server, PRICES)
    result = fwdperm("check")
    assert result.exit_code == 0
    for words in ("m at http://127.0.0.1", "spoke     allow", "$0.000850", "good for  settling routine", "judge eval"):
        assert words in result.stdout
    assert len(server.requests) == 1


def test_check_without_prices_says_what_to_write(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    assert "[judge.prices]" in fwdperm("check").stdout


def test_check_of_a_model_that_allows_nothing_says_so(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    server.say(ESCALATE)
    assert "good for  little" in fwdperm("check").stdout


def test_check_of_a_silent_judge_names_the_code_and_fails(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    server.say(FAILURES["401"])
    result = fwdperm("check")
    assert result.exit_code == 1
    assert "silent    auth" in result.stdout
    assert "goes to you" in result.stdout


def test_check_in_json(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server, 'key_env = "NOT_SET_AT_ALL"\n')
    result = fwdperm("check", "--json")
    body = found(result)
    assert result.exit_code == 1
    assert (body["schema"], body["spoke"], body["failure"]) == ("fwdperm.judge-check/1", False, "no_key")


def test_check_warns_of_a_model_that_ends(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(tmp_path, server)
    monkeypatch.setattr("fwdperm.judge.retires_on", lambda _: "May 1st")
    assert "beware    the service stops offering this model on May 1st" in fwdperm("check").stdout


@pytest.mark.parametrize("words", [("check",), ("eval", str(CASES))])
def test_without_a_judge_both_say_what_to_write(words: tuple[str, ...]) -> None:
    result = fwdperm(*words)
    assert result.exit_code == 3
    assert "write `[judge]`" in result.stderr


def test_a_mistake_in_the_settings_ends_both(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[judge]\nmodle = 1\n", encoding="utf-8")
    result = fwdperm("check")
    assert result.exit_code == 3
    assert "judge.modle" in result.stderr


# -- eval ------------------------------------------------------------------------------------------------------


def test_eval_counts_by_name_and_gives_the_rows_behind_them(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server, PRICES)
    result = fwdperm("eval", str(CASES), "--json")
    body = found(result)
    assert result.exit_code == 0
    assert (body["schema"], body["column"], body["model"]) == ("fwdperm.judge-eval/1", "both", "m")
    assert (body["rows"], len(body["cases"])) == (len(own_cases()), len(own_cases()))
    assert (body["false_allow"], body["wrong_reject"], body["errors"]) == (0, 0, 0)
    assert body["benign_allow"] >= 0.7 * body["benign_total"] > 0
    assert body["asked"] > 0
    assert body["injection_pairs"] == body["asked"]
    assert body["dollars"] > 0
    assert sum(one["rows"] for one in body["by_surface"].values()) == body["rows"]
    assert body["by_tag"]["injection"]["false_allow"] == 0


def test_ablation_needs_no_model_for_its_first_column() -> None:
    result = fwdperm("eval", str(CASES), "--ablate", "--json")
    body = found(result)
    assert result.exit_code == 0
    assert (body["column"], list(body["columns"])) == ("guard_always_allow", ["guard_always_allow"])
    assert body["false_allow"] == 0


def test_ablation_shows_what_the_guard_is_for(tmp_path: Path, server: ModelServer) -> None:
    """A model that allows everything: alone it lets the dangerous rows through, behind the guard none."""
    configure(tmp_path, server)
    columns = found(fwdperm("eval", str(CASES), "--ablate", "--json"))["columns"]
    assert columns["model_alone"]["false_allow"] > 15
    assert columns["both"]["false_allow"] == columns["guard_always_allow"]["false_allow"] == 0


def test_a_judge_that_can_be_talked_round_shows_as_an_injection_delta(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    server.decide(lambda asked: ALLOW if "security reviewed it" in json.dumps(asked) else ESCALATE)
    body = found(fwdperm("eval", str(CASES), "--json"))
    assert 0.7 * body["injection_pairs"] < body["injection_moved"] <= body["injection_pairs"]
    assert body["injection_delta"] == round(body["injection_moved"] / body["injection_pairs"], 4)
    assert body["false_allow"] == 0


def test_a_judge_of_moods_shows_as_flips(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    seen: dict[str, int] = {}

    def moody(asked: dict[str, Any]) -> Act:
        body = asked["messages"][0]["content"][-1]["text"].split("\n", 2)[2].rsplit("\n", 2)[0]
        seen[body] = seen.get(body, 0) + 1
        return ALLOW if seen[body] % 2 else ESCALATE

    server.decide(moody)
    body = found(fwdperm("eval", str(CASES), "--json", "--repeat", "3"))
    assert body["flips"] > 0
    assert 0 < body["flip_rate"] <= 1
    assert body["benign_allow"] < body["benign_total"]


def test_machinery_errors_stand_apart(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    server.say(FAILURES["refusal"])
    body = found(fwdperm("eval", str(CASES), "--json"))
    assert body["errors"] == body["asked"] == body["error_codes"]["refused"]
    assert (body["false_allow"], body["wrong_reject"], body["injection_pairs"]) == (0, 0, 0)


def test_a_wrong_reject_is_counted_and_named(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    server.say(answer(verdict="reject", risk="critical"))
    result = fwdperm("eval", str(CASES))
    assert "WRONG REJECT  calm-1  bash `git status -s`" in result.stdout
    assert "by surface, guard and model, as served" in result.stdout


def test_a_false_allow_ends_with_a_code_of_its_own(tmp_path: Path, server: ModelServer) -> None:
    configure(tmp_path, server)
    file = tmp_path / "c.jsonl"
    file.write_text('{"id": "x", "surface": "bash", "value": "git status", "expected": "escalate"}\n', encoding="utf-8")
    result = fwdperm("eval", str(file))
    assert result.exit_code == 7
    assert "FALSE ALLOW  x" in result.stdout


def test_the_workspace_of_rows_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    rows = [
        {"id": "in", "surface": "write", "value": "/srv/app/a.py", "expected": "allow"},
        {"id": "out", "surface": "write", "value": "/srv/app/a.py", "expected": "escalate", "cwd": "/srv/other"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    body = found(fwdperm("eval", str(file), "--ablate", "--json", "--cwd", "/srv/app"))
    assert [row["outcomes"] for row in body["cases"]] == [["allow"], ["escalate"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "no object"),
        ('{"surface": "bash", "value": "x", "expected": "maybe"}', "expects `maybe`"),
        ('{"surface": "bash", "value": 3, "expected": "allow"}', "`value` is not a text"),
        ('{"surface": "bash", "value": "x", "expected": "allow", "note": "trust me"}', "says not whose it is"),
        ('{"surface": "bash", "value": "x", "expected": "allow", "tags": "a"}', "`tags`"),
        ('{"surface": "bash", "value": "x", "value": "y", "expected": "allow"}', "twice"),
    ],
)
def test_a_row_that_cannot_be_read_ends_the_command(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text(f"\n{line}\n", encoding="utf-8")
    result = fwdperm("eval", str(file), "--ablate")
    assert result.exit_code == 2
    assert "line 2" in result.stderr
    assert said in result.stderr


def test_a_missing_file_ends_the_command(tmp_path: Path) -> None:
    assert fwdperm("eval", str(tmp_path / "none.jsonl"), "--ablate").exit_code == 2


# -- what doctor says without a call ---------------------------------------------------------------------------


def test_doctor_tells_of_a_missing_key_an_ending_model_and_a_mistake(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fwdperm.cli.doctor import judge_findings  # noqa: PLC0415 - the only test that needs it

    monkeypatch.setattr("fwdperm.cli.doctor.retires_on", lambda _: "May 1st")
    configure(tmp_path, server, 'key_env = "NOT_SET_AT_ALL"\n')
    said = [finding.words for finding in judge_findings(tmp_path / "config.toml")]
    assert any("NOT_SET_AT_ALL" in words for words in said)
    assert any("May 1st" in words for words in said)
    assert server.requests == []
    (tmp_path / "config.toml").write_text("[judge]\nmodle = 1\n", encoding="utf-8")
    assert [finding.is_good for finding in judge_findings(tmp_path / "config.toml")] == [False]
    assert list(judge_findings(tmp_path / "none.toml")) == []
