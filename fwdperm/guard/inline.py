"""An interpreter's one-liner: the few literal forms of catastrophe in it.

Lives here: `look_inside`. Never here: an attempt to understand a language; inline code is dangerous whatever is found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fwdperm.guard.critical import by_words

if TYPE_CHECKING:
    from fwdperm.guard.surroundings import Location

Hit = tuple[str, str, tuple[str, ...]]

_FETCH_AND_RUN: Final = re.compile(
    r"\b(?:exec|eval|compile|runpy)\b.*\b(?:urlopen|urllib|requests\.get|httpx|fetch\(|"
    r"http\.get|open-uri|LWP|Net::HTTP|file_get_contents)",
    re.DOTALL,
)
"""Code that runs what it brings from the network, in Python, JavaScript, Ruby, Perl or PHP:
`exec(urlopen(u).read())`."""
_RUNS_SHELL: Final = re.compile(
    r"\b(?:system|popen|Popen|subprocess|spawn\w*|exec\w*|execSync|shell_exec|passthru|"
    r"check_output|check_call|call|run|child_process|os\.exec\w*)\b|`|%x|qx"
)
"""A call that may hand text to a shell, in any of these languages: `os.system(`, `child_process`, `%x`. Words that
many functions have (`call`, `run`) are among them: too much is looked at rather than too little."""
_REMOVES_TREE: Final = re.compile(
    r"\b(?:rmtree|rmSync|rm_rf|rm_r|remove_tree|removeSync|rimraf(?:\.sync)?|rmdirSync|"
    r"RemoveAll|remove_dir_all|remove_entry_secure)\s*\(?\s*"
    r"(?:Path\(|os\.path\.expanduser\(|pathlib\.Path\()?\s*[rbf]?(['\"])(?P<path>[^'\"]+)\1"
)
"""A call that removes a directory with what is below it, and its path: `shutil.rmtree("/etc")`."""
_SOCKET_SHELL: Final = re.compile(
    r"socket.*(?:/bin/(?:ba|z|da)?sh|pty\.spawn|dup2)|(?:/bin/(?:ba|z|da)?sh|"
    r"pty\.spawn).*socket|Socket.*exec|TCPSocket.*(?:exec|popen|spawn)|fsockopen.*(?:exec|"
    r"system|popen)",
    re.DOTALL,
)
"""A socket and a shell in one piece of code, in either order: `socket.socket();pty.spawn`. Together they give somebody
else a shell here."""
_STRINGS: Final = re.compile(
    r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|`((?:[^`\\]|\\.)*)`|(?:qx|%x)[{(\[/]([^})\]/]*)"
)
"""Text in code, in the quotations of every one of the languages: `'rm -r x'`, `"rm -r x"`, `qx{rm -r x}`."""
_LISTS: Final = re.compile(r"[\[(]\s*((?:['\"][^'\"]*['\"]\s*,?\s*)+)[\])]")
"""A list of literal strings, as commands are given without a shell: `["rm", "-r", "x"]`, `("rm", "-r", "x")`."""
INLINE_FLAGS: Final = frozenset(
    ["-c", "-e", "-E", "-r", "-p", "-pe", "-ne", "-le", "--eval", "-Command", "--command", "eval"]
)
"""Flags behind which an interpreter takes code."""
GONE: Final = frozenset(
    {
        "critical.wipe",
        "critical.wipe-find",
        "critical.device",
        "critical.power",
        "critical.kill-all",
        "critical.open-permissions",
        "critical.remote-code",
        "critical.fork-bomb",
        "critical.own-files",
        "critical.own-command",
        "critical.reverse-shell",
        "critical.exfiltration",
        "critical.move-away",
        "critical.metadata",
        "critical.kill-fwdperm",
    }
)
"""What counts when text inside a one-liner would do it; reading a secret that way is for a person."""
_CODE_CHARS: Final = 4096
"""Characters of a one-liner that are looked at; it is dangerous whatever they say."""


def look_inside(code: str, location: Location) -> tuple[list[Hit], list[str]]:
    """Look for literal catastrophes in an interpreter's code.

    Args:
        code: The code; its first few thousand characters are looked at.
        location: Where it runs.

    Returns:
        (id, reason, words) of each found, and literal text that the code may hand to a shell.
    """
    code = code[:_CODE_CHARS]
    hits: list[Hit] = []
    for match in _REMOVES_TREE.finditer(code):
        if by_words(("rm", "-r", match.group("path")), location):
            reason = "removes the system, a home directory or a whole directory of one"
            hits.append(("critical.wipe", reason, (match.group()[:80],)))
    if _FETCH_AND_RUN.search(code):
        hits.append(("critical.remote-code", "runs code straight from the network", (code[:80],)))
    if _SOCKET_SHELL.search(code):
        hits.append(("critical.reverse-shell", "gives somebody else a shell here", (code[:80],)))
    if not _RUNS_SHELL.search(code):
        return hits, []
    texts = [text for match in _STRINGS.finditer(code) if (text := next(filter(None, match.groups()), ""))]
    for match in _LISTS.finditer(code):
        argv = tuple(a or b for a, b in re.findall(r"'([^']*)'|\"([^\"]*)\"", match.group(1)))
        hit = by_words(argv, location) if argv and argv[0] else None
        if hit and hit[0] in GONE:
            hits.append(hit)
    return hits, [text for text in texts if " " in text or "|" in text]
