"""Which of our codes an exception of the SDK means.

Lives here: `code_of`. Pure: it looks at names and a status, so that nothing has to import the SDK.
Never here: what happens then.
"""

from __future__ import annotations

from typing import Final

from fwdperm.judge.verdict import SilenceCode

_BY_STATUS: Final = {
    401: SilenceCode.AUTH,
    402: SilenceCode.AUTH,
    403: SilenceCode.AUTH,
    408: SilenceCode.TIMEOUT,
    413: SilenceCode.TOO_LONG,
    429: SilenceCode.RATE_LIMITED,
    503: SilenceCode.OVERLOADED,
    504: SilenceCode.TIMEOUT,
    529: SilenceCode.OVERLOADED,
}
_BY_NAME: Final = (
    ("APITimeoutError", SilenceCode.TIMEOUT),
    ("APIConnectionError", SilenceCode.CONNECTION),
    ("APIResponseValidationError", SilenceCode.NOT_A_MESSAGE),
    ("CredentialsError", SilenceCode.NO_KEY),
)


def code_of(error: BaseException) -> SilenceCode:
    """Name what an exception of the SDK means; `internal` for everything that is not one."""
    names = {made.__name__ for made in type(error).__mro__}
    for name, code in _BY_NAME:
        if name in names:
            return code
    status = getattr(error, "status_code", None)
    if "APIStatusError" not in names or not isinstance(status, int):
        return SilenceCode.INTERNAL
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 300 <= status < 400:  # noqa: PLR2004 - redirects are not followed: the key would be sent there, too
        return SilenceCode.NOT_A_MESSAGE
    return SilenceCode.SERVER if status >= 500 else SilenceCode.BAD_REQUEST  # noqa: PLR2004 - HTTP's own line
