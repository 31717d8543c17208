"""Session rules: what people taught by their replies, and the history beside them.

`values.py`          what can be taught, and where it holds
`fold.py`            journal entries -> what was taught, one by one, the same after every restart
`grants.py`          the grant that covers a unit, found among ten thousand
`view.py`            what one requester may use of it: scope by the parent chain, expiry
`proposal.py`        what an *always* would teach, checked against its own request before it counts
`turn_starts.py`     which notes the judge may read in a turn
`judge_sections.py`  the rules section as the judge reads it
`history.py`         what was decided lately, and how often: for the judge and for the preview
`project.py`         grants that a project's file keeps
`preview.py`         what a person reads before a rule is saved

Lives here: computation only. Never here: a clock, the disk, a session's tree (the caller gives the chain).
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.session_rules.fold import RulesFold, RuleUse
    from fwdperm.session_rules.history import HistoryFold, Past, history_section
    from fwdperm.session_rules.judge_sections import MOST_RULES, project_rules, project_section, rules_section
    from fwdperm.session_rules.preview import preview_lines
    from fwdperm.session_rules.project import NO_PROJECT, ProjectGrants, read_grants
    from fwdperm.session_rules.proposal import Objection, Proposal, matching_patterns, proposal_of
    from fwdperm.session_rules.turn_starts import TurnStarts
    from fwdperm.session_rules.values import (
        REQUESTER,
        TREE,
        Anchor,
        Grant,
        Guidance,
        Refusal,
        SessionRule,
        kind_of,
    )
    from fwdperm.session_rules.view import ChainStep, SessionRulesView
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "fold": ("RulesFold", "RuleUse"),
            "history": ("HistoryFold", "Past", "history_section"),
            "judge_sections": ("MOST_RULES", "project_rules", "project_section", "rules_section"),
            "preview": ("preview_lines",),
            "project": ("NO_PROJECT", "ProjectGrants", "read_grants"),
            "proposal": ("Objection", "Proposal", "matching_patterns", "proposal_of"),
            "turn_starts": ("TurnStarts",),
            "values": (
                "Anchor",
                "Grant",
                "Guidance",
                "REQUESTER",
                "Refusal",
                "SessionRule",
                "TREE",
                "kind_of",
            ),
            "view": ("ChainStep", "SessionRulesView"),
        },
    )

__all__ = [
    "MOST_RULES",
    "NO_PROJECT",
    "REQUESTER",
    "TREE",
    "Anchor",
    "ChainStep",
    "Grant",
    "Guidance",
    "HistoryFold",
    "Objection",
    "Past",
    "ProjectGrants",
    "Proposal",
    "Refusal",
    "RuleUse",
    "RulesFold",
    "SessionRule",
    "SessionRulesView",
    "TurnStarts",
    "history_section",
    "kind_of",
    "matching_patterns",
    "preview_lines",
    "project_rules",
    "project_section",
    "proposal_of",
    "read_grants",
    "rules_section",
]
