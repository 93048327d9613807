"""Which semicontinuous columns depend linearly on others, so that their rests join the Gaussian blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.joint_types import (
    LEAST_GAIN,
    coefficient_penalty,
    regression_log_density,
    regressor,
    spread_rows,
    transform_of,
)

# The rest has at least this share of the cells of its column, ...
LEAST_SHARE = 0.2
# ... and a regression gains at least so many nats for each of them.
LEAST_LINEAR_GAIN = 0.1


@dataclass(frozen=True, eq=False)
class Rest:
    """The cells of a semicontinuous column that are no atoms.

    Attributes
    ----------
    cells : ndarray of shape (n_rows,)
        NaN where the cell is an atom or missing.
    n_cells : int
        Number of cells of the column, atoms included.
    kind : {"real", "skewed"}
    revisable : bool
        Whether it may be real though it is skewed.
    """

    cells: np.ndarray
    n_cells: int
    kind: str
    revisable: bool


def joint_rests(rests: Mapping[int, Rest], reals: Sequence[tuple[np.ndarray, str]]) -> dict[int, str]:
    """The rests that join the Gaussian blocks, and their types.

    To a block, the atoms are missing cells, which cost time and slow the chain down. A column that depends on the
    others through clusters alone is therefore one column, outside of the blocks. Its rest joins them if it has at least
    a fifth of the cells of the column, and if a linear regression of it on the real and skewed columns gains at least
    0.1 nats for each of its cells, by the Bayesian information criterion. A rest that would be transformed is real if
    the regression then has more evidence, as skewed columns are
    (:func:`~sklearn_subanneal.columns.joint_types.revised_types`).

    Parameters
    ----------
    rests : mapping of int to Rest
        By the numbers of the columns.
    reals : sequence of (ndarray of shape (n_rows,), {"real", "skewed"})
        Cells and type of each real or skewed column.

    Returns
    -------
    joint : dict of int to {"real", "skewed"}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.joint_rests import Rest, joint_rests
    >>> rng = np.random.default_rng(0)
    >>> size, is_zero = rng.normal(10.0, 2.0, 300), rng.random(300) < 0.5
    >>> price = Rest(np.where(is_zero, np.nan, size + rng.normal(size=300)), 300, "real", False)
    >>> tip = Rest(np.where(is_zero, np.nan, rng.normal(10.0, 2.0, 300)), 300, "real", False)
    >>> joint_rests({3: price, 4: tip}, [(size, "real")])
    {3: 'real'}
    """
    rows = spread_rows(len(reals[0][0])) if reals else np.empty(0, int)
    columns = [regressor(cells[rows], kind) for cells, kind in reals]
    joint = {}
    for j, rest in rests.items():
        if columns and _n_seen(rest.cells) >= LEAST_SHARE * rest.n_cells:
            kind, gain = _regressed(rest, rest.cells[rows], np.column_stack(columns))
            if gain > LEAST_LINEAR_GAIN:
                joint[j] = kind
    return joint


def _regressed(rest, cells, X):
    """The type of a rest that is regressed on other columns, and the nats that this gains for each of its cells."""
    seen = ~np.isnan(cells)
    kind, n, cells = rest.kind, np.count_nonzero(seen), cells[seen]
    if n < 2:
        return kind, 0.0
    # Where a cell is no atom, the other columns may have another mean.
    X = X[seen] - X[seen].mean(axis=0)
    logs = {
        own: regression_log_density(cells, transform_of(cells, own), X) for own in {kind, *(["real"] * rest.revisable)}
    }
    if rest.revisable and logs[kind] - logs["real"] <= LEAST_GAIN * n:
        kind = "real"
    alone = regression_log_density(cells, transform_of(cells, kind), X[:, :0])
    return kind, (logs[kind] - alone - coefficient_penalty(X, n)) / n


def _n_seen(cells):
    return np.count_nonzero(~np.isnan(cells))
