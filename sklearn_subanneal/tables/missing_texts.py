"""Texts that stand for missing cells: "n/a", "-", "#N/A" and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Words, which are other words in other capitals: sodium is Na, and Nan and Null are names.
_WORDS = frozenset("NA NaN nan NAN NULL null NaT <NA>".split())
# Marks and phrases, without regard to capitals.
_MARKS = frozenset(
    "? - -- --- – — . .. ... n/a n.a. n.a #n/a #na #n/a! -nan (null) \\n #null! #value! #ref! #div/0! #num! #name? "
    "missing k.a. n.v. 1.#ind -1.#ind 1.#qnan -1.#qnan".split()
) | {"#n/a n/a", "not available", "no data", "not applicable"}
# Further words for missing cells in columns of numbers and dates, without regard to capitals; in others they may be a
# category. "none" may be a number, zero.
_OF_NUMBERS = frozenset("na nan null nil unknown unk tba tbd nd n.d.".split())
_OF_DATES = frozenset({"none", "never", "open"})
# A column of codes of countries or states, in which NA is Namibia or North America.
_CODE, FEWEST_CODES = re.compile(r"[A-Z]{2}"), 8


def missing_texts(texts: Iterable[str], further: Iterable[str] = (), keep: Iterable[str] = ()) -> set[str]:
    """Those of some texts that stand for missing cells.

    Parameters
    ----------
    texts : iterable of str
        The distinct texts of a column.
    further : iterable of str
        Texts that stand for missing cells as well, with regard to capitals.
    keep : iterable of str
        Texts that do not.

    Examples
    --------
    >>> from sklearn_subanneal.tables.missing_texts import missing_texts
    >>> sorted(missing_texts(["red", "N/A", "-", "none"]))
    ['-', 'N/A']
    >>> missing_texts(["NA", "DE", "FR", "US", "GB", "ES", "IT", "PL", "SE"])
    set()
    """
    texts, further, keep = list(texts), set(further), set(keep)
    others = [text for text in texts if text and not _is_usual(text)]
    are_codes = len(others) >= FEWEST_CODES and all(map(_CODE.fullmatch, others))
    return {
        text
        for text in texts
        if text not in keep and (text in further or (_is_usual(text) and not (are_codes and text == "NA")))
    }


def is_missing_word(text: str, of_dates: bool = False) -> bool:
    """Whether a text stands for a missing cell among numbers, or among dates."""
    return _is_usual(text) or text.lower() in (_OF_NUMBERS | _OF_DATES if of_dates else _OF_NUMBERS)


def _is_usual(text: str) -> bool:
    return text in _WORDS or text.lower() in _MARKS
