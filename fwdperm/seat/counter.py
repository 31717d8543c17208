"""Prompts and replies as files: the side of whoever answers from another process.

Lives here: `open_prompts` and `send_reply`, for `fwdperm list`, `show`, `allow`, `reject` and any other interface.
Never here: the daemon's side (`prompt_files.py`), exit codes.

Direction of every failure: nothing was answered, or it is said plainly that this is not known.
"""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure, OperatorError
from fwdperm.inbox import (
    AbsentFile,
    BadFile,
    Published,
    WholeFile,
    held_directory,
    os_error_words,
    publish_file,
    publish_words,
    read_regular,
    remove_file,
)
from fwdperm.seat.names import OUTCOMES, PROMPTS, REPLIES, SUFFIX, TOKEN_BYTES, command_name, stem_of
from fwdperm.settings import FIRST_LOOK_S, LONGEST_LOOK_S, PROMPT_BYTES, REPLY_BYTES
from fwdperm.wire import Fate, ReplyOutcome, encode_form, parse_outcome, parse_prompt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fwdperm.wire import Prompt, Reply, RuleCommand

WORD_S: Final = 2.0
"""Seconds to wait until the daemon says what became of a reply: it lists all of them once a second at least."""

NOT_TAKEN: Final = ReplyOutcome(
    outcome=Fate.NOT_TAKEN, words="nobody serves here, so nothing was done; start `fwdperm serve`"
)
NOT_SAID: Final = ReplyOutcome(
    outcome=Fate.NOT_SAID, words="the answer was taken, but not what became of it was said; `fwdperm why` knows"
)


@dataclass(frozen=True, slots=True)
class OpenPrompts:
    """The questions that wait for a person.

    Attributes:
        prompts: Those that could be read, oldest first.
        unreadable: For each prompt file that could not be read, its name and why.
    """

    prompts: tuple[Prompt, ...]
    unreadable: tuple[str, ...] = ()


def open_prompts(state: Path) -> OpenPrompts:
    """Read every open question.

    Args:
        state: The state directory.

    Returns:
        What waits; nothing where nobody ever served. One bad file hides no other.

    Raises:
        EnvironmentFailure: When the directory cannot be read: that is not the same as empty.
    """
    prompts: list[Prompt] = []
    unreadable: list[str] = []
    try:
        with held_directory(str(state), (PROMPTS,)) as at:
            for name in sorted(os.listdir(at)):  # noqa: PTH208 - a descriptor
                if not name.endswith(SUFFIX) or name.startswith("."):
                    continue
                found = read_regular(name, at=at, cap=PROMPT_BYTES, owner=os.geteuid())
                match found:
                    case WholeFile(data=data):
                        try:
                            prompts.append(parse_prompt(data))
                        except OperatorError as error:
                            unreadable.append(f"{name}: {error}")
                    case BadFile(reason=reason):
                        unreadable.append(f"{name}: {reason.replace('the request', 'it')}")
                    case AbsentFile():
                        pass  # answered a moment ago
    except FileNotFoundError:
        return OpenPrompts(prompts=())
    except OSError as error:
        raise EnvironmentFailure(f"cannot read the open prompts in `{state}`: {os_error_words(error)}") from None
    prompts.sort(key=lambda prompt: (prompt.created_at, prompt.key))
    return OpenPrompts(prompts=tuple(prompts), unreadable=tuple(unreadable))


def send_reply(  # noqa: PLR0913 - a clock and a wait that a test may own
    state: Path,
    key: tuple[str, str],
    reply: Reply,
    *,
    timeout_s: float = WORD_S,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> ReplyOutcome:
    """Leave an answer in the reply box, and wait until the daemon says what became of it.

    Args:
        state: The state directory.
        key: (inbox, id) of the question.
        reply: The answer; its id and inbox are filled in from `key`. With a digest it is bound to what was shown.
        timeout_s: Seconds to wait for the daemon to take the file, and again for what it says of it.
        clock: Monotonic seconds.
        wait: Waits for so many seconds.

    Returns:
        What became of it. `NOT_TAKEN` means for certain that it answers nothing, now or later.

    Raises:
        EnvironmentFailure: When it cannot be left: nothing was answered.
        ChildError: When the inbox's name cannot be one.
    """
    name = f"{stem_of(key)}.{secrets.token_hex(TOKEN_BYTES)}{SUFFIX}"
    payload = encode_form(reply.model_copy(update={"inbox": key[0], "id": key[1]}))
    return _leave(state, name, payload, timeout_s=timeout_s, clock=clock, wait=wait)


def send_command(
    state: Path,
    command: RuleCommand,
    *,
    timeout_s: float = WORD_S,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> ReplyOutcome:
    """Leave a command about session rules, and wait until the daemon says what became of it; else as `send_reply`."""
    name = command_name(secrets.token_hex(TOKEN_BYTES))
    return _leave(state, name, encode_form(command), timeout_s=timeout_s, clock=clock, wait=wait)


def _leave(  # noqa: PLR0913 - as above
    state: Path,
    name: str,
    payload: bytes,
    *,
    timeout_s: float,
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> ReplyOutcome:
    """Leave a file in the box, wait for what the daemon says of it, and take it back when nothing is said.

    If the file can be taken back, the daemon has not read it and never will. If not, the daemon has just taken it, so
    it is worth waiting once more.
    """
    try:
        with held_directory(str(state), (REPLIES,)) as at:
            published = publish_file(name, payload, at=at)
    except FileNotFoundError:
        return NOT_TAKEN
    except OSError as error:
        raise EnvironmentFailure(f"cannot leave the answer in `{state}`: {os_error_words(error)}") from None
    if not isinstance(published, Published):
        raise EnvironmentFailure(f"cannot leave the answer in `{state}`: {publish_words(published)}")
    try:
        word = _word(state, name, timeout_s=timeout_s, clock=clock, wait=wait)
    except BaseException:
        _take_back(state, name)  # interrupted: a daemon that starts later must not take an answer nobody waits for
        raise
    if word is not None:
        return word
    if _take_back(state, name):
        return NOT_TAKEN
    return _word(state, name, timeout_s=timeout_s, clock=clock, wait=wait) or NOT_SAID


def _word(
    state: Path, name: str, *, timeout_s: float, clock: Callable[[], float], wait: Callable[[float], None]
) -> ReplyOutcome | None:
    """Look for what the daemon says of a reply, often at first, then less often; None when it says nothing in time."""
    end = clock() + timeout_s
    pause = FIRST_LOOK_S
    while (word := _fetch(state, name)) is None:
        left = end - clock()
        if left <= 0:
            return None
        wait(min(pause, left))
        pause = min(2 * pause, LONGEST_LOOK_S)
    return word


def _fetch(state: Path, name: str) -> ReplyOutcome | None:
    try:
        with held_directory(str(state), (OUTCOMES,)) as at:
            found = read_regular(name, at=at, cap=REPLY_BYTES, owner=os.geteuid())
            if not isinstance(found, WholeFile):
                return None
            remove_file(name, at=at)
            return parse_outcome(found.data)
    except (OSError, OperatorError):
        return None


def _take_back(state: Path, name: str) -> bool:
    """Take an answer back; True only when this call removed it: then the daemon has not taken it and never will."""
    try:
        with held_directory(str(state), (REPLIES,)) as at:
            os.unlink(name, dir_fd=at)
    except OSError:
        return False
    return True
