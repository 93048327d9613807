"""code_word: the word in the name of a column of integers that says that these are codes, and no amounts."""

from __future__ import annotations

import re

# Words that say so, unless the noun of the name is an amount, as in "class size", "lines of code" and "n_species": then
# the frequencies decide, as without such a word.
CODE_WORDS = frozenset(
    "category class cluster code codes genre group id ids kind label labels plz postal postcode recode sector species "
    "type zip zipcode".split()
)
AMOUNTS = frozenset(
    "age amount amounts average count counts days duration errors events failures frequency height hours income length "
    "lines mean members minutes months percent percentage population price rate ratio richness score share size sizes "
    "sum total visits weeks weight width years".split()
)
# These are amounts at the beginning, or before "of": a "class number" is a code.
NUMBERS = frozenset("n num number numbers".split())


def code_word(name: str) -> str | None:
    """The first of the words, by the alphabet, by which a name says that integers are codes; None if it does not.

    Examples
    --------
    >>> from sklearn_subanneal.columns.code_names import code_word
    >>> code_word("zip code"), code_word("classSize"), code_word("lines of code")
    ('code', None, None)
    """
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    found = CODE_WORDS.intersection(words)
    return min(found) if found and not _names_amounts(words) else None


def _names_amounts(words: list[str]) -> bool:
    """Whether a name is that of an amount: by its last word, or the one before "of", or a first one for numbers."""
    if "of" in words[1:]:
        return words[words.index("of") - 1] in AMOUNTS | NUMBERS
    return words[-1] in AMOUNTS or words[0] in NUMBERS
