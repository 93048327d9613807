"""Normalized random measure mixtures, with a choice of samplers: tree-guided, and those it is to be compared with."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.annealing.runner import spawn_generators
from sklearn_subanneal.columns.models import bind_bags
from sklearn_subanneal.estimators._mixture import MixtureEstimator
from sklearn_subanneal.mixtures._slice import SliceSampler
from sklearn_subanneal.mixtures._split_merge import SplitMerge
from sklearn_subanneal.mixtures.mixture_chain import run_chain
from sklearn_subanneal.mixtures.predictive import sample_bags
from sklearn_subanneal.partitions import CRP, NGGP, NIG
from sklearn_subanneal.tables.documents import DocumentTable, joined, read_documents
from sklearn_subanneal.trees._guided import TreeGuided
from sklearn_subanneal.trees._paper import TreeGuidedPaper
from sklearn_subanneal.trees._pilot import TreePilot
from sklearn_subanneal.trees.forest_chain import go_on, hierarchy_of, run_ibhc
from sklearn_subanneal.trees.hierarchy import Hierarchy

PROCESSES = ("nggp", "dp", "nig")
LIKELIHOODS = ("gaussian", "diag", "multinomial")
SAMPLERS = ("tree-guided", "tree-guided-similar", "split-merge", "gibbs", "slice", "ibhc", "tree-guided-paper")


class TreeGuidedNRMM(MixtureEstimator):
    """Normalized random measure mixture, sampled with the guidance of trees.

    The number of clusters is learned. A cluster's prior weight is that of a Dirichlet, a normalized inverse Gaussian or
    a normalized generalized gamma process; rows are tables with missing cells, or bags of words. Between sweeps of
    Gibbs sampling, trees over the rows of a cluster propose how it may come apart, and similarities which clusters may
    merge. Chains are annealed as those of :class:`SubsampleAnnealedDPMM`.

    Parameters
    ----------
    process : {"nggp", "dp", "nig"}, default="nggp"
        Normalized generalized gamma, Dirichlet, or normalized inverse Gaussian process, see
        :mod:`sklearn_subanneal.partitions`.
    mass : float or None, default=None
        alpha of the process's Levy intensity; for "dp" its concentration. None: learned.
    sigma : float or None, default=None
        Of "nggp" alone, in (0, 1). None: learned.
    likelihood : {"gaussian", "diag", "multinomial"}, default="gaussian"
        Whether the reals have a full covariance matrix within a cluster, or are independent; or whether rows are
        bags of words, sparse or dense counts.
    sampler : str, default="tree-guided"
        What moves the rows. "tree-guided", "tree-guided-similar" and "split-merge" make ``n_global`` proposals after
        each sweep of Gibbs sampling; trees say where a cluster is split, and a row, which cluster it would join next,
        to merge that with its own. With "tree-guided-similar" it is the similarity of clusters that says which are to
        merge, as in the paper, but exact. "gibbs" makes no proposals;
        "slice" samples the masses of the clusters too. All of these draw from the exact posterior. "ibhc" is no sampler
        but incremental Bayesian hierarchical clustering, one forest of trees for each chain, whose clusters are a point
        estimate. "tree-guided-paper" is the sampler as printed, which is *biased*: it merges too often, and finds too
        few clusters; it is here to reproduce, and to search for a mode.
    n_global : int or None, default=None
        Proposals after each sweep; None: as many as cost little, 2 to 24 by the number of rows; 20 in the paper's.
    subset_size : int, default=50
        Rows that a tree is made of at most: trees over all rows of large clusters cost more than they are worth.
    n_scans : int, default=1
        Of "tree-guided-similar" and "split-merge": scans of Gibbs sampling between the two parts of a proposal.
    max_atoms : int, default=1000000
        Of "slice": bound for the number of empty atoms. Where it is met the smallest are left out, with a warning.
    schedule, subsampling, feature_types, feature_params, grids, unseen
        As in :class:`SubsampleAnnealedDPMM`; ``feature_params`` has also "multinomial": {"beta"}.
    n_chains, n_draws, thin, learn_hyperparameters, time_limit, warm_start, n_jobs, random_state
        As in :class:`SubsampleAnnealedDPMM`; "ibhc" makes one draw a chain.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Clusters of the training rows: ``predict(X)``.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    posterior_labels_ : ndarray of int32, shape (n_chains, n_draws, n_samples)
        Clusters in every draw; names of clusters mean nothing across draws.
    log_joint_ : ndarray of shape (n_chains, n_draws)
        Log joint density of partition and data, u integrated out.
    hyperparameters_ : dict
        "mass", and "sigma" and "log_u" where the process has them, (n_chains, n_draws); "columns": for each column a
        dict of its hyperparameters.
    hierarchy_ : Hierarchy
        The trees, of "ibhc" and after ``partial_fit``: has ``linkage()`` for SciPy and ``newick()``.
    trace_ : structured ndarray
        A record for each sweep of each chain: seconds, progress, rows assigned, log joint, number of clusters, ...
    feature_types_ : dict of str to str
        Type of each column, by name and in the order of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS.

    S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28, 335-359.
    doi:10.1214/13-STS422

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import TreeGuidedNRMM
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 8 * (np.arange(200) % 3)[:, None]
    >>> model = TreeGuidedNRMM(n_chains=2, random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> trees = TreeGuidedNRMM(sampler="ibhc", n_chains=1, random_state=0).fit(X).hierarchy_
    >>> trees.n_clusters, trees.linkage().shape
    (3, (199, 4))
    """

    _parameter_constraints: dict = {
        **MixtureEstimator._parameter_constraints,
        "process": [StrOptions(set(PROCESSES))],
        "mass": [Interval(Real, 0, None, closed="neither"), None],
        "sigma": [Interval(Real, 0, 1, closed="neither"), None],
        "likelihood": [StrOptions(set(LIKELIHOODS))],
        "sampler": [StrOptions(set(SAMPLERS))],
        "n_global": [Interval(Integral, 0, None, closed="left"), None],
        "subset_size": [Interval(Integral, 2, None, closed="left")],
        "n_scans": [Interval(Integral, 0, None, closed="left")],
        "max_atoms": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        process: str = "nggp",
        mass: float | None = None,
        sigma: float | None = None,
        *,
        likelihood: str = "gaussian",
        sampler: str = "tree-guided",
        n_global: int | None = None,
        subset_size: int = 50,
        n_scans: int = 1,
        max_atoms: int = 1_000_000,
        schedule="anneal",
        subsampling="cyclic",
        feature_types="from_dtype",
        feature_params: dict | None = None,
        grids: str = "data",
        unseen: str = "missing",
        n_chains: int = 4,
        n_draws: int = 10,
        thin: int = 1,
        learn_hyperparameters: bool = True,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state=None,
    ):
        self.process = process
        self.mass = mass
        self.sigma = sigma
        self.likelihood = likelihood
        self.sampler = sampler
        self.n_global = n_global
        self.subset_size = subset_size
        self.n_scans = n_scans
        self.max_atoms = max_atoms
        self.schedule = schedule
        self.subsampling = subsampling
        self.feature_types = feature_types
        self.feature_params = feature_params
        self.grids = grids
        self.unseen = unseen
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.thin = thin
        self.learn_hyperparameters = learn_hyperparameters
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.likelihood == "multinomial":
            tags.input_tags.allow_nan = tags.input_tags.categorical = False
            tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    @property
    def covariance_type(self) -> str:
        """What the likelihood is to the columns."""
        return "full" if self.likelihood == "gaussian" else "diag"

    def _prior(self):
        if self.process != "nggp" and self.sigma is not None:
            raise ValueError(
                f"sigma must be None for process={self.process!r}, got {self.sigma!r}; leave it out, or take "
                'process="nggp"'
            )
        if self.process == "nggp":
            return NGGP(self.mass, self.sigma)
        return CRP(self.mass) if self.process == "dp" else NIG(self.mass)

    def _read(self, X):
        if self.likelihood == "multinomial":
            return DocumentTable(), read_documents(self, X, reset=True)
        return super()._read(X)

    def _bind(self, table, arrays):
        if self.likelihood == "multinomial":
            self._prior().bind(self.learn_hyperparameters)
            return bind_bags(self.n_features_in_, feature_params=self.feature_params, learn=self.learn_hyperparameters)
        return super()._bind(table, arrays)

    def _strata(self, chooser, table, arrays):
        if self.likelihood == "multinomial" and getattr(chooser, "column", None) is not None:
            raise ValueError(
                f"Stratified(column={chooser.column!r}) is no column: documents have none; use labels= instead"
            )
        return super()._strata(chooser, table, arrays)

    @property
    def _chain(self):
        return run_ibhc if self.sampler == "ibhc" else run_chain

    def _recipe(self, models, arrays):
        recipe = super()._recipe(models, arrays)
        if self.sampler == "ibhc":
            return recipe
        moves = {
            "tree-guided": partial(TreePilot, subset=self.subset_size),
            "tree-guided-similar": partial(TreeGuided, subset=self.subset_size, n_scans=self.n_scans),
            "split-merge": partial(SplitMerge, n_scans=self.n_scans),
        }.get(self.sampler)
        sampler = {
            "slice": partial(SliceSampler, max_atoms=self.max_atoms),
            "tree-guided-paper": partial(TreeGuidedPaper, n_global=20 if self.n_global is None else self.n_global),
        }.get(self.sampler)
        recipe["chain"] |= {"moves": moves, "n_global": self.n_global, "sampler": sampler}
        return recipe

    def _n_sweeps(self, recipe):
        return None if self.sampler == "ibhc" else super()._n_sweeps(recipe)

    def _fit(self, X):
        if self.sampler == "tree-guided-paper":
            warnings.warn(
                'sampler="tree-guided-paper" does not leave the posterior as it is: draws have too few clusters. Take '
                'sampler="tree-guided" for anything but reproducing the paper and searching for a mode.',
                UserWarning,
                stacklevel=5,
            )
        return super()._fit(X)

    def _summarize(self, arrays):
        super()._summarize(arrays)
        if self.process == "dp":
            # The concentration is the mass here, and there is no discount.
            del self.hyperparameters_["discount"]
            self.hyperparameters_["mass"] = self.hyperparameters_.pop("concentration")
        if self.likelihood == "multinomial":
            self._lengths = arrays[0].lengths
        # All that ``partial_fit`` needs to go on.
        self._online = arrays, spawn_generators(self.random_state, 1)[0]
        vars(self).pop("hierarchy_", None)
        if self.sampler == "ibhc":
            self.hierarchy_ = hierarchy_of(self._results[int(np.argmax(self.log_joint_[:, 0]))])
        if n_overflows := int(self.trace_["n_overflows"].sum()):
            warnings.warn(
                f"In {n_overflows} sweeps there were more than max_atoms={self.max_atoms} empty atoms, of which the "
                "smallest were left out: draws are not exact. Raise max_atoms, or take another sampler.",
                UserWarning,
                stacklevel=6,
            )

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None):
        """Insert rows into the trees of incremental Bayesian hierarchical clustering, whatever the sampler is.

        The first rows settle the units, and the first hyperparameters, which are redrawn after each call. The trees go
        on from those of the last call, or of ``fit`` with sampler="ibhc"; after ``fit`` with another sampler its rows
        are inserted first. The model is valid after every call, with one draw; a ``fit`` starts anew.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X is not as ``fit`` takes it, or not like the rows before.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import TreeGuidedNRMM
        >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 8 * (np.arange(300) % 3)[:, None]
        >>> model = TreeGuidedNRMM(random_state=0)
        >>> for rows in np.split(X, 3):
        ...     model = model.partial_fit(rows)
        >>> model.n_clusters_, model.hierarchy_.rows.size
        (3, 300)
        """
        if hasattr(self, "_online"):
            (arrays, generator), table, models = self._online, self._table, self._models
            new = table.encode(self, X, self.unseen)
            arrays = [joined(old, more) for old, more in zip(arrays, new, strict=True)]
        else:
            table, arrays = self._read(X)
            models, generator = self._bind(table, arrays), spawn_generators(self.random_state, 1)[0]
        chain = {"models": models, "arrays": arrays, "learn": self.learn_hyperparameters, "generator": generator}
        chain["prior"] = self._prior().bind(self.learn_hyperparameters)
        draw, forest = getattr(self, "_representative", None), getattr(self, "hierarchy_", None)
        result = go_on(chain, draw, forest)
        self._keep(table, models, [result])
        self._summarize(arrays)
        self.hierarchy_, self._online = hierarchy_of(result), (arrays, generator)
        return self

    def hierarchy(self, X) -> Hierarchy:
        """A tree over the rows of X, by the hyperparameters of the draw that represents the posterior.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        hierarchy : Hierarchy
            With ``linkage()``, which ``scipy.cluster.hierarchy.dendrogram`` draws, and ``newick()``.
        """
        chain = {"models": self._models, "arrays": self._encode(X), "learn": False}
        chain |= {"prior": self._prior().bind(learn=False), "generator": spawn_generators(0, 1)[0]}
        return hierarchy_of(go_on(chain, self._representative))

    def sample(self, n_samples: int = 1, random_state=None):
        if self.likelihood != "multinomial":
            return super().sample(n_samples, random_state)
        check_is_fitted(self)
        generator = self._sampling_generator(n_samples, random_state)
        # How long documents are is not modelled: as those of the training data.
        lengths = generator.choice(self._lengths, n_samples)
        return sample_bags(self._models, self._flat_draws(), lengths, generator)

    def impute(self, X, return_uncertainty: bool = False):
        if self.likelihood == "multinomial":
            raise ValueError("impute has nothing to fill: a word that does not occur in a document has the count 0.")
        return super().impute(X, return_uncertainty)

    sample.__doc__, impute.__doc__ = MixtureEstimator.sample.__doc__, MixtureEstimator.impute.__doc__
