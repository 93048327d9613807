"""WrittenNumbers: how the numbers of a column are written, as a types file records it for the cells of new tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sklearn_subanneal.tables.numerals import COMMA, POINT
from sklearn_subanneal.tables.spelling import NUMBER, Spelling


@dataclass(frozen=True)
class WrittenNumbers:
    """How the numbers of a column are written, if not as programs do.

    Attributes
    ----------
    decimal : {".", ","} or None, default=None
        The mark before decimals; None: that of the table.
    unit : str, default=""
        The unit behind the numbers; empty if there is none.
    scales : bool, default=False
        Whether some have a scale behind them, such as "1.2k".
    """

    decimal: str | None = None
    unit: str = ""
    scales: bool = False

    @classmethod
    def of(cls, spelling: Spelling | None, decimal: str | None) -> WrittenNumbers:
        """How a column is written, beside a table that has a mark before decimals.

        Examples
        --------
        >>> from sklearn_subanneal.report.written_numbers import WrittenNumbers
        >>> from sklearn_subanneal.tables.spelling import Spelling
        >>> WrittenNumbers.of(Spelling(decimal=",", unit="kg"), ",")
        WrittenNumbers(decimal=None, unit='kg', scales=False)
        """
        if spelling is None or spelling.meaning != NUMBER:
            return cls()
        own = None if spelling.decimal == (decimal or POINT) else spelling.decimal
        return cls(own, spelling.unit, spelling.has_scales)

    @classmethod
    def parse(cls, content: Any) -> WrittenNumbers:
        """What a types file has for a column.

        Raises
        ------
        ValueError
            If that is no table of these entries; the message ends the sentence "In [numbers], ...".
        """
        known = {"decimal": str, "unit": str, "scales": bool}
        if not isinstance(content, Mapping) or not all(
            name in known and isinstance(value, known[name]) for name, value in content.items()
        ):
            raise ValueError('give entries such as {decimal = ",", unit = "kg", scales = true}')
        if content.get("decimal") not in (None, POINT, COMMA):
            raise ValueError(f"a decimal mark is a point or a comma, and not {content['decimal']!r}")
        return cls(**content)

    @property
    def entries(self) -> dict[str, str | bool]:
        """What is not as usual."""
        return {own.name: value for own in fields(self) if (value := getattr(self, own.name)) not in (None, "", False)}

    def is_unit(self, text: str) -> bool:
        """Whether a text is the unit, whatever the case of its letters; but M is mega, and m is milli or metre.

        Examples
        --------
        >>> from sklearn_subanneal.report.written_numbers import WrittenNumbers
        >>> WrittenNumbers(unit="kg").is_unit("KG"), WrittenNumbers(unit="MW").is_unit("mW")
        (True, False)
        """
        is_prefix = text[:1] in ("m", "M") and text[:1] != self.unit[:1]
        return text.casefold() == self.unit.casefold() and not is_prefix


AS_PROGRAMS = WrittenNumbers()
