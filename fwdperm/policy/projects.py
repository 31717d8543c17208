"""Grants for a project: read from its file where that is trusted, written there when a person chose so.

Lives here: `Projects`. An edge. Never here: the file's rules (`rules/`), which grants a request may use.

An edit keeps everything else in the file, comments too. The user trusts a file's content, not its name, so an edit of
ours would end that trust: the edited file is trusted again only if it was trusted, or absent, just before. Direction of
every failure: nothing is granted.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

import tomlkit
from tomlkit.exceptions import TOMLKitError

from fwdperm.errors import EnvironmentFailure
from fwdperm.rules import PROJECT_SETTINGS, RULESET_BYTES, LayerKind, read_config, read_file, write_private
from fwdperm.session_rules import NO_PROJECT, ProjectGrants, read_grants

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fwdperm.rules import RulesetFiles, TrustStore
    from fwdperm.session_rules import Grant

_MODE = 0o644
"""Permission bits of a project file that we create: the project's other tools may read it."""
_KEPT = 64
"""Directories whose project grants are kept indexed."""
_FOUND = 1_024
"""Directories whose grants are remembered until the next look at the disk. Bounded, because a child may claim to work
in any directory, and in a new one each time."""


class Projects:
    """The project files' grants.

    Args:
        files: Finds and reads project files.
        trust: Which of them the user vouches for.
    """

    def __init__(self, files: RulesetFiles, trust: TrustStore) -> None:
        self._files = files
        self._trust = trust
        self._indexed: dict[tuple[int, ...], tuple[ProjectGrants, list[object]]] = {}
        self._found: dict[str, ProjectGrants] = {}

    def forget(self) -> None:
        """Forget what was found on disk. Whoever asks for grants calls it at least once a second."""
        self._found.clear()

    def grants(self, cwd: str) -> ProjectGrants:
        """Give what the trusted project files of a directory grant; until `forget` without another look at the disk."""
        found = self._found.get(cwd)
        if found is None:
            if len(self._found) >= _FOUND:
                self._found.clear()
            found = self._found[cwd] = self._look(cwd)
        return found

    def _look(self, cwd: str) -> ProjectGrants:
        said = [
            (path, config.settings["grants"])
            for path, config, trusted in self._files.projects(cwd)
            if trusted and not config.layer.broken and "grants" in config.settings
        ]
        if not said:
            return NO_PROJECT
        key = tuple(id(setting) for _, setting in said)
        kept = self._indexed.get(key)
        if kept is None:
            grants: list[Grant] = []
            for path, setting in said:
                grants.extend(read_grants(setting.value, file=str(path)))
            # The key holds id(setting), and Python gives the id of a freed object to a new one: keeping the settings
            # beside the index keeps a new setting from being taken for an old one.
            kept = self._indexed[key] = (ProjectGrants.of(grants), [setting for _, setting in said])
            while len(self._indexed) > _KEPT:
                del self._indexed[next(iter(self._indexed))]
        return kept[0]

    def file_of(self, cwd: str) -> Path | None:
        """Give the file that holds the grants for a directory's project; None outside the workspaces."""
        return self._files.project_path(cwd) if cwd else None

    def objection(self, cwd: str) -> str:
        """Say why nothing can be granted for the project of a directory, and what to do; empty when it can."""
        path = self._files.project_path(cwd) if cwd else None
        if path is None:
            return "the request's directory lies in no workspace you vouch for; choose another scope"
        if not self._files.lies_inside(path):
            return f"`{path}` lies outside the workspace, behind a link; choose another scope"
        try:
            data, is_ours = self._content(path)
        except EnvironmentFailure as error:
            return f"cannot read `{path}`: {error}"
        if not is_ours:
            return f"`{path}` is not trusted as it is now; read it, then run `fwdperm trust {path}`"
        if not os.access(path.parent, os.W_OK):
            return f"`{path.parent}` cannot be written; choose another scope"
        try:
            tomlkit.parse(data.decode())
        except (TOMLKitError, ValueError) as error:
            return f"`{path}` cannot be edited: {error}"
        return ""

    def add(  # noqa: PLR0913 - what a grant says of itself
        self, cwd: str, pairs: Sequence[tuple[str, str]], *, by: str, answer: str, at: str, note: str, expires_at: int
    ) -> Path:
        """Write grants into the project's file.

        Args:
            cwd: The directory.
            pairs: (surface, pattern) of each.
            by: Who granted it.
            answer: `inbox/id` of the request that was answered.
            at: When, for people.
            note: Their words.
            expires_at: Epoch milliseconds; 0 for no end.

        Returns:
            The file.

        Raises:
            EnvironmentFailure: It cannot be written, or is not trusted any more; it is as it was before.
        """
        words = self.objection(cwd)
        path = self._files.project_path(cwd)
        if words or path is None:
            raise EnvironmentFailure(words)
        data, is_ours = self._content(path)
        if not is_ours:  # somebody changed it since it was trusted: to trust our edit would be to trust theirs
            raise EnvironmentFailure(f"`{path}` is not trusted as it is now")
        edited = _edited(data, pairs, by=by, answer=answer, at=at, note=note, expires_at=expires_at)
        if read_config(edited, file=str(path), kind=LayerKind.PROJECT, settings=PROJECT_SETTINGS).layer.broken:
            raise EnvironmentFailure(f"`{path}` could not be edited and was left as it was")
        try:
            mode = stat.S_IMODE(path.lstat().st_mode)
        except OSError:
            mode = _MODE
        # The permission bits are set before the new file gets its name. A chmod by name afterwards could change another
        # file, which somebody put in its place meanwhile.
        write_private(path, edited, mode=mode)
        self._trust.trust(path, digest=hashlib.sha256(edited).hexdigest())
        self._files.reload()
        self.forget()
        return path

    def _content(self, path: Path) -> tuple[bytes, bool]:
        """Give a file's bytes, and whether we may vouch for our own edit of it: trusted, or absent."""
        try:
            content = read_file(path, limit=RULESET_BYTES, follow=False)
        except FileNotFoundError:
            return b"", True
        return content.data, self._trust.is_trusted(path, digest=content.digest)


def _edited(  # noqa: PLR0913 - what a grant says of itself
    data: bytes, pairs: Sequence[tuple[str, str]], *, by: str, answer: str, at: str, note: str, expires_at: int
) -> bytes:
    """Give the file's text with the grants added that are not in it yet, and nothing else changed."""
    document = tomlkit.parse(data.decode())
    rows = document.get("grants")
    if rows is None:
        rows = tomlkit.aot()
        document["grants"] = rows
    there = {(str(row.get("surface", "")), str(row.get("pattern", ""))) for row in rows if not row.get("expires_at_ms")}
    for surface, pattern in pairs:
        if (surface, pattern) in there and not expires_at:
            continue
        row = tomlkit.table()
        row.add(tomlkit.comment(f"granted by {_line(by)} on {at}, answering {_line(answer)}"))
        row["surface"] = surface
        row["pattern"] = pattern
        row["by"] = by
        if note:
            row["note"] = note
        if expires_at:
            row["expires_at_ms"] = expires_at
        rows.append(row)
    return tomlkit.dumps(document).encode()


def _line(text: str) -> str:
    """Replace what could end a TOML comment (line breaks, control characters) by `?`."""
    return "".join(char if char.isprintable() else "?" for char in text)
