"""Student's t between two limits: draws by the inverse of the distribution function, however improbable the limits."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr, stdtrit

# The distribution function is too coarse where the tail is less probable than this, and between limits that enclose a
# smaller part of it.
LEAST_TAIL, LEAST_PART = 1e-100, 1e-6


def truncated_t(location, scale, free, low, high, share) -> np.ndarray:
    """The values between limits below which t variables are with some probability, given that they are between them.

    With a ``share`` that is uniform on (0, 1), they are draws. Between limits so improbable, or so close to each other,
    that the distribution function does not tell them apart, the density falls exponentially from one to the other.

    Parameters
    ----------
    location, scale, free : ndarray of shape (n,) or float
        ``free`` are degrees of freedom.
    low, high : ndarray of shape (n,) or float
        The limits, which may be infinite.
    share : ndarray of shape (n,) or float
        The probability, between 0 and 1.

    Returns
    -------
    values : ndarray of shape (n,) or float

    Examples
    --------
    >>> from sklearn_subanneal.columns.truncated_t import truncated_t
    >>> float(truncated_t(0.0, 1.0, 1.0, 0.0, 1.0, 0.5).round(6))    # tan(pi / 8)
    0.414214
    >>> float(truncated_t(0.0, 1.0, 1e9, 1e3, 2e3, 0.5).round(6))
    1000.000694
    """
    with np.errstate(all="ignore"):
        # The upper tail as the lower one of -z: a difference of numbers near 1 would lose it.
        is_upper = low + high > 2.0 * location
        end, sign = np.where(is_upper, low, high), np.where(is_upper, -1.0, 1.0)
        near, far = sign * (end - location) / scale, sign * (np.where(is_upper, high, low) - location) / scale
        rest = np.where(is_upper, share, 1.0 - share)
        most, least = stdtr(free, near), stdtr(free, far)
        z = stdtrit(free, most - rest * (most - least))
        slope = np.where(near < 0.0, -near * (free + 1.0) / (free + near**2), 0.0)
        # The limits may be so far from the location that they are one number, seen from there.
        width = (high - low) / scale
        fall = slope * width
        inward = np.where(fall < 1e-9, rest * width, -np.log1p(rest * np.expm1(-fall)) / slope)
        is_coarse = (most < LEAST_TAIL) | (most - least < LEAST_PART * most)
        values = np.where(
            np.isinf(end), location + scale * z, end - sign * scale * np.where(is_coarse, inward, near - z)
        )
    return np.clip(values, low, high)
