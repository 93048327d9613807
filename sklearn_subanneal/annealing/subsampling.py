"""Subsampling objects (cyclic, random, stratified): the order in which rows enter and leave the subsample."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.tables.unreadable import as_array


class Subsampling(BaseEstimator):
    """Base class of subsamplings, which determine which row leaves the subsample next, and which row enters."""

    #: Whether rows leave in the order in which they came.
    cyclic = True
    #: Name or index of the column whose values are the strata, if there is one.
    column: str | int | None = None

    def strata(self, n_rows: int, column=None) -> np.ndarray | None:
        """Stratum of each row, int (n_rows,), or None if there is only one."""
        return None

    def with_strata(self, strata: np.ndarray) -> Subsampling:
        """The same subsampling with these strata, one label a row of the table, which a fit was given.

        Raises
        ------
        ValueError
            If this subsampling has none, or has others.
        """
        raise ValueError(
            f'strata need subsampling="cyclic", "random" or StratifiedSubsampling(), got {self!r}; or leave strata out'
        )

    def of_copies(self, rows: np.ndarray | slice, n_rows: int) -> Subsampling:
        """The same subsampling of copies of the rows of a table; ``rows`` are the rows that they are copies of."""
        return self

    def bind(self, n_rows: int, generator: np.random.Generator, column=None) -> tuple[np.ndarray, Window]:
        """The order in which a chain stores the rows, and the window that moves over them.

        Parameters
        ----------
        n_rows : int
        generator : numpy.random.Generator
            Shuffles the rows.
        column : ndarray of shape (n_rows,) or None
            The cells of the column by which to stratify, if there is one.

        Returns
        -------
        order : ndarray of int, shape (n_rows,)
            Row of the table at each position.
        window : Window
        """
        order = generator.permutation(n_rows)
        strata = self.strata(n_rows, column)
        if strata is None:
            return order, Window([0, n_rows], [1.0], self.cyclic)
        order = order[np.argsort(strata[order], kind="stable")]
        sizes = np.bincount(strata)
        return order, Window(np.concatenate(([0], np.cumsum(sizes))), sizes ** (1.0 - self.balance), self.cyclic)


class CyclicSubsampling(Subsampling):
    """Rows are shuffled once and form a ring; the subsample is a window that moves around it.

    Rows leave in the order in which they entered, and memory is read in order, which is the fastest exchange.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import CyclicSubsampling
    >>> CyclicSubsampling()
    CyclicSubsampling()
    """

    def with_strata(self, strata):
        return StratifiedSubsampling(labels=strata)


class RandomSubsampling(Subsampling):
    """A random row leaves and a random row of those outside enters, as in the paper.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 2.3.

    Examples
    --------
    >>> from sklearn_subanneal.annealing import RandomSubsampling
    >>> RandomSubsampling()
    RandomSubsampling()
    """

    cyclic = False

    def with_strata(self, strata):
        return StratifiedSubsampling(labels=strata, churn="random")


class StratifiedSubsampling(Subsampling):
    """Rare rows enter early: each stratum has its own share of the subsample, until all rows are included.

    Parameters
    ----------
    column : str, int or None, default=None
        Name or index of the column whose values are the strata; a column of reals or counts is cut at its quantiles.
    labels : array-like of shape (n_samples,) or None, default=None
        The strata themselves, one label a row of the table that is fitted. Where tables are divided, as in
        cross-validation, give them to ``fit`` as ``strata``. One of ``column``, ``labels`` and ``strata`` is needed.
    n_bins : int, default=10
        Number of quantile bins of a column of reals or counts.
    balance : float in [0, 1], default=1.0
        0: strata are as frequent in the subsample as in the table; 1: as frequent as one another, until the smaller
        ones are complete.
    churn : {"cyclic", "random"}, default="cyclic"
        How rows are drawn within a stratum.

    References
    ----------
    Stratified subsampling for rare rows is the future work of section 6 of Obermeyer, Glidden, Jonas (2014).

    Examples
    --------
    >>> from sklearn_subanneal.annealing import StratifiedSubsampling
    >>> StratifiedSubsampling(column="protocol", balance=0.5)
    StratifiedSubsampling(balance=0.5, column='protocol')
    """

    def __init__(self, column=None, labels=None, *, n_bins: int = 10, balance: float = 1.0, churn: str = "cyclic"):
        self.column = column
        self.labels = labels
        self.n_bins = n_bins
        self.balance = balance
        self.churn = churn

    @property
    def cyclic(self):
        if self.churn not in ("cyclic", "random"):
            raise ValueError(f'churn must be "cyclic" or "random", got {self.churn!r}')
        return self.churn == "cyclic"

    def with_strata(self, strata):
        if self.column is not None or self.labels is not None:
            other = "labels" if self.column is None else "column"
            raise ValueError(
                f"strata were given to fit, but StratifiedSubsampling has {other}= too; leave one of them out"
            )
        return clone(self).set_params(labels=strata)

    def of_copies(self, rows, n_rows):
        if self.labels is None:
            return self
        labels = _checked_labels(self.labels, n_rows)
        return self if isinstance(rows, slice) else clone(self).set_params(labels=labels[rows])

    def strata(self, n_rows, column=None):
        if (self.column is None) == (self.labels is None):
            raise ValueError("StratifiedSubsampling needs either column= or labels=, or strata= in fit")
        if not isinstance(self.balance, Real) or not 0.0 <= self.balance <= 1.0:
            raise ValueError(f"balance must lie in [0, 1], got {self.balance!r}")
        if not isinstance(self.n_bins, Integral) or self.n_bins < 1:
            raise ValueError(f"n_bins must be an integer of at least 1, got {self.n_bins!r}")
        values = _checked_labels(column if self.labels is None else self.labels, n_rows)
        if self.labels is None and values.dtype.kind == "f":
            edges = np.unique(np.nanquantile(values, np.linspace(0.0, 1.0, self.n_bins + 1)[1:-1]))
            # NaN sorts after every edge: missing cells form a separate stratum.
            values = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))
        try:
            return np.unique(values, return_inverse=True)[1].reshape(-1)
        except TypeError as error:
            raise ValueError(
                f"strata must be labels that can be sorted, all numbers or all strings, got {shortened(values[0])} and "
                f"others ({error}): convert them to strings"
            ) from error


def checked_strata(X, strata) -> np.ndarray | None:
    """The strata that a fit was given, as an array; raises ValueError unless there is one for each row of X."""
    if strata is None:
        return None
    strata = as_array(strata, "strata")
    if strata.ndim != 1:
        raise ValueError(f"strata must have shape (n_samples,), got {strata.shape}; pass one column of labels")
    # What has no rows is no table, which its reader says in better words.
    with suppress(TypeError):
        check_consistent_length(X, strata)
    return strata


def _checked_labels(labels, n_rows) -> np.ndarray:
    """Labels of the rows; raises ValueError unless there is one for each."""
    labels = np.asarray(labels)
    if labels.shape != (n_rows,):
        raise ValueError(f"labels must have one entry for each of the {n_rows} rows, got shape {labels.shape}")
    return labels


class TableOrder(Subsampling):
    """Rows keep the order of the table: for chains that are a function of this order, such as incremental trees.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.annealing.subsampling import TableOrder
    >>> TableOrder().bind(3, np.random.default_rng(0))[0]
    array([0, 1, 2])
    """

    def bind(self, n_rows, generator, column=None):
        return np.arange(n_rows), Window([0, n_rows], [1.0], True)


NAMED = {"cyclic": CyclicSubsampling, "random": RandomSubsampling}


def resolve_subsampling(subsampling: str | Subsampling) -> Subsampling:
    """The subsampling with this name; objects are returned unchanged. Others than those of Subsampling are refused."""
    if not isinstance(subsampling, str | Subsampling):
        raise ValueError(
            f"subsampling must be a Subsampling, got {subsampling!r}; derive its class from annealing.Subsampling"
        )
    return NAMED[subsampling]() if isinstance(subsampling, str) else subsampling
