"""The question put to the human, and the answer.

Lives here: `Prompt` and `Reply` as they lie on disk, and their strict reading. Any user interface is a reader of
prompts and a writer of replies. Never here: a file being opened, the queue (`seat/`), what an answer causes.

What a prompt holds of a requester is untrusted text, kept as it came: whoever shows it has to escape it with `shown`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from fwdperm.errors import ChildError, OperatorError
from fwdperm.settings import LONGEST_GRANT_MS, NOTE_CHARS, PATTERNS, VALUE_CHARS
from fwdperm.wire.safe_text import shown
from fwdperm.wire.strict import strict_loads

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MILD: Final = frozenset({"read-only", "routine", "ruled"})
_WORD_CHARS: Final = 80


class OnDisk(BaseModel):
    """What all these files have in common: frozen, strictly checked, keys in camelCase."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
    )


class PromptUnit(OnDisk):
    """One thing that has to be permitted, and what was found for it.

    Attributes:
        surface: What kind of thing.
        text: The unit's first spelling (untrusted).
        action: `allow`, `ask`, `deny` or `-` for no opinion.
        rule: The pattern of the rule that spoke; empty for a default.
        origin: Where that rule stands: `file:line`.
        danger: Its class: `read-only`, `routine`, `ruled`, `dangerous`, `critical`.
        id: Stable id of the guard's reason for that class.
        reason: The reason in words, or why an allow did not count.
    """

    surface: str
    text: str
    action: str = "-"
    rule: str = ""
    origin: str = ""
    danger: str = ""
    id: str = ""
    reason: str = ""


class PromptJudge(OnDisk):
    """What the judge said, or why it was silent.

    Attributes:
        verdict: `allow`, `reject` or `escalate`; empty when it was silent.
        risk: `low` to `critical`; empty when it was silent.
        reason: Its sentence (untrusted: it read untrusted text).
        failure: Code of its silence: `timeout`, `no_key`, ...; empty when it spoke.
    """

    verdict: str = ""
    risk: str = ""
    reason: str = ""
    failure: str = ""


class PromptSuggestion(OnDisk):
    """One rule that *always* would record."""

    surface: str
    pattern: str


class Prompt(OnDisk):
    """One question as every interface shows it.

    Attributes:
        id: The request's id. Unique together with `inbox`.
        inbox: The session whose inbox the request lay in.
        digest: sha-256 (hex) of the request's bytes. An answer is bound to it.
        chain: Sessions from the root down to the requester (untrusted below the inbox).
        agent: The requester's agent name (untrusted).
        surface: What kind of thing is asked for.
        values: Every spelling of it, the one as typed first (untrusted).
        cwd: The requester's working directory (untrusted); empty when it did not say.
        units: What has to be permitted, and what was found for each.
        danger: The worst class over all units. A name this version does not know counts as dangerous.
        why: Why it got to a human, in our words.
        judge: What the judge said; None when it was not asked.
        suggestions: What *always* would record; empty when *always* is not offered.
        only_human: True when a rule says `only = "human"`: *always* is not offered.
        created_at: When the daemon took the request up, epoch milliseconds.
        deadline_at: When it expires, the smaller of the requester's deadline and ours, epoch milliseconds.
        message: The requester's own text about it (untrusted).
        source: `tool_call`, `skill_input`, `skill_read`, ...
        tool: The tool's name (untrusted).
        suspicions: What about the text could deceive a reader, in words.
        v: Version of this form.
    """

    model_config = ConfigDict(title="Prompt")

    id: str
    inbox: str
    digest: str
    chain: tuple[str, ...]
    agent: str = ""
    surface: str
    values: tuple[str, ...]
    cwd: str = ""
    units: tuple[PromptUnit, ...] = ()
    danger: str
    why: str
    judge: PromptJudge | None = None
    suggestions: tuple[PromptSuggestion, ...] = ()
    only_human: bool = False
    created_at: int
    deadline_at: int
    message: str = ""
    source: str = "tool_call"
    tool: str = ""
    suspicions: tuple[str, ...] = ()
    v: Literal[1] = 1

    @property
    def key(self) -> tuple[str, str]:
        """(inbox, id): at most one decision for it, for ever."""
        return (self.inbox, self.id)

    @property
    def is_grave(self) -> bool:
        """Say whether approving takes the whole word `yes`: for dangerous and critical, and for unknown classes."""
        return self.danger not in _MILD

    @property
    def offers_always(self) -> bool:
        """Say whether *always* may be answered: something would be recorded, and a grant may cover it."""
        return bool(self.suggestions) and not self.is_grave and not self.only_human


class ReplyKind(StrEnum):
    """The three answers."""

    ONCE = "once"
    ALWAYS = "always"
    REJECT = "reject"


class Scope(StrEnum):
    """Where an *always* holds."""

    REQUESTER = "requester"
    SUBTREE = "subtree"
    TREE = "tree"
    PROJECT = "project"


class Reply(OnDisk):
    """A person's answer. `{"reply": "once"}` alone is valid, for ever.

    Attributes:
        reply: `once`, `always` or `reject`.
        feedback: A note for the agent, at most `settings.NOTE_CHARS` characters; blank counts as none.
        patterns: With `always`: what to record in place of the suggestions.
        scope: With `always`: where it holds; the requester alone when left out.
        session: With `always`: an ancestor of the requester below which it holds, in place of a scope's own choice.
        expires_in_ms: With `always`: for how many milliseconds; to the end of the session when left out.
        id: The request's id, where the answer says which question it is for.
        inbox: As above.
        digest: As above: the digest that was on screen. An answer to another digest is refused.
        via: The interface it came through, as that interface calls itself.
        user: Who answered, as the interface knows them.
        look: With `always`: only tell what it would record. Nothing is answered and nothing recorded.
    """

    model_config = ConfigDict(title="Reply", extra="forbid")

    reply: ReplyKind
    feedback: Annotated[str, Field(max_length=NOTE_CHARS)] | None = None
    patterns: (
        Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=VALUE_CHARS)], ...],
            Field(min_length=1, max_length=PATTERNS),
        ]
        | None
    ) = None
    scope: Scope | None = None
    session: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    expires_in_ms: Annotated[int, Field(gt=0, le=LONGEST_GRANT_MS)] | None = None
    id: Annotated[str, Field(max_length=256)] | None = None
    inbox: Annotated[str, Field(max_length=256)] | None = None
    digest: Annotated[str, Field(max_length=128)] | None = None
    via: Annotated[str, Field(max_length=256)] | None = None
    user: Annotated[str, Field(max_length=256)] | None = None
    look: bool | None = None

    @model_validator(mode="after")
    def _only_always_records(self) -> Self:
        """Raise ValueError when another answer has fields that are for *always*: they would be ignored silently."""
        if self.reply is not ReplyKind.ALWAYS:
            for name in ("patterns", "scope", "session", "expires_in_ms", "look"):
                if getattr(self, name) is not None:
                    raise ValueError(f"`{to_camel(name)}` goes with `always`, not with `{self.reply}`")
        return self

    @property
    def note(self) -> str:
        """The note without surrounding blanks; empty when there is none."""
        return (self.feedback or "").strip()


class Fate(StrEnum):
    """What became of an answer that was left as a file."""

    ACCEPTED = "accepted"
    ALREADY_DECIDED = "already_decided"
    UNKNOWN = "unknown"
    STALE = "stale"
    REFUSED = "refused"
    SHOWN = "shown"
    NOT_TAKEN = "not_taken"
    NOT_SAID = "not_said"


class ReplyOutcome(OnDisk):
    """What the daemon tells whoever left an answer.

    Attributes:
        outcome: What became of it. `shown` answers a look: nothing was answered.
            `not_taken` (nobody serves; the answer was taken back) and `not_said` (the daemon took it,
            and did not say what became of it) are never written by the daemon, only used by whoever left the answer.
        words: The same for a person, who decided included.
        lines: What an *always* would record, a line each, safe to show.
        v: Version of this form.
    """

    model_config = ConfigDict(title="ReplyOutcome")

    outcome: Fate
    words: str = ""
    lines: tuple[str, ...] = ()
    v: Literal[1] = 1


def parse_outcome(data: bytes) -> ReplyOutcome:
    """Read what became of an answer.

    Raises:
        OperatorError: When it is none of version 1. What became of the answer is then not known.
    """
    return read_form(ReplyOutcome, data, what="outcome")


def parse_reply(data: bytes) -> Reply:
    """Read an answer.

    Args:
        data: The bytes of one reply file.

    Returns:
        The answer.

    Raises:
        OperatorError: For anything that is not exactly a reply: bad JSON, a duplicate key, an unknown key, a wrong
            type, a value out of range. Its text says what, in words safe to show. Fails closed: nothing is answered.
    """
    return read_form(Reply, data, what="reply")


def parse_prompt(data: bytes) -> Prompt:
    """Read a question, as an interface does. Keys this version does not know are ignored.

    Raises:
        OperatorError: When it is not a prompt of version 1. Fails closed: it cannot be answered from here.
    """
    return read_form(Prompt, data, what="prompt")


def encode_form(value: OnDisk) -> bytes:
    """Give the bytes of a prompt's, reply's, outcome's or rule command's file; fields that are None are left out."""
    return value.model_dump_json(by_alias=True, exclude_none=True).encode()


FormT = TypeVar("FormT", bound=OnDisk)


def read_form(model: type[FormT], data: bytes, *, what: str) -> FormT:
    """Read one form strictly, by its keys as they lie on disk.

    Args:
        model: Which.
        data: The bytes of one file.
        what: What to call it in messages.

    Raises:
        OperatorError: For anything else, with words that are safe to show. Fails closed: nothing was said.
    """
    try:
        strict_loads(data)
        # By alias alone: a file has one spelling for each key.
        return model.model_validate_json(data, by_alias=True, by_name=False)
    except ChildError as error:
        raise OperatorError(f"{what} {error.reason}") from None
    except ValidationError as error:
        raise OperatorError(f"{what}: {_words(error.errors(include_url=False)[0])}") from None


def _words(detail: ErrorDetails) -> str:
    """Say in one line what is wrong and what was expected."""
    where = ".".join(str(part) for part in detail["loc"])
    name = f"`{shown(where)[:_WORD_CHARS]}`"
    match detail["type"]:
        case "extra_forbidden":
            return f"unknown key {name}"
        case "missing":
            return f"{name} is missing"
        case "value_error":
            return str(detail["ctx"]["error"])
        case "string_too_long" | "too_long":
            return f"{name} is too long, expected at most {detail['ctx']['max_length']}"
        case "string_too_short" | "too_short":
            return f"{name} is empty"
        case "enum" | "literal_error":
            return f"{name} is {_quoted(detail['input'])}, expected {detail['ctx']['expected'].replace(chr(39), '`')}"
        case _:
            message = detail["msg"]
            prefix = f"{name} " if where else ""
            return f"{prefix}is {_quoted(detail['input'])}: {message[:1].lower()}{message[1:]}"


def _quoted(value: Any) -> str:
    text = shown(value if isinstance(value, str) else repr(value))
    return f"`{text[:_WORD_CHARS]}{'...' if len(text) > _WORD_CHARS else ''}`"
