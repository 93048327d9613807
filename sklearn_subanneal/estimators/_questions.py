"""Questions, methods of a fitted CrossCat: probabilities and information of events, and quantiles, without sampling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.estimators._column_quantiles import quantiles_by_events
from sklearn_subanneal.estimators._event_columns import EventColumns
from sklearn_subanneal.estimators._event_text import parsed_event
from sklearn_subanneal.estimators._evidence import checked_quantiles, column_index, evidence
from sklearn_subanneal.mixtures.ensemble import missing
from sklearn_subanneal.mixtures.event_probabilities import event_information, event_probabilities
from sklearn_subanneal.mixtures.quantiles import predicted_quantiles


class Questions:
    """Probabilities of events and quantiles: a mixin for an estimator whose draws are those of views.

    It reads ``_table`` and ``_average()``.
    """

    def probability(self, event: str | Sequence[str], given=None) -> float | np.ndarray:
        """The probability that a new row has some values, given some of its cells.

        It is the probability under the posterior predictive distribution, tails included: :meth:`sample` draws numbers
        far beyond the training cells again, but columns of whole numbers are rounded as it rounds them. It is found by
        distribution functions and not by samples: the event is divided into disjoint boxes, and given its clusters,
        which the evidence makes more or less probable, a row is in a box with the product of the probabilities of its
        columns. It is exact, up to rounding, with one exception: a box with conditions on several real or skewed
        columns with full covariance that share a view is integrated numerically. The error is below 1e-8 for two such
        columns whose correlation in the cluster is at most 0.99, and about 1e-4 for more, by a quasi-Monte Carlo
        sequence that is always the same.

        Parameters
        ----------
        event : str, or sequence of str
            An event, or several of which each has its probability, in much less time than one by one. It consists of
            comparisons of a column with a value: ``<``, ``<=``, ``>``, ``>=``, ``==``, ``!=``, ``in [...]``,
            ``not in [...]``, chains as in ``"18 <= age < 65"``; ``is missing`` and ``is not missing`` where the column
            has a missing indicator; the name of a boolean column alone. They are joined by ``and``, ``or``, ``not`` and
            parentheses. Values are numbers, strings in quotes, ``true`` and ``false``. Names that are no identifiers,
            or are ``missing`` or ``true``, are in backticks. The text is parsed, and never evaluated. Categories have
            an order if they are numbers, or levels of an ordinal column. Dates cannot be asked about. A missing cell,
            of a column with an indicator, fulfils no comparison but ``is missing``, ``!=``, ``not in`` and those after
            ``not``. Where there is no indicator, the question is about the value that the cell has.
        given : dict, or array-like or DataFrame of shape (1, n_features), default=None
            Evidence, as in :meth:`score_samples`. Events may be about its columns as well.

        Returns
        -------
        probability : float, or ndarray of shape (n_events,)
            Of a single value of a real or cyclic column it is 0, unless the column has whole numbers only, to which
            drawn cells are rounded, or the value repeats and covariance is full.

        Raises
        ------
        ValueError
            If the event is not of this grammar, names an unknown column or category, compares a column with values of
            another type, is about dates or has too many parts; or if the evidence is not as described.

        References
        ----------
        F. A. Saad, M. C. Rinard, V. K. Mansinghka (2021), SPPL: probabilistic programming with fast exact symbolic
        inference, PLDI. A. Genz, F. Bretz (2009), Computation of Multivariate Normal and t Probabilities, Springer.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> bool(abs(model.probability("x0 > 4") - 0.5) < 0.05)
        True
        >>> bool(model.probability("6 < x0 <= 10 or x0 < 0", given={"x1": 1}) > 0.8)
        True
        """
        check_is_fitted(self)
        is_single = isinstance(event, str)
        if not is_single and (not isinstance(event, Sequence | np.ndarray) or getattr(event, "ndim", 1) == 0):
            raise ValueError(f"event must be a string, or a list of strings, got {shortened(event)}.")
        asked, cells = self._asked([event] if is_single else event, given)
        with self._average() as average:
            found = event_probabilities(average, asked, cells)
        return float(found[0]) if is_single else found

    def event_information(self, a: str, b: str, given=None) -> float:
        """Mutual information of whether two events occur in a new row, in nats, given some of its cells.

        It says how much is learned about one event by hearing whether the other occurs: 0 if they are independent, and
        at most log 2, about 0.69, if one tells the other and both are as probable as not. As :meth:`mutual_information`
        of columns, it is the mean over the posterior draws of the information in the draw's mixture, where the evidence
        changes the weights of the clusters, and the draws count equally. It is computed from probabilities of events as
        exactly as :meth:`probability` computes these; for two boolean columns it is their mutual information.

        Parameters
        ----------
        a, b : str
            Events, as in :meth:`probability`. They may be about the same columns.
        given : dict, or array-like or DataFrame of shape (1, n_features), default=None
            Evidence, as in :meth:`score_samples`. Events may be about its columns as well.

        Returns
        -------
        information : float
            In nats; never negative.

        Raises
        ------
        ValueError
            If an event or the evidence is not as described.

        References
        ----------
        T. M. Cover, J. A. Thomas (2006), Elements of Information Theory, Wiley, section 2.3.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> x = np.repeat([0.0, 8.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCat(n_chains=2, feature_types={1: "categorical"}, random_state=0)
        >>> model = model.fit(np.column_stack([x, x > 4.0]))
        >>> bool(model.event_information("x0 > 4", "x1 == 1") > 0.5)
        True
        >>> round(model.event_information("x0 > 4", "x1 == 1", given={"x1": 1.0}), 9)  # known already
        0.0
        """
        check_is_fitted(self)
        (one, other), cells = self._asked([a, b], given)
        with self._average() as average:
            return event_information(average, one, other, cells)

    def _asked(self, events, given):
        """Events that are given as texts, and the evidence as typed cells of one row."""
        columns = EventColumns(self._table)
        asked = [parsed_event(event, columns.names, columns.compare) for event in events]
        return asked, evidence(self, self._table, {} if given is None else given, 1)

    def conditional_quantiles(self, column, quantiles=(0.05, 0.5, 0.95), given=None) -> np.ndarray:
        """Quantiles of a column of a new row, given some of its other cells.

        Those of a real or skewed column are of a mixture of t distributions, by its distribution function: exact up to
        10^-4 of the probability beyond the quantile, the share of the components that are left out, and rounded where
        all cells of ``fit`` were whole numbers, as :meth:`sample` rounds what it draws. Of counts, of ordinal columns,
        of categories that are numbers and of semicontinuous columns they are found by probabilities of events, as
        :meth:`probability` gives them: the least value that is not exceeded with this probability.

        Parameters
        ----------
        column : str or int
            Its name or index.
        quantiles : array-like of shape (n_quantiles,), default=(0.05, 0.5, 0.95)
            Probabilities, between 0 and 1, both excluded.
        given : dict, or array-like or DataFrame of shape (1, n_features), default=None
            Evidence, as in :meth:`score_samples`, about other columns.

        Returns
        -------
        values : ndarray of shape (n_quantiles,)
            In the units of the data; of an ordinal column, its levels.

        Raises
        ------
        ValueError
            If there is no such column, its values have no order, or it is among the evidence; or if the quantiles or
            the evidence are not as described.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> X = np.repeat([[0.0], [8.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
        >>> model = CrossCat(n_chains=2, random_state=0).fit(X)
        >>> low, median, high = model.conditional_quantiles("x0", [0.05, 0.5, 0.95], given={"x1": 9.0})
        >>> bool(low < median < high)
        True
        """
        check_is_fitted(self)
        j = column_index(self._table, "column", column)
        found, target = self._table.columns[j], self._table.places[j][0]
        levels = checked_quantiles(quantiles)
        cells = evidence(self, self._table, {} if given is None else given, 1)
        if not missing(cells)[0, target]:
            raise ValueError(
                f"given has column {found.name!r} or a function of it, whose quantiles are asked for: leave it out."
            )
        function = None if found.derivation is None or found.categories is not None else found.derivation.function
        modelled = found if function is None else self._table.modelled(j)
        levels = 1.0 - levels if function is not None and function.falls else levels
        with self._average() as average:
            if modelled.kind in ("real", "skewed"):
                values = predicted_quantiles(average, cells, target, levels)[0]
                values = np.rint(values) if any(average.models[target].whole) else values
            else:
                values = quantiles_by_events(average, modelled, self._table.places[j], cells, levels)
        return values if function is None else function.forward(values)
