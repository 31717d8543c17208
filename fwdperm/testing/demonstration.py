"""The main job, shown: a daemon, a tree of child processes, questions that reach a person, answers that reach them.

Lives here: the play and its processes. Never here: anything a daemon runs. It writes to a temporary directory only and
leaves nothing behind.

    root
     +- build     asks `git status` (a rule allows), `npm publish` (a rule denies), `git push origin main` (a person)
     |   +- fix-7  a grandchild: asks `rm -r build/out` (a person), through the inbox of `build`
     +- review    asks `cat notes.md > review.md` (a person)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.seat import open_prompts, send_reply
from fwdperm.wire import Reply, ReplyKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RULES: Final = """\
[rules]
"*" = "ask"

[rules.bash]
"git *" = "allow"
"git push *" = "ask"
"npm *" = { action = "deny", reason = "this project uses pnpm" }
"""
_READY_S: Final = 20.0
"""Seconds a daemon may take to serve on a slow machine."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One child process of the play.

    Attributes:
        session: Who asks.
        parent: In whose inbox.
        agent: As which agent.
        values: Command lines to ask for, in order.
    """

    session: str
    parent: str
    agent: str
    values: tuple[str, ...]


PLAY: Final = (
    Scene("build", "root", "builder", ("git status", "npm publish", "git push origin main")),
    Scene("fix-7", "build", "fixer", ("rm -r build/out",)),
    Scene("review", "root", "reviewer", ("cat notes.md > review.md",)),
)
_SCRIPT: Final[Mapping[str, Reply]] = {
    "git push origin main": Reply(reply=ReplyKind.ONCE, feedback="only this branch, and not again today"),
    "rm -r build/out": Reply(reply=ReplyKind.REJECT, feedback="keep it, the release is built from there"),
    "cat notes.md > review.md": Reply(reply=ReplyKind.ONCE),
}
EXPECTED: Final[Mapping[str, str]] = {
    "git status": "approved",
    "npm publish": "denied",
    "git push origin main": "approved",
    "rm -r build/out": "denied",
    "cat notes.md > review.md": "approved",
}
"""The outcomes when the script answers. A person at the terminal may answer otherwise."""


def demonstrate(*, by_script: bool, quiet: bool = False) -> int:
    """Run the demonstration. A person at the terminal answers, unless there is none or `by_script` is set.

    Returns:
        0 when every child got an answer and, if the script answered, exactly the expected one.
    """
    asks_person = not by_script and sys.stdin.isatty()
    with tempfile.TemporaryDirectory(prefix="fwdperm-") as directory:
        stage = _Stage(Path(directory), quiet=quiet)
        stage.say("a daemon, a tree of four sessions, and what its children ask for:")
        children = threading.Thread(target=stage.play, name="fwdperm-play")
        if asks_person:
            stage.say("the children wait for you: answer `y` or `n`, with a note for them if you like; Ctrl-C ends it")
            code = stage.serve_here(children)
        else:
            with stage.daemon():
                children.start()
                stage.answer_by_script(until=children)
                children.join()
            code = 0
        stage.say("", *stage.told(), "")
        return code or stage.judge(scripted=not asks_person)


class _Stage:
    """The places and processes of one play."""

    def __init__(self, directory: Path, *, quiet: bool) -> None:
        self._work = directory / "work"
        self._work.mkdir()
        (self._work / "notes.md").write_text("notes\n", encoding="utf-8")
        config = directory / "config.toml"
        config.write_text(RULES, encoding="utf-8")
        self._root = directory / "root"
        self._env = {
            **os.environ,
            "FWDPERM_ROOT": str(self._root),
            "FWDPERM_CONFIG": str(config),
            "XDG_STATE_HOME": str(directory / "state"),
        }
        for name in ("FWDPERM_SESSION", "FWDPERM_PARENT", "FWDPERM_AGENT", "FWDPERM_TOKEN"):
            self._env.pop(name, None)
        self._answers: list[tuple[Scene, str, dict[str, Any]]] = []
        self._lock = threading.Lock()
        self._quiet = quiet

    def say(self, *lines: str) -> None:
        """Tell the audience."""
        if not self._quiet:
            sys.stdout.write("".join(f"{line}\n" for line in lines))
            sys.stdout.flush()

    # -- the daemon --------------------------------------------------------------------------------------------

    def daemon(self) -> _Daemon:
        """Start a daemon without a terminal, and wait until it serves."""
        process = subprocess.Popen(  # noqa: S603 - this project, by this interpreter
            [*_FWDPERM, "serve", "--quiet", "--no-prompt", "--workspace", str(self._work)],
            env=self._env,
            stdin=subprocess.DEVNULL,
        )
        self._wait_until_served(process)
        return _Daemon(process)

    def serve_here(self, children: threading.Thread) -> int:
        """Run the daemon on this terminal in a child process; end it when the children have their answers."""
        process = subprocess.Popen(  # noqa: S603 - this project, by this interpreter
            [*_FWDPERM, "serve", "--quiet", "--workspace", str(self._work)],
            env=self._env,
        )
        with _Daemon(process):
            self._wait_until_served(process)
            children.start()
            while children.is_alive():
                children.join(0.2)
                if process.poll() is not None:
                    self.say("the daemon ended; the children give up by themselves")
                    children.join()
                    return process.returncode or 1
        return 0

    def _wait_until_served(self, process: subprocess.Popen[bytes]) -> None:
        beat = self._root / "serving" / "root.json"
        end = time.monotonic() + _READY_S
        while not beat.exists():
            if process.poll() is not None or time.monotonic() > end:
                raise EnvironmentFailure("the daemon of the demonstration did not start; try `fwdperm serve -v`")
            time.sleep(0.02)

    # -- the human ---------------------------------------------------------------------------------------------

    def answer_by_script(self, *, until: threading.Thread) -> None:
        """Answer what waits as the script says, through the same files as `fwdperm allow`, until the play ends."""
        state = _only_child(Path(self._env["XDG_STATE_HOME"]) / "fwdperm")
        while until.is_alive():
            for prompt in open_prompts(state).prompts:
                reply = _SCRIPT.get(prompt.values[0], Reply(reply=ReplyKind.REJECT, feedback="not in the script"))
                chain = " > ".join(prompt.chain)
                self.say(f"  person   {chain} asks {prompt.surface} `{prompt.values[0]}`: {reply.reply}")
                send_reply(state, prompt.key, reply.model_copy(update={"digest": prompt.digest, "via": "script"}))
            until.join(0.05)

    # -- the children ------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Run every scene as a real process of its own, all at once."""
        running = [(scene, self._start(scene)) for scene in PLAY]
        for scene, process in running:
            output, _ = process.communicate()
            for value, line in zip(scene.values, output.decode().splitlines(), strict=False):
                with self._lock:
                    self._answers.append((scene, value, json.loads(line)))

    def _start(self, scene: Scene) -> subprocess.Popen[bytes]:
        asking = " ; ".join(
            f"{_quoted([*_FWDPERM, 'ask', '--json', '--quiet', '--surface', 'bash', '--value', value])}"
            for value in scene.values
        )
        words = ["run", "--session", scene.session, "--parent", scene.parent, "--agent", scene.agent]
        return subprocess.Popen(  # noqa: S603 - as above
            [*_FWDPERM, *words, "--cwd", str(self._work), "--", "sh", "-c", asking],
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )

    # -- the end -----------------------------------------------------------------------------------------------

    def told(self) -> list[str]:
        """Say what each child heard."""
        lines = ["what the children heard:"]
        for scene, value, answer in self._answers:
            who = f"{scene.parent} > {scene.session}"
            said = answer.get("note") or answer.get("reason") or ""
            lines.append(f"  {who:<16} {value:<26} {answer.get('outcome', '?'):<9} {said}".rstrip())
        return lines

    def judge(self, *, scripted: bool) -> int:
        """Give 0 when every question got an answer and, if the script answered, exactly the expected one; else 1."""
        heard = {value: str(answer.get("outcome")) for _, value, answer in self._answers}
        if set(heard) != set(EXPECTED):
            return 1
        return 0 if not scripted or heard == dict(EXPECTED) else 1


class _Daemon:
    """A daemon process that ends with its block."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_FWDPERM: Final = [sys.executable, "-m", "fwdperm"]


def _quoted(words: Sequence[str]) -> str:
    import shlex  # noqa: PLC0415 - only here

    return shlex.join(words)


def _only_child(directory: Path) -> Path:
    """Give the one directory in another: the state of the one root this play has."""
    return next(path for path in directory.iterdir() if path.is_dir())
