"""Every limit of the house, with its unit and its reason.

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
"""Bytes in one request file. A prompt nobody can read in full is no question; clients summarise tool inputs."""
REPLY_BYTES: Final = 1 << 20
"""Bytes in one reply file: a note and the patterns of an *always*, with room to spare."""
PROMPT_BYTES: Final = 1 << 26
"""Bytes in one prompt file: a request's text may stand in it several times over, escaped, once per unit."""
VALUE_CHARS: Final = 64 * 1024
"""Characters in one value. What goes over a whole text (redaction, the search for what it hides) is linear in it;
reading a command line has a budget of its own, below."""
LINE_DEPTH: Final = 64
"""Levels of substitutions, subshells, bodies and wrappers followed in one command line; people stay under ten."""
LINE_COMMANDS: Final = 512
"""Commands read in one command line; a longer one is a script. Past this, and past the next, nothing allows it."""
LINE_STEPS: Final = 4 * 1024
"""Steps of reading one command line: one for each word, assignment, redirection and part of its syntax that is visited.
Each takes a few microseconds, through units and guard."""
CONTINUED_LINES: Final = 1_000
"""Continued lines in one value whose joints are checked; of more it is not certain what they come to, and it asks."""
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
"""Seconds between full listings when no event came: events are a doorbell, not the mail."""
BEAT_S: Final = 1.0
"""Seconds between heartbeats. Children of the pi heartbeat generation give up at 5."""
BEAT_STALE_S: Final = 5.0
"""Seconds after which a heartbeat counts as nobody serving (the pi children's own number)."""
NOBODY_GRACE_S: Final = 2.0
"""Seconds a client without a fresh heartbeat goes on looking before it says nobody serves."""
FIRST_LOOK_S: Final = 0.001
"""Seconds before a client's first look for its answer."""
LONGEST_LOOK_S: Final = 0.1
"""Seconds between a client's later looks (it backs off to this)."""
UNCONSUMED_S: Final = 60.0
"""Seconds an answer may lie unread after its request's deadline before it is removed (no allow lies around unused)."""
HALF_WRITTEN_S: Final = 2.0
"""Seconds a file that does not parse may take to become whole before it is refused: not every writer renames."""
PRUNE_EVERY_S: Final = 600.0
"""Seconds between looks for a segment of the journal that is not wanted any more; one goes at a time. A wall clock that
is wrong for an hour costs six segments, and nine gigabytes a day can still be given up."""
PRUNE_QUIET_S: Final = 5.0
"""Seconds without a new line after which removing one holds nobody up."""
PRUNE_LATEST_S: Final = 3600.0
"""Seconds that a moment without new lines is waited for; then one segment goes all the same, or the disk would fill."""

# -- crowds ----------------------------------------------------------------------------------------------------
TURN_S: Final = 0.5
"""Seconds of one wake-up in which requests are decided; the rest of them come in the next one."""
SHARE_S: Final = 0.2
"""Of these, the seconds that one inbox may take: two of the worst lines, or two hundred ordinary ones."""
PUT_OFF_BYTES: Final = 64 << 20
"""Bytes of requests read and not yet looked at past which nothing more is read."""
WAITING_INBOX: Final = 1_000
"""Requests of one inbox that may wait for a person or the judge; each costs a look at its file on every wake-up."""
WAITING_INBOX_BYTES: Final = 32 << 20
"""Bytes of the same."""
WAITING: Final = 10_000
"""Requests that may wait in all. From then on the fullest inbox gives up its newest for any that has fewer."""
UNSENT: Final = 512
"""Answers that could not be published which are tried again in one second."""
UNRECORDED: Final = 10_000
"""Denials during an outage of the journal that are put on record after it; of more, the oldest are."""

# -- people ----------------------------------------------------------------------------------------------------
NOTE_CHARS: Final = 2_000
"""Characters in a person's note."""
SHOWN_LINES: Final = 40
"""Lines of a value shown before the prompt says how many are hidden and offers the whole."""
READ_ROUTINE_S: Final = 0.4
"""Seconds a routine or read-only question is on screen before it takes an answer. A hand that types `y` Enter twice
takes 0.3; what was typed for the question before is not for this one."""
READ_RULED_S: Final = 0.6
"""The same for what a rule could cover: long enough to see that the question changed."""
READ_GRAVE_S: Final = 1.0
"""The same for a dangerous question: long enough to read its first line. Nobody waits longer than two."""
LINE_ALONE_S: Final = 0.025
"""Seconds around an Enter in which no other key may come: hands are slower than that, and pasted lines never are."""
LINE_KEYS: Final = 4_096
"""Keys in one typed line: a note of the longest, twice. Terminals that read line by line end there too."""
PASTE_STALLED_S: Final = 5.0
"""Seconds without a key after which a paste whose end never came counts as over, or no Enter would work again."""
PATTERNS: Final = 64
"""Patterns one *always* may record: as many as a request may have values, and still readable."""
LONGEST_GRANT_MS: Final = 365 * 24 * 3600 * 1000
"""Milliseconds a grant may be given for at most; longer is what leaving the time out is for."""
