"""MixtureStreaming, partial_fit of a mixture: a mixin."""

from __future__ import annotations

from typing import Self

from sklearn.utils.metaestimators import available_if

from sklearn_subanneal import partitions
from sklearn_subanneal._core.fit_decorators import fit_context
from sklearn_subanneal.columns.bag_of_words import BagOfWords
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.estimators._streaming import Streaming, with_gone
from sklearn_subanneal.mixtures.particle import MixtureParticles
from sklearn_subanneal.mixtures.predictive import own_groups
from sklearn_subanneal.trees import IncrementalHierarchy


def rows_may_stream(estimator) -> bool:
    """Whether a mixture has ``partial_fit`` with its present parameters.

    Raises
    ------
    AttributeError
        If it has not: what to change.
    """
    try:
        is_auxiliary = partitions.resolve_partition(estimator.partition).bind().has_auxiliary
        moves = estimator._resolved_moves()
    except (TypeError, ValueError):
        # Parameters that are wrong in themselves: the method says what is wrong with them.
        return True
    if is_auxiliary:
        raise AttributeError(
            f"partition={estimator.partition!r} does not suit partial_fit; take 'dp' or 'pitman-yor', or give fit all "
            "rows at once"
        )
    if any(isinstance(move, IncrementalHierarchy) for move in moves):
        raise AttributeError(
            "moves=['incremental-hierarchy'] does not suit partial_fit, which grows no trees; leave the move out, "
            "or take TreeGuidedNRMM, whose partial_fit does"
        )
    return True


class MixtureStreaming(Streaming):
    """``partial_fit`` whose particles are mixtures."""

    @property
    def _stream_learns_from(self) -> int:
        return (BagOfWords if self._has_documents else ColumnModel).learned_from[0]

    @available_if(rows_may_stream)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, sample_weight=None) -> Self:
        """Go on with further rows, of which any number may come in any number of calls, in bounded memory.

        The ``n_chains`` chains are particles of sequential Monte Carlo. Each row is drawn its cluster by its exact
        conditional distribution given the rows before it, and each particle is weighted by the densities that it
        predicted for the rows. At fixed numbers of rows, between which at most a tenth of ``window`` come, the
        particles are drawn anew by their weights, if these have become too unequal, and then each makes moves: the rows
        in the window are sampled anew given all others, and so are the hyperparameters. Rows that have left the window
        stay in their clusters for ever.

        While all rows are in the window they are annealed, as :meth:`fit` does it, whenever their number has doubled,
        and when the window is full; ``time_limit`` is for each annealing, and ``moves`` are made in it alone. Types and
        categories of the columns are those of the first call, units, grids and the covariance of "auto" those of the
        annealed rows: they should be like those to come. With schedule="sequential" all rows enter one after the other,
        from hyperparameters drawn from their prior, and ``log_evidence_`` is the logarithm of an unbiased estimate of
        the evidence. After :meth:`fit` its chains are the particles, from their last draws, and its rows are not moved
        any more. ``fit`` starts anew. The model is valid after every call, with one draw a particle.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
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
            If the partition is one of which the weight of a row depends on an auxiliary variable ("nggp", "nig"), or a
            move grows trees ("incremental-hierarchy"): the estimator has no ``partial_fit`` then.

        References
        ----------
        W. R. Gilks, C. Berzuini (2001), Following a moving target: Monte Carlo inference for dynamic Bayesian models,
        Journal of the Royal Statistical Society B 63, 127-146. doi:10.1111/1467-9868.00280

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 8 * (np.arange(300) % 3)[:, None]
        >>> model = SubsampleAnnealedDPMM(n_chains=2, random_state=1)
        >>> for rows in np.split(X, 3):
        ...     model = model.partial_fit(rows)
        >>> model.n_clusters_, model.n_samples_seen_
        (3, 300)
        """
        return self._partial_fit(X, sample_weight)

    def _choose_again(self, table, arrays):
        if not self._has_documents:
            self._choose_covariance_again(table, arrays)

    def _particle_maker(self):
        return MixtureParticles(partitions.resolve_partition(self.partition).for_streams(), self.learn_hyperparameters)

    def _n_rows_of(self, draw):
        return int(draw.sizes.sum())

    def _label_rows(self, arrays):
        chain = next(i for i, (draw,) in enumerate(self._draws) if draw is self._representative)
        labels, draw = self._results[chain].labels[0], self._representative
        self._groups = with_gone(self._groups, draw.sizes, labels)
        self.n_clusters_ = int(self._groups.max()) + 1
        self.labels_, self.probabilities_ = own_groups(self._models, draw, arrays, self._groups)
