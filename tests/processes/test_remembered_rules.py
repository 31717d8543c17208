"""Rules that people teach, over real processes: a tree three deep, every command, a restart."""

from __future__ import annotations

import json
import sys
import tomllib
from functools import partial
from typing import TYPE_CHECKING, Any

from house import wait_for

if TYPE_CHECKING:
    from house import House

ASK = f"{sys.executable} -m fwdperm ask --json --surface bash --value"
RUN = f"{sys.executable} -m fwdperm run --session"


def rules(house: House) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(house.run("rules", "list", "--json").stdout)["rules"]
    return found


def stage(house: House, value: str, **more: Any) -> str:
    answer = house.wait_answer(house.drop(value, **more), inbox=more.get("inbox", "root"))
    return f"{'allow' if answer['approved'] else 'deny'} by {answer['decidedBy']['stage']}"


def asks(house: House, value: str, **more: Any) -> bool:
    """Say whether a request reaches the human; it is rejected again so that nothing is left."""
    stem = house.drop(value, **more)
    wait_for(lambda: [one for one in house.prompts() if one["id"] == stem], what="a prompt")
    assert house.run("reject", stem).returncode == 0
    return True


def test_a_grandchild_is_decided_with_the_rules_of_the_tree(house: House) -> None:
    """Root > build > fix > deep, each a process of its own; the human is asked once."""
    house.serve()
    deep = f"{RUN} deep -- {ASK} 'cargo test api'"
    fix = f'{RUN} fix -- sh -c "{deep}"'
    first = f"{ASK} 'cargo test api'"
    outer = house.start("run", "--session", "build", "--", "sh", "-c", f"{first} && {fix}", cwd=house.work)
    prompt = house.wait_prompt()
    assert prompt["chain"] == ["root", "build"]
    given = house.run("allow", prompt["id"], "--always", "cargo test *", "--scope", "tree", "--note", "any test")
    assert given.returncode == 0, given.stderr
    output, errors = outer.communicate(timeout=30)
    assert outer.returncode == 0, errors
    answers = [json.loads(line) for line in output.splitlines()]
    assert [answer["outcome"] for answer in answers] == ["approved", "approved"]
    assert answers[1]["note"] == "any test"
    (grant,) = [rule for rule in rules(house) if rule["kind"] == "grant"]
    assert (grant["session"], grant["pattern"], grant["used"]) == ("root", "cargo test *", 1)
    decided = json.loads(house.run("audit", "query", "--stage", "session_rule", "--json").stdout)
    told = house.run("why", decided["data"]["id"])
    assert told.returncode == 0
    for said in (prompt["id"], "any test", "cargo test *", grant["id"]):
        assert said in told.stdout


def test_before_saving_the_exact_rule_its_reach_and_its_past_are_shown(house: House) -> None:
    house.serve()
    for name in ("one", "two"):
        stem = house.drop(f"make {name}")
        wait_for(house.prompts, what="a prompt")
        house.run("reject" if name == "two" else "allow", stem)
        wait_for(lambda: not house.prompts(), what="the prompt to close")
    stem = house.drop("make three")
    house.wait_prompt()
    looked = house.run("allow", stem, "--always", "make *", "--for", "1h", "--dry-run")
    assert looked.returncode == 0, looked.stderr
    for said in ('allow bash "make *"', "1 h from now", "child in the inbox of root", "REJECTED   make two"):
        assert said in looked.stderr
    assert house.answer(stem) is None
    assert rules(house) == []
    wrong = house.run("allow", stem, "--always", "npm *")
    assert wrong.returncode == 2
    assert "does not match" in wrong.stderr
    assert house.answer(stem) is None
    assert house.run("allow", stem, "--always", "make *", "--scope", "stranger").returncode == 2
    assert house.run("allow", stem, "--always", "make *", "--for", "soon").returncode == 2
    assert house.run("allow", stem, "--always", "make *").returncode == 0
    assert house.wait_answer(stem)["approved"]
    assert stage(house, "make four") == "allow by session_rule"
    assert house.run("allow", stem, "--always", "make *").returncode == 6


def test_rules_outlive_the_daemon_and_are_revoked_at_once(house: House) -> None:
    first = house.serve()
    added = house.run("rules", "add", "--surface", "bash", "--pattern", "make *", "--note", "builds are fine")
    assert added.returncode == 0, added.stderr
    assert stage(house, "make a") == "allow by session_rule"
    snapshot = house.state / "session-rules.toml"
    wait_for(lambda: "make *" in snapshot.read_text(encoding="utf-8"), what="the snapshot")
    assert tomllib.loads(snapshot.read_text(encoding="utf-8"))["rule"][0]["pattern"] == "make *"
    first.kill()
    first.wait()
    (rule,) = rules(house)
    assert house.run("rules", "revoke", rule["id"]).returncode == 4
    assert house.run("rules", "add", "--surface", "bash", "--pattern", "x").returncode == 4
    house.serve()
    assert stage(house, "make b") == "allow by session_rule"
    assert rules(house)[0]["used"] == 2
    assert house.run("rules", "revoke", "g999").returncode == 5
    assert house.run("rules", "revoke", rule["id"]).returncode == 0
    assert asks(house, "make c")
    assert rules(house) == []


BAD_REPLIES = (
    '{"reply":"once","patterns":["x"]}',
    '{"reply":"always","scope":"world"}',
    '{"reply":"always","patterns":"make *"}',
    '{"reply":"always","patterns":["npm *"]}',
    '{"reply":"always","expiresInMs":-1}',
    '{"reply":"once","surprise":1}',
)


def test_a_bad_answer_file_answers_and_records_nothing(house: House) -> None:
    house.serve()
    for at, reply in enumerate(BAD_REPLIES):
        stem = house.drop(f"make a{at}")
        house.wait_prompt()
        name = f"root~{stem}.json"
        (house.state / "replies" / name).write_text(reply, encoding="utf-8")
        word = wait_for(partial(read, house, name), what=f"word of the answer {reply}")
        assert word["outcome"] == "refused", reply
        assert word["words"], reply
        assert house.answer(stem) is None, reply
        assert rules(house) == [], reply
        (house.state / "replies" / name).write_text('{"reply":"once"}', encoding="utf-8")
        assert house.wait_answer(stem)["approved"], reply
        wait_for(lambda: not house.prompts(), what="no prompt")


def read(house: House, name: str) -> Any:
    try:
        return json.loads((house.state / "outcomes" / name).read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def test_a_bad_command_file_changes_nothing_and_its_sender_hears_why(house: House) -> None:
    house.serve()
    for at, content in enumerate(('{"do":"revoke"}', '{"do":"add","surface":"bash"}', "[]", '{"do":"obey"}')):
        name = f"rule.0123456789abcde{at}.json"
        (house.state / "replies" / name).write_text(content, encoding="utf-8")
        word = wait_for(partial(read, house, name), what=f"word of the command {content}")
        assert word["outcome"] == "refused", content
        assert rules(house) == [], content


def test_equal_questions_are_one_row_and_one_command_answers_each(house: House) -> None:
    house.serve()
    stems = [house.drop("make a"), house.drop("make a")]
    wait_for(lambda: len(house.prompts()) == 2, what="two prompts")
    listed = house.run("list").stdout
    assert "the same 2 times" in listed
    assert house.run("allow", stems[0], "--same", "--note", "both").returncode == 0
    assert [house.wait_answer(stem)["note"] for stem in stems] == ["both", "both"]


def test_several_are_answered_with_one_note(house: House) -> None:
    house.serve()
    stems = [house.drop("make a"), house.drop("make b")]
    wait_for(lambda: len(house.prompts()) == 2, what="two prompts")
    assert house.run("reject", *stems, "--note", "not today").returncode == 0
    assert {house.wait_answer(stem)["note"] for stem in stems} == {"not today"}
    assert stage(house, "make a") == "deny by session_rule"


def test_a_grant_for_the_project_goes_into_its_file_with_everything_else_kept(house: House) -> None:
    project = house.work / ".fwdperm.toml"
    project.write_text('# ours\n[rules.bash]\n"git fetch *" = "ask"  # careful\n', encoding="utf-8")
    house.serve()
    stem = house.drop("make a")
    house.wait_prompt()
    refused = house.run("allow", stem, "--always", "make *", "--scope", "project")
    assert refused.returncode == 2
    assert "not trusted" in refused.stderr
    assert house.run("trust", str(project)).returncode == 0
    assert house.run("allow", stem, "--always", "make *", "--scope", "project").returncode == 0
    assert house.wait_answer(stem)["approved"]
    wait_for(lambda: "make *" in project.read_text(encoding="utf-8"), what="the project's file")
    text = project.read_text(encoding="utf-8")
    assert text.startswith('# ours\n[rules.bash]\n"git fetch *" = "ask"  # careful\n')
    assert f"answering root/{stem}" in text
    assert stage(house, "make b", requesterSessionId="another") == "allow by session_rule"
    project.write_text(text + "# a child was here\n", encoding="utf-8")

    def is_asked() -> bool:
        stem = house.drop("make c")
        wait_for(lambda: house.answer(stem) or house.prompts(), what="an answer or a prompt")
        return bool(house.prompts())

    wait_for(is_asked, what="the edited file to be distrusted", seconds=5)


def test_suggestions_are_a_diff_that_is_written_only_on_demand(house: House) -> None:
    house.serve()
    for number in range(3):
        stem = house.drop(f"cargo test fix-{number}")
        wait_for(house.prompts, what="a prompt")
        assert house.run("allow", stem).returncode == 0
        wait_for(lambda: not house.prompts(), what="the prompt to close")
    before = house.config.read_text(encoding="utf-8")
    shown = house.run("rules", "suggest", "--since", "1d")
    assert shown.returncode == 0, shown.stderr
    assert "+" in shown.stdout
    assert '"cargo test' in shown.stdout
    assert house.config.read_text(encoding="utf-8") == before
    assert house.run("rules", "suggest", "--since", "1d", "--write").returncode == 0
    after = house.config.read_text(encoding="utf-8")
    kept = [line for line in after.splitlines() if "suggested:" not in line]
    assert kept == before.splitlines()
    assert stage(house, "cargo test fix-9") == "allow by rule"
    assert stage(house, "npm test") == "deny by rule"


def test_explain_counts_session_rules_for_whoever_is_meant(house: House) -> None:
    house.serve()
    assert house.run("rules", "add", "--surface", "bash", "--pattern", "make *").returncode == 0
    wait_for(lambda: rules(house), what="the rule to be on record")
    told = house.run("explain", "--surface", "bash", "--value", "make a", "--as", "root/build")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "ALLOW by session_rule" in told.stdout
    elsewhere = house.run("explain", "--surface", "bash", "--value", "make a", "--as", "other/build")
    assert elsewhere.returncode == 12
