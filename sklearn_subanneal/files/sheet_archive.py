"""The file of a sheet in the archive that an xlsx file is, and what the readers of pandas leave out of it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

# Files of sheets are read in such blocks.
_BLOCK = 2**20
# A formula that has no value behind it; one of an empty text has its type.
_FORMULA = re.compile(
    rb"""<(?:\w+:)?c(?P<type>\s[^<>]*)>\s*<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|(?<!/)>[^<]*</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)
_TEXT, _PLACE = re.compile(rb"""\st=["']str["']"""), re.compile(rb"""\sr=["']([A-Z]+[0-9]+)["']""")


def sheet_blocks(content: bytes, sheet: str) -> Iterator[bytes]:
    """The text of a sheet, block by block; nothing if the file does not say where its sheets are.

    Parameters
    ----------
    content : bytes
        Of an xlsx file.
    sheet : str
        Its name.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        path = _path(archive, sheet)
        if path not in archive.namelist():
            return
        with archive.open(path) as file:
            while block := file.read(_BLOCK):
                yield block


def formulas_without_values(content: bytes, sheet: str) -> tuple[int, str]:
    """The number of cells whose formula has no value in the file, and the place of the first.

    Programs that compute nothing write such cells, which look empty to every reader.

    Parameters
    ----------
    content : bytes
        Of an xlsx file.
    sheet : str
        Its name.
    """
    count, first, rest = 0, "", b""
    for block in sheet_blocks(content, sheet):
        rest += block
        # Up to the end of the last cell that is whole.
        end = rest.rfind(b"c>") + len(b"c>") if b"c>" in rest else 0
        for match in _FORMULA.finditer(rest, 0, end):
            if not _TEXT.search(match["type"]):
                place = _PLACE.search(match["type"])
                first = first or (place[1].decode() if place else "")
                count += 1
        rest = rest[end:]
    return count, first


def _path(archive: zipfile.ZipFile, sheet: str) -> str:
    """The file of a sheet in the archive; empty if it is not told."""
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return ""
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    for own in book.iter():
        if own.tag.endswith("}sheet") and own.get("name") == sheet:
            keys = [value for name, value in own.attrib.items() if name.endswith("}id")]
            target = targets.get(keys[0], "") if keys else ""
            return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    return ""
