"""The grid of shapes (normals between cut points) that an ordinal column can have in a cluster."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

# Share of the values of a shape that are uniform over the levels: one outlier must not rule a shape out.
UNIFORM_SHARE = 1e-3
# Means of the normals are this far apart, in levels; with many levels further, so that they are not more than
# MOST_MEANS.
STEP, MOST_MEANS = 0.5, 49
# Standard deviations begin with this many steps, each this many times the last, up to the number of levels.
NARROWEST, RATIO = 0.3, 2.5


class Shapes(NamedTuple):
    """Shapes of a column with n_levels levels, in the order of means and then of standard deviations.

    Attributes
    ----------
    means : ndarray of shape (n_means,)
        In levels: the lowest is 0.
    probabilities : ndarray of shape (n_means, n_scales, n_levels)
    """

    means: np.ndarray
    probabilities: np.ndarray


@lru_cache(maxsize=512)
def shapes_between(cuts: tuple[float, ...]) -> Shapes:
    """All shapes for given cut points.

    Parameters
    ----------
    cuts : tuple of float
        Increasing, one fewer than there are levels: level l is a normal variable between cuts[l - 1] and cuts[l].

    Returns
    -------
    Shapes
        Arrays that are shared by all columns with these cut points, and read-only.

    Examples
    --------
    >>> from sklearn_subanneal.columns.ordinal_shapes import shapes_between
    >>> means, probabilities = shapes_between((0.5, 1.5))
    >>> means
    array([-1. , -0.5,  0. ,  0.5,  1. ,  1.5,  2. ,  2.5,  3. ])
    >>> probabilities[4].round(3)
    array([[0.001, 0.998, 0.001],
           [0.091, 0.817, 0.091],
           [0.297, 0.406, 0.297],
           [0.415, 0.169, 0.415]])
    """
    n_levels = len(cuts) + 1
    step = max(STEP, (n_levels + 1) / (MOST_MEANS - 1))
    means = -1.0 + step * np.arange(round((n_levels + 1) / step) + 1)
    narrowest = NARROWEST * step
    n_scales = 1 + int(np.floor(np.log(n_levels / narrowest) / np.log(RATIO) + 1e-9))
    scales = narrowest * RATIO ** np.arange(n_scales)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    z = (edges - means[:, None, None]) / scales[:, None]
    low, high = z[..., :-1], z[..., 1:]
    # On the upper side the difference of upper tails: no accuracy is lost.
    mirrored = low > 0.0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    probabilities = (1.0 - UNIFORM_SHARE) * (ndtr(high) - ndtr(low)) + UNIFORM_SHARE / n_levels
    for array in (means, probabilities):
        array.flags.writeable = False
    return Shapes(means, probabilities)
