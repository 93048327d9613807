"""Constraints of the parameters of estimators: those of scikit-learn, from the one place that knows where they are."""

from __future__ import annotations

import sys
from numbers import Integral

from sklearn.utils import _param_validation
from sklearn.utils._param_validation import HasMethods, StrOptions

__all__ = ["HasMethods", "NumberRange", "StrOptions"]


class NumberRange(_param_validation.Interval):
    """The range of a number, as scikit-learn's; but True and False are no numbers, nor are those beyond floating point.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from numbers import Real
    >>> from sklearn_subanneal._core.constraints import NumberRange
    >>> Fraction(10**400, 3) in NumberRange(Real, 0, None, closed="neither")
    False
    """

    def __contains__(self, value):
        if isinstance(value, bool) or (isinstance(value, Integral) and abs(value) > sys.float_info.max):
            return False
        try:
            return super().__contains__(value)
        except TypeError:
            # Large fractions, for NumPy objects.
            return False
