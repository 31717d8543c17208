"""How the operator set the judge up.

Lives here: `JudgeSetup`, `Prices`. Pure. Never here: reading a configuration (`policy/config.py`), a key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
MODEL: Final = "claude-haiku-5-5"
"""The small model that is asked when none is named."""
BASE_URL: Final = "https://api.anthropic.com"
"""Where it is asked. Not taken from the environment: a variable there must not redirect briefs and key."""
KEY_ENV: Final = "ANTHROPIC_API_KEY"
"""The variable of the daemon's own environment that holds the key when neither a variable nor a command is named."""
DEADLINE_S: Final = 15.0
"""Seconds for everything a consultation needs: waiting for a place, and all attempts together."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million tokens.

    Attributes:
        input: Read and not cached.
        output: Written.
        cache_read: Read from the cache.
        cache_write: Written to the cache.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float

    def microdollars(self, *, read: int, written: int, from_cache: int = 0, to_cache: int = 0) -> int:
        """Give what tokens cost, in millionths of a dollar, rounded up."""
        cost = read * self.input + written * self.output + from_cache * self.cache_read + to_cache * self.cache_write
        return int(-(-cost // 1))


@dataclass(frozen=True, slots=True)
class JudgeSetup:
    """A configured judge.

    Attributes:
        model: Which model.
        base_url: Where it is asked.
        key_env: Variable that holds the key; empty when there is no key (a local model) or a command gives it.
        key_command: Program and arguments whose output is the key; empty for none.
        deadline_s: Seconds for everything a consultation needs.
        calls_per_hour: Calls in any 60 minutes; 0 for no limit.
        dollars_per_hour: Dollars in any 60 minutes, by `prices`; 0 for no limit.
        prices: What tokens cost; None when the operator did not say.
        advises: True when its verdict is only shown to the human, and decides nothing.
        has_schema: True when the answer's schema is sent along; some local servers refuse it.
        context: The operator's own words about the project, for the judge.
    """

    model: str = MODEL
    base_url: str = BASE_URL
    key_env: str = KEY_ENV
    key_command: tuple[str, ...] = ()
    deadline_s: float = DEADLINE_S
    calls_per_hour: int = 0
    dollars_per_hour: float = 0.0
    prices: Prices | None = None
    advises: bool = False
    has_schema: bool = True
    context: str = ""

    @property
    def is_on_this_machine(self) -> bool:
        """Say whether the model runs here: then no proxy of the environment stands between."""
        return urlsplit(self.base_url).hostname in LOOPBACK
