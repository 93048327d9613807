"""Simulators of tables from the prior of an estimator, for simulation-based calibration."""

from __future__ import annotations

from sklearn.base import clone

from sklearn_subanneal.annealing.subsampling import resolve_subsampling
from sklearn_subanneal.estimators._enough_chains import most_chains
from sklearn_subanneal.mixtures.mixture_simulator import MixtureSimulator
from sklearn_subanneal.trees.forest_chain import ForestSpec
from sklearn_subanneal.views.views_simulator import ViewsSimulator
from sklearn_subanneal.views.views_spec import ViewsSpec


class PriorSimulation:
    """A mixin for the estimators whose posterior is sampled by chains.

    It reads ``_read(X)``, ``_bind(table, arrays)``, ``_template(...)`` and the parameters of the estimator.
    """

    def simulator(self, X) -> MixtureSimulator | ViewsSimulator:
        """The joint distribution of this model and of tables like X, for ``diagnostics.calibrate``.

        Tables drawn from the prior have the rows, columns, categories and missing cells of X. The prior is the one with
        which X would be fitted: its grids, their units, atoms and transforms are those of X, and are not chosen anew
        for a table that is drawn. With ``feature_grids`` for all that is learned it does not depend on X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            With few rows, so that short chains suffice. The estimator is not fitted.

        Returns
        -------
        simulator : object with the methods ``draw_prior``, ``draw_posterior`` and ``statistics``
            ``draw_posterior`` runs chains as ``fit`` does, and returns the draws of all of them: independent draws need
            a large enough ``thin``, and a schedule long enough.

        Raises
        ------
        ValueError
            If X or a parameter is invalid, if the columns are bags of words, or if the moves make no posterior draws.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> from sklearn_subanneal.diagnostics import calibrate
        >>> X = np.random.default_rng(0).normal(size=(6, 1))
        >>> model = SubsampleAnnealedDPMM(n_chains=1, n_draws=9, thin=5)
        >>> simulator = model.simulator(X)
        >>> steps = simulator.draw_prior, simulator.draw_posterior, simulator.statistics
        >>> calibrate(*steps, n_replications=40, random_state=0).passed()
        True
        """
        model = clone(self)
        model._validate_params()
        table, arrays = model._read(X)
        models = model._bind(table, arrays)
        spec = model._template(table, models, arrays, resolve_subsampling(model.subsampling))
        if isinstance(spec, ViewsSpec):
            return ViewsSimulator(spec, most_chains(model.n_chains))
        if isinstance(spec, ForestSpec):
            raise ValueError(
                'simulator has no posterior draws of moves=["incremental-hierarchy"], which make a point estimate; '
                "choose other moves"
            )
        if any(column.kind == "bag-of-words" for column in models):
            raise ValueError("simulator can't draw documents: their lengths are not modelled; it takes tables alone")
        return MixtureSimulator(spec, most_chains(model.n_chains))
