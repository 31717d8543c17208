"""Every limit, with its unit and its reason.

Lives here: numbers that more than one room, or an operator, may want to see.
Never here: anything read from the environment or a file (that is `sessions/locations.py` and `rules/`).
Standard library only: the per-call client reads it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as true; importing `typing` would cost every client a millisecond or two
if TYPE_CHECKING:
    from typing import Final

# -- what a child may send -------------------------------------------------------------------------------------
REQUEST_BYTES: Final = 1 << 20
"""Bytes in one request file. Nobody could read more before answering; clients shorten the input of tools."""
REPLY_BYTES: Final = 1 << 20
"""Bytes in one reply file: a note and the patterns of an *always*, with room to spare."""
PROMPT_BYTES: Final = 1 << 26
"""Bytes in one prompt file: it may hold a request's text several times over, once for each unit, with escapes."""
VALUE_CHARS: Final = 64 * 1024
"""Characters in one value. Redaction and the search for suspicious characters take time linear in it; reading a command
line has limits of its own, below."""
LINE_DEPTH: Final = 64
"""Levels of substitutions, subshells, bodies and wrappers followed in one command line; people stay under ten."""
LINE_COMMANDS: Final = 512
"""Commands read in one command line; a longer one is a script. Past this limit, or the next one, no rule allows it."""
LINE_STEPS: Final = 4 * 1024
"""Steps of reading one command line: one for each word, assignment, redirection and part of its syntax that is visited.
Each takes a few microseconds, through units and guard."""
CONTINUED_LINES: Final = 1_000
"""Continued lines in one value that are joined and checked; with more it is not certain what would run, and it asks."""
VALUES: Final = 64
"""Spellings of one thing in one request."""
JSON_DEPTH: Final = 32
"""Nesting in a request file; the deepest real one (pi payload with evidence) has 6."""
EVIDENCE_CHARS: Final = 2 * VALUE_CHARS
"""Characters of all other texts in one request that show what would run: each is analysed as the value is."""
ROUTE_HOPS: Final = 64
"""Hops in `route`, and the deepest parent chain followed. A cycle ends here too."""
NAME_CHARS: Final = 256
"""Characters in a claimed agent name, tool name, turn id."""
SESSION_ID_BYTES: Final = 200
"""Bytes of an encoded session id: leaves room for `.json` and a temp suffix under the 255 of common file systems."""

# -- time ------------------------------------------------------------------------------------------------------
WAIT_S: Final = 600.0
"""Seconds a request waits when it does not say: what pi children of 20.7.3 wait."""
LONGEST_WAIT_S: Final = 24 * 3600.0
"""Seconds a request may ask to wait at most."""
SWEEP_S: Final = 1.0
"""Seconds between full listings, which find what no event told of: events may get lost."""
BEAT_S: Final = 1.0
"""Seconds between heartbeats. Of pi, the versions that read them give up after 5 seconds without one."""
BEAT_STALE_S: Final = 5.0
"""Seconds after which a heartbeat counts as nobody serving (the pi children's own number)."""
NOBODY_GRACE_S: Final = 2.0
"""Seconds for which a client that sees no fresh heartbeat goes on waiting before it says that nobody serves."""
FIRST_LOOK_S: Final = 0.001
"""Seconds before a client's first look for its answer."""
LONGEST_LOOK_S: Final = 0.1
"""Seconds between a client's later looks (it backs off to this)."""
UNCONSUMED_S: Final = 60.0
"""Seconds after its request's deadline at which an unread answer is removed: an unused approval must not stay."""
HALF_WRITTEN_S: Final = 2.0
"""Seconds for which a file that does not parse may still be incomplete, before it is refused: not all writers publish
by renaming."""
PRUNE_EVERY_S: Final = 600.0
"""Seconds between two prunes of the journal, each of which removes one segment at most. So a wall clock that is wrong
for an hour costs six segments at most, and yet nine gigabytes a day can be removed."""
PRUNE_QUIET_S: Final = 5.0
"""Seconds without a new line after which the journal counts as quiet, and a prune delays no request."""
PRUNE_LATEST_S: Final = 3600.0
"""Seconds to wait for such a quiet moment; after that a segment is removed all the same, or the disk would fill."""

# -- crowds ----------------------------------------------------------------------------------------------------
TURN_S: Final = 0.5
"""Seconds of one wake-up in which requests are decided; the rest is put off to the next."""
SHARE_S: Final = 0.2
"""Of these, the seconds that one inbox may take: two of the worst lines, or two hundred ordinary ones."""
PUT_OFF_BYTES: Final = 64 << 20
"""Bytes of requests that were put off; with more, no further file is read."""
WAITING_INBOX: Final = 1_000
"""Requests of one inbox that may wait for a person or the judge; the file of each is looked at on every wake-up."""
WAITING_INBOX_BYTES: Final = 32 << 20
"""Bytes of the same."""
WAITING: Final = 10_000
"""Requests that may wait in all inboxes. When there are as many, a new one is let in if its inbox has fewer than
another: the newest request of the inbox with most is denied for it."""
UNSENT: Final = 512
"""Of the answers that could not be published, how many are tried again each second."""
UNRECORDED: Final = 10_000
"""Denials given while the journal could not be written that are recorded once it can; of more, only the oldest."""

# -- people ----------------------------------------------------------------------------------------------------
NOTE_CHARS: Final = 2_000
"""Characters in a person's note."""
SHOWN_LINES: Final = 40
"""Lines of a value shown before the prompt says how many are hidden and offers the whole."""
READ_ROUTINE_S: Final = 0.4
"""Seconds a routine or read-only question is on screen before it takes an answer. Typing `y` Enter twice takes 0.3 s,
and the second one was not meant for a question that had just appeared."""
READ_RULED_S: Final = 0.6
"""The same for what a rule could cover: long enough to see that the question changed."""
READ_GRAVE_S: Final = 1.0
"""The same for a dangerous question: long enough to read its first line."""
LINE_ALONE_S: Final = 0.025
"""Seconds around an Enter in which no other key may come. Typing is slower than that; pasted lines come faster."""
LINE_KEYS: Final = 4_096
"""Keys in one typed line: twice the longest note. In line mode terminals have the same limit."""
PASTE_STALLED_S: Final = 5.0
"""Seconds without a key after which a paste counts as over although the mark at its end is missing; else no Enter would
count again."""
PATTERNS: Final = 64
"""Patterns one *always* may record: as many as a request may have values, and still readable."""
LONGEST_GRANT_MS: Final = 365 * 24 * 3600 * 1000
"""The longest time, in milliseconds, that a grant may be given for. Without a time it does not expire."""
