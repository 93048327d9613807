"""Numbers whose last bits do not count, such as the values of a grid, rounded so that all machines agree on them.

Exponentials of NumPy and products of BLAS differ in the last bits from one vector unit to the next. A Markov chain that
starts from such numbers, or chooses among them, would be another one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def rounded(values: ArrayLike) -> NDArray:
    """Values with 24 bits, the precision of float32.

    Examples
    --------
    >>> from sklearn_subanneal._core.rounding import rounded
    >>> float(rounded(0.1)) == float(rounded(0.1 + 1e-16)), round(float(rounded(0.1)), 7)
    (True, 0.1)
    """
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**24) * 2.0**-24, exponent)


def geometric_grid(low: float, high: float, n: int) -> NDArray:
    """``numpy.geomspace``, rounded.

    Examples
    --------
    >>> from sklearn_subanneal._core.rounding import geometric_grid
    >>> geometric_grid(1.0, 4.0, 3)
    array([1., 2., 4.])
    """
    return rounded(np.geomspace(low, high, n))
