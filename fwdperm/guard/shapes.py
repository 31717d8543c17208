"""Operands and values that are harmless by how they are written: plain names, formats, files by their ending.

Lives here: the shapes, and why a text has none of them. Pure. Never here: where a file stands and what its path says
(`reading.py`, `writing.py`), which use takes what (the book of programs).
"""

from __future__ import annotations

import re
from typing import Final

from fwdperm.programs import Takes


def _f(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEY: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.:@+*-]*(?:/[A-Za-z0-9_.:@+-]+)*\Z")
"""A name of a setting, a package, a device or a group: `vm.swappiness`, `eth0`, `org.gnome.desktop.interface`. No
`=`, with which some programs set what they else show."""
_FORMAT: Final = re.compile(r"\+[\w%:/., +-]*\Z", re.ASCII)
"""How to write a time: `+%Y-%m-%d %H:%M`. What has no plus sign would set the clock."""
_ONE_PATH: Final = re.compile(r"(?!-)(?!.*\.\.)[\w ./@+,()-]+\Z", re.ASCII)
"""One file by its path: `docs/a b.pdf`. No address (`https://x/y.png`), no file of another machine (`host:x.tar`), no
pattern that the program itself reads."""
FILE_ENDINGS: Final = {
    Takes.DOCUMENT: _f(
        "pdf png jpg jpeg gif webp bmp ico tif tiff djvu epub txt md rst csv tsv doc docx xls xlsx ppt pptx odt ods odp"
    ),
    Takes.MEDIA: _f(
        "png jpg jpeg gif webp bmp ico tif tiff heic mp3 mp4 m4a m4v mov mkv webm avi mpg mpeg wav flac ogg oga "
        "ogv opus aac"
    ),
    Takes.ARCHIVE: _f("tar gz tgz bz2 tbz2 xz txz zst tzst lz4 zip 7z rar"),
}
"""Endings of files that a program shows or packs and that nothing runs. No playlist, which names other files; no page
of the web and no drawing in XML, which hold code."""


def is_one_path(text: str) -> bool:
    """Say whether a text is the path of one file or directory, for every program that may read it."""
    return _ONE_PATH.match(text) is not None


def why_not_shaped(kind: Takes, text: str) -> str:
    """Say why a text has not the shape of a kind, or a path not its ending; empty when it has.

    Args:
        kind: A kind that is told by its shape. Of any other kind nothing is known here, and the text is refused.
        text: As the program would get it.
    """
    if kind is Takes.KEY or kind is Takes.FORMAT:
        shape = _KEY if kind is Takes.KEY else _FORMAT
        return "" if shape.match(text) else f"`{text}` is not {kind.value}"
    if not is_one_path(text):
        return f"`{text}` is not known to be one file"
    ending = text.rpartition(".")[2].lower()
    return "" if ending in FILE_ENDINGS.get(kind, ()) else f"`{text}` is not {kind.value}"
