"""`status`, `doctor` and `explain` tell what the daemon holds, and where the file on disk says something else."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest
from house import wait_for

if TYPE_CHECKING:
    from house import House

TEXT = """\
mode = "ask"
unattended = "reject"

[guard]
sensitive_read = ["*/customers/*"]

[judge]
model = "m"
base_url = "http://localhost:9"

[rules.bash]
"git *" = "allow"
"npm *" = "deny"
"""
HELD = {"mode": "ask", "unattended": "reject", "guard.sensitive_read": ["*/customers/*"], "judge.model": "m"}
BROKEN = "unattended = \n"


@pytest.fixture
def served(house: House) -> House:
    house.config.write_text(TEXT, encoding="utf-8")
    house.serve()
    return house


def status(house: House) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(house.run("status", "--json").stdout)
    return found


def spoil(house: House, how: str) -> None:
    """Make the file say something else than what is in force, for as long as nobody mends it."""
    match how:
        case "broken":
            house.config.write_text(BROKEN, encoding="utf-8")
        case "gone":
            house.config.unlink()
        case "no file":
            house.config.unlink()
            house.config.mkdir()


def keep_young(house: House) -> None:
    """Have a daemon that is held still count as alive, however slow the machine is."""
    path = house.state / "status.json"
    body = json.loads(path.read_bytes()) | {"updated_at": int(time.time() * 1000) + 4_000}
    path.write_text(json.dumps(body), encoding="utf-8")


def explained(house: House, value: str, *words: str) -> tuple[str, str]:
    done = house.run("explain", "--surface", "bash", "--value", value, *words, cwd=house.work)
    return done.stdout.split(maxsplit=1)[0], done.stderr


def test_status_and_doctor_show_the_settings_in_force(served: House) -> None:
    told = status(served)
    assert {name: told["settings"][name] for name in HELD} == HELD
    assert told["differs"] == []
    assert told["config"] == str(served.config)
    lines = served.run("status").stdout
    assert 'settings  mode = "ask", unattended = "reject", ' in lines
    assert "DIFFERS" not in lines
    doctor = served.run("doctor").stdout
    assert 'unattended = "reject"' in doctor
    assert "m at http://localhost:9" in doctor


def test_with_a_session_on_record_they_show_what_a_restarted_daemon_holds(served: House) -> None:
    assert served.run("run", "--session", "build", "--", "true", cwd=served.work).returncode == 0
    served.daemons[0].send_signal(signal.SIGTERM)
    served.daemons[0].wait(20)
    served.serve()
    told = status(served)
    assert {name: told["settings"][name] for name in HELD} == HELD
    assert told["differs"] == []


@pytest.mark.parametrize("how", ["broken", "gone", "no file"])
def test_a_file_that_cannot_be_used_is_told_with_what_goes_on(served: House, how: str) -> None:
    """Settings and denials of the last good text hold; its allows do not; all three commands say so."""
    spoil(served, how)
    wait_for(lambda: status(served)["problems"], what="the daemon to look")
    told = status(served)
    assert {name: told["settings"][name] for name in HELD} == HELD
    assert len(told["differs"]) == 1
    assert "not in force" in told["differs"][0]
    assert "DIFFERS" in served.run("status").stdout
    doctor = served.run("doctor")
    assert doctor.returncode == 3
    assert "not in force" in doctor.stdout
    assert "m at http://localhost:9" in doctor.stdout
    word, beside = explained(served, "npm install")
    assert word == "DENY"
    assert "holds it: the file on disk is not in force" in beside
    assert explained(served, "git status")[0] == "ASK"
    answer = served.wait_answer(served.drop("npm install"))
    assert answer["approved"] is False


def test_an_edit_the_daemon_has_not_read_is_told_as_one(served: House) -> None:
    daemon = served.daemons[0]
    before = status(served)
    daemon.send_signal(signal.SIGSTOP)
    try:
        served.config.write_text(TEXT.replace("reject", "hold").replace("npm", "yarn"), encoding="utf-8")
        keep_young(served)
        told = status(served)
        keep_young(served)
        doctor = served.run("doctor").stdout
        keep_young(served)
        word, beside = explained(served, "yarn add")
    finally:
        daemon.send_signal(signal.SIGCONT)
    assert told["settings"] == before["settings"]
    assert "is not read yet" in told["differs"][0]
    assert "is not read yet" in doctor
    assert word == "DENY"
    assert "explained as the file on disk says: " in beside
    wait_for(lambda: status(served)["settings"]["unattended"] == "hold", what="the daemon to read it")
    assert status(served)["differs"] == []


def test_a_file_that_is_named_is_explained_as_it_is(served: House) -> None:
    other = served.directory / "other.toml"
    other.write_text('[rules.bash]\n"npm *" = "allow"\n', encoding="utf-8")
    assert explained(served, "npm install", "--config", str(other)) == ("ALLOW", "")
    assert explained(served, "npm install")[0] == "DENY"
    done = served.run("explain", "--surface", "bash", "--value", "npm i", "--json", cwd=served.work)
    assert (json.loads(done.stdout)["config"], json.loads(done.stdout)["inForce"]) == (str(served.config), True)


def test_a_file_of_requests_is_decided_by_what_is_in_force(served: House) -> None:
    spoil(served, "broken")
    (served.work / "r.jsonl").write_text('{"id":1,"surface":"bash","value":"npm i"}\n', encoding="utf-8")
    done = served.run("explain", "--file", "r.jsonl", cwd=served.work)
    assert json.loads(done.stdout)["action"] == "deny"
    assert "not in force" in done.stderr


def test_the_configuration_of_the_daemon_counts_not_the_one_of_the_shell(served: House) -> None:
    other = served.directory / "other.toml"
    other.write_text('[rules.bash]\n"npm *" = "allow"\n', encoding="utf-8")
    env = {"FWDPERM_CONFIG": str(other)}
    done = served.run("explain", "--surface", "bash", "--value", "npm i", env=env, cwd=served.work)
    assert done.stdout.startswith("DENY")
    assert f"explained by `{served.config}`" in done.stderr
    assert f"the daemon reads `{served.config}`" in served.run("doctor", env=env).stdout


def test_a_directory_the_daemon_does_not_vouch_for_is_explained_as_it_is_decided(served: House) -> None:
    elsewhere = served.directory / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("a", encoding="utf-8")
    words = ("explain", "--surface", "read", "--value", str(elsewhere / "a.txt"))
    assert served.run(*words, cwd=elsewhere).stdout.startswith("ASK")
    assert served.run(*words, "--config", str(served.config), cwd=elsewhere).stdout.startswith("ALLOW")


def test_what_was_told_is_taken_away_with_the_daemon(served: House) -> None:
    assert (served.state / "in-force.toml").read_text(encoding="utf-8") == TEXT
    assert (served.state / "in-force.toml").stat().st_mode & 0o777 == 0o600
    served.daemons[0].send_signal(signal.SIGTERM)
    served.daemons[0].wait(20)
    assert not (served.state / "in-force.toml").exists()
    assert served.run("status").returncode == 4
