"""The encoding of a file of text: as its first bytes say, or the one in which its words look like words."""

from __future__ import annotations

import codecs
import re
import unicodedata
from importlib import import_module
from itertools import pairwise

# Marks of byte order; the longer first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
# Of one byte a character, the most usual first.
_SINGLE = ("cp1252", "cp1250", "cp850", "mac_roman", "latin-1")
# Bytes by which an encoding is judged, and the share of zeros in them that text of two bytes a character has.
_LOOK, _MOST_ZEROS = 2**20, 0.2
# A text in UTF-8 has so many letters beyond ASCII for each byte that is damaged.
MOST_DAMAGE, REPLACEMENT = 10, "\ufffd"
# Signs between letters, as in "Gr\u00c3\u0178e", but for quotes, dashes and degrees; and signs of money and accents
# beside letters.
_LETTER = r"[^\W\d_]"
_SIGNS = re.compile(
    rf"(?<={_LETTER})[\u00a1-\u00a9\u00ab-\u00af\u00b1-\u00b6\u00b8-\u00bf\u201c-\u201e\u2020-\u2030\u2500-\u25ff]"
    rf"(?={_LETTER})|[\u00a2-\u00a6\u00a8\u00ac\u00af\u00b4\u00b8](?={_LETTER})"
    rf"|(?<={_LETTER})[\u00a2-\u00a6\u00a8\u00ac\u00af\u00b8]"
)
_WORD = re.compile(r"[^\W\d_]+")


def decoded(content: bytes, encoding: str | None, name: str) -> tuple[str, str]:
    """The text of a file, and the name of its encoding.

    Parameters
    ----------
    content : bytes
    encoding : str or None
        As declared; None: it is found out. UTF-8 is recognised for certain, and other encodings by their marks, or by
        what the text looks like in them: letters that stand in words, and no signs in their midst.
    name : str
        Of the file, for messages.

    Raises
    ------
    ValueError
        If the file is no text, or is not in the declared encoding.

    Examples
    --------
    >>> from sklearn_subanneal.files.text_encoding import decoded
    >>> decoded("Größe;Köln".encode("cp1252"), None, "t.csv")
    ('Größe;Köln', 'cp1252')
    >>> decoded("Größe;Köln".encode("cp850"), None, "t.csv")[1]
    'cp850'
    """
    if encoding is not None:
        try:
            return content.decode(encoding).removeprefix("\ufeff"), encoding
        except (UnicodeError, LookupError) as error:
            raise ValueError(
                f"{name} is not text in {encoding} ({error.reason if isinstance(error, UnicodeError) else error}): "
                "pass another --encoding, such as utf-8 or cp1252, or none."
            ) from error
    for mark, found in _MARKS:
        if content.startswith(mark):
            return _strictly(content, found, name), found
    look = content[:_LOOK]
    if (found := _of_zeros(look)) is not None:
        return _strictly(content, found, name), found
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    text = content.decode("utf-8", errors="replace")
    n_wrong = text.count(REPLACEMENT)
    if n_wrong * MOST_DAMAGE < sum(char > "\x7f" for char in text[:_LOOK]):
        return text, f"utf-8 with {n_wrong} bytes that are no text"
    if re.search(rb"[\x00-\x08]", look):
        raise ValueError(f"{name} is no text, and no table of a known kind: save it as CSV in UTF-8.")
    found = _of_words(look)
    return content.decode(found, errors="replace"), found


def _strictly(content: bytes, encoding: str, name: str) -> str:
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        raise ValueError(
            f"{name} begins as text in {encoding} and does not go on so: pass --encoding, or save it in UTF-8."
        ) from error


def _of_zeros(look: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Latin text is zero."""
    even, odd = look[::2].count(0), look[1::2].count(0)
    if max(even, odd) < _MOST_ZEROS * len(look) / 2 or min(even, odd) > _MOST_ZEROS * max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _of_words(look: bytes) -> str:
    """The encoding of one byte a character in which fewest characters are out of place."""
    scored = [(_oddities(text), encoding) for encoding in _SINGLE if (text := _in(look, encoding)) is not None]
    least, found = min(scored, key=lambda pair: pair[0])
    if not least:
        return found
    try:
        guess = import_module("charset_normalizer").from_bytes(look).best()
    except ImportError:
        return found
    return found if guess is None or guess.encoding in ("ascii", "utf_8") else guess.encoding


def _in(look: bytes, encoding: str) -> str | None:
    try:
        return look.decode(encoding)
    except UnicodeDecodeError:
        return None


def _oddities(text: str) -> int:
    """Characters that do not stand where they would in words of a language with Latin letters."""
    strange = sum(unicodedata.category(char) in ("Cc", "Co", "Cn") for char in text if char > "\x7f")
    strange += len(_SIGNS.findall(text))
    for word in _WORD.findall(text):
        high = sum(char > "\x7f" for char in word)
        if not high:
            continue
        # Words without a letter of ASCII, of some length; and capitals within.
        strange += high if high == len(word) > 2 else 0
        strange += sum(b > "\x7f" and a.islower() and b.isupper() for a, b in pairwise(word))
    return strange
