"""Standard units of columns of reals, and checks that the data are in the range of the kernels' arithmetic."""

from __future__ import annotations

import numpy as np


def standard_units(values: np.ndarray, learn: bool, grids: str) -> tuple[np.ndarray, np.ndarray]:
    """(center, scale) of each column of ``values``; without learning they serve the arithmetic alone."""
    if learn and grids == "fixed":
        return np.zeros(values.shape[1]), np.ones(values.shape[1])
    top = np.nanmax(np.abs(values), axis=0)
    # A power of two costs no accuracy, and keeps squares from overflow and underflow.
    unit = np.ldexp(1.0, np.frexp(top)[1] - 1)
    center = np.nanmean(values / unit, axis=0)
    spread = np.nanstd(values / unit, axis=0)
    # A constant column has no units but its own value; rounding may leave it some spread.
    scale = np.where(spread > 1e-13, spread * unit, np.where(top > 0, top, 1.0))
    return center * unit, scale


def check_reach(name: str, z: np.ndarray, mu, sigma2, most: float, other: str = "") -> None:
    """Refuse reals more than ``most`` standard deviations from their prior: too far for the kernels.

    The message ends with ``other``, a further remedy.
    """
    reach = np.nanmax(np.abs(z), axis=0) + np.abs(mu)
    if not np.all((sigma2 < np.inf) & (reach <= most * np.sqrt(sigma2))):
        raise ValueError(
            f"{name} has values too far from the prior: more than {most:g} of its standard deviations. Give mu and "
            "sigma2 (or psi) in the units of the data by feature_params, rescale the "
            f'data, or learn the hyperparameters with grids="data"{other}'
        )


def rounding_variance(z: np.ndarray) -> float:
    """The variance that rounding has left where the values are rounded ones, and 0 where they are not.

    Without that end of its grid a cluster would shrink to each of the values: an unbounded density that predicts
    nothing.
    """
    z = z[~np.isnan(z)]
    values = np.unique(z)
    if not 1 < len(values) <= len(z) / 2:
        return 0.0
    # A low quantile, for values that ought to be equal and differ by errors of arithmetic.
    step = np.quantile(np.diff(values), 0.1)
    return step**2 / 12.0
