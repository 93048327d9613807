"""StructureQueries, methods of a fitted CrossCat: dependence and information of columns, row similarity, confidence.

Confidence is how far the draws agree on the clusters of each view.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal.annealing.runner import spawn_generators
from sklearn_subanneal.estimators._evidence import column_indices, refuse_common, typed_cell
from sklearn_subanneal.estimators._parts import dependence_of_columns, parts_of_columns, relatedness_of_columns
from sklearn_subanneal.posterior import similarity
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.derived_cells import separated_cells
from sklearn_subanneal.tables.row_indices import drawn_indices
from sklearn_subanneal.views import information


class StructureQueries:
    """Dependence and information between columns, similarity of rows and confidence in the clusters of the views.

    A mixin for an estimator whose draws are those of views. It reads ``_table``, ``_models``, ``_flat_draws()``,
    ``_encode(X)``, ``_row_labels``, ``_results``, ``_copies`` and the fitted labels of columns and views.
    """

    @property
    def dependence_(self) -> np.ndarray:
        """Share of the draws in which two columns are in the same view, (n_features, n_features).

        Draws have the weights of their chains. Of columns that are modelled by several: in which a part of one and a
        part of the other are.

        A value of 0 means that separate views fit better, not that the columns are uncorrelated: each of them may have
        other columns that explain it better. To measure the dependence among a few columns, fit them alone.
        """
        check_is_fitted(self)
        return dependence_of_columns(self._table, self.posterior_column_labels_, self._draw_weights())

    @property
    def view_confidence_(self) -> np.ndarray:
        """Agreement of the draws with ``view_labels_`` for each row, (n_samples, n_views), in [0, 1].

        After a fit to a table in shards and after ``partial_fit``: for each of ``posterior_rows_``.

        For a row and a view: the mean over the draws, and over the columns of the view, of the fraction of the other
        rows of its cluster that share its cluster in the draw's view of that column. For a row alone in its cluster it
        is the fraction of these in which the row is alone as well. A row of weight w counts as w rows, and one of
        weight 0 has NaN.
        """
        check_is_fitted(self)
        modelled = [labels for result in self._results for labels in result.labels]
        confidence = similarity.consensus_confidence(
            self._kept_view_labels.T[:, self._copies.rows],
            self.column_labels_,
            modelled,
            self._flat_column_labels(),
            self._draw_weights().ravel(),
        )
        return self._copies.of_table(confidence.T, np.nan).T

    def mutual_information(self, a, b, given=None, n_samples: int = 10_000, random_state=None) -> information.Estimate:
        """Mutual information of columns under the posterior predictive, in nats.

        The mean over the posterior draws of I(a; b | given) in the draw's mixture, including a new cluster; columns
        that are not named are integrated out. It is exactly 0 in draws with a and b in separate views, an exact sum if
        the columns are categorical, ordinal or boolean with few combinations of values, and a Monte Carlo integral
        otherwise.

        Parameters
        ----------
        a, b : str, int or list of these
            Columns by name or index; no column may be in both.
        given : str, int, list of these or dict, default=None
            A column or columns to condition on, averaged over their values; or a dict from column to its known value,
            or to None for a column to be averaged over. Known values change the weights of the clusters of each draw;
            the draws count equally.
        n_samples : int, default=10_000
            Monte Carlo samples in all, spread evenly over the draws (and views) that need them, at least 20 for each.
        random_state : int, RandomState instance, Generator or None, default=None
            Seed of the samples.

        Returns
        -------
        value : float
            In nats; never negative.
        standard_error : float
            The Monte Carlo standard error of the integrals given the draws; 0 if all terms are exact. It includes
            neither the error due to the finite number of posterior draws (compare chains for that), nor clusters so
            rare that they occur in no sample.

        Raises
        ------
        ValueError
            If a column is unknown or named twice, or a known value is missing or none that its column can have.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 300, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
        >>> model = CrossCat(n_chains=1, random_state=0).fit(X)
        >>> information = model.mutual_information(0, 1, random_state=0)
        >>> round(information.value, 1)  # which of three groups, log 3, and little else
        1.1
        >>> bool(information.standard_error < 0.02)
        True
        >>> model.mutual_information(0, 3)
        Estimate(value=0.0, standard_error=0.0)
        >>> round(model.mutual_information(0, 1, given={2: 9.0}, random_state=0).value, 1)
        0.0
        """
        check_is_fitted(self)
        a, b = self._column_indices("a", a), self._column_indices("b", b)
        averaged, evidence = self._conditions(given)
        refuse_common(self._table, {"a": a, "b": b, "given": averaged + list(evidence)})
        return information.mutual_information(
            self._models,
            self._flat_draws(),
            *(parts_of_columns(self._table, columns) for columns in (a, b, averaged)),
            {p: part for j, cells in evidence.items() for p, part in zip(self._table.places[j], cells, strict=True)},
            n_samples=checked_integer("n_samples", n_samples),
            generator=spawn_generators(random_state, 1)[0],
        )

    def relatedness(self, a, b, given=None, n_samples: int = 10_000, random_state=None) -> information.Estimate:
        """Mutual information on the scale of a correlation, sqrt(1 - exp(-2 I)).

        It is the absolute correlation for Gaussians, 0 for independent columns, and tends to 1 for reals that are
        functions of one another. Discrete columns stay below: two equal fair booleans have 0.87.

        Parameters
        ----------
        a, b, given, n_samples, random_state
            As in :meth:`mutual_information`.

        Returns
        -------
        value : float
            In [0, 1].
        standard_error : float
            Standard error of the relatedness, by the delta method.

        References
        ----------
        Linfoot, E. H. (1957). An informational measure of correlation. Information and Control 1, 85-89.
        doi:10.1016/S0019-9958(57)90116-X

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 300, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
        >>> model = CrossCat(n_chains=1, random_state=0).fit(X)
        >>> round(model.relatedness(0, 1, random_state=0).value, 1)
        0.9
        """
        return information.relatedness(self.mutual_information(a, b, given, n_samples, random_state))

    def relatedness_matrix(self, columns=None, n_samples: int = 2000, random_state=None) -> np.ndarray:
        """Relatedness of all pairs of columns.

        All pairs share their samples, which is far cheaper than to ask for each; ``dependence_`` is cheaper still.

        Parameters
        ----------
        columns : list of str or int, default=None
            The columns; None: all.
        n_samples : int, default=2000
            Monte Carlo samples for each pair, spread evenly over the draws, at least 20 for each.
        random_state : int, RandomState instance, Generator or None, default=None
            Seed of the samples.

        Returns
        -------
        related : ndarray of shape (n_columns, n_columns)
            In the order of `columns`, symmetric, with ones on the diagonal.

        Raises
        ------
        ValueError
            If a column is unknown or named twice.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 300, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
        >>> model = CrossCat(n_chains=1, random_state=0).fit(X)
        >>> model.relatedness_matrix([0, 1, 3, 4], random_state=0).round(1)
        array([[1. , 0.9, 0. , 0. ],
               [0.9, 1. , 0. , 0. ],
               [0. , 0. , 1. , 0.9],
               [0. , 0. , 0.9, 1. ]])
        """
        check_is_fitted(self)
        chosen = range(self.n_features_in_) if columns is None else self._column_indices("columns", columns)
        return relatedness_of_columns(
            self._table,
            self._models,
            self._flat_draws(),
            chosen,
            n_samples=checked_integer("n_samples", n_samples),
            generator=spawn_generators(random_state, 1)[0],
        )

    def row_similarity(self, rows, others=None, columns=None, max_rows: int = 5000) -> np.ndarray:
        """Share of the draws, and of their views, in which two rows of the training table are in one cluster.

        Draws have the weights of their chains.

        Parameters
        ----------
        rows : int, array-like of int or of bool
            Rows of the training table, as indices or as a mask of shape (n_samples,); after :meth:`partial_fit` and for
            a table in shards, some of ``posterior_rows_``.
        others : int, array-like of int or of bool, default=None
            The rows to compare them with; None: the same.
        columns : str, int or list of these, default=None
            Columns that determine the weights of the views: the weight of a view is the number of these columns that it
            contains. None: all views of a draw have equal weights.
        max_rows : int, default=5000
            An error is raised for more pairs of rows than the square of this.

        Returns
        -------
        similarity : ndarray of shape (n_rows, n_others)

        Raises
        ------
        ValueError
            If a row or column is unknown, the draws do not have a row, or there are too many pairs.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 300, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
        >>> model = CrossCat(n_chains=1, random_state=0).fit(X)
        >>> rows = [int(np.flatnonzero((one == 0) & (other == k))[0]) for k in (0, 1)]
        >>> model.row_similarity(rows).round(1)
        array([[1. , 0.5],
               [0.5, 1. ]])
        >>> model.row_similarity(rows, columns=[0, 1]).round(1)
        array([[1., 1.],
               [1., 1.]])
        """
        check_is_fitted(self)
        n_drawn, max_rows = self._row_labels[0][0].shape[1], checked_integer("max_rows", max_rows)
        rows = drawn_indices("rows", rows, self, n_drawn)
        others = rows if others is None else drawn_indices("others", others, self, n_drawn)
        if len(rows) * len(others) > max_rows**2:
            raise ValueError(
                f"row_similarity of {len(rows)} rows with {len(others)} fills a matrix of so many cells, and "
                f"max_rows={max_rows} allows {max_rows} x {max_rows}. Pass fewer rows= or others= (indices of the rows "
                "of interest, or a random subset), or raise max_rows."
            )
        if columns is not None:
            columns = parts_of_columns(self._table, self._column_indices("columns", columns))
        return similarity.row_similarity(
            self._flat_row_labels(), self._flat_column_labels(), rows, others, columns, self._draw_weights().ravel()
        )

    def typed_columns(self, X) -> list[np.ndarray]:
        """The columns of a table as the model reads them.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        columns : list of ndarray of shape (n_samples,)
            Of the types in ``part_types_``: reals as numbers, cyclic columns as angles in radians, NaN where
            missing; counts, and categories as codes in their order, -1 where missing or not seen by
            ``fit``.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> X = np.array([[0.5, 7.0], [np.nan, 9.0], [1.5, 7.0]])
        >>> CrossCat(feature_types=["real", "categorical"], n_chains=1, random_state=0).fit(X).typed_columns(X)
        [array([0.5, nan, 1.5]), array([0, 1, 0], dtype=int8)]
        """
        return self._typed(self._encode(X))

    def _typed(self, arrays) -> list[np.ndarray]:
        """The columns as of ``typed_columns``, from typed arrays."""
        # The period of a cyclic column is known to its model.
        return [
            model.values(arrays)[:, 0] if kind == "cyclic" else cells
            for model, kind, cells in zip(self._models, self.part_types_.values(), arrays, strict=True)
        ]

    def _flat_row_labels(self) -> list[np.ndarray]:
        return [labels for chain in self._row_labels for labels in chain]

    def _flat_column_labels(self) -> np.ndarray:
        return self.posterior_column_labels_.reshape(-1, len(self._table.parts))

    def _column_indices(self, parameter: str, columns) -> list[int]:
        return column_indices(self._table, parameter, columns)

    def _conditions(self, given) -> tuple[list[int], dict[int, list[np.ndarray]]]:
        """Columns to average over, and the typed cells of the parts of those that are known."""
        if given is None:
            return [], {}
        indices = self._column_indices("given", given)
        if not isinstance(given, Mapping):
            return indices, {}
        averaged, known, named = [], {}, {}
        for j, value in zip(indices, given.values(), strict=True):
            if (other := named.setdefault(self._table.places[j][0], j)) != j:
                pair = self._table.names[other], self._table.names[j]
                raise ValueError("given has {!r} and {!r}, functions of each other; name one of them.".format(*pair))
            if value is None:
                averaged.append(j)
                continue
            known[j] = typed_cell(self._table.columns[j], value)
            if (derivation := self._table.columns[j].derivation) is not None:
                cells = derivation.function.backward(known[j][0])
                known[j] = [*separated_cells(self._table.modelled(j), cells), *known[j][1:]]
            if is_missing(known[j][0])[0]:
                raise ValueError(
                    f"given has {value!r} for column {self._table.names[j]!r}, which is no value; give one, or None to "
                    "average over the column."
                )
        return averaged, known
