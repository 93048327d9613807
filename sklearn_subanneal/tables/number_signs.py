"""Currencies and percent signs of strings that spell numbers: whether those of a column are of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sklearn_subanneal.tables.numerals import CURRENCY, POINT, decimal_mark, parse_number

PERCENT, PLAIN = "%", "none"
# Beside percentages, numbers in at most this share of the cells are taken for percentages without their sign.
FEW_PLAIN = 0.05
# Longer strings are no numbers.
LONGEST = 60
# The currencies that a sign may mean, the most usual one first, if not just the one of its own name.
_MEANINGS = {
    "US$": ("USD",), "A$": ("AUD",), "C$": ("CAD",), "R$": ("BRL",), "$": ("USD", "AUD", "CAD"), "€": ("EUR",),
    "£": ("GBP",), "¥": ("JPY", "CNY"), "₹": ("INR",), "Fr.": ("CHF",), "kr": ("SEK", "NOK", "DKK"),
    "kr.": ("SEK", "NOK", "DKK"), "zł": ("PLN",),
}  # fmt: skip
_SIGN = re.compile(
    rf"[\s(<>=≤≥~≈+\-\u2212\u2013]*(?P<before>{CURRENCY})\s*[+\-\u2212]?[0-9.,].*|.*[0-9.,].*?(?P<behind>%|{CURRENCY})[\s)]*"
)


def sign_of(text: str) -> str:
    """The currency or percent sign before or behind a number; empty if there is none.

    Examples
    --------
    >>> from sklearn_subanneal.tables.number_signs import sign_of
    >>> sign_of("(US$ 4.20)"), sign_of("12 %"), sign_of("3 kg")
    ('US$', '%', '')
    """
    found = _SIGN.fullmatch(text) if len(text) <= LONGEST else None
    return "" if found is None else found["before"] or found["behind"]


def suits(text: str, kind: str) -> bool:
    """Whether a number has no sign, or that of this currency."""
    sign = sign_of(text)
    return not sign or kind in _kinds(sign)


def common_kind(texts: list[str], counts: Iterable[int], decimal: str = POINT) -> str:
    """The currency that most numbers have where there are several; empty if all can be of one, or none has any.

    It is "none" where numbers between 0 and 1 stand beside percentages: these are a hundred times as large.

    Parameters
    ----------
    texts : list of str
        Different ones.
    counts : iterable of int
        In how many cells each is.
    decimal : {".", ","}, default="."
        The mark before decimals.

    Examples
    --------
    >>> from sklearn_subanneal.tables.number_signs import common_kind
    >>> common_kind(["$1", "2 USD", "€3"], [1, 1, 1]), common_kind(["$1", "2 USD", "3"], [1, 1, 1])
    ('USD', '')
    >>> common_kind(["43%", "0.51", "0.62"], [1, 1, 1])
    'none'
    """
    signed = [(text, sign_of(text), count) for text, count in zip(texts, counts, strict=True)]
    currencies: dict[str, int] = {}
    for _, sign, count in signed:
        for kind in _kinds(sign) if sign not in ("", PERCENT) else ():
            currencies[kind] = currencies.get(kind, 0) + count
    if currencies:
        # Of currencies that are as frequent the first.
        kind = max(currencies, key=lambda own: currencies[own])
        return kind if any(sign not in ("", PERCENT) and kind not in _kinds(sign) for _, sign, _ in signed) else ""
    n_signed = sum(count for _, sign, count in signed if sign)
    if not n_signed:
        return ""
    read = [(parse_number(text, decimal), sign, count) for text, sign, count in signed]
    percents = [abs(number) for number, sign, _ in read if number and sign]
    plain = [abs(number) for number, sign, _ in read if number and not sign]
    n_plain = sum(count for number, sign, count in read if number and not sign)
    are_shares = any(number < 1.0 for number in plain) and max(plain) <= 1.0 < max(percents, default=0.0)
    return PLAIN if are_shares and n_plain > FEW_PLAIN * (n_plain + n_signed) else ""


def several_signs(texts: list[str]) -> list[str]:
    """The signs of strings that all are numbers, if they are of several kinds; else an empty list.

    Examples
    --------
    >>> from sklearn_subanneal.tables.number_signs import several_signs
    >>> several_signs(["$1", "€2", "3"]), several_signs(["$1", "2 USD"])
    (['$', '€'], [])
    """
    decimal = decimal_mark(texts) or POINT
    if any(parse_number(text, decimal) is None for text in texts):
        return []
    kind = common_kind(texts, [1] * len(texts), decimal)
    signs = dict.fromkeys(filter(None, map(sign_of, texts)))
    return [] if not kind else [*signs, PLAIN] if kind == PLAIN else list(signs)


def _kinds(sign: str) -> tuple[str, ...]:
    return _MEANINGS.get(sign, (sign,))
