"""One family of errors, named by whose fault they are.

Lives here: every exception that leaves a room. Never here: wording for a
terminal (the command line prints `str(error)`), or anything that decides.

Messages are one lower-case line: what is wrong, where, and after a semicolon what to do.
"""

from __future__ import annotations


class FwdpermError(Exception):
    """Any failure this project raises on purpose. Never leads to an allow."""


class ChildError(FwdpermError):
    """A requester sent something that cannot be used; it gets a denial that says why."""

    def __init__(self, reason: str, *, code: str = "malformed") -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class OperatorError(FwdpermError):
    """A ruleset, a configuration or a command line that a person has to mend."""

    def __init__(self, problem: str, *, file: str = "", line: int = 0, remedy: str = "") -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.remedy = remedy
        where = f"`{file}`: " if file else ""
        at = f"line {line}: " if line else ""
        then = f"; {remedy}" if remedy else ""
        super().__init__(f"{where}{at}{problem}{then}")


class AlreadyServed(OperatorError):  # noqa: N818 - it says a state of things, not a mistake in a file
    """Another daemon serves this root; its message says which."""


class EnvironmentFailure(FwdpermError):  # noqa: N818 - `EnvironmentError` is the language's own name for OSError
    """The machine would not do what was asked: disk full, no permission, watch limit reached."""
