"""What crosses a process boundary, as frozen values.

Lives here: ids, requests, responses, prompts and replies, heartbeats, and the strict reading of their JSON.
Never here: a file being opened (that is `inbox/`), a decision.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.wire.decision import Decision, Outcome, RuleRef, Stage, UndecidedCode, UnitEvidence
    from fwdperm.wire.ids import decode_session, encode_session, is_request_id
    from fwdperm.wire.json_text import JsonError, read_json, write_json
    from fwdperm.wire.prompt import (
        Fate,
        Prompt,
        PromptJudge,
        PromptSuggestion,
        PromptUnit,
        Reply,
        ReplyKind,
        ReplyOutcome,
        Scope,
        encode_form,
        parse_outcome,
        parse_prompt,
        parse_reply,
    )
    from fwdperm.wire.proof import digest_of, is_same_digest, prove, short_digest
    from fwdperm.wire.request import Facts, Request, RequestKey
    from fwdperm.wire.request_file import read_request
    from fwdperm.wire.response import encode_response, response_to
    from fwdperm.wire.rule_command import RuleCommand, parse_rule_command
    from fwdperm.wire.safe_text import Clipped, fit, shown, suspicions
    from fwdperm.wire.schemas import SCHEMAS
    from fwdperm.wire.strict import strict_loads
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "decision": ("Decision", "Outcome", "RuleRef", "Stage", "UndecidedCode", "UnitEvidence"),
            "ids": ("decode_session", "encode_session", "is_request_id"),
            "json_text": ("JsonError", "read_json", "write_json"),
            "prompt": (
                "Fate",
                "Prompt",
                "PromptJudge",
                "PromptSuggestion",
                "PromptUnit",
                "Reply",
                "ReplyKind",
                "ReplyOutcome",
                "Scope",
                "encode_form",
                "parse_outcome",
                "parse_prompt",
                "parse_reply",
            ),
            "proof": ("digest_of", "is_same_digest", "prove", "short_digest"),
            "request": ("Facts", "Request", "RequestKey"),
            "request_file": ("read_request",),
            "response": ("encode_response", "response_to"),
            "rule_command": ("RuleCommand", "parse_rule_command"),
            "safe_text": ("Clipped", "fit", "shown", "suspicions"),
            "schemas": ("SCHEMAS",),
            "strict": ("strict_loads",),
        },
    )

__all__ = [
    "SCHEMAS",
    "Clipped",
    "Decision",
    "Facts",
    "Fate",
    "JsonError",
    "Outcome",
    "Prompt",
    "PromptJudge",
    "PromptSuggestion",
    "PromptUnit",
    "Reply",
    "ReplyKind",
    "ReplyOutcome",
    "Request",
    "RequestKey",
    "RuleCommand",
    "RuleRef",
    "Scope",
    "Stage",
    "UndecidedCode",
    "UnitEvidence",
    "decode_session",
    "digest_of",
    "encode_form",
    "encode_response",
    "encode_session",
    "fit",
    "is_request_id",
    "is_same_digest",
    "parse_outcome",
    "parse_prompt",
    "parse_reply",
    "parse_rule_command",
    "prove",
    "read_json",
    "read_request",
    "response_to",
    "short_digest",
    "shown",
    "strict_loads",
    "suspicions",
    "write_json",
]
