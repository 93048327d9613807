"""Texts that stand for missing cells: "n/a", "-", "#N/A" and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Texts of missing cells in columns of any kind, without regard to capitals.
USUAL = frozenset(
    "? - -- --- – — . .. ... * n/a n.a. n.a na #n/a #na <na> #n/a! nan -nan null nil (null) \\n #null! #value! #ref! "
    "#div/0! #num! #name? missing k.a. n.v. 1.#ind -1.#ind 1.#qnan -1.#qnan nat".split()
) | {"#n/a n/a", "not available", "no data", "not applicable"}
#: Such texts in columns of numbers and dates alone: in others they may be a category.
OF_NUMBERS = USUAL | frozenset("none unknown x unk tba tbd inf? nd n.d. keine leer".split())
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
    others = [text for text in texts if text and text.lower() not in USUAL]
    are_codes = len(others) >= FEWEST_CODES and all(map(_CODE.fullmatch, others))
    return {
        text
        for text in texts
        if text not in keep and (text in further or (text.lower() in USUAL and not (are_codes and text == "NA")))
    }
