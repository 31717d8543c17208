"""Which rules and settings hold for a request, as they stand on this machine now. Needs no daemon.

`config.py`, `judge_config.py`  the operator's settings, checked
`rulebook.py`      the rulesets along a requester's parent chain, and the context of its decision
`projects.py`      what a project's own file grants
`opening.py`       finding all of it, for the daemon and for commands
`taught_rules.py`  session rules, bound to the tree, the clock and the projects
`teaching.py`      what a person's answer, addition or withdrawal does to them
`recall.py`        the same, read from the journal by a process that does not own it
`briefing.py`      what a judge is shown of a request
`suggesting.py`    what rules would have saved prompts

Lives here: reading what the operator and the people wrote. Never here: matching (`rules/`), deciding (`decision/`), a
request's way through the daemon (`serve/`).
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true, and so see where each name comes from
if TYPE_CHECKING:
    from fwdperm.policy.briefing import background_of, epoch_of, matter_of
    from fwdperm.policy.config import Config, read_settings
    from fwdperm.policy.opening import open_rulebook
    from fwdperm.policy.projects import Projects
    from fwdperm.policy.recall import Recalled, SnapshotFile, recall_session_rules, recall_taught_rules, rule_row
    from fwdperm.policy.rulebook import Rulebook
    from fwdperm.policy.suggesting import suggest_change
    from fwdperm.policy.taught_rules import TaughtRules
    from fwdperm.policy.teaching import Teaching
else:
    from fwdperm._doors import open_door

    __getattr__, __dir__ = open_door(
        __name__,
        {
            "briefing": ("background_of", "epoch_of", "matter_of"),
            "config": ("Config", "read_settings"),
            "opening": ("open_rulebook",),
            "projects": ("Projects",),
            "recall": ("Recalled", "SnapshotFile", "recall_session_rules", "recall_taught_rules", "rule_row"),
            "rulebook": ("Rulebook",),
            "suggesting": ("suggest_change",),
            "taught_rules": ("TaughtRules",),
            "teaching": ("Teaching",),
        },
    )

__all__ = [
    "Config",
    "Projects",
    "Recalled",
    "Rulebook",
    "SnapshotFile",
    "TaughtRules",
    "Teaching",
    "background_of",
    "epoch_of",
    "matter_of",
    "open_rulebook",
    "read_settings",
    "recall_session_rules",
    "recall_taught_rules",
    "rule_row",
    "suggest_change",
]
