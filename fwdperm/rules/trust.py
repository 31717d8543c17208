"""Whom a user trusts to allow: files, by their content.

Lives here: `TrustStore`. An edge. Never here: what an untrusted file may still say (`layer.py`).

Trust is given to a path and the hash of what it held when the user looked: any edit takes it back. A trust file that
cannot be read trusts nothing.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from fwdperm.errors import EnvironmentFailure
from fwdperm.rules.disk import FileStamp, read_file, stamp_of, write_private

if TYPE_CHECKING:
    from pathlib import Path

_TRUST_BYTES: Final = 4 << 20
"""Bytes in the trust file: some twenty thousand trusted files."""
_HEX_DIGEST: Final = 64


class TrustStore:
    """The files a user trusts, kept in one private JSON file.

    Args:
        path: Where, in the state directory; made with the first file that is trusted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        """Why the store cannot be read, so that nothing is trusted; empty when it can, or is not there yet."""
        self._seen: FileStamp | None = None
        self._digests: dict[str, str] = {}

    def is_trusted(self, file: Path, *, digest: str) -> bool:
        """Say whether the user trusts this content at this path. False whenever that cannot be known."""
        self._refresh()
        return self._digests.get(_key(file)) == digest

    def trusted(self) -> dict[str, str]:
        """Return every trusted path with the hash of its trusted content."""
        self._refresh()
        return dict(self._digests)

    def trust(self, file: Path, *, digest: str) -> None:
        """Trust a file as long as it holds what `digest` says.

        Args:
            file: The file.
            digest: SHA-256 in hex of the content that the user saw. It is not computed here, because the file may have
                changed since.

        Raises:
            EnvironmentFailure: The store cannot be read or written; nothing changed.
        """
        self._write({**self._known(), _key(file): digest})

    def revoke(self, file: Path) -> bool:
        """Take trust back; say whether there was any.

        Raises:
            EnvironmentFailure: The store cannot be read or written; nothing changed.
        """
        known = self._known()
        if known.pop(_key(file), None) is None:
            return False
        self._write(known)
        return True

    def _known(self) -> dict[str, str]:
        """Return what is trusted now, to be changed and written; a store that cannot be read is not overwritten."""
        known = self.trusted()
        if self.problem:
            raise EnvironmentFailure(f"cannot change `{self.path}`: {self.problem}; mend it or take it away")
        return known

    def _write(self, digests: dict[str, str]) -> None:
        write_private(self.path, json.dumps({"v": 1, "files": digests}, indent=1, sort_keys=True).encode())
        self._seen = None

    def _refresh(self) -> None:
        """Read the file again when it changed."""
        stamp = stamp_of(self.path)
        if stamp is not None and stamp == self._seen:
            return
        self._digests, self.problem = {}, ""
        try:
            content = read_file(self.path, limit=_TRUST_BYTES, follow=False)
            self._digests = _parse(content.data)
            self._seen = content.stamp
        except FileNotFoundError:
            self._seen = None
        except (EnvironmentFailure, ValueError, RecursionError) as cause:
            self.problem = str(cause) or "cannot be read"
            self._seen = None


def _key(file: Path) -> str:
    return os.path.realpath(file)


def _parse(data: bytes) -> dict[str, str]:
    document = json.loads(data.decode())
    files = document.get("files") if isinstance(document, dict) and document.get("v") == 1 else None
    if not isinstance(files, dict):
        raise ValueError("not a trust file of version 1")  # noqa: TRY004 - one kind for every wrong content
    for digest in files.values():
        if not isinstance(digest, str) or len(digest) != _HEX_DIGEST:
            raise ValueError("a trusted file without its hash")
    return files
