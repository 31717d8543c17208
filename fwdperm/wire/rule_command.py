"""What a person asks to have done with session rules from another process.

Lives here: `RuleCommand` as it lies on disk, and its strict reading. Never here: a file being opened, what it causes.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from fwdperm.settings import LONGEST_GRANT_MS, NOTE_CHARS, VALUE_CHARS
from fwdperm.wire.prompt import OnDisk, read_form

_Name = Annotated[str, Field(min_length=1, max_length=256)]


class RuleCommand(OnDisk):
    r"""One command. `{"do": "revoke", "rule": "g41"}`, or `add` with a surface, a pattern and where it holds.

    Attributes:
        do: `revoke` or `add`.
        rule: With `revoke`: the rule's id.
        surface: With `add`: the one surface it is for.
        pattern: With `add`: what it covers; stars are wildcards, `\*` is a star.
        session: With `add`: the session at and below which it holds.
        project: With `add`, instead of a session: a directory of the project whose file keeps it.
        note: Words for the agent and the judge.
        expires_in_ms: With `add`: for how long; to the end of the session when left out.
        via: The interface it came through.
        user: Who asks, as the interface knows them.
        v: Version of this form.
    """

    model_config = ConfigDict(title="RuleCommand", extra="forbid")

    do: Literal["revoke", "add"]
    rule: _Name | None = None
    surface: _Name | None = None
    pattern: Annotated[str, Field(min_length=1, max_length=VALUE_CHARS)] | None = None
    session: _Name | None = None
    project: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    note: Annotated[str, Field(max_length=NOTE_CHARS)] = ""
    expires_in_ms: Annotated[int, Field(gt=0, le=LONGEST_GRANT_MS)] | None = None
    via: Annotated[str, Field(max_length=256)] = ""
    user: Annotated[str, Field(max_length=256)] = ""
    v: Literal[1] = 1

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Raise ValueError for a command that lacks a field, or has one that is for the other command."""
        adding = (self.surface, self.pattern, self.session, self.project, self.expires_in_ms)
        if self.do == "revoke":
            if self.rule is None:
                raise ValueError("`rule` is missing: the id of the rule to revoke")
            if any(one is not None for one in adding):
                raise ValueError("`revoke` takes a `rule` and nothing else")
            return self
        if self.rule is not None:
            raise ValueError("`rule` goes with `revoke`: an added rule gets its own id")
        if self.surface is None or self.pattern is None:
            raise ValueError("`add` needs a `surface` and a `pattern`")
        if (self.session is None) == (self.project is None):
            raise ValueError("`add` needs a `session` or a `project`, and not both")
        return self


def parse_rule_command(data: bytes) -> RuleCommand:
    """Read a command.

    Raises:
        OperatorError: For anything that is not exactly one. Fails closed: nothing is done.
    """
    return read_form(RuleCommand, data, what="rule command")
