"""ViewsStreaming, partial_fit of a cross-categorization: a mixin."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from sklearn_subanneal._core.fit_decorators import fit_context
from sklearn_subanneal.estimators._streaming import Streaming, with_gone
from sklearn_subanneal.mixtures.predictive import own_groups
from sklearn_subanneal.views.views_chain import LEARNED_FROM
from sklearn_subanneal.views.views_particles import ViewsParticles


def has_streams(estimator) -> bool:
    """Whether a cross-categorization has ``partial_fit``, in its present state.

    Raises
    ------
    AttributeError
        If it has not: what to change.
    """
    reason = (
        "does not suit partial_fit, since sums of reals that are dependent within the clusters of a view cannot follow "
        "a column to another view; take 'diag'"
    )
    if estimator.covariance_type == "full":
        raise AttributeError(f"covariance_type='full' {reason}, or 'auto'")
    if estimator._results is not None and estimator.covariance_type_ == "full":
        raise AttributeError(
            f"covariance_type={estimator.covariance_type!r} became 'full' in the last fit, which {reason}, and fit anew"
        )
    return True


class ViewsStreaming(Streaming):
    """``partial_fit`` whose particles are cross-categorizations."""

    _stream_learns_from = LEARNED_FROM

    @available_if(has_streams)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, sample_weight=None) -> Self:
        """Go on with further rows, of which any number may come in any number of calls, in bounded memory.

        The ``n_chains`` chains are particles of sequential Monte Carlo, as in
        :meth:`SubsampleAnnealedDPMM.partial_fit`: each row is drawn its cluster in each view by its exact conditional
        distribution given the rows before it; each particle is weighted by the densities that it predicted; at fixed
        numbers of rows particles are drawn anew by their weights, if these have become too unequal, then the rows in
        the window are sampled anew, columns choose among the views, and hyperparameters are redrawn. Rows that have
        left the window stay in their clusters for ever; but sums of all columns are kept in every view, so that columns
        may change their view by all rows that have come.

        While all rows are in the window they are annealed, as :meth:`fit` does it, whenever their number has doubled,
        and when the window is full; views are born in this alone. Later they may lose all columns, and have some again,
        but there are never more than the particle had then. After :meth:`fit`, whose rows are gone, columns stay in
        their views. With schedule="sequential" nothing is annealed: a particle begins with as many views as there are
        columns, at most 20, with hyperparameters and views of the columns drawn from their prior, and ``log_evidence_``
        is the logarithm of an unbiased estimate of the evidence given that there are no more views.

        Real columns are independent within a cluster: ``covariance_type`` must be "diag" or "auto", which is then
        "diag". Types and categories of the columns are those of the first call, units and grids those of the annealed
        rows: they should be like those to come. ``fit`` starts anew. The model is valid after every call, with one draw
        a particle.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The next rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w enters as w equal rows.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X or the weights are not as ``fit`` takes them, X is not like the rows before, or a parameter of the
            model, or the number of chains, is not as it was for these.
        AttributeError
            If ``covariance_type`` is "full", or the last ``fit`` chose it: there is no ``partial_fit`` then.

        References
        ----------
        W. R. Gilks, C. Berzuini (2001), Following a moving target: Monte Carlo inference for dynamic Bayesian models,
        Journal of the Royal Statistical Society B 63, 127-146. doi:10.1111/1467-9868.00280

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 600, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(600, 3)), 9 * other + rng.normal(size=(600, 2))])
        >>> model = CrossCat(n_chains=1, window=300, random_state=0)
        >>> for rows in np.split(X, 6):
        ...     model = model.partial_fit(rows)
        >>> model.column_labels_, model.n_samples_seen_
        (array([0, 0, 0, 1, 1]), 600)
        """
        return self._partial_fit(X, sample_weight)

    def _particle_maker(self):
        rows, columns = (partition.for_streams() for partition in self._partitions())
        return ViewsParticles(columns, rows, self.learn_hyperparameters)

    def _n_rows_of(self, draw):
        return int(draw.views[0].sizes.sum())

    def _label_rows(self, arrays):
        # Of the draw with its views in the order of the chain, as its labels are.
        draw, found = self._representative, []
        of_chain = [
            {id(own): labels for own, labels in zip(one.views, result.labels[0], strict=True)}
            for (one,), result in zip(self._draws, self._results, strict=True)
        ]
        labels = next(own for own in of_chain if id(draw.views[0]) in own)
        for view, own in enumerate(draw.views):
            self._groups[view] = with_gone(self._groups[view], own.sizes, labels[id(own)])
            found.append(own_groups(*self._view(view, arrays), self._groups[view]))
        self.view_labels_ = np.column_stack([labels for labels, _ in found])
        self.labels_, self.probabilities_ = found[0]
        self.n_clusters_ = int(self._groups[0].max()) + 1
