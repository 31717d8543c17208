"""What the judge says, and what its silence is called.

Lives here: `Verdict`, `Silence`, `Opinion`, the codes of silence, and what a call cost. Pure.
Never here: a model call, a decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Choice(StrEnum):
    """What the judge wants to be done with the request."""

    ALLOW = "allow"
    REJECT = "reject"
    ESCALATE = "escalate"


class Risk(StrEnum):
    """How bad it thinks the request could be."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Effect(StrEnum):
    """What carrying the request out would do, as the judge sees it."""

    READ_LOCAL = "read_local"
    WRITE_LOCAL = "write_local"
    DELETE = "delete"
    EXECUTE_CODE = "execute_code"
    NETWORK_READ = "network_read"
    NETWORK_SEND = "network_send"
    SECRET_ACCESS = "secret_access"  # noqa: S105 - an effect, no secret
    PRIVILEGE = "privilege"
    PERSISTENCE = "persistence"
    REMOTE_CHANGE = "remote_change"
    UNKNOWN = "unknown"


class SilenceCode(StrEnum):
    """Why the judge said nothing."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER = "server"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    NOT_A_MESSAGE = "not_a_message"
    NO_TEXT = "no_text"
    BAD_JSON = "bad_json"
    DUPLICATE_KEY = "duplicate_key"
    SCHEMA = "schema"
    INCONSISTENT = "inconsistent"
    UNREDACTABLE = "unredactable"
    TOO_LONG = "too_long"
    BREAKER_OPEN = "breaker_open"
    BUDGET = "budget"
    DISABLED = "disabled"
    NO_KEY = "no_key"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Call:
    """What one consultation cost, for the journal and for `fwdperm judge`.

    Attributes:
        latency_ms: Milliseconds from being asked to the opinion.
        attempts: Calls that were made; 0 when the model was not called, or another request's call was shared.
        input_tokens: Tokens read and not cached.
        cache_read_tokens: Tokens read from the cache.
        cache_write_tokens: Tokens written to the cache.
        output_tokens: Tokens written.
        microdollars: Cost by the configured prices; 0 when none are configured.
        prefixes: Hash of the brief up to and including each of its sections, in order.
    """

    latency_ms: int = 0
    attempts: int = 0
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    microdollars: int = 0
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One answer of the judge, as parsed. The order may make it stricter, and never looser.

    Attributes:
        choice: What it wants to be done.
        risk: How bad it could be.
        reason: One sentence for the human and the journal; never told to the agent.
        rule: Id of the session rule it cites; empty for none.
        manipulation: True when it saw the request trying to influence it.
        model: Which model spoke.
        effects: What it thinks would happen.
        call: What asking cost.
    """

    choice: Choice
    risk: Risk
    reason: str
    rule: str = ""
    manipulation: bool = False
    model: str = ""
    effects: tuple[Effect, ...] = ()
    call: Call = Call()


@dataclass(frozen=True, slots=True)
class Silence:
    """Why the judge said nothing. Always escalates; never called a denial.

    Attributes:
        code: One of `SilenceCode`.
        words: The same for a person.
        call: What asking cost.
    """

    code: str
    words: str
    call: Call = Call()


Opinion = Verdict | Silence
