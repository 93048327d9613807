"""pair_fact: how two columns go together, as a phrase of the table's own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.report.column_types import brief
from sklearn_subanneal.report.number_digits import DIGITS_OF_DIFFERENCE, decimals_of

if TYPE_CHECKING:
    import pandas as pd

# The most frequent categories, of which a phrase gives so many.
MOST_LEVELS = 2
LEAST_P_VALUE = 1e-300
# Kinds of dtypes that have medians; numbers of no more values than this may be the codes of groups.
NUMBERS, MOST_NUMBERS = "iufmM", 20


def pair_fact(one: pd.Series, other: pd.Series, correlation: float) -> str:
    """A phrase on two columns, to be put after "depend on each other"; empty if there is nothing plain to say.

    Parameters
    ----------
    one, other : pandas.Series
        Cells of the table, missing ones among them.
    correlation : float
        Spearman's rank correlation, nan if one of them has categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal.report.pair_facts import pair_fact
    >>> sex, age = pd.Series(["f", "f", "m", "m", "m"], name="sex"), pd.Series([10, 20, 40, 50, 60], name="age")
    >>> pair_fact(sex, age, float("nan"))
    ': the median of age is 50 where sex is m, 15 where it is f'
    >>> pair_fact(age, age, 1.0)
    ': rank correlation 1.00, so high values go with high values'
    """
    if not np.isnan(correlation):
        way = (
            "high values go with high values"
            if correlation > 0
            else "high values of one go with low values of the other"
        )
        return f": rank correlation {correlation:.2f}, so {way}"
    both = one.notna() & other.notna()
    one, other = one[both], other[both]
    levels, values = sorted((one, other), key=_as_levels)
    shown = levels.value_counts().index[:MOST_LEVELS]
    if len(shown) < MOST_LEVELS:
        return ""
    if values.dtype.kind in NUMBERS and values.nunique() > 2:
        what = f"the median of {values.name} is"
        medians = [values[levels == level].median() for level in shown]
        is_number = values.dtype.kind in "iuf"
        decimals = decimals_of(medians[0] - medians[1], DIGITS_OF_DIFFERENCE) if is_number else 0
        texts = [brief(median, decimals) for median in medians]
    else:
        parts = [(values[levels == level].value_counts(normalize=True)) for level in shown]
        # The category whose share differs most.
        best = (parts[0] - parts[1].reindex(parts[0].index, fill_value=0.0)).abs().idxmax()
        texts = [f"{part.get(best, 0.0):.0%}" for part in parts]
        what = f"{values.name} is {brief(best)} in"
    rows = " of rows" if "%" in texts[0] else ""
    return (
        f": {what} {texts[0]}{rows} where {levels.name} is {brief(shown[0])}, {texts[1]} where it is {brief(shown[1])}"
    )


def _as_levels(series: pd.Series) -> tuple[bool, int]:
    """What to sort by: numbers of many values are no levels."""
    n_distinct = series.nunique()
    return series.dtype.kind in NUMBERS and n_distinct > MOST_NUMBERS, n_distinct


def p_text(p_value: float) -> str:
    """A p-value as a text; numbers that are no floats any more are so told.

    Examples
    --------
    >>> from sklearn_subanneal.report.pair_facts import p_text
    >>> p_text(0.00042), p_text(0.0)
    ('p = 0.0004', 'p < 1e-300')
    """
    return f"p < {LEAST_P_VALUE:.0g}" if p_value < LEAST_P_VALUE else f"p = {p_value:.1g}"
