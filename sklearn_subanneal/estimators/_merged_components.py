"""MergedComponents: components that overlap as one group, for clusters of any shape."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.estimators._sampling import sampling_generator
from sklearn_subanneal.mixtures.component_overlap import component_overlaps
from sklearn_subanneal.mixtures.predictive import assign_rows
from sklearn_subanneal.posterior.component_tree import ComponentTree


class MergedComponents:
    """Groups of components, as :meth:`ComponentMerging.merge_components` gives them.

    Parameters
    ----------
    model : estimator
        The fitted model.
    tree : ComponentTree
    groups : ndarray of int, shape (n_components,)
    view : int

    Attributes
    ----------
    tree_ : ComponentTree
        The merges.
    groups_ : ndarray of int64, shape (n_components,)
        The group of each component of the draw that represents the posterior.
    n_groups_ : int
    """

    def __init__(self, model, tree: ComponentTree, groups: np.ndarray, view: int):
        self.tree_, self.groups_, self.n_groups_ = tree, groups, int(groups.max()) + 1
        self._model, self._view = model, view

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


class ComponentMerging:
    """The method that merges components: a mixin. It reads ``_mixture_of_view(view)`` and ``_n_groups``."""

    def merge_components(
        self, min_overlap: float = 0.01, n_groups: int | None = None, *, view: int = 0, random_state=None
    ) -> MergedComponents:
        """Groups of components that overlap, which people would call one cluster.

        A cluster that is skewed, curved or has heavy tails takes several components. They overlap: a row drawn from one
        of them has a probability of belonging to another one. The pair with the largest such probability is merged
        first, and merging ends when all are below ``min_overlap``.

        Parameters
        ----------
        min_overlap : float, default=0.01
            Between 0 and 1. Clusters that are closer than this share of misclassified rows are merged, too.
        n_groups : int or None, default=None
            The number of groups, in place of ``min_overlap``.
        view : int, default=0
            Of a cross-categorization, the view.
        random_state : int, RandomState instance, Generator or None, default=None
            Of the rows, drawn from the components, by which overlap is measured.

        Returns
        -------
        merged : MergedComponents
            With ``predict(X)``, ``predict_proba(X)``, ``groups_``, ``n_groups_`` and ``tree_``, all merges.

        Raises
        ------
        ValueError
            If a parameter is not as described.

        References
        ----------
        C. Hennig (2010), Methods for merging Gaussian mixture components, Advances in Data Analysis and Classification
        4, 3-34.

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
            raise ValueError(f"min_overlap must be between 0 and 1, both excluded, got {min_overlap!r}; try 0.01")
        n_views = len(self._n_groups)
        if not isinstance(view, Integral) or isinstance(view, bool) or not 0 <= view < n_views:
            raise ValueError(f"view must be an integer from 0 to {n_views - 1}, got {view!r}")
        models, draw = self._mixture_of_view(view)
        overlaps = component_overlaps(models, draw, None, sampling_generator(1, random_state))
        tree = ComponentTree.of(overlaps, draw.sizes)
        return MergedComponents(self, tree, tree.groups(min_overlap, n_groups), int(view))
