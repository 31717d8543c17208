"""What a person's reply can teach, and where it holds.

Lives here: `Grant`, `Guidance`, `Refusal`, and the `Anchor` each hangs on. Pure. Never here: how they come about
(`fold.py`), who may use them (`view.py`).

A session's name alone gives nobody a rule, because a child may claim any name. The anchor of a requester's rule also
names the inbox that its request lay in, which the daemon saw itself. And where `fwdperm run` started the session, the
anchor names that start, so that a later session of the same name is not taken for it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUESTER = "requester"
SUBTREE = "subtree"
TREE = "tree"


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where on the tree a session rule holds: at one session and below it.

    Attributes:
        scope: `requester`, `subtree` or `tree`: what the person chose. For showing; where it holds is in the rest.
        session: The session it hangs on.
        inbox: For `requester`, the inbox that session asks in: the same name from another inbox is somebody else.
            Empty for the others, whose session is itself an inbox, and so a fact.
        run: When that session was started on record, epoch milliseconds; 0 for one that was not. A later run of the
            same name is another session.
    """

    scope: str
    session: str
    inbox: str = ""
    run: int = 0

    def __str__(self) -> str:
        return f"{self.scope} {self.session}" if not self.inbox else f"{self.scope} {self.session} in {self.inbox}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionRule:
    """What every session rule has.

    Attributes:
        id: Names it: `g` (grant), `n` (note) or `x` (refusal), and the journal line it came from.
        seq: That line's number. Newer is larger.
        at: When, epoch milliseconds.
        user: Who taught it, as their interface knew them.
        via: That interface.
        inbox: Inbox of the request whose answer taught it; empty for a rule that was added by hand.
        request: That request's id.
        anchor: Where it holds.
        note: The person's words.
        expires_at: Epoch milliseconds on the clock that is never set back; 0 for the session's life.
    """

    id: str
    seq: int
    at: int
    user: str
    via: str
    inbox: str
    request: str
    anchor: Anchor
    note: str = ""
    expires_at: int = 0

    @property
    def by(self) -> str:
        """Who taught it, in one phrase."""
        return f"{self.user} ({self.via})" if self.user and self.via else self.user or self.via

    def has_expired(self, now_ms: int) -> bool:
        """Say whether its time is over."""
        return bool(self.expires_at) and now_ms >= self.expires_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(_SessionRule):
    r"""What an *always* gave: one pattern for one surface. `\*` in the pattern is a literal star."""

    surface: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance(_SessionRule):
    """A note on an approval: words for the judge.

    Attributes:
        surfaces: The surfaces of what was approved: the rule may be cited for no other.
        shown: What was approved, clipped.
    """

    surfaces: tuple[str, ...]
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(_SessionRule):
    """A rejection with a note: the identical request is refused again.

    Attributes:
        likeness: What makes a request identical.
        surface: Its surface.
        shown: What was rejected, clipped.
    """

    likeness: str
    surface: str
    shown: str


SessionRule: TypeAlias = Grant | Guidance | Refusal
_KINDS: Mapping[str, type[Grant | Guidance | Refusal]] = {"grant": Grant, "guidance": Guidance, "refusal": Refusal}


def kind_of(rule: SessionRule) -> str:
    """Give `grant`, `guidance` or `refusal`."""
    return type(rule).__name__.lower()


def likeness_of(surface: str, values_digest: str, cwd: str) -> str:
    """Give a digest that is the same for two requests exactly when surface, values and directory are the same.

    Args:
        surface: The request's surface.
        values_digest: Its values, as `journal.digest_of_values` gives it: a recorded request keeps no more of them.
        cwd: Its working directory.
    """
    return hashlib.sha256(json.dumps([surface, values_digest, cwd]).encode()).hexdigest()


def dump_rule(rule: SessionRule) -> dict[str, Any]:
    """Give a rule as a JSON value."""
    return {"kind": kind_of(rule), **asdict(rule)}


def load_rule(data: Mapping[str, Any]) -> SessionRule:
    """Read what `dump_rule` gave.

    Raises:
        KeyError, TypeError: For anything else.
    """
    made = _KINDS[data["kind"]]
    body = {name: data[name] for name in (each.name for each in fields(made)) if name != "anchor"}
    if "surfaces" in body:
        body["surfaces"] = tuple(body["surfaces"])
    return made(anchor=Anchor(**data["anchor"]), **body)
