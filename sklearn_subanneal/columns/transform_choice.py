"""Choice of the transformation of a skewed column, by the marginal likelihood of a single normal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import gammaln, logsumexp

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns.transforms import IDENTITY, Logarithm, Transform, YeoJohnson

POWERS = np.linspace(0.0, 2.0, 21)
# Shifts of the logarithm, where there are zeros: from the least positive value to the median one.
N_SHIFTS = 9
# The normal-inverse-chi-square prior of the evidence, in standard deviations of the transformed cells.
KAPPA, NU = 0.1, 2.0
# Members of a family are compared together, unless they have more transformed cells than this.
MOST_AT_ONCE = 20_000


def transform_evidence(cells: np.ndarray, names: tuple[str, ...] | None = None) -> list[tuple[Transform, float]]:
    """Compare transformations of a column by the evidence (marginal likelihood) of one normal of the transformed cells.

    Candidates are the identity, the logarithm if all cells are positive, log(x + shift) if they are at least 0 and some
    are 0, and the transformation of Yeo and Johnson of the cells in units of their median and interquartile range. The
    evidence is that of one normal with a normal-inverse-chi-square prior, the Jacobian included, and is therefore in
    the units of the data; that of a family with a parameter is the mean over the grid of the parameter, which penalizes
    it, and its member is the best one on the grid.

    Parameters
    ----------
    cells : ndarray of float64 of shape (n_rows,)
        The training data alone. Missing cells are NaN.
    names : tuple of str, or None
        The families to compare: "identity", "log", "yeo-johnson". None: all.

    Returns
    -------
    candidates : list of (Transform, float)
        The best member and the log evidence of each family that can take the cells, the largest evidence first.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns import transform_evidence
    >>> incomes = np.exp(np.random.default_rng(0).normal(10.0, 1.0, 300))
    >>> [transform.name for transform, _ in transform_evidence(incomes)]
    ['log', 'yeo-johnson', 'identity']
    """
    x = cells[~np.isnan(cells)]
    found = []
    for name, members in _families(x).items():
        if members and (names is None or name in names):
            logs = _log_evidences(x, members)
            found.append((members[logs.argmax()], float(logsumexp(logs) - np.log(len(logs)))))
    return sorted(found, key=lambda candidate: -candidate[1])


def choose_transform(cells: np.ndarray, names: tuple[str, ...] | None = None) -> Transform | None:
    """The transformation of the largest evidence, see :func:`transform_evidence`; None if no family takes the cells.

    Two distinct values, or a constant, are the same to every increasing function: their transformation is the identity
    if that is a candidate.
    """
    candidates = transform_evidence(cells, names)
    few = len(np.unique(cells[~np.isnan(cells)])) <= 2
    plain = [transform for transform, _ in candidates if transform == IDENTITY]
    return plain[0] if few and plain else candidates[0][0] if candidates else None


def _families(x):
    low, quartiles = x.min(), np.quantile(x, [0.25, 0.5, 0.75])
    spread = quartiles[2] - quartiles[0] or x.std()
    families = {"identity": [IDENTITY], "log": []}
    if low > 0.0:
        families["log"] = [Logarithm()]
    elif low == 0.0 and x.max() > 0.0:
        positive = x[x > 0.0]
        families["log"] = [Logarithm(s) for s in geometric_grid(positive.min(), np.median(positive), N_SHIFTS).tolist()]
    unit = spread if spread > 0.0 else abs(quartiles[1]) or 1.0
    families["yeo-johnson"] = [YeoJohnson(p, float(quartiles[1]), float(unit)) for p in POWERS.tolist()]
    return families


def _log_evidences(x, members) -> np.ndarray:
    """Log evidence of each member of a family."""
    at_once = max(MOST_AT_ONCE // len(x), 1)
    some = (members[first : first + at_once] for first in range(0, len(members), at_once))
    return np.concatenate([_log_evidence(x, _together(own)) for own in some])


def _together(members):
    """Transformations that differ in one parameter as one with a column of it, which gives a row for each of them."""
    parameter = {"log": "shift", "yeo-johnson": "power"}.get(members[0].name)
    if parameter is None:
        return members[0]
    return replace(members[0], **{parameter: np.array([[getattr(member, parameter)] for member in members])})


def _log_evidence(x, transform) -> np.ndarray:
    """Log densities of the cells under one normal of the transformed ones, its mean and variance integrated out."""
    with np.errstate(all="ignore"):
        u = np.atleast_2d(transform.forward(x))
        center, scale = u.mean(axis=1, keepdims=True), u.std(axis=1, keepdims=True)
        # A constant has no scale, whatever rounding leaves.
        scale = np.where(scale > 1e-13 * np.maximum(np.abs(center), 1e-290), scale, 1.0)
        n, square = len(x), (((u - center) / scale) ** 2).sum(axis=1)
        log_jacobian = np.sum(transform.log_slope(u) - np.log(scale) + np.zeros(u.shape), axis=1)
        # Gamma(nu_n/2) / Gamma(nu/2) sqrt(kappa / kappa_n) nu^(nu/2) / (nu + square)^(nu_n/2) pi^(-n/2), of mean 0
        log_marginal = (
            gammaln(0.5 * (NU + n))
            - gammaln(0.5 * NU)
            + 0.5 * np.log(KAPPA / (KAPPA + n))
            + 0.5 * NU * np.log(NU)
            - 0.5 * (NU + n) * np.log(NU + square)
            - 0.5 * n * np.log(np.pi)
        )
        out = log_marginal + log_jacobian
    return np.where(np.isfinite(out), out, -np.inf)
