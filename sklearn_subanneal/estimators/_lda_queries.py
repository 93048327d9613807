"""TopicModel, the methods of a fitted VariationalTemperingLDA: topic proportions, scores, top words, coherence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal._core.random_states import checked_random_state
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.tables.documents import COUNTS
from sklearn_subanneal.tables.unreadable import as_array, refuse_unreadable
from sklearn_subanneal.topics import topic_scores
from sklearn_subanneal.topics.latent_dirichlet import BOUND_TOL, PROPORTIONS_TOL, LatentDirichlet
from sklearn_subanneal.topics.measures import coherence

# With more tokens digamma functions in single precision are inaccurate.
MOST_TOKENS = 1e12


def validate_counts(estimator, X, method: str, reset: bool) -> sparse.csr_matrix:
    """Validated word counts as canonical CSR without explicit zeros, float64 if X is, else float32.

    X is not copied if it already has this form.
    """
    refuse_unreadable(X, remedy=COUNTS)
    X = validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=[np.float32, np.float64])
    X = sparse.csr_matrix(X)
    least = X.data.min(initial=0.0)
    if least < 0.0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}.{method}: X must hold counts of words, got "
            f"{least:g}; remove or clip them"
        )
    n_tokens = X.data.sum(dtype=np.float64)
    if not n_tokens < MOST_TOKENS:
        raise ValueError(f"X must be counts of words, fewer than {MOST_TOKENS:g} in all, got {n_tokens:g}; divide them")
    if not X.has_canonical_format or (X.data == 0.0).any():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def validate_chunks(estimator, chunks: Iterable, reset: bool) -> Iterator[sparse.csr_matrix]:
    """Validated word counts of the chunks that have documents; with ``reset`` the first one determines the features."""
    for chunk in chunks:
        # Sparse matrices have a shape and no length, lists a length and no shape.
        if chunk.shape[0] if hasattr(chunk, "shape") else len(chunk):
            yield validate_counts(estimator, chunk, "fit_chunks", reset=reset)
            reset = False


class TopicModel(ChainCallbacksMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Presentation, BaseEstimator):
    """Base of VariationalTemperingLDA: tags, and the methods that use the fitted topics, ``_topics``."""

    _main_display = "TopicsDisplay"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_topics")

    @property
    def _n_features_out(self):
        return self._topics.n_topics

    @property
    def components_(self) -> np.ndarray:
        """Parameters of the topics' Dirichlet distributions, (n_components, n_features)."""
        return self._fitted_topics("components_").kept("pseudo_counts")

    @property
    def topic_word_(self) -> np.ndarray:
        """Mean probabilities of the words, (n_components, n_features)."""
        return self._fitted_topics("topic_word_").kept("means")

    @property
    def exp_dirichlet_component_(self) -> np.ndarray:
        """exp(E[log probability of a word]), (n_components, n_features)."""
        return self._fitted_topics("exp_dirichlet_component_").kept("exp_expected_logs")

    def _fitted_topics(self, name):
        if not hasattr(self, "_topics"):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted; call fit")
        return self._topics

    def _fitted_model(self, tol: float = BOUND_TOL) -> LatentDirichlet:
        """The topics and the prior of documents, with the settings of the local step; ``tol`` unless one is set."""
        prior = np.broadcast_to(np.asarray(self.doc_topic_prior_, dtype=np.float64), self._topics.n_topics)
        return LatentDirichlet(
            self._topics,
            np.ascontiguousarray(prior),
            max_iter=self.max_doc_update_iter or 100,
            tol=tol if self.mean_change_tol is None else self.mean_change_tol,
            n_threads=n_workers(self.n_jobs),
        )

    def _read(self, X, method):
        check_is_fitted(self)
        return validate_counts(self, X, method, reset=False)

    def _infer(self, X, method):
        documents = self._read(X, method)
        return self._fitted_model(PROPORTIONS_TOL).infer(documents)

    def transform(self, X, *, normalize: bool = True) -> np.ndarray:
        """Topic proportions of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        normalize : bool, default=True
            False: the parameters of the documents' Dirichlet distributions, which are not divided by their sums.

        Returns
        -------
        proportions : ndarray of shape (n_samples, n_components)
            float32 if X is, else float64.
        """
        normalize = checked_flag("normalize", normalize)
        single = getattr(X, "dtype", None) == np.float32
        gamma = self._infer(X, "transform").gamma.astype(np.float32 if single else np.float64, copy=False)
        if normalize:
            gamma /= gamma.sum(axis=1, keepdims=True)
        return gamma

    def fit_transform(self, X, y=None, *, normalize: bool = True) -> np.ndarray:
        """Learn the topics of documents and return the documents' topic proportions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Ignored.
        normalize : bool, default=True
            See :meth:`transform`.

        Returns
        -------
        proportions : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).transform(X, normalize=normalize)

    def predict(self, X) -> np.ndarray:
        """The topic with the largest proportion in each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        topics : ndarray of int64, shape (n_samples,)
        """
        return self._infer(X, "predict").gamma.argmax(axis=1)

    def score_samples(self, X) -> np.ndarray:
        """Bound on the log probability of each document given the topics, at T = 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        bounds : ndarray of float64, shape (n_samples,)
        """
        documents = self._read(X, "score_samples")
        return self._fitted_model().bounds(documents)

    def score(self, X, y=None) -> float:
        """Bound on the log probability of all documents given the topics: the sum of :meth:`score_samples`.

        Scikit-learn also adds the divergence of the topics from their prior, scaled to the training documents, which
        dominates the score of a few other documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        score : float
        """
        documents = self._read(X, "score")
        return float(self._fitted_model().bounds(documents).sum())

    def perplexity(self, X, sub_sampling: bool = False) -> float:
        """exp(-:meth:`score` / number of tokens).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        sub_sampling : bool, default=False
            No effect, since score and number of tokens are of the same documents; for compatibility with scikit-learn.

        Returns
        -------
        perplexity : float
        """
        documents = self._read(X, "perplexity")
        return self._fitted_model().perplexity(documents)

    def document_completion_score(self, X, X_held_out=None, random_state=0) -> float:
        """Mean log probability of a held-out token, given the other words of its document; nats.

        Topics are replaced by their means, and topic proportions by means fitted to the observed words, which are
        assigned to topics by these, as in zeroth-order collapsed inference. They predict words better than those of
        ``transform``, which are at the optimum of the variational bound.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents; of each, a random half of the distinct words is held out.
        X_held_out : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The tokens to predict; X has the observed ones. None: X is split.
        random_state : int, RandomState instance, Generator or None, default=0
            Determines the halves of the words.

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If no token is held out, or X and ``X_held_out`` differ in shape.

        References
        ----------
        A. Asuncion, M. Welling, P. Smyth, Y. W. Teh (2009), On smoothing and inference for topic models, Uncertainty
        in Artificial Intelligence 25.
        """
        observed = self._read(X, "document_completion_score")
        if X_held_out is None:
            observed, held_out = topic_scores.split_words(observed, checked_random_state(random_state))
        else:
            held_out = self._read(X_held_out, "document_completion_score")
            if held_out.shape != observed.shape:
                raise ValueError(
                    f"X_held_out must have the shape of X, {observed.shape}, got {held_out.shape}; give each document "
                    "a row in both"
                )
        return self._fitted_model(PROPORTIONS_TOL).completion_score(observed, held_out)

    def top_words(self, n_words: int = 10, feature_names=None) -> np.ndarray:
        """The most probable words of every topic.

        Parameters
        ----------
        n_words : int, default=10
        feature_names : array-like of shape (n_features,), default=None
            None: the column names of the training documents, or the numbers of the words.

        Returns
        -------
        words : ndarray of shape (n_components, n_words)
            The most probable first; at most ``n_features``.
        """
        check_is_fitted(self)
        words = topic_scores.top_words(self.topic_word_, n_words)
        names = getattr(self, "feature_names_in_", None)
        if feature_names is not None:
            names = as_array(feature_names, "feature_names")
        if names is None:
            return words
        if names.shape != (self._topics.n_words,):
            raise ValueError(
                f"feature_names must have shape ({self._topics.n_words},), a name for each feature, got {names.shape}"
            )
        return names[words]

    def coherence(self, X, n_words: int = 10, measure: str = "npmi") -> np.ndarray:
        """Coherence of every topic, from the co-occurrence of its top words in documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, best others than the training documents.
        n_words : int, default=10
        measure : {"npmi", "c_v", "u_mass"}, default="npmi"
            See :func:`~sklearn_subanneal.topics.measures.coherence`, which also takes the topics of other packages.

        Returns
        -------
        coherence : ndarray of shape (n_components,)
            The larger the better.
        """
        documents = self._read(X, "coherence")
        return coherence(topic_scores.top_words(self.topic_word_, n_words), documents, measure)
