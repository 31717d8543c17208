"""The `[judge]` table of the configuration, checked.

Lives here: `read_judge`. Pure. Never here: a file, the key itself.

A table with any mistake gives no judge at all: with a misspelt `base_url` the default would send briefs and key to
somebody the operator did not mean. Fails towards the human.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from fwdperm.judge import BASE_URL, DEADLINE_S, KEY_ENV, MODEL, JudgeSetup, Prices
from fwdperm.rules import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from fwdperm.rules import Setting

LONGEST_DEADLINE_S: Final = 300
LONGEST_CONTEXT: Final = 8_000
_PRICES: Final = ("input", "output", "cache_read", "cache_write")
_OFF: Final = "until it is mended there is no judge"


def read_judge(setting: Setting | None, *, file: str) -> tuple[JudgeSetup | None, list[Problem]]:
    """Check the table.

    Args:
        setting: What stands under `judge`; None when nothing does.
        file: The file's name, for problems.

    Returns:
        The judge, or None when none is set up, it is switched off, or something about it is wrong; and what is wrong.
    """
    if setting is None:
        return None, []
    if not isinstance(setting.value, dict):
        return None, [Problem(file, setting.line, "`judge` is not a table", "write `[judge]`")]
    table = _Table(file, setting)
    given = table.value
    # The default variable holds the key of the default service: another service gets it only if `key_env` says so.
    is_keyless = "base_url" in given and "key_env" not in given
    made = JudgeSetup(
        model=table.take("model", MODEL, _is_text, "a model's name"),
        base_url=table.take("base_url", BASE_URL, _is_url, "an http or https address without a name or password in it"),
        key_env=table.take("key_env", "", _is_name, "the name of a variable, or nothing"),
        key_command=tuple(table.take("key_command", (), _is_command, "a program and its arguments, as a list")),
        deadline_s=float(table.take("deadline_s", DEADLINE_S, _is_deadline, f"seconds from 1 to {LONGEST_DEADLINE_S}")),
        calls_per_hour=table.take("calls_per_hour", 0, _is_count, "a whole number of at least 1"),
        dollars_per_hour=float(table.take("dollars_per_hour", 0.0, _is_money, "a number above 0")),
        prices=_prices(table),
        advises=table.take("advise", False, _is_bool, "true or false"),  # noqa: FBT003 - a default
        has_schema=table.take("schema", True, _is_bool, "true or false"),  # noqa: FBT003 - as above
        context=table.take("context", "", _is_context, f"a text of at most {LONGEST_CONTEXT} characters"),
    )
    is_on = table.take("enabled", True, _is_bool, "true or false")  # noqa: FBT003 - as above
    if not made.key_command and "key_env" not in given and not is_keyless:
        made = JudgeSetup(**{**_fields(made), "key_env": KEY_ENV})
    table.check_together(made)
    table.check_unknown()
    is_usable = is_on and not any(problem.is_error for problem in table.problems)
    return (made if is_usable else None), table.problems


def _fields(made: JudgeSetup) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__slots__}


class _Table:
    """The table while it is checked, and the problems found so far."""

    def __init__(self, file: str, setting: Setting) -> None:
        self.file = file
        self.value: dict[str, Any] = setting.value
        self.problems: list[Problem] = []
        self._line = setting.line
        self._lines = setting.lines
        self._known: set[str] = {"prices"}

    def take(self, key: str, default: Any, check: Callable[[Any], bool], expected: str) -> Any:
        """Give a checked value, or the default and perhaps a problem."""
        self._known.add(key)
        value = self.value.get(key)
        if value is None or check(value):
            return default if value is None else value
        self.complain(key, f"`judge.{key}` is `{str(value)[:60]}`, expected {expected}", _OFF)
        return default

    def complain(self, key: str, message: str, remedy: str, *, severity: Severity = Severity.ERROR) -> None:
        """Note a problem."""
        self.problems.append(Problem(self.file, self._lines.get(key, self._line), message, remedy, severity))

    def check_together(self, made: JudgeSetup) -> None:
        """Check settings that depend on one another: a budget needs prices, a key has one source, a remote url TLS."""
        if made.dollars_per_hour and made.prices is None:
            self.complain("dollars_per_hour", "`judge.dollars_per_hour` needs prices", "write `[judge.prices]`")
        if made.key_command and made.key_env:
            self.complain("key_command", "`judge.key_command` and `judge.key_env` both name a key", "keep one of them")
        url = urlsplit(made.base_url)
        if url.scheme == "http" and not made.is_on_this_machine:
            message = f"`judge.base_url` sends briefs and key unencrypted to `{url.hostname}`"
            self.complain("base_url", message, "use https unless that network is yours", severity=Severity.WARNING)

    def check_unknown(self) -> None:
        """Complain about keys that nobody reads."""
        for key in self.value:
            if key not in self._known:
                self.complain(
                    key, f"unknown key `judge.{key}`", f"known here: {', '.join(sorted(self._known))}; {_OFF}"
                )


def _prices(table: _Table) -> Prices | None:
    found = table.value.get("prices")
    if found is None:
        return None
    is_whole = isinstance(found, dict) and set(found) == set(_PRICES)
    if not is_whole or not all(_is_price(price) for price in found.values()):
        table.complain(
            "prices", "`judge.prices` is not the four prices", f"write {', '.join(_PRICES)}: dollars per million tokens"
        )
        return None
    return Prices(**{name: float(found[name]) for name in _PRICES})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9  # noqa: PLR2004 - and no NaN


def _is_price(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_money(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_deadline(value: Any) -> bool:
    return _is_number(value) and 1 <= value <= LONGEST_DEADLINE_S


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**9


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable() and len(value) <= 200  # noqa: PLR2004


def _is_context(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_CONTEXT


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and (not value or (value.isascii() and value.replace("_", "a").isalnum()))


def _is_command(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) and word for word in value)


def _is_url(value: Any) -> bool:
    if not _is_text(value):
        return False
    try:
        url = urlsplit(value)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.username is None and url.port != 0
    except ValueError:
        return False
