"""What reading a wrapper's words gives: the commands it would run, and what cannot be known of them.

Lives here: `InnerCommand`, `Unwrapped`, the reasons both are opaque for. Never here: how the words of any one wrapper
are read (`unwrap.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwdperm.shell.command import Word

UNKNOWN_CODE: Final = "the text of the code it runs is not known"
UNKNOWN_OPTION: Final = "where the command it runs begins is not known"


@dataclass(frozen=True, slots=True)
class InnerCommand:
    """One command that a wrapper runs: words, or code for a shell.

    Attributes:
        words: Its words, when it is given as words.
        code: Its text, when a shell reads it.
        cwd: Directory that the wrapper changes to; empty when it does not.
        remote: True when it runs elsewhere.
        here: True when this very shell runs it (`eval`): a `cd` in it counts for what follows.
        mark: String in its words that is replaced by what is found or read; empty when there is none.
        appended: True when words that are read later are put behind its own.
        opaque: Why it cannot be known what runs; empty when it can.
    """

    words: tuple[Word, ...] = ()
    code: str = ""
    cwd: str = ""
    remote: bool = False
    here: bool = False
    mark: str = ""
    appended: bool = False
    opaque: str = ""


@dataclass(slots=True)
class Unwrapped:
    """What reading a wrapper's words gave.

    Attributes:
        label: What to call the wrapper.
        carried: What it runs.
        opaque: Why the wrapper itself is opaque; empty when it is not.
        harmless: True when an allow may look through it.
        is_runner: True when an allow of it is meant for what it runs, too.
        reads_stdin: True for a shell that takes its program from its standard input.
    """

    label: str
    carried: list[InnerCommand] = field(default_factory=list)
    opaque: str = ""
    harmless: bool = False
    is_runner: bool = False
    reads_stdin: bool = False

    def add_code(self, word: Word, *, remote: bool = False, here: bool = False) -> None:
        """Add code that stands in one word."""
        if not word.known:
            self.opaque = UNKNOWN_CODE
        self.carried.append(InnerCommand(code=word.text, remote=remote, here=here))

    def add_joined(self, words: Sequence[Word], *, remote: bool = False, here: bool = False) -> None:
        """Add code that the wrapper joins from several words; without any it runs nothing."""
        if not words:
            return
        if not all(word.known for word in words):
            self.opaque = self.opaque or UNKNOWN_CODE
        self.carried.append(InnerCommand(code=" ".join(word.text for word in words), remote=remote, here=here))
