"""Numbers of things in words."""


def counted(number: int, word: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> from sklearn_subanneal._core.counted_nouns import counted
    >>> counted(1, "row"), counted(20000, "row"), counted(2, "quantity")
    ('1 row', '20,000 rows', '2 quantities')
    """
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{number:,} {word if number == 1 else plural}"
