"""The fields of agents' tool calls: what each is known to hold, and reading them from one call.

Lives here: the only table of the names of fields that hold a path, a directory, a glob, a command, a patch or an
address, and of those that hold nothing a rule could be about; `ToolCall`, which reads one call by it. Pure. Standard
library only. Never here: what a tool accesses (`tool_calls.py`).

Fails closed: a field that is not in the table may hold a path, in a newer agent. Such a field, fields that contradict
each other, and fields that cannot be read are *doubts*, and with a doubt a person has to look at the call.
"""

from __future__ import annotations

from posixpath import join, normpath

from fwdperm.agents.event import Access, BadEvent
from fwdperm.agents.summary import LONGEST_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Final

PATHS: Final = (
    "file_path", "path", "absolute_path", "filePath", "filepath", "notebook_path", "fileName", "dir_path",
    "paths", "file_paths", "filePaths",
)  # fmt: skip
"""Fields that say which file or directory a tool opens; a list names several."""
PLACES: Final = ("directory", "dir_path", "workdir", "cwd", "working_directory", "workingDirectory")
"""Fields that say which directory a command runs in."""
COMMANDS: Final = ("command", "cmd", "fullCommandText", "script")
GLOBS: Final = ("glob", "globs", "include", "includes", "include_pattern", "includePattern")
"""Fields that say which files below a directory a tool reads."""
PATTERNS: Final = ("pattern", "patterns")
"""Fields that hold a glob in a search for file names, and a regular expression in a search for texts."""
PATCHES: Final = ("input", "patch", "patchText", "patch_text", "command")
ADDRESSES: Final = ("url", "uri", "address")
AGENTS: Final = ("subagent_type", "agent_type", "agentType", "agent_name", "agent")
SKILLS: Final = ("skill", "command", "name")


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAID: Final = _f("description justification explanation intention")
"""What an agent says about a call, in any tool."""
_CONTENTS: Final = _f(
    "content contents file_text new_source diff edits old_string new_string old_str new_str oldString newString "
    "oldText newText"
)
EDIT: Final = _f(
    "old_string new_string old_str new_str oldString newString oldText newText replace_all replaceAll "
    "expected_replacements"
)
"""Fields of each of several edits of one file."""
PLAIN: Final[Mapping[str, frozenset[str]]] = {
    "command": _SAID
    | _f(
        "timeout timeout_ms timeoutMs timeoutSec yield_time_ms max_output_tokens run_in_background is_background "
        "isBackground dangerouslyDisableSandbox sandbox_permissions with_escalated_permissions prefix_rule shell login "
        "tty async mode sessionId shellId initial_wait detach delay_ms"
    ),
    "file": _SAID
    | _CONTENTS
    | EDIT
    | _f(
        "offset limit pages start_line end_line view_range forceReadLargeFiles cell_id cell_number cell_type edit_mode "
        "instruction allow_multiple insert_line insert_text modified_by_user ai_proposed_content overwrite command "
        "mode indentation detail"
    ),
    "search": _SAID
    | _f(
        "pattern query type output_mode -A -B -C -n -i -o -l -c context before after head_limit offset limit multiline "
        "case_sensitive ignoreCase ignore_case literal fixed_strings names_only max_matches_per_file max_results "
        "total_max_matches exclude exclude_pattern excludes ignore respect_git_ignore respect_gemini_ignore no_ignore "
        "file_filtering_options useDefaultExcludes recursive depth"
    ),
    "web": _SAID | _f("prompt format timeout max_length start_index raw"),
    "web search": _SAID
    | _f(
        "query allowed_domains blocked_domains numResults num_results livecrawl type contextMaxCharacters provider "
        "max_results"
    ),
    "agent": _SAID
    | _f(
        "prompt message items model run_in_background resume name team_name task_id command fork_context "
        "reasoning_effort max_turns mode isolation"
    ),
    "skill": _SAID | _f("args arguments"),
    "patch": _SAID,
}
"""Kind of tool -> its fields that name nothing a rule could be about."""
FILES: Final = 64
"""Files one call may touch: each is a question of its own."""
STRANGE: Final = 12
"""Texts from unknown fields that are matched as paths, too. More are not, but a person looks at such a call anyway."""
_STRANGE_CHARS: Final = 1024
_DEPTH: Final = 4
_DOUBTS: Final = 4
"""Doubts that are named to the person."""
NOTHING: Final[tuple[Any, ...]] = (None, "", [], {})
"""Values of a field that mean the same as leaving it out."""


class ToolCall:
    """One tool call while it is read.

    Attributes:
        tool: The tool's name as the agent writes it.
        input: Its input.
        cwd: The working directory it is meant in; empty when not known.
        doubts: Why a person must look, in words.
    """

    __slots__ = ("cwd", "doubts", "input", "tool")

    def __init__(self, tool: str, tool_input: Mapping[str, Any], cwd: str) -> None:
        self.tool = tool
        self.input = tool_input
        self.cwd = cwd
        self.doubts: dict[str, None] = {}

    def texts(self, names: Sequence[str], *, what: str, same: Callable[[str], str] = str.strip) -> list[str]:
        """Give the texts in some fields, each once. Fields that hold different texts are a doubt.

        Args:
            names: The fields. A list in one may hold several texts without a doubt.
            what: What the texts are, in the plural, for people.
            same: Gives a form of a text that is equal for two texts that mean the same.

        Raises:
            BadEvent: There are more than FILES.
        """
        found: dict[str, str] = {}
        single: set[str] = set()
        for name in names:
            said = self.input.get(name)
            for text in said if isinstance(said, list) else [said]:
                if isinstance(text, str):
                    if text.strip():
                        found.setdefault(same(text), text)
                        single.update({same(text)} if isinstance(said, str) else ())
                elif text is not None:
                    self.doubt(f"its `{name}` is no text")
        if single and len(found) > 1:
            self.doubt(f"it names several {what} that differ")
        if len(found) > FILES:
            raise BadEvent(f"`{self.tool}` names {len(found)} {what}, at most {FILES} are asked about")
        return list(found.values())

    def paths(self) -> list[str]:
        """Give every path it names; if it also names a directory to run in, each path below that, too."""
        found = self.texts(PATHS, what="paths", same=self.resolved)
        for place in self.places(but=frozenset(PATHS)):
            self.doubt("it names a directory of its own")
            found += [join(place, path) for path in found] or [place]
        return found

    def places(self, *, but: frozenset[str] = frozenset()) -> list[str]:
        """Give the directories it names to run in, without the working directory, where it would run anyway."""
        names = [name for name in PLACES if name not in but]
        found = self.texts(names, what="directories", same=self.resolved)
        return [place for place in found if self.resolved(place) != (normpath(self.cwd) if self.cwd else ".")]

    def resolved(self, path: str) -> str:
        """Give a path joined to the working directory, with `.` and `..` resolved."""
        return normpath(join(self.cwd, path.strip()))

    def check(self, kind: str, *known: Sequence[str]) -> list[str]:
        """Make a doubt of every field that this kind of tool is not known to have; give the texts in those fields.

        Args:
            kind: A key of PLAIN.
            known: Further fields that are read elsewhere.
        """
        plain = PLAIN[kind].union(*known)
        strange = {name: said for name, said in self.input.items() if name not in plain and said not in NOTHING}
        texts: list[str] = []
        for name, said in strange.items():
            shown = "".join(char if char.isprintable() and char != "`" else "?" for char in str(name)[:40])
            self.doubt(f"it has a field fwdperm does not know (`{shown}`)")
            texts += leaves(said)
        return [text for text in texts if text.strip() and len(text) <= _STRANGE_CHARS][:STRANGE]

    def doubt(self, why: str) -> None:
        """Note a reason, in words, for which a person has to look at the call."""
        self.doubts[why] = None

    @property
    def floor(self) -> str:
        """Give every doubt in one sentence; empty for none."""
        return f"`{self.tool}`: {'; '.join(list(self.doubts)[:_DOUBTS])}" if self.doubts else ""

    def each(self, surface: str, values: Sequence[str], *, message: str = "") -> tuple[Access, ...]:
        """Ask about each value by itself."""
        return tuple(Access(surface, (value,), message=message, floor=self.floor) for value in values)

    def said(self, *names: str) -> str:
        """Give the text in the first of some fields that holds one, clipped for showing."""
        found = (self.input.get(name) for name in names)
        return next((text[:LONGEST_TEXT] for text in found if isinstance(text, str) and text.strip()), "")


def leaves(value: Any, depth: int = 0) -> Iterator[str]:
    """Give all texts in a JSON value, the names of members included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth < _DEPTH:
        for name, member in value.items():
            yield str(name)
            yield from leaves(member, depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for member in value:
            yield from leaves(member, depth + 1)
