"""A whole daemon without inbox files, threads or waiting.

Lives here: `Simulation` and its scripted parts. The order, the lifecycle, the queue, the ledger and the journal are the
real ones; only the transport, the clock, the judge's model and the human are played. Never here: anything a daemon
runs.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwdperm.decision import DecisionContext
from fwdperm.guard import Surroundings
from fwdperm.inbox import AlreadyThere, Failed, Identity, Mail, OwnWord, Published, Unread
from fwdperm.journal import Journal
from fwdperm.judge import Silence
from fwdperm.policy import Projects, TaughtRules, Teaching, background_of, epoch_of
from fwdperm.redaction import redacted_texts
from fwdperm.rules import LayerKind, Mode, Ruleset, RulesetFiles, TrustStore, read_layer
from fwdperm.seat import SeatQueue
from fwdperm.serve import Ledger, Limits, RequestLifecycle, Services
from fwdperm.sessions import SessionTree
from fwdperm.settings import WAIT_S
from fwdperm.wire import RequestKey, digest_of, is_request_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fwdperm.decision import AskJudge, SessionRules
    from fwdperm.inbox import LastWord, Letter, PublishOutcome
    from fwdperm.judge import Opinion
    from fwdperm.rules import Layer
    from fwdperm.seat import Answered
    from fwdperm.wire import Prompt, Reply, Request


START_MS = 1_700_000_000_000
"""Where a simulation's wall clock begins."""


class FakeClock:
    """Both clocks. They move only when told to, and the wall clock can jump."""

    def __init__(self, *, wall_ms: int = START_MS) -> None:
        self._wall_ms = wall_ms
        self._monotonic = 1_000.0

    def wall_ms(self) -> int:
        """Give the wall clock, epoch milliseconds."""
        return self._wall_ms

    def monotonic(self) -> float:
        """Give seconds that never jump."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self._monotonic += seconds
        self._wall_ms += int(seconds * 1000)

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back; the monotonic one does not notice."""
        self._wall_ms += int(seconds * 1000)


class MemoryTransport:
    """Inboxes in memory, with the promises of `inbox/protocol.py`."""

    def __init__(self, clock: FakeClock) -> None:
        self.requests: dict[RequestKey, tuple[bytes, Identity]] = {}
        self.answers: dict[RequestKey, dict[str, Any]] = {}
        self.failing = ""
        self._clock = clock
        self._inboxes: dict[str, None] = {}
        self._handed: set[tuple[RequestKey, Identity]] = set()
        self._published: dict[RequestKey, float] = {}
        self._count = 0

    def drop(self, inbox: str, stem: str, data: bytes, *, at_ms: int | None = None) -> None:
        """Leave a request file, as a child does."""
        self._count += 1
        when = at_ms if at_ms is not None else self._clock.wall_ms()
        self.ensure(inbox)
        self.requests[inbox, stem] = (data, Identity(1, self._count, when * 1_000_000, len(data)))

    def withdraw(self, inbox: str, stem: str) -> None:
        """Take a request back, as a child does."""
        self.requests.pop((inbox, stem), None)

    def consume(self, inbox: str, stem: str) -> dict[str, Any] | None:
        """Read an answer and remove it, as a child does."""
        self._published.pop((inbox, stem), None)
        return self.answers.pop((inbox, stem), None)

    def ensure(self, session: str) -> None:
        """Make an inbox."""
        self._inboxes[session] = None

    def sessions(self) -> tuple[str, ...]:
        """List inboxes."""
        return tuple(self._inboxes)

    def pending(self, only: set[str] | None = None) -> list[Letter]:
        """Hand out what is new."""
        found: list[Letter] = []
        for key, (data, token) in self.requests.items():
            if (only is None or key[0] in only) and (key, token) not in self._handed:
                self._handed.add((key, token))
                found.append(Mail(*key, data=data, digest=digest_of(data), ctime_ns=token.ctime_ns, token=token))
        return found

    def behind(self) -> frozenset[str]:
        """Nothing is ever left unread."""
        return frozenset()

    def respond(self, inbox: str, stem: str, payload: bytes) -> PublishOutcome:
        """Publish an answer, or fail as the test wants."""
        if self.failing:
            return Failed(self.failing)
        if (inbox, stem) in self.answers:
            return AlreadyThere()
        self.answers[inbox, stem] = json.loads(payload)
        self._published[inbox, stem] = self._clock.monotonic()
        return Published()

    def gone(self, keys: Iterable[tuple[str, str, Identity]]) -> set[RequestKey]:
        """Say which requests were withdrawn or replaced."""
        return {
            (inbox, stem)
            for inbox, stem, token in keys
            if (inbox, stem) not in self.requests or self.requests[inbox, stem][1] != token
        }

    def remove_request(self, letter: Letter) -> bool:
        """Remove a request if it is still the one that was read."""
        key = (letter.inbox, letter.stem)
        if key in self.requests and self.requests[key][1] == letter.token:
            del self.requests[key]
            return True
        return False

    def responses(self, inbox: str) -> tuple[Unread, ...]:
        """List unconsumed answers."""
        now = self._clock.monotonic()
        return tuple(Unread(stem, now - at) for (box, stem), at in self._published.items() if box == inbox)

    def remove_response(self, inbox: str, stem: str) -> bool:
        """Remove an unconsumed answer."""
        return self.consume(inbox, stem) is not None

    def beat(self, session: str, payload: bytes) -> None:
        """Take a heartbeat."""

    def unbeat(self, session: str) -> None:
        """Take back a heartbeat."""

    def forget(self, session: str) -> None:
        """Forget an inbox."""
        self._inboxes.pop(session, None)


@dataclass(slots=True)
class ScriptedHuman:
    """Answers prompts from a script: a function from a prompt to a reply, or None to leave it waiting."""

    script: Callable[[Prompt], Reply | None] = lambda _: None
    seen: list[Prompt] = field(default_factory=list)


@dataclass(slots=True)
class ScriptedJudge:
    """Gives the opinions it was told to give, in order; then silence."""

    opinions: deque[Opinion] = field(default_factory=deque)
    asked: list[AskJudge] = field(default_factory=list)

    def consider(self, asked: AskJudge) -> Opinion:
        """Give the next opinion."""
        self.asked.append(asked)
        return self.opinions.popleft() if self.opinions else Silence("disabled", "the script has ended")


class SimulatedRules:
    """Decision contexts made of one ruleset text, a layer for each session, and the guard's surroundings."""

    def __init__(  # noqa: PLR0913 - what it is made of
        self,
        text: str,
        *,
        workspace: str,
        mode: Mode,
        sessions: SessionTree,
        taught_rules: TaughtRules,
        projects: Projects,
        has_judge: bool,
    ) -> None:
        self.base: Sequence[Layer] = (read_layer(text, file="rules.toml", kind=LayerKind.USER),)
        self.layers: dict[str, Layer] = {}
        self.taught: SessionRules | None = None
        self.judge_advises = False
        self._taught_rules = taught_rules
        self._projects = projects
        self.surroundings = Surroundings(workspaces=(workspace,), home="/home/u")
        self._mode = mode
        self._sessions = sessions
        self._has_judge = has_judge

    def record(self, session: str, text: str) -> None:
        """Give a session a ruleset of its own."""
        self.layers[session] = read_layer(text, file=f"{session}.toml", kind=LayerKind.SESSION)

    def context(self, request: Request) -> DecisionContext:
        """Compose the rulesets along the parent chain."""
        chain = []
        places = self._sessions.chain(request)
        for place in places:
            own = self.layers.get(place.session)
            layers = (*self.base, own) if own is not None else self.base
            chain.append(Ruleset.compose(layers, home="/home/u", mode=self._mode))
        has_judge = self._has_judge and self._mode is Mode.JUDGE
        project = self._projects.grants(request.facts.cwd if request.facts else "")
        taught = self.taught or self._taught_rules.view(request, places, project)
        line = tuple(place.session for place in places)
        return DecisionContext(
            tuple(chain), self.surroundings, taught, has_judge=has_judge, judge_advises=self.judge_advises, line=line
        )

    def epoch(self, request: Request, context: DecisionContext) -> str:
        """Name the rules that a judge would be shown, as the daemon does; for `taught` of a test, only the rulesets."""
        if self.taught is not None:
            return context.version
        return epoch_of(background_of(self._taught_rules.brief(request, context), context.taught), context)

    def suggestions(self, request: Request) -> Sequence[tuple[str, str]]:
        """Suggest what the requester suggests."""
        return [(one.surface, one.pattern) for one in request.suggestions]


class _PromptDisplay:
    def __init__(self) -> None:
        self.prompts: dict[RequestKey, Prompt] = {}

    def put(self, prompt: Prompt) -> None:
        self.prompts[prompt.key] = prompt

    def take(self, key: RequestKey) -> None:
        self.prompts.pop(key, None)


class Simulation:
    """A daemon whose turns the test calls for.

    Args:
        directory: An empty directory for the journal.
        rules: The recorded ruleset, TOML.
        human: Who answers prompts at the end of each turn.
        judge: What plays the judge; None for none configured.
        mode: The mode of all rulesets: who is asked about what rules leave open.
        limits: How long requests wait.
        clock: The clock; a new one when left out.
        transport: The transport; a new one when left out (give the old one after a simulated crash).
        workspace: The directory the operator vouches for.
        attended: Whether an interface is attached.
        last_word: Says whose answer counts; its own when left out.
    """

    def __init__(  # noqa: PLR0913 - a simulation states its whole world
        self,
        directory: Path,
        rules: str = "",
        *,
        human: ScriptedHuman | None = None,
        judge: ScriptedJudge | None = None,
        mode: Mode = Mode.JUDGE,
        limits: Limits | None = None,
        clock: FakeClock | None = None,
        transport: MemoryTransport | None = None,
        workspace: str = "/w",
        attended: bool = True,
        last_word: LastWord | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.transport = transport or MemoryTransport(self.clock)
        self.human = human or ScriptedHuman()
        self.judge = judge or ScriptedJudge()
        self.sessions = SessionTree()
        self.queue = SeatQueue()
        self.prompt_files = _PromptDisplay()
        self.taught_rules = TaughtRules(self.sessions, clock=self.clock)
        trust = TrustStore(directory.with_name(f"{directory.name}-trust.json"))
        projects = Projects(RulesetFiles(user=None, trust=trust, workspaces=[Path(workspace)]), trust)
        self.rules = SimulatedRules(
            rules,
            workspace=workspace,
            mode=mode,
            sessions=self.sessions,
            taught_rules=self.taught_rules,
            projects=projects,
            has_judge=judge is not None,
        )
        self.journal = Journal.open(
            directory, clock=self.clock.wall_ms, folds=self.taught_rules.folds, redact=redacted_texts
        )
        self.teaching = Teaching(self.taught_rules, projects, sessions=self.sessions, journal=self.journal)
        self.limits = limits or Limits(WAIT_S)
        self.is_attended = attended
        self._to_judge: list[tuple[AskJudge, RequestKey]] = []
        self._count = 0
        services = Services(
            transport=self.transport,
            journal=self.journal,
            ledger=Ledger(self.journal.state, last_word or OwnWord()),
            rules=self.rules,
            sessions=self.sessions,
            teaching=self.teaching,
            queue=self.queue,
            prompt_files=self.prompt_files,
            clock=self.clock,
            limits=lambda: self.limits,
            consult=lambda asked, key: self._to_judge.append((asked, key)),
            is_attended=lambda: self.is_attended,
        )
        self.lifecycle = RequestLifecycle(services)

    def ask(  # noqa: PLR0913 - a request's parts
        self,
        surface: str,
        *values: str,
        inbox: str = "root",
        session: str = "child",
        agent: str = "worker",
        cwd: str = "/w",
        request_id: str = "",
        **more: Any,
    ) -> str:
        """Leave a request with facts in an inbox and give its id. `more` is merged into the file."""
        self._count += 1
        stem = request_id or f"r{self._count}"
        body: dict[str, Any] = {
            "id": stem,
            "createdAt": self.clock.wall_ms(),
            "requesterSessionId": session,
            "targetSessionId": inbox,
            "requesterAgentName": agent,
            "surface": surface,
            "value": values[0] if values else "",
            "accessIntent": {"surface": surface, "matchValues": list(values), "requesterCwd": cwd, "home": "/home/u"},
        }
        body |= more
        self.transport.drop(inbox, stem, json.dumps({k: v for k, v in body.items() if v is not None}).encode())
        return stem

    def turn(self) -> None:
        """Do what the daemon does on a wake-up, then let the judge and the human answer."""
        self.lifecycle.intake.receive(self.transport.pending())
        self.lifecycle.watch_over()
        self.lifecycle.flush()
        while self._to_judge:
            asked, key = self._to_judge.pop(0)
            self.lifecycle.referrals.judged(key, asked.evaluation.request.digest, self.judge.consider(asked))
            self.lifecycle.flush()
        for question in self.queue.waiting():
            self.human.seen.append(question.prompt)
            reply = self.human.script(question.prompt)
            if reply is not None:
                self.answer(question.key, reply)

    def answer(self, key: RequestKey, reply: Reply, *, via: str = "script") -> Answered:
        """Answer as a person would, and publish what follows from it."""
        question = self.queue.get(key)
        answered = self.lifecycle.referrals.reply(key, question.digest if question else None, reply, via=via)
        self.lifecycle.flush()
        return answered

    def outcome(self, stem: str, *, inbox: str = "root") -> dict[str, Any] | None:
        """Give the published answer to a request; None while there is none."""
        if not is_request_id(stem):
            return None
        return self.transport.answers.get((inbox, stem))

    def close(self) -> None:
        """Let go of the journal."""
        self.journal.close()
