"""A real tree of processes, three deep, and the people who answer it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from house import wait_for

from fwdperm.journal.query import query_journal

if TYPE_CHECKING:
    from house import House

FWDPERM = f"{sys.executable} -m fwdperm"


def test_the_demonstration_ends_well_without_a_terminal() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fwdperm", "simulate"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fix-7" in done.stdout


def test_a_grandchilds_question_climbs_to_the_one_human_and_its_answer_comes_back(house: House) -> None:
    house.serve()
    inner = f"{FWDPERM} run --session fix-7 --agent fixer -- {FWDPERM} ask --json --surface bash --value 'git push'"
    outer = house.start("run", "--session", "build", "--agent", "builder", "--", "sh", "-c", inner, cwd=house.work)
    prompt = house.wait_prompt()
    assert prompt["chain"] == ["root", "build", "fix-7"]
    assert prompt["agent"] == "fixer"
    shown = house.run("show", prompt["id"]).stdout
    assert "root > build > fix-7" in shown
    allowed = house.run("allow", prompt["id"], "--note", "this once")
    assert allowed.returncode == 0, allowed.stderr
    output, _ = outer.communicate(timeout=20)
    answer = json.loads(output)
    assert (outer.returncode, answer["outcome"], answer["note"]) == (0, "approved", "this once")


def test_a_denial_recorded_for_the_parent_holds_for_its_grandchildren(house: House) -> None:
    ruleset = house.directory / "build.toml"
    ruleset.write_text(
        '[rules.bash]\n"git status *" = { action = "deny", reason = "not in a build" }\n', encoding="utf-8"
    )
    house.serve()
    inner = f"{FWDPERM} run --session fix-7 -- {FWDPERM} ask --surface bash --value 'git status'"
    done = house.run("run", "--session", "build", "--ruleset", str(ruleset), "--", "sh", "-c", inner, cwd=house.work)
    assert done.returncode == 10
    assert "not in a build" in done.stderr
    origins = [line.data["rule"]["origin"] for line in query_journal(house.state / "journal") if line.kind == "decided"]
    assert origins == [f"{ruleset}:2"], "the line the operator wrote, not the recorded copy's"


def test_what_a_recorded_session_may_do_its_impostor_may_not(house: House) -> None:
    """A claimed name only narrows: the recorded allow counts for the process that holds the token."""
    ruleset = house.directory / "deploy.toml"
    ruleset.write_text('[rules.bash]\n"make deploy" = "allow"\n"git status *" = "deny"\n', encoding="utf-8")
    house.serve()
    ask = f"{FWDPERM} ask --wait 2s --surface bash --value 'make deploy'"
    lie = ask.replace("ask", "ask --session deploy --parent root", 1)
    narrowed = lie.replace("make deploy", "git status")
    script = f"{ask}; echo own $?; unset FWDPERM_TOKEN; {lie}; echo impostor $?; {narrowed}; echo narrowed $?"
    done = house.run("run", "--session", "deploy", "--ruleset", str(ruleset), "--", "sh", "-c", script, cwd=house.work)
    assert [line for line in done.stdout.splitlines() if " " in line] == ["own 0", "impostor 11", "narrowed 10"]


def test_a_late_answer_exits_6_and_says_who_decided(house: House) -> None:
    house.serve()
    stem = house.drop("git push")
    house.wait_prompt()
    assert house.run("reject", stem, "--note", "no").returncode == 0
    late = house.run("allow", stem)
    assert late.returncode == 6
    assert "already denied" in late.stderr
    assert house.wait_answer(stem)["approved"] is False


def test_an_asker_that_goes_away_takes_its_prompt_along(house: House) -> None:
    house.serve()
    asker = house.start("ask", "--surface", "bash", "--value", "git push")
    house.wait_prompt()
    asker.send_signal(signal.SIGINT)
    asker.communicate(timeout=10)
    assert asker.returncode == 130
    wait_for(lambda: not house.prompts(), what="the prompt to close", seconds=2)


def test_nobody_serving_is_said_within_seconds(house: House) -> None:
    begun = time.monotonic()
    done = house.run("ask", "--surface", "bash", "--value", "git status")
    assert done.returncode == 4
    assert time.monotonic() - begun < 6


def test_only_one_daemon_serves_a_root_and_a_second_says_who(house: House) -> None:
    first = house.serve()
    second = house.run("serve", "--no-prompt")
    assert second.returncode == 2
    assert str(first.pid) in second.stderr


def test_a_standby_takes_over_within_a_second_of_a_kill(house: House) -> None:
    first = house.serve()
    standby = house.serve("--standby", wait=False)
    first.send_signal(signal.SIGKILL)
    first.wait()
    begun = time.monotonic()
    stem = house.drop("git status")
    assert house.wait_answer(stem, seconds=5)["approved"] is True
    assert time.monotonic() - begun < 3
    assert standby.poll() is None


@pytest.mark.parametrize("plant", ["fifo", "symlink", "directory", "hardlink", "sparse", "garbage"])
def test_hostile_files_are_answered_and_delay_nobody(house: House, plant: str) -> None:
    house.serve()
    requests = house.root / "sessions" / "root" / "requests"
    victim = house.directory / "victim"
    victim.write_text("untouched", encoding="utf-8")
    path = requests / "bad.json"
    match plant:
        case "fifo":
            os.mkfifo(path)
        case "symlink":
            path.symlink_to(victim)
        case "directory":
            path.mkdir()
        case "hardlink":
            path.hardlink_to(victim)
        case "sparse":
            with path.open("wb") as file:
                file.truncate(1 << 40)
        case "garbage":
            path.write_bytes(os.urandom(5_000))
    begun = time.monotonic()
    stem = house.drop("git status")
    assert house.wait_answer(stem)["approved"] is True
    assert time.monotonic() - begun < 2
    assert house.wait_answer("bad")["approved"] is False
    assert victim.read_text(encoding="utf-8") == "untouched"


def is_all_in_force(status: str) -> bool:
    """Say whether the daemon has read what lies on disk, and found nothing wrong with it."""
    return "\nproblem " not in status and "\nDIFFERS " not in status


def test_a_broken_edit_of_the_rules_widens_nothing_and_a_good_one_counts(house: House) -> None:
    house.serve()
    assert house.wait_answer(house.drop("npm i"))["approved"] is False
    house.config.write_text('[rules.bash\n"npm *" = "allow"\n', encoding="utf-8")
    wait_for(lambda: "\nproblem " in house.run("status").stdout, what="the problem, once the daemon has read it")
    assert house.wait_answer(house.drop("npm i"))["approved"] is False
    house.config.write_text('[rules.bash]\n"npm *" = "allow"\n', encoding="utf-8")
    wait_for(lambda: is_all_in_force(house.run("status").stdout), what="the mended rules")
    assert house.wait_answer(house.drop("npm i"))["approved"] is True


def test_a_daemon_does_not_start_with_a_broken_ruleset(house: House) -> None:
    house.config.write_text('[rules.bash]\n"git *" = "permit"\n', encoding="utf-8")
    done = house.run("serve", "--no-prompt")
    assert done.returncode == 3
    assert "line 2: unknown action `permit`, expected allow, ask or deny" in done.stderr
    assert str(house.config) in done.stderr


def test_once_decides_what_is_there_and_ends(house: House) -> None:
    stem = house.drop("git status")
    done = house.run("serve", "--once", "--no-prompt")
    assert done.returncode == 0
    assert house.wait_answer(stem)["approved"] is True
