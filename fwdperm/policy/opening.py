"""Opening the recorded rules of a root, for the daemon and for the commands that explain what it would do.

Lives here: `open_rulebook`. Never here: serving.
"""

from __future__ import annotations

from pathlib import Path

from fwdperm.policy.projects import Projects
from fwdperm.policy.rulebook import Rulebook
from fwdperm.rules import RulesetFiles, TrustStore
from fwdperm.sessions import SessionTree


def open_rulebook(  # noqa: PLR0913 - where everything lies
    *,
    root: Path,
    state: Path,
    config: Path,
    workspace: str,
    sessions: SessionTree | None = None,
    last_good: bytes | None = None,
) -> Rulebook:
    """Open what is recorded for a root.

    Args:
        root: The inbox tree.
        state: The state directory.
        config: The user's rules and settings; it need not exist.
        workspace: The directory the caller vouches for; empty for none.
        sessions: The tree of sessions; a new one when left out.
        last_good: What the configuration said before; see `RulesetFiles`.
    """
    trust = TrustStore(state / "trust.json")
    files = RulesetFiles(user=config, trust=trust, last_good=last_good)
    return Rulebook(
        files,
        sessions or SessionTree(),
        state=state,
        own=(root, state, config),
        workspace=workspace,
        home=str(Path.home()),
        projects=Projects(files, trust),
    )
