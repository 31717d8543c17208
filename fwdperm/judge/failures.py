"""What the SDK raises, by our codes.

Lives here: `code_of`. Pure: it looks at names and a status, so that nothing has to import the SDK.
Never here: what happens then.
"""

from __future__ import annotations

from typing import Final

from fwdperm.judge.verdict import Code

_BY_STATUS: Final = {
    401: Code.AUTH,
    402: Code.AUTH,
    403: Code.AUTH,
    408: Code.TIMEOUT,
    413: Code.TOO_LONG,
    429: Code.RATE_LIMITED,
    503: Code.OVERLOADED,
    504: Code.TIMEOUT,
    529: Code.OVERLOADED,
}
_BY_NAME: Final = (
    ("APITimeoutError", Code.TIMEOUT),
    ("APIConnectionError", Code.CONNECTION),
    ("APIResponseValidationError", Code.NOT_A_MESSAGE),
    ("CredentialsError", Code.NO_KEY),
)


def code_of(error: BaseException) -> Code:
    """Name what an exception of the SDK means; `internal` for everything that is not one."""
    names = {made.__name__ for made in type(error).__mro__}
    for name, code in _BY_NAME:
        if name in names:
            return code
    status = getattr(error, "status_code", None)
    if "APIStatusError" not in names or not isinstance(status, int):
        return Code.INTERNAL
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 300 <= status < 400:  # noqa: PLR2004 - redirects are not followed: the key would travel along
        return Code.NOT_A_MESSAGE
    return Code.SERVER if status >= 500 else Code.BAD_REQUEST  # noqa: PLR2004 - HTTP's own line
