"""Atoms: the values of a column of reals that many cells take exactly, while most others hardly repeat."""

from __future__ import annotations

import numpy as np

# An atom is the value of more than this share of the rows, and of more than this many.
LEAST_SHARE, LEAST_ROWS = 0.01, 20
# Its frequency is at least this many times the median frequency of the values that are not atoms.
LEAST_RATIO = 10.0
# In a column of which the user says that a value is frequent, the one that so many rows have, and so many times as many
# as have any other value.
LEAST_ROWS_OF_SINGLE, LEAST_LEAD = 3, 2


def find_atoms(cells: np.ndarray) -> np.ndarray:
    """Find the values of a column of reals that are atoms of its distribution.

    A value is an atom if more than max(1 % of the rows, 20) cells have it, and if its frequency is at least ten times
    the median frequency of the values that are not atoms. Atoms are at most half of the distinct values: in a column of
    which most values repeat, such as a column of integers or codes, none is.

    Parameters
    ----------
    cells : ndarray of float64 of shape (n_rows,)
        Missing cells are NaN.

    Returns
    -------
    atoms : ndarray of shape (n_atoms,)
        Sorted; often empty.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns import find_atoms
    >>> amounts = np.random.default_rng(0).lognormal(size=100)
    >>> find_atoms(np.concatenate([np.zeros(60), amounts, np.full(40, 9.0)]))
    array([0., 9.])
    >>> find_atoms(np.repeat(np.arange(5.0), 40))
    array([], dtype=float64)
    """
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    frequent = np.count_nonzero(counts > max(LEAST_SHARE * len(cells), LEAST_ROWS))
    for n_atoms in range(min(frequent, len(values) // 2), 0, -1):
        if counts[order[n_atoms - 1]] >= LEAST_RATIO * np.median(counts[order[n_atoms:]]):
            return np.sort(values[order[:n_atoms]])
    return np.empty(0)


def single_atom(cells: np.ndarray) -> np.ndarray:
    """The most frequent value of a column, if three cells have it, and twice as many as any other; else none.

    Parameters
    ----------
    cells : ndarray of float64 of shape (n_rows,)
        Missing cells are NaN.

    Returns
    -------
    atoms : ndarray of shape (1,) or (0,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.atoms import single_atom
    >>> single_atom(np.array([0.5, 0.5, 0.5, 0.5, 1.3, 2.1, 2.1, 4.0]))
    array([0.5])
    """
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    if len(values) < 2:
        return np.empty(0)
    second, first = np.sort(counts)[-2:]
    leads = first >= max(LEAST_ROWS_OF_SINGLE, LEAST_LEAD * second)
    return values[[counts.argmax()]] if leads else np.empty(0)
