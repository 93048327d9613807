"""MergedComponents: components that overlap as one group, for clusters of any shape."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.random_states import seeded_generator
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.estimators._cluster_stability import is_same, judge_clusters
from sklearn_subanneal.estimators._evidence import checked_view
from sklearn_subanneal.mixtures.component_overlap import component_overlaps
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import assign_rows, nearest_groups
from sklearn_subanneal.posterior.cluster_stability import ClusterStability
from sklearn_subanneal.posterior.component_tree import ComponentTree

# Draws of each chain whose groups are compared, evenly spaced, and the share of them, by the weights of the chains, in
# which two groups of components have to be together, on average over their rows.
MOST_DRAWS, MIN_SHARE = 3, 0.65


class MergedComponents:
    """Groups of components, as :meth:`ComponentMerging.merge_components` gives them.

    Parameters
    ----------
    model : estimator
        The fitted model.
    tree : ComponentTree
    min_overlap : float
    n_groups : int or None
    view : int

    Attributes
    ----------
    tree_ : ComponentTree
        The merges; its ``overlaps`` are the shares of the draws that have the two in one group.
    groups_ : ndarray of int64, shape (n_components,)
        The group of each component of the draw that represents the posterior.
    n_groups_ : int
    """

    def __init__(self, model, tree: ComponentTree, min_overlap: float, n_groups: int | None, view: int):
        self.tree_, self.groups_ = tree, tree.groups(MIN_SHARE, n_groups)
        self.n_groups_ = int(self.groups_.max()) + 1
        self._model, self._min_overlap, self._n_groups, self._view = model, min_overlap, n_groups, view

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each group for each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_groups)
        """
        mixture = self._model._mixture_of_view(self._view)
        return np.exp(assign_rows(*mixture, self._model._encode(X), self.groups_))

    def predict(self, X, min_probability: float = 0.0) -> np.ndarray:
        """The most probable group of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        min_probability : float, default=0.0
            Rows whose most probable group has less are noise, and get the label -1.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return np.where(probabilities.max(axis=1) < min_probability, -1, probabilities.argmax(axis=1))

    def cluster_stability(self, X, *, n_refits: int = 0, random_state=None) -> ClusterStability:
        """How often each group of the training rows is found again by other fits of the same table.

        As :meth:`SubsampleAnnealedDPMM.cluster_stability` has it for single clusters: the components of each draw are
        merged by their overlaps, and those of each new fit in the same way as these.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table that ``fit`` was given.
        n_refits : int, default=0
            Fits with new random states that are made to see whether they find the groups.
        random_state : int, RandomState instance, Generator or None, default=None
            Of the rows by which overlap is measured, and of the new fits.

        Returns
        -------
        stability : ClusterStability

        Raises
        ------
        ValueError
            If X is not the training table, or ``n_refits`` is not as described.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> X, _ = make_moons(500, noise=0.05, random_state=0)
        >>> model = SubsampleAnnealedDPMM(covariance_type="full", random_state=0).fit(X)
        >>> stability = model.merge_components(random_state=0).cluster_stability(X, random_state=0)
        >>> (stability.recurrence_ > 0.9).tolist()
        [True, True]
        """
        generator = seeded_generator(random_state)

        def grouped(models, draw, labels, of_chain):
            return groups_of_draw(models, draw, self._min_overlap, self._n_groups, generator)

        def labels_of_refit(refit, view):
            models, draw = refit._mixture_of_view(view)
            tree = consensus_tree(refit, view, self._min_overlap, self._n_groups, generator)
            n_groups = None if self._n_groups is None else min(self._n_groups, len(draw.sizes))
            return nearest_groups(models, draw, refit._encode(X), tree.groups(MIN_SHARE, n_groups))

        return judge_clusters(
            self._model,
            X,
            self._view,
            self.groups_,
            grouped,
            labels_of_refit,
            n_refits,
            generator,
        )


class ComponentMerging:
    """The method that merges components: a mixin.

    It reads ``_mixture_of_view(view)``, ``_mixtures_like(view)``, ``_n_groups``, ``_copies`` and ``chain_weights_``.
    """

    # Whether the rows are documents, of which none can be drawn without a length.
    _has_documents = False

    def merge_components(
        self, min_overlap: float = 0.002, n_groups: int | None = None, *, view: int = 0, random_state=None
    ) -> MergedComponents:
        """Groups of components that overlap, which people would call one cluster.

        A cluster that is skewed, curved or has heavy tails takes several components. They overlap: a row drawn from one
        of them has a probability of belonging to another one. The pair with the largest such probability is merged
        first, and merging ends when all are below ``min_overlap``. In these probabilities a row counts by the square of
        the share of the mixture that lies in places of lower density: clusters whose tails touch meet in empty
        places, and hardly overlap.

        This is done in three draws of each chain. Of the draw that represents the posterior, those components make a
        group whose training rows are in one group in at least 65 % of these draws, by the weights of the chains.

        Parameters
        ----------
        min_overlap : float, default=0.002
            Between 0 and 1. Clusters that are closer than this share of misclassified rows, where rows in dense places
            count more, are merged, too.
        n_groups : int or None, default=None
            The number of groups, in place of ``min_overlap``.
        view : int, default=0
            Of a cross-categorization, the view.
        random_state : int, RandomState instance, Generator or None, default=None
            Of the rows, drawn from the components, by which overlap is measured.

        Returns
        -------
        merged : MergedComponents
            With ``predict(X)``, ``predict_proba(X)``, ``groups_``, ``n_groups_`` and ``tree_``, all merges of the
            components with the shares of the draws that make them.

        Raises
        ------
        ValueError
            If a parameter is not as described, or the rows are documents.

        References
        ----------
        C. Hennig (2010), Methods for merging Gaussian mixture components, Advances in Data Analysis and Classification
        4, 3-34 (there, all rows count alike). A. Fred and A. K. Jain (2005), Combining multiple clusterings using
        evidence accumulation, IEEE Transactions on Pattern Analysis and Machine Intelligence 27, 835-850 (groups of
        rows that are together in most draws).

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from sklearn.metrics import adjusted_rand_score
        >>> from sklearn_subanneal import SubsampleAnnealedDPMM
        >>> X, y = make_moons(1000, noise=0.05, random_state=0)
        >>> model = SubsampleAnnealedDPMM(covariance_type="full", n_chains=1, random_state=0).fit(X)
        >>> merged = model.merge_components(random_state=0)
        >>> merged.n_groups_, round(adjusted_rand_score(y, merged.predict(X)), 2)
        (2, 1.0)
        """
        check_is_fitted(self)
        if not isinstance(min_overlap, Real) or not 0.0 < min_overlap < 1.0:
            raise ValueError(f"min_overlap must be between 0 and 1, both excluded, got {min_overlap!r}; try 0.002")
        if self._has_documents:
            raise ValueError(
                "merge_components is for tables, and feature_types='bag-of-words' has documents; take the clusters as "
                "they are (labels_)"
            )
        view = checked_view(view, len(self._n_groups))
        n_components = len(self._mixture_of_view(view)[1].sizes)
        is_number = isinstance(n_groups, Integral) and not isinstance(n_groups, bool)
        if n_groups is not None and not (is_number and 1 <= n_groups <= n_components):
            raise ValueError(
                f"n_groups must be from 1 to {n_components}, the number of components, got {n_groups!r}; None: by "
                "min_overlap"
            )
        tree = consensus_tree(self, view, min_overlap, n_groups, seeded_generator(random_state))
        return MergedComponents(self, tree, min_overlap, n_groups, view)


def consensus_tree(
    model, view: int, min_overlap: float, n_groups: int | None, generator: np.random.Generator
) -> ComponentTree:
    """The tree of the components of the draw that represents the posterior, by the groups of several draws."""
    representative = model._mixture_of_view(view)[1]
    own, draws, weights = None, [], []
    for chain, chain_weight in zip(model._mixtures_like(view), model.chain_weights_, strict=True):
        own = next((labels for _, draw, labels, _ in chain if is_same(draw, representative)), own)
        for i in np.unique(np.linspace(0, len(chain) - 1, MOST_DRAWS).astype(int)):
            models, draw, labels, likeness = chain[i]
            draws.append(groups_of_draw(models, draw, min_overlap, n_groups, generator)[labels])
            weights.append(chain_weight * likeness)
    n_components = len(representative.sizes)
    if own is None or np.bincount(own, minlength=n_components).min() == 0:
        # A distilled model need not have the draw, nor how it allocates the training rows; and of a stream, or a table
        # in shards, the rows whose labels are kept need not be of all components.
        own = np.arange(n_components)
        groups = groups_of_draw(*model._mixture_of_view(view), min_overlap, n_groups, generator)
        return ComponentTree.consensus(own, [groups], [1.0], representative.sizes)
    return ComponentTree.consensus(own, draws, weights, model._copies.weights)


def groups_of_draw(
    models: list[ColumnModel], draw: Draw, min_overlap: float, n_groups: int | None, generator: np.random.Generator
) -> np.ndarray:
    """The groups of the components of one draw, by their overlaps."""
    tree = ComponentTree.of(*component_overlaps(models, draw, None, generator))
    # Another draw may have fewer components than there are groups.
    return tree.groups(min_overlap, None if n_groups is None else min(n_groups, len(draw.sizes)))
