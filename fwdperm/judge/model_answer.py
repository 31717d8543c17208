"""Reading a model's answer: strictly, because a request may have talked the model into writing anything.

Lives here: `SCHEMA`, `read_answer`, `read_message`. Pure. Never here: a call, what becomes of the verdict.

Fails closed: whatever is not exactly one well-formed, consistent answer is a `Silence`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fwdperm.errors import ChildError
from fwdperm.judge.verdict import Choice, Effect, Risk, Silence, SilenceCode, Verdict
from fwdperm.wire import strict_loads

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

REASON_CHARS: Final = 500
"""Characters of the reason: one sentence."""
RULE_CHARS: Final = 128
ANSWER_CHARS: Final = 8_000
"""Characters of an answer; a well-formed one has a few hundred."""

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["effects", "manipulation", "risk", "rule", "reason", "verdict"],
    "properties": {
        "effects": {"type": "array", "items": {"type": "string", "enum": [str(effect) for effect in Effect]}},
        "manipulation": {"type": "boolean"},
        "risk": {"type": "string", "enum": [str(risk) for risk in Risk]},
        "rule": {"type": "string"},
        "reason": {"type": "string"},
        "verdict": {"type": "string", "enum": [str(choice) for choice in Choice]},
    },
}
"""What the model is asked to fill in. The answer is checked here, also when the service says that it follows this."""
_KEYS: Final = frozenset(SCHEMA["required"])
MALFORMED: Final = frozenset(
    {SilenceCode.NO_TEXT, SilenceCode.BAD_JSON, SilenceCode.DUPLICATE_KEY, SilenceCode.SCHEMA, SilenceCode.INCONSISTENT}
)
"""Silences after which the model is asked once more."""
_STOPS: Final = {
    "refusal": SilenceCode.REFUSED,
    "max_tokens": SilenceCode.TRUNCATED,
    "model_context_window_exceeded": SilenceCode.TOO_LONG,
}
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
_NEVER_LOW: Final = frozenset({Effect.UNKNOWN, Effect.SECRET_ACCESS, Effect.PRIVILEGE, Effect.PERSISTENCE})
"""Effects whose risk is never low: an allow with low risk that names one contradicts itself."""


def read_message(
    stop_reason: str | None, blocks: Sequence[tuple[str, str]], *, rules: Collection[str], model: str
) -> Verdict | Silence:
    """Read a whole message.

    Args:
        stop_reason: Why the model stopped.
        blocks: (type, text) of its content, in order. Thoughts are passed over.
        rules: Ids of the rules that the brief listed: no other can be cited.
        model: Which model was asked.

    Returns:
        The verdict; a `Silence` with its code for everything that is not one.
    """
    if stop_reason != "end_turn":
        code = _STOPS.get(stop_reason or "", SilenceCode.SCHEMA)
        return Silence(code, f"the model stopped with `{(stop_reason or 'nothing')[:40]}`")
    said = [(kind, text) for kind, text in blocks if kind not in _THOUGHTS]
    if not any(kind == "text" and text.strip() for kind, text in said):
        return Silence(SilenceCode.NO_TEXT, "the model wrote nothing")
    if len(said) != 1:
        return Silence(SilenceCode.SCHEMA, f"the model wrote {len(said)} blocks, expected one text")
    return read_answer(said[0][1], rules=rules, model=model)


def read_answer(text: str, *, rules: Collection[str], model: str) -> Verdict | Silence:
    """Read the one text of an answer. Arguments and direction as for `read_message`."""
    if len(text) > ANSWER_CHARS:
        return Silence(SilenceCode.SCHEMA, "the answer is too long to be one")
    try:
        found = strict_loads(text.encode(errors="surrogatepass"))
    except ChildError as error:
        code = SilenceCode.DUPLICATE_KEY if "twice" in error.reason else SilenceCode.BAD_JSON
        return Silence(code, f"the answer {error.reason}"[:200])
    wrong = _wrong(found)
    if wrong:
        return Silence(SilenceCode.SCHEMA, f"the answer {wrong}"[:200])
    made = Verdict(
        choice=Choice(found["verdict"]),
        risk=Risk(found["risk"]),
        reason=" ".join(found["reason"].split()),
        rule=found["rule"].strip(),
        manipulation=found["manipulation"],
        model=model,
        effects=tuple(dict.fromkeys(Effect(effect) for effect in found["effects"])),
    )
    contradiction = _contradiction(made, rules)
    return Silence(SilenceCode.INCONSISTENT, f"the answer {contradiction}") if contradiction else made


def _wrong(found: Any) -> str:
    """Say how the answer's form is wrong; empty when it is right."""
    if not isinstance(found, dict):
        return "is no object"
    if found.keys() != _KEYS:
        odd = sorted(found.keys() ^ _KEYS)
        return f"lacks or adds {', '.join(odd)}"
    effects = found["effects"]
    if not isinstance(effects, list) or not effects or not all(_is_one_of(effect, Effect) for effect in effects):
        return "names no known effects"
    if not isinstance(found["manipulation"], bool):
        return "does not say whether it was manipulated"
    if not _is_one_of(found["risk"], Risk) or not _is_one_of(found["verdict"], Choice):
        return "names an unknown risk or verdict"
    rule, reason = found["rule"], found["reason"]
    if not isinstance(rule, str) or len(rule) > RULE_CHARS:
        return "cites no rule's id"
    if not isinstance(reason, str) or not reason.strip() or len(reason) > REASON_CHARS:
        return "gives no reason of one sentence"
    return ""


def _is_one_of(value: Any, known: type[Effect | Risk | Choice]) -> bool:
    return isinstance(value, str) and value in {str(one) for one in known}


def _contradiction(verdict: Verdict, rules: Collection[str]) -> str:
    """Say how an answer contradicts itself or the brief; empty when it does not."""
    if verdict.rule and verdict.rule not in rules:
        return "cites a rule that it was not shown"
    if verdict.choice is Choice.ALLOW:
        if verdict.risk in (Risk.HIGH, Risk.CRITICAL):
            return f"allows at {verdict.risk} risk"
        if verdict.manipulation:
            return "allows what it calls manipulation"
        if verdict.risk is Risk.LOW and any(effect in _NEVER_LOW for effect in verdict.effects):
            return "calls an effect harmless that never is"
    if verdict.choice is Choice.REJECT and verdict.risk is Risk.LOW:
        return "rejects at low risk"
    return ""
