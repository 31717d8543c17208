"""On which line each key of a TOML text stands.

Lives here: `locate_keys`. Pure. Never here: what the keys mean. The standard parser checks the text first and gives the
values, but no lines; this reader trusts that check and finds only the lines.
"""

from __future__ import annotations

import tomllib
from typing import Final

KeyPath = tuple[str | int, ...]
"""Keys from the top; an element of an array stands as its number."""

_BLANK: Final = " \t\r\n"
_ENDS_SCALAR: Final = ",]}#\n"


def locate_keys(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of every table, key and array element, in file order.

    Args:
        text: TOML that `tomllib.loads` accepts. Of any other the result is unspecified, but it ends.

    Returns:
        Each path once. A table that is only implied (`a` in `[a.b]`) has the line on which it is first implied.
    """
    return _Reader(text.replace("\r\n", "\n")).read()


class _Reader:
    """One pass over the text, never back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counted = 0
        self.line = 1
        self.found: dict[KeyPath, int] = {}
        self.lengths: dict[KeyPath, int] = {}

    def read(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self._skip() < len(self.text):
            before = self.at
            if self.text.startswith("[[", self.at):
                self.at += 2
                table = self._header(is_array=True)
            elif self.text[self.at] == "[":
                self.at += 1
                table = self._header(is_array=False)
            else:
                self._pair(table)
            if self.at == before:
                break
        return self.found

    def _header(self, *, is_array: bool) -> KeyPath:
        keys = self._key()
        self.at = self._line_end()
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._latest((*path, key))
            self._note(path)
        path = (*path, keys[-1])
        self._note(path)
        if is_array:
            number = self.lengths.get(path, 0)
            self.lengths[path] = number + 1
            path = (*path, number)
            self._note(path)
        return path

    def _latest(self, path: KeyPath) -> KeyPath:
        """Enter the last element when the path is an array of tables."""
        return (*path, self.lengths[path] - 1) if path in self.lengths else path

    def _pair(self, table: KeyPath) -> None:
        path = table
        for key in self._key():
            path = (*path, key)
            self._note(path)
        self._skip()
        self.at += 1  # the equals sign
        self._value(path)

    def _key(self) -> list[str]:
        """Read a key with its dots, up to what follows it."""
        keys = []
        while True:
            self._skip()
            keys.append(self._simple_key())
            self._skip()
            if self.text[self.at : self.at + 1] != ".":
                return keys
            self.at += 1

    def _simple_key(self) -> str:
        start = self.at
        if self.text[start : start + 1] in {'"', "'"}:
            self._string()
            return next(iter(tomllib.loads(self.text[start : self.at] + "=0")))
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in "-_"):
            self.at += 1
        return self.text[start : self.at]

    def _value(self, path: KeyPath) -> None:
        self._skip()
        match self.text[self.at : self.at + 1]:
            case '"' | "'":
                self._string()
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case _:
                while self.at < len(self.text) and self.text[self.at] not in _ENDS_SCALAR:
                    self.at += 1

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        number = 0
        while self._skip() < len(self.text):
            match self.text[self.at]:
                case "]":
                    self.at += 1
                    return
                case ",":
                    self.at += 1
                case _:
                    before = self.at
                    self._note((*path, number))
                    self._value((*path, number))
                    number += 1
                    if self.at == before:
                        return

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self._skip() < len(self.text):
            match self.text[self.at]:
                case "}":
                    self.at += 1
                    return
                case ",":
                    self.at += 1
                case _:
                    before = self.at
                    self._pair(path)
                    if self.at == before:
                        return

    def _string(self) -> None:
        """Step over a string of any of the four kinds."""
        mark = self.text[self.at]
        fence = mark * 3 if self.text.startswith(mark * 3, self.at) else mark
        self.at += len(fence)
        while self.at < len(self.text) and not self.text.startswith(fence, self.at):
            self.at += 2 if mark == '"' and self.text[self.at] == "\\" else 1
        self.at += len(fence)
        if len(fence) == len('"""'):
            while self.text.startswith(mark, self.at):  # up to two quotes may stand before the closing three
                self.at += 1

    def _skip(self) -> int:
        """Step over blanks, line ends and comments."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                self.at = self._line_end()
            elif self.text[self.at] in _BLANK:
                self.at += 1
            else:
                break
        return self.at

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _note(self, path: KeyPath) -> None:
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        self.found.setdefault(path, self.line)
