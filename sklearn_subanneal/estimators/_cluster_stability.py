"""How often clusters are found again: by each draw of each chain as a fit of its own, and by new fits on request."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal._core.random_states import seeded_generator
from sklearn_subanneal.estimators._evidence import checked_view
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import nearest_groups, own_groups
from sklearn_subanneal.posterior.cluster_stability import ClusterStability
from sklearn_subanneal.posterior.jaccard import jaccard_indices
from sklearn_subanneal.posterior.merging import merged_clusters

# Draws of one chain that are judged, evenly spaced: more of them say little more, since they depend on one another.
MOST_DRAWS = 10

# Each is a fit: more are a slip of the pen.
MOST_REFITS = 100_000


class ClusterStabilityQueries:
    """The method that judges clusters: a mixin for a fitted mixture or cross-categorization.

    It reads ``_mixture_of_view(view)``, ``_groups_of_view(view)``, ``_labels_of_view(view)``, ``_mixtures_like(view)``,
    ``_view_like(other, view)``, ``_training_cells(X)``, ``_n_groups`` and ``_copies``.
    """

    def cluster_stability(self, X, *, view: int = 0, n_refits: int = 0, random_state=None) -> ClusterStability:
        """How often each cluster of the training rows is found again by other fits of the same table.

        A cluster is found again by a fit with another ``random_state`` if one of the clusters of this fit has a Jaccard
        index of at least 0.75 with it: the training rows that both have are at least three quarters of those that one
        of them has. The probability of this is estimated from the draws of all chains, each taken as a fit of its own:
        its clusters are merged as those of ``labels_`` are, by the draws of its chain. How probable a cluster is that
        some chains have was learned from fits of other tables: four chains that all have a cluster give 0.98, two 0.94,
        and a single chain gives 0.82 at most.

        Other fits have the same rows. Whether a cluster would be found in a new sample of rows is another question, and
        so is whether it means anything.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table that ``fit`` was given.
        view : int, default=0
            Of a cross-categorization, the view. In other draws and fits, the clusters are looked for in the view whose
            columns are most like those of this one, by the Jaccard index of the sets of columns. A draw counts as much
            as this index says.
        n_refits : int, default=0
            Fits with new random states, and without strata, that are made to see whether they find the clusters.
            Estimates are surer, for as much more time.
        random_state : int, RandomState instance, Generator or None, default=None
            Of the new fits.

        Returns
        -------
        stability : ClusterStability
            With ``labels_``, ``probabilities_``, ``recurrence_`` and ``jaccard_``, and ``with_noise``, by which rows
            that belong to no cluster surely have the label -1.

        Raises
        ------
        ValueError
            If X is not the training table, or a parameter is not as described.

        References
        ----------
        C. Hennig (2007), Cluster-wise assessment of cluster stability, Computational Statistics & Data Analysis 52,
        258-271. doi:10.1016/j.csda.2006.11.025

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 8 * (np.arange(200) % 3)[:, None]
        >>> model = SubsampleAnnealedDPMM(random_state=0).fit(X)
        >>> stability = model.cluster_stability(X)
        >>> (stability.recurrence_ > 0.9).tolist()
        [True, True, True]
        """
        check_is_fitted(self)
        view = checked_view(view, len(self._n_groups))
        return judge_clusters(
            self,
            X,
            view,
            self._groups_of_view(view),
            lambda models, draw, labels, of_chain: merged_clusters(labels, of_chain, n_clusters=len(draw.sizes)),
            lambda refit, at: refit._labels_of_view(at),
            n_refits,
            seeded_generator(random_state),
        )


def judge_clusters(
    model,
    X,
    view: int,
    groups: np.ndarray,
    group_draw: Callable[..., np.ndarray],
    group_refit: Callable[..., np.ndarray],
    n_refits: int,
    generator: np.random.Generator,
) -> ClusterStability:
    """The stability of groups of components of the draw that represents the posterior.

    Parameters
    ----------
    model : estimator
        Fitted to X.
    X : array-like
    view : int
    groups : ndarray of int, shape (n_components,)
        As :func:`assign_rows` takes them.
    group_draw : callable
        (models, draw, labels, labels_of_chain) -> groups of the components of a draw, where labels_of_chain are the
        components of the rows in the draws of its chain that are judged.
    group_refit : callable
        (model, view) -> clusters of the training rows in a view of another fit.
    n_refits : int
    generator : numpy.random.Generator
    """
    n_refits = checked_integer("n_refits", n_refits, least=0, most=MOST_REFITS)
    arrays, weights = model._training_cells(X), model._copies.weights
    labels, probabilities = own_groups(*model._mixture_of_view(view), arrays, groups)
    n_clusters = int(groups.max()) + 1

    def indices(others):
        # Clusters that are no row's most probable one have index 0.
        best = jaccard_indices(labels, others, weights).max(axis=1)
        return np.append(best, np.zeros(n_clusters - len(best)))

    of_draws, likeness, own, representative = [], [], None, model._mixture_of_view(view)[1]
    for number, chain in enumerate(model._mixtures_like(view)):
        if any(is_same(draw, representative) for _, draw, _, _ in chain):
            own = number
        some = [chain[i] for i in np.unique(np.linspace(0, len(chain) - 1, MOST_DRAWS).astype(int))]
        of_chain = np.array([allocated for _, _, allocated, _ in some])
        of_draws.append(
            [
                indices(nearest_groups(models, draw, arrays, group_draw(models, draw, allocated, of_chain)))
                for models, draw, allocated, _ in some
            ]
        )
        likeness.append([like for *_, like in some])
    of_refits = np.empty((n_refits, n_clusters))
    for i, seed in enumerate(generator.integers(np.iinfo(np.int32).max, size=n_refits)):
        refit = clone(model).set_params(random_state=int(seed), warm_start=False)
        with warnings.catch_warnings():
            # How far chains agree is what is asked here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            refit.fit(X, sample_weight=weights)
        of_refits[i] = indices(group_refit(refit, refit._view_like(model, view)))
    return ClusterStability.of(labels, probabilities, np.array(of_draws), of_refits, np.array(likeness), own)


def is_same(draw: Draw, other: Draw) -> bool:
    """Whether two objects are the same draw; those of a model that was stored and loaded may be copies.

    Draws of two chains may have the same clusters under other numbers, with the same log joint and the same sizes.
    """
    return draw is other or (draw.log_joint == other.log_joint and _are_equal(vars(draw), vars(other)))


def _are_equal(a, b) -> bool:
    """Whether states, of arrays and numbers in dictionaries and sequences, are equal; nan is nan."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_are_equal(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
