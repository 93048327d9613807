"""DeclaredType: what a user writes for the type of a column, such as "real" or "cyclic:24"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.cyclic import LEAST_PERIOD, MOST_PERIOD

CYCLIC = "cyclic"


@dataclass(frozen=True)
class DeclaredType:
    """The type of a column, and the period of a cyclic one.

    Attributes
    ----------
    kind : str
    period : float or None, default=None
        In the units of the column; None: not said.
    """

    kind: str
    period: float | None = None

    @classmethod
    def parse(cls, name: str, text: str) -> DeclaredType:
        """What is written for a column: a type, or "cyclic:PERIOD".

        Raises
        ------
        ValueError
            If the period is no number above 0.

        Examples
        --------
        >>> from sklearn_subanneal.report.declared_type import DeclaredType
        >>> DeclaredType.parse("hour", "cyclic:24")
        DeclaredType(kind='cyclic', period=24.0)
        """
        kind, colon, length = text.partition(":")
        if kind != CYCLIC or not colon:
            return cls(text)
        try:
            period = float(length)
        except ValueError:
            period = np.nan
        if not LEAST_PERIOD <= period <= MOST_PERIOD:
            raise ValueError(
                f"--types has {text!r} for column {name!r}: give the period as a number above 0, as in cyclic:24 for "
                "hours of the day."
            )
        return cls(kind, period)

    def __str__(self) -> str:
        if self.period is None:
            return self.kind
        return f"{self.kind}:{np.format_float_positional(self.period, trim='-')}"
