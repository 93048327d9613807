"""pair_fact: how two columns go together, as a phrase of the table's own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.columns.cyclic import TURN
from sklearn_subanneal.report.column_types import ColumnDescription, brief
from sklearn_subanneal.report.number_digits import DIGITS_OF_DIFFERENCE, decimals_of
from sklearn_subanneal.tables.clock_times import clock_texts
from sklearn_subanneal.tables.spelling import TIME_OF_DAY

if TYPE_CHECKING:
    import pandas as pd

# The most frequent categories, of which a phrase gives so many.
MOST_LEVELS = 2
LEAST_P_VALUE = 1e-300
# Kinds of dtypes that have medians; numbers of no more values than this may be the codes of groups.
NUMBERS, MOST_NUMBERS = "iufmM", 20
# Values on a circle that are less concentrated than this, from 0 to 1, have no mean worth telling.
LEAST_CONCENTRATION = 0.2
NO_CYCLES: Mapping[str, ColumnDescription] = MappingProxyType({})


def pair_fact(
    one: pd.Series, other: pd.Series, correlation: float, cycles: Mapping[str, ColumnDescription] = NO_CYCLES
) -> str:
    """A phrase on two columns, to be put after "depend on each other"; empty if there is nothing plain to say.

    Parameters
    ----------
    one, other : pandas.Series
        Cells of the table, missing ones among them.
    correlation : float
        Spearman's rank correlation, nan if one of them has categories.
    cycles : mapping of str to ColumnDescription
        The cyclic columns, by their names: a median would depend on where their period begins.

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
    if not np.isnan(correlation) and cycles.keys().isdisjoint((one.name, other.name)):
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
    if len(shown) < MOST_LEVELS or _as_levels(levels)[0]:
        return ""
    if values.name in cycles and values.nunique() > 2:
        texts = _circular_means([values[levels == level] for level in shown], cycles[values.name])
        if not texts:
            return ""
        what = f"the mean of {values.name} is"
    elif values.dtype.kind in NUMBERS and values.nunique() > 2:
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
    of_clock = levels.name in cycles and cycles[levels.name].meaning == TIME_OF_DAY
    first, second = map(_clock if of_clock else brief, shown)
    return f": {what} {texts[0]}{rows} where {levels.name} is {first}, {texts[1]} where it is {second}"


def _circular_means(groups: list[pd.Series], column: ColumnDescription) -> list[str]:
    """The mean of each group on the circle, a time of day as one; empty if they are spread around it."""
    period = column.period or TURN
    resultants = [np.exp(1j * TURN * group.to_numpy(np.float64) / period).mean() for group in groups]
    if min(map(abs, resultants)) < LEAST_CONCENTRATION:
        return []
    means = [float(np.angle(own)) * period / TURN for own in resultants]
    if column.meaning == TIME_OF_DAY:
        return list(map(_clock, means))
    # In the turn in which the column has its values: from 0, from 1 as months, or from -180.
    low = min(group.min() for group in groups)
    low = 0.0 if low >= 0.0 and max(group.max() for group in groups) < period else low
    # Rounded, so that what is at 0 is not at the end of the turn.
    means = [low + period * (round((mean - low) / period, 9) % 1.0) for mean in means]
    return [brief(mean, decimals_of(means[0] - means[1], DIGITS_OF_DIFFERENCE)) for mean in means]


def _clock(hours: float) -> str:
    """A time of day to the minute."""
    minutes = round(60.0 * hours) % (24 * 60)
    return str(clock_texts([60.0 * minutes])[0])


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
