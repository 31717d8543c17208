"""One small mapping per agent, and the process that agents start for every question.

Lives here: `tools.py` (an agent's tool call as what it accesses), one dialect per agent (`claude.py`, `codex.py`,
`copilot.py`, ...: its event in, its words out), `hook.py` (the process), `opencode*.py` (the bridge to a running
server), `claude_sdk.py` (a callback for Python), `importing/` (other permission settings as our rules).
Never here: a decision. Whatever cannot be understood is denied in the agent's own words.

What `hook.py` loads is standard library only, and little of it: it starts once per tool call.
"""
