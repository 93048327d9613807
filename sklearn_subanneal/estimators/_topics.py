"""What can be asked of fitted topics: proportions of documents, scores, top words."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_subanneal.topics import scores
from sklearn_subanneal.topics.inference import local_step

# Beyond this, digamma functions in single precision are not what they should be.
MOST_TOKENS = 1e12


def read_documents(estimator, X, method: str, reset: bool) -> sparse.csr_matrix:
    """Documents as CSR of float32, or of float64 if they are, each word of a document once and with a positive count.

    Nothing is copied that is so already.
    """
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


class TopicModel(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of topic models: all that follows from ``_topics``, ``doc_topic_prior_`` and the parameters."""

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
    def components_(self):
        """Parameters of the topics' Dirichlet distributions, (n_components, n_features)."""
        return self._fitted_topics("components_").pseudo_counts()

    @property
    def topic_word_(self):
        """Mean probabilities of the words, (n_components, n_features)."""
        return self._fitted_topics("topic_word_").means()

    @property
    def exp_dirichlet_component_(self):
        """exp(E[log probability of a word]), (n_components, n_features)."""
        topics = self._fitted_topics("exp_dirichlet_component_")
        return np.exp(scores.expected_logs(topics.pseudo_counts())).astype(topics.table.dtype)

    def _fitted_topics(self, name):
        if not hasattr(self, "_topics"):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted; call fit")
        return self._topics

    def _local_step(self, documents, **options):
        """Fit topic proportions at T = 1."""
        prior = np.broadcast_to(np.asarray(self.doc_topic_prior_, dtype=np.float64), self._topics.n_topics)
        return local_step(
            documents,
            self._topics.astype(documents.dtype),
            np.ascontiguousarray(prior),
            max_iter=self.max_doc_update_iter or 100,
            tol=self.mean_change_tol,
            n_threads=effective_n_jobs(self.n_jobs),
            **options,
        )

    def _bounds(self, documents):
        """Bound of each document."""
        step = self._local_step(documents)
        prior = np.broadcast_to(self.doc_topic_prior_, self._topics.n_topics)
        logs = self._topics.astype(documents.dtype).log_weights(step.words)
        return scores.document_bounds(step.documents, logs, step.gamma, prior, n_threads=effective_n_jobs(self.n_jobs))

    def _perplexity(self, documents):
        n_tokens = documents.data.sum(dtype=np.float64)
        return float(np.exp(-self._bounds(documents).sum() / n_tokens)) if n_tokens > 0 else 1.0

    def _read(self, X, method):
        check_is_fitted(self)
        return read_documents(self, X, method, reset=False)

    def transform(self, X, *, normalize: bool = True) -> np.ndarray:
        """Topic proportions of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        normalize : bool, default=True
            False: the parameters of their Dirichlet distributions, whose means the proportions are.

        Returns
        -------
        proportions : ndarray of shape (n_samples, n_components)
            float32 if X is, else float64.
        """
        single = getattr(X, "dtype", None) == np.float32
        gamma = self._local_step(self._read(X, "transform")).gamma.astype(np.float64)
        if normalize:
            gamma /= gamma.sum(axis=1, keepdims=True)
        return gamma.astype(np.float32) if single else gamma

    def fit_transform(self, X, y=None, *, normalize: bool = True) -> np.ndarray:
        """Learn the topics of documents, and give the documents' proportions.

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
        """The topic with most of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        topics : ndarray of int64, shape (n_samples,)
        """
        return self._local_step(self._read(X, "predict")).gamma.argmax(axis=1)

    def score_samples(self, X) -> np.ndarray:
        """Bound on the log probability of each document given the topics, at T = 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        bounds : ndarray of float64, shape (n_samples,)
        """
        return self._bounds(self._read(X, "score_samples"))

    def score(self, X, y=None) -> float:
        """Bound on the log probability of all documents given the topics: the sum of :meth:`score_samples`.

        Scikit-learn adds the divergence of the topics from their prior, which belongs to the training documents: in the
        score of a few others it is out of all proportion.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        score : float
        """
        return float(self._bounds(self._read(X, "score")).sum())

    def perplexity(self, X, sub_sampling: bool = False) -> float:
        """exp(-:meth:`score` / number of tokens).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        sub_sampling : bool, default=False
            Makes no difference: a score in proportion to the documents is divided by as many tokens.

        Returns
        -------
        perplexity : float
        """
        return self._perplexity(self._read(X, "perplexity"))

    def document_completion_score(self, X, X_held_out=None, random_state=0) -> float:
        """Mean log probability of a held-out token, given the other words of its document; nats.

        Topics are their means, and so are the topic proportions, fitted to the observed words.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, of each of which a random half of the distinct words is held out.
        X_held_out : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The tokens to predict, if X has only those to be observed.
        random_state : int, RandomState instance or None, default=0
            Halves the words.

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If no token is held out, or X and ``X_held_out`` differ in shape.
        """
        observed = self._read(X, "document_completion_score")
        if X_held_out is None:
            observed, held_out = scores.split_words(observed, check_random_state(random_state))
        else:
            held_out = self._read(X_held_out, "document_completion_score")
            if held_out.shape != observed.shape:
                raise ValueError(
                    f"X_held_out must have the shape of X, {observed.shape}, got {held_out.shape}; give each document "
                    "a row in both"
                )
        n_tokens = scores.lengths(held_out).sum()
        if n_tokens == 0:
            raise ValueError(
                "X has no document of two distinct words, so that no token can be held out; give longer ones"
            )
        topics = self._topics.astype(observed.dtype)
        gamma = self._local_step(observed, weights=topics.mean_weights).gamma
        proportions = gamma / gamma.sum(axis=1, keepdims=True)
        n_threads = effective_n_jobs(self.n_jobs)
        likelihoods = scores.log_likelihoods(held_out, topics.mean_weights(), proportions, n_threads)
        return float(likelihoods.sum() / n_tokens)

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
            The most probable first; no more than there are features.
        """
        check_is_fitted(self)
        words = scores.top_words(self._topics.means(), n_words)
        names = getattr(self, "feature_names_in_", None) if feature_names is None else np.asarray(feature_names)
        if names is None:
            return words
        if names.shape != (self._topics.n_words,):
            raise ValueError(
                f"feature_names must have shape ({self._topics.n_words},), a name for each feature, got {names.shape}"
            )
        return names[words]

    def coherence(self, X, n_words: int = 10) -> np.ndarray:
        """UMass coherence of every topic: how often its top words share documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, usually those of the training.
        n_words : int, default=10

        Returns
        -------
        coherence : ndarray of shape (n_components,)
            The larger the better.

        References
        ----------
        D. Mimno, H. Wallach, E. Talley, M. Leenders, A. McCallum (2011), Optimizing semantic coherence in topic models,
        EMNLP.
        """
        documents = self._read(X, "coherence")
        return scores.umass_coherence(documents, scores.top_words(self._topics.means(), n_words))
