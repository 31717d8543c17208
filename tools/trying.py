"""Mutants against the tests of their file.

Lives here: `try_file` and the two ways of running a mutant. Never here: the table and the report (`mutate.py`), what a
mutant is (`mutants.py`), processes (`forks.py`).

A mutant of a function runs in a fork of a process that has loaded the file's tests: the function's code is exchanged in
it, so that everybody who holds the function runs the changed one. Only the tests that call the function are run, those
that killed before and the quick ones first, until one fails. A mutant of a module's own lines (constants, defaults)
runs in a fork that has imported nothing of the project yet, and imports the module changed.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from forks import Fork, in_fork, ready, silence
from mutants import Mutant, code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    import pytest

HOUSE: Final = Path(__file__).resolve().parent.parent
ARGUMENTS: Final = ("-q", "-s", "-x", "-p", "no:cacheprovider", f"--rootdir={HOUSE}")
LEAST_CPU_S: Final = 10
"""Seconds of processor that every mutant may take."""
CPU_FACTOR: Final = 4
"""Times what its tests take without a mutant that it may take on top."""
FRESH_CPU_S: Final = 120
"""Seconds of processor that a mutant with a fresh import may take."""
LOOK_CPU_S: Final = 3_600
"""Seconds of processor that all tests may take without a mutant."""
QUICK_S: Final = (0.02, 0.2, 1.0, 5.0)
"""Seconds that part quick tests from slow ones."""
KILLERS: Final = 8
"""Tests that are tried first because they killed most."""

KILLED, SURVIVED, WIDENS, TIMED_OUT, PASSED_OVER = "killed", "survived", "WIDENS", "timed out", "passed over"


@dataclass(frozen=True, slots=True)
class Watched:
    """One file of the table.

    Attributes:
        path: The file, from the project's root.
        tests: What pytest is given for it.
        equivalent: (function, change) of mutants that change nothing anybody could see -> why.
    """

    path: str
    tests: tuple[str, ...]
    equivalent: Mapping[tuple[str, str], str]

    @property
    def module(self) -> str:
        """The module's dotted name."""
        return self.path.removesuffix(".py").replace("/", ".")

    @property
    def place(self) -> str:
        """The file's full path."""
        return str(HOUSE / self.path)

    @property
    def source(self) -> str:
        """The module's text."""
        return (HOUSE / self.path).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one mutant.

    Attributes:
        mutant: The mutant.
        verdict: `killed`, `survived`, `WIDENS`, `timed out` or `passed over`.
        by: The test that killed it, or the answers that it makes milder.
        seconds: How long it took.
    """

    mutant: Mutant
    verdict: str
    by: str = ""
    seconds: float = 0.0


class CannotRunError(Exception):
    """The tests cannot be loaded, or fail without any mutant."""


@dataclass(frozen=True, slots=True)
class Run:
    """How mutants of one file are tried.

    Attributes:
        file: The file.
        siblings: The enumerations that it names, with their members.
        jobs: Processes at a time.
        only_widening: Whether only mutants are tested that make a witness's answer milder.
    """

    file: Watched
    siblings: Mapping[str, Sequence[str]]
    jobs: int
    only_widening: bool = False

    def code(self, mutant: Mutant) -> CodeType:
        """Compile a mutant."""
        return code_of(self.file.source, mutant.number, self.siblings, path=self.file.place)


def siblings_of(files: Sequence[Watched]) -> dict[str, dict[str, list[str]]]:
    """Learn which enumerations each file names, in a fork: this process must not hold the project.

    Raises:
        CannotRunError: One cannot be imported.
    """

    def look() -> dict[str, Any]:
        return {
            file.path: {
                name: list(made.__members__)
                for name, made in vars(importlib.import_module(file.module)).items()
                if isinstance(made, type) and issubclass(made, enum.Enum) and made.__members__
            }
            for file in files
        }

    found = in_fork(look, cpu_s=LEAST_CPU_S + len(files))
    if found is None or "error" in found:
        raise CannotRunError(f"cannot import what is mutated: {found}")
    return found


def try_file(run: Run, mutants: Sequence[Mutant]) -> Iterator[Result]:
    """Try mutants of one file; give what became of each as it is known.

    Raises:
        CannotRunError: The tests cannot be loaded, or fail without any mutant.
    """
    by_number = {one.number: one for one in mutants}
    answers: dict[str, int] = {}
    for said in _from_held(run, [one for one in mutants if one.function]):
        if "trouble" in said:
            raise CannotRunError(said["trouble"])
        if "answers" in said:
            answers = said["answers"]
        else:
            yield Result(by_number[said["number"]], said["verdict"], said["by"], said["seconds"])
    outside = [one for one in mutants if not one.function]
    for fork, word in _in_forks(
        outside, lambda one: (functools.partial(_fresh, run, one, answers), FRESH_CPU_S), jobs=run.jobs
    ):
        yield Result(fork.of, *_verdict(word), fork.seconds)


def _in_forks(
    mutants: Sequence[Mutant], plan: Callable[[Mutant], tuple[Callable[[], dict[str, Any]], int]], *, jobs: int
) -> Iterator[tuple[Fork, dict[str, Any] | None]]:
    """Run each mutant in a fork, `jobs` at a time; give each fork with its word."""
    waiting = list(reversed(mutants))
    running: dict[int, Fork] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            what, cpu_s = plan(mutant)
            fork = Fork.begin(what, cpu_s=cpu_s, of=mutant)
            running[fork.reader] = fork
        for reader in ready(running):
            fork = running.pop(reader)
            yield fork, fork.end()


def _verdict(said: dict[str, Any] | None) -> tuple[str, str]:
    """Give the verdict on a fork's word, and by what; one that raised beside the tests was noticed too."""
    if said is None:
        return TIMED_OUT, ""
    if "error" in said:
        return KILLED, said["error"]
    return said["verdict"], said["by"]


def _after_the_tests(milder: Sequence[str], *, were_any: bool = True) -> dict[str, Any]:
    """Give the word of a fork whose tests all passed."""
    if milder:
        return {"verdict": WIDENS, "by": "; ".join(milder)}
    return {"verdict": SURVIVED, "by": "" if were_any else "no test calls it"}


# -- mutants of functions ----------------------------------------------------------------------------------------


class Alive:
    """What is alive in a process that has loaded a file's tests: its functions, and what remembers answers.

    Args:
        file: The file.
    """

    def __init__(self, file: Watched) -> None:
        names = {
            (name, code.co_firstlineno)
            for name, code in _outermost(compile(file.source, file.place, "exec", dont_inherit=True)).items()
        }
        self._functions: dict[str, list[FunctionType]] = {}
        self._remembering: list[Any] = []
        gc.collect()
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                code = one.__code__
                if code.co_filename == file.place and (code.co_qualname, code.co_firstlineno) in names:
                    self._functions.setdefault(code.co_qualname, []).append(one)
            elif isinstance(one, functools._lru_cache_wrapper) and str(one.__module__).startswith("fwdperm"):  # noqa: SLF001 - it has no other name
                self._remembering.append(one)
        gc.freeze()  # forks share what they do not touch

    def exchange(self, name: str, code: CodeType) -> None:
        """Exchange a function's code, for everybody who holds the function.

        Raises:
            LookupError: No such function is alive.
        """
        for one in self._functions[name]:
            one.__code__ = _outermost(code)[name]

    def forget(self) -> None:
        """Empty what functions remember, so that every test computes what it looks at."""
        for one in self._remembering:
            one.cache_clear()


def _outermost(module: CodeType) -> dict[str, CodeType]:
    """Give the code of every function of a module and of its classes, by qualified name."""
    found: dict[str, CodeType] = {}
    left = [module]
    while left:
        for const in left.pop().co_consts:
            if isinstance(const, CodeType) and "<locals>" not in const.co_qualname:
                found[const.co_qualname] = const
                left.append(const)
    return found


@dataclass(frozen=True, slots=True)
class Reach:
    """What the tests do without any mutant.

    Attributes:
        seconds: How long each takes.
        functions: Which functions of the file each calls.
        answers: The witnesses' answers.
        witnesses: For each function of the file, the witnesses that call it.
    """

    seconds: dict[str, float]
    functions: dict[str, list[str]]
    answers: dict[str, int]
    witnesses: dict[str, list[str]]


def _from_held(run: Run, mutants: Sequence[Mutant]) -> Iterator[dict[str, Any]]:
    """Run mutants of functions in a process that holds the file's tests; give its words as they come."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        silence()
        with open(writer, "w", encoding="utf-8", buffering=1) as out:
            _hold(run, mutants, lambda said: print(json.dumps(said), file=out))
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as told:
        for line in told:
            yield json.loads(line)
    os.waitpid(pid, 0)


def _hold(run: Run, mutants: Sequence[Mutant], say: Callable[[dict[str, Any]], None]) -> None:
    import pytest  # noqa: PLC0415 - loaded long before

    try:
        code = pytest.main([*ARGUMENTS, *run.file.tests], plugins=[Held(run, mutants, say)])
        if code not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            say({"trouble": f"pytest ended with {code!r}"})
    except BaseException as error:  # noqa: BLE001 - told, not lost
        say({"trouble": repr(error)})


class _FirstFailure:
    """A pytest plugin: takes note of what fails, and has hypothesis stop at the first example that does."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_collection(self) -> None:
        """Nobody reads a small example here."""
        import hypothesis  # noqa: PLC0415 - pytest wants to load it itself

        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutants", hypothesis.settings(phases=phases, print_blob=False))
        hypothesis.settings.load_profile("mutants")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot even be imported has failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has run."""
        if report.failed:
            self.failed.append(report.nodeid)


class Held(_FirstFailure):
    """A pytest plugin: loads a file's tests, then runs mutants in forks in place of the tests.

    Args:
        run: How.
        mutants: Those that lie in functions.
        say: Takes each result, and whatever prevents one.
    """

    def __init__(self, run: Run, mutants: Sequence[Mutant], say: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._how = run
        self._mutants = mutants
        self._say = say
        self._killers: Counter[str] = Counter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Stand in for pytest's own loop."""
        if self.failed or not session.items:
            self._say({"trouble": f"the tests cannot be loaded: {self.failed}"})
            return True
        import widening  # noqa: PLC0415 - imports the project, which only this process may

        self._witnesses = widening
        self._items = session.items
        self._alive = Alive(self._how.file)
        told = in_fork(self._look, cpu_s=LOOK_CPU_S)
        if told is None or "error" in told:
            self._say({"trouble": f"the tests without any mutant: {told}"})
            return True
        self._reach = Reach(**told)
        self._say({"answers": self._reach.answers})
        for fork, said in _in_forks(self._mutants, self._plan, jobs=self._how.jobs):
            verdict, by = _verdict(said)
            if by in self._reach.seconds:
                self._killers[by] += 1
            self._say({"number": fork.of.number, "verdict": verdict, "by": by, "seconds": fork.seconds})
        return True

    def _look(self) -> dict[str, Any]:
        """Run every test without a mutant, and see what it calls and how long it takes."""
        seconds: dict[str, float] = {}
        functions: dict[str, list[str]] = {}
        for at, item in enumerate(self._items):
            self._alive.forget()
            begun = time.process_time()
            with self._profiled() as called:
                self._run_one(self._items, at)
            seconds[item.nodeid] = time.process_time() - begun
            functions[item.nodeid] = sorted(called)
        if self.failed:
            return {"error": f"{len(self.failed)} fail: {self.failed[:5]}"}
        answers, witnesses = self._asked()
        return {"seconds": seconds, "functions": functions, "answers": answers, "witnesses": witnesses}

    def _asked(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        """Have the witnesses answer, and see what each calls."""
        answers: dict[str, int] = {}
        witnesses: dict[str, list[str]] = {}
        asking = self._witnesses.answers()
        while True:
            self._alive.forget()
            with self._profiled() as called:
                name, rank = next(asking, ("", 0))
            if not name:
                return answers, witnesses
            answers[name] = rank
            for function in called:
                witnesses.setdefault(function, []).append(name)

    @contextlib.contextmanager
    def _profiled(self) -> Iterator[set[str]]:
        """Collect the names of the file's functions that are called meanwhile."""
        called: set[CodeType] = set()
        names: set[str] = set()

        def profile(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                called.add(frame.f_code)

        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            yield names
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            mine = [code.co_qualname for code in called if code.co_filename == self._how.file.place]
            names.update(name.partition(".<locals>")[0] for name in mine)

    @staticmethod
    def _run_one(items: Sequence[pytest.Item], at: int) -> None:
        following = items[at + 1] if at + 1 < len(items) else None
        items[at].ihook.pytest_runtest_protocol(item=items[at], nextitem=following)

    def _plan(self, mutant: Mutant) -> tuple[Callable[[], dict[str, Any]], int]:
        """Give what a mutant's fork does, and how long it may take."""
        items = self._chosen(mutant)
        usual = sum(self._reach.seconds[item.nodeid] for item in items)
        return functools.partial(self._try, mutant, items), int(LEAST_CPU_S + CPU_FACTOR * usual)

    def _chosen(self, mutant: Mutant) -> list[pytest.Item]:
        """Give the tests that call a mutant's function: those that killed before, then the quick ones."""
        seconds, functions = self._reach.seconds, self._reach.functions
        killers = {name for name, _ in self._killers.most_common(KILLERS) if seconds[name] < 1}

        def order(item: pytest.Item) -> tuple[bool, int]:
            return item.nodeid not in killers, sum(seconds[item.nodeid] > limit for limit in QUICK_S)

        return sorted((item for item in self._items if mutant.function in functions[item.nodeid]), key=order)

    def _try(self, mutant: Mutant, items: Sequence[pytest.Item]) -> dict[str, Any]:
        """Try one mutant in this process: what it says at its end."""
        self._alive.exchange(mutant.function, self._how.code(mutant))
        self._alive.forget()
        answers, only = self._reach.answers, set(self._reach.witnesses.get(mutant.function, ()))
        if self._how.only_widening and not self._witnesses.milder(answers, most=1, only=only):
            return {"verdict": PASSED_OVER, "by": ""}
        for at, item in enumerate(items):
            self._run_one(items, at)
            if self.failed:
                return {"verdict": KILLED, "by": item.nodeid}
        return _after_the_tests(self._witnesses.milder(answers, most=3, only=only), were_any=bool(items))


# -- mutants of a module's own lines -----------------------------------------------------------------------------


class _Changed(importlib.machinery.SourceFileLoader, importlib.abc.MetaPathFinder):  # type: ignore[misc] # two loaders' signatures
    """Imports one module changed. Its methods are the import system's own."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._changed = code

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> Any:  # noqa: ARG002
        """Give this loader for its module, and nothing for any other."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """Give the changed code."""
        return self._changed


def _fresh(run: Run, mutant: Mutant, answers: Mapping[str, int]) -> dict[str, Any]:
    """Try one mutant in this process, which has imported nothing of the project."""
    import pytest  # noqa: PLC0415 - loaded long before

    sys.meta_path.insert(0, _Changed(run.file.module, run.file.place, run.code(mutant)))
    if run.only_widening:
        import widening  # noqa: PLC0415 - imports the project

        if not widening.milder(answers, most=1):
            return {"verdict": PASSED_OVER, "by": ""}
    noted = _FirstFailure()
    ended = pytest.main([*ARGUMENTS, *run.file.tests], plugins=[noted])
    if ended != 0 or noted.failed:
        return {"verdict": KILLED, "by": noted.failed[0] if noted.failed else f"pytest ended with {ended!r}"}
    import widening  # noqa: PLC0415 - as above

    return _after_the_tests(widening.milder(answers, most=3))
