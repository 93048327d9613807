"""Distillation: from a fitted model to one of fewer draws, with nearly the same densities."""

from __future__ import annotations

import sys
from copy import copy
from dataclasses import replace
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.estimators._sampling import sampling_generator
from sklearn_subanneal.mixtures.distillation import sufficient_draws

N_SAMPLED = 2000


class Distillation:
    """The method that distils a model: a mixin.

    It reads ``_average()``, ``_encode(X, scored=)``, the draws and what is kept for each of them.
    """

    def distill(self, X=None, max_loss: float = 0.01, *, random_state=None):
        """A copy of the model with as few draws as give nearly the same densities, for fast predictions.

        The time of a prediction is proportional to the number of draws. Draws are added, the one that helps most first,
        until their average, with equal weights, loses at most ``max_loss``. The others hold what is uncertain about
        the clusters: for probabilities of new rows one or two draws often do, but intervals, imputations and measures
        of dependence are less certain than those of a distilled model seem.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features), default=None
            Rows by which the loss is measured. None: 2,000 rows that are drawn from the model.
        max_loss : float, default=0.01
            The largest loss of mean log density, in nats a row; positive.
        random_state : int, RandomState instance, Generator or None, default=None
            Of the rows that are drawn.

        Returns
        -------
        model : estimator
            Of the same class and with all its methods. It has one chain, with the chosen draws, and
            ``distillation_loss_``, what they lose; ``labels_``, ``convergence_`` and ``trace_`` are those of all
            chains. A further ``fit`` starts anew; ``partial_fit`` is for the model itself, which can be distilled
            again. If no fewer draws do, it has the loss 0 and all draws.

        Raises
        ------
        ValueError
            If ``max_loss`` is not positive, or X does not fit the model.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> X = np.repeat([0.0, 8.0], 100)[:, None] + np.random.default_rng(0).normal(size=(200, 1))
        >>> model = SubsampleAnnealedDPMM(random_state=0).fit(X)
        >>> fast = model.distill(max_loss=0.05, random_state=0)
        >>> model.log_joint_.size, fast.log_joint_.size < 10, bool(fast.distillation_loss_ <= 0.05)
        (40, True, True)
        """
        check_is_fitted(self)
        if not isinstance(max_loss, Real) or not 0.0 < max_loss <= sys.float_info.max:
            raise ValueError(f"max_loss must be a positive number, got {shortened(max_loss)}; try 0.01")
        if X is None and getattr(self, "_has_documents", False):
            # Their lengths are not modelled: only the estimator knows them.
            X = self.sample(N_SAMPLED, random_state=sampling_generator(1, random_state))
        with self._average() as average:
            if X is None:
                arrays = average.sample(N_SAMPLED, sampling_generator(1, random_state))
            else:
                arrays = self._encode(X, scored=True)
            chosen, loss = sufficient_draws(average, arrays, max_loss)
        out = copy(self) if len(chosen) == self.log_joint_.size else self._of_draws(chosen)
        out.distillation_loss_ = loss
        return out

    def _of_draws(self, numbers):
        """A copy with some of the draws, of equal weights, as one chain."""
        pairs = [divmod(number, self.log_joint_.shape[1]) for number in numbers]
        at = tuple(np.transpose(pairs))

        def some(values):
            if isinstance(values, dict):
                return {name: some(own) for name, own in values.items()}
            return values[at][None]

        out = copy(self)
        draws = [replace(self._draws[c][i], weight=1.0) for c, i in pairs]
        labels = [self._results[c].labels[i] for c, i in pairs]
        out._results, out._draws = [replace(self._results[0], draws=draws, labels=labels)], [draws]
        out.log_joint_, out.chain_weights_, out.n_chains_ = some(self.log_joint_), np.ones(1), 1
        out.posterior_labels_ = some(self.posterior_labels_)
        out.hyperparameters_ = some(self.hyperparameters_)
        if hasattr(self, "posterior_column_labels_"):
            out.posterior_column_labels_ = some(self.posterior_column_labels_)
            out._row_labels = [[self._row_labels[c][i] for c, i in pairs]]
        out.warm_start = False
        if hasattr(self, "_ends"):
            # A stream goes on from all chains, with their weights.
            out._stream, out._ends = None, ()
        return out
