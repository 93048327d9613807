"""VariationalTemperingLDA: latent Dirichlet allocation, learned by annealed or tempered variational inference."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Self

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.constraints import NumberRange, StrOptions
from sklearn_subanneal._core.fit_decorators import fit_context, with_callbacks
from sklearn_subanneal._core.random_states import RANDOM_STATE, seeded_generator
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.estimators._document_streams import fit_stream
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._lda_passes import begin_stream, learn_more, run_passes
from sklearn_subanneal.estimators._lda_queries import MOST_TOKENS, TopicModel, validate_counts
from sklearn_subanneal.topics.corpus import MemoryCorpus, Totals
from sklearn_subanneal.topics.topic_settings import TEMPERINGS, TopicSettings, default_batch_size
from sklearn_subanneal.variational import CoolingSchedule

N_BOUND = 400  # training documents, evenly spaced, of which ``bound_`` is computed


class VariationalTemperingLDA(TopicModel):
    """Latent Dirichlet allocation, learned by annealed or tempered stochastic variational inference.

    Parameters, methods and attributes have the names and meanings of
    :class:`sklearn.decomposition.LatentDirichletAllocation`, which it can replace. At a temperature above 1 the
    assignments of words to topics are flatter, so that topics avoid many of the poor local optima of ordinary
    variational inference. The temperature ends at 1, that of the model. The defaults need no tuning.

    Topics start apart, from principal components of the documents that are rotated by varimax until each word, or each
    document, has few of them. So fits with different seeds, which still visit the documents in other orders, have most
    topics in common. In eight passes or more, a fifth more start, at most 25; those without which documents lose the
    least likelihood are removed at T = 1, and topics that are mixtures of two are halved. Two that are nearly the same
    are merged, and a new one starts from documents that no topic explains, unless documents are less likely then.

    :class:`~sklearn_subanneal.annealing.Checkpoint` saves fits after each pass, so that a killed one can resume.

    Parameters
    ----------
    n_components : int or "learn", default=10
        Number of topics. "learn": from fits to at most 10,000 documents, or 20 for each topic, that start with 10, 20,
        40, ... topics, without those that explain less than their words cost by the Bayesian information criterion;
        that of the last fit which predicts held-out words better than all before. Not for temperings by which T is
        never exactly 1: "local", "global-paper" and "local-paper".
    max_components : int, default=100
        The most topics, where their number is learned.
    tempering : {"annealed", "global", "local", "none", "global-paper", "local-paper"}, default="annealed"
        How the temperature is chosen. "annealed": by ``temperature_schedule``. "global": inferred with the model, one
        for all documents. "local": inferred, one for each document; these come near 1 only, so that twins stay. "none":
        T = 1, plain stochastic variational inference. "global-paper" and "local-paper": inferred by the equations as
        printed in the paper; these do not cool, and are provided for reproduction.
    temperature_schedule : CoolingSchedule or None, default=None
        For "annealed", such as :class:`~sklearn_subanneal.variational.LinearCooling`. None: linear, down to 1 in 40 %
        of the planned passes, but in three to five of them, and in half of fewer than six or in batch learning. From 2
        if documents have 50 tokens or fewer on average, from 1.2 if they have 1000 or more, and between them in
        proportion to the logarithm of the length; from less if fewer than five passes are planned.
    temperatures : array-like of float or None, default=None
        For inferred temperatures, their grid, increasing from 1. None: 100 by equal factors, up to 1.6, or up to 2.5 if
        documents have fewer than 100 tokens (as printed: up to 10).
    init : {"documents", "random"}, default="documents"
        How topics start. "documents": from components of the documents, as described above. "random": all nearly equal,
        as in scikit-learn and in the paper; topics are then left to part by themselves.
    topic_update : {"plug-in", "variational"}, default="plug-in"
        "plug-in": documents are fitted to the posterior means of the topics, which predicts held-out words better.
        "variational": topics have a Dirichlet distribution, and updates are coordinate ascent on the bound, as in
        scikit-learn.
    doc_topic_prior : float, array-like of shape (n_components,), "learn" or None, default=None
        Parameter alpha of the Dirichlet prior of documents. None: 1 / n_components. "learn": one for each topic,
        learned in the second half of the run.
    topic_word_prior : float, array-like of shape (n_features,) or None, default=None
        Parameter eta of the Dirichlet prior of topics. None: 0.03 times the number of tokens for each topic and word,
        from 0.02 to 0.1; if the number of tokens is not known, 2 / n_components, from 0.04 to 0.2.
    partition_function_prior : float, "frequencies" or None, default=None
        Prior of topics in the partition function of "global" and "local", in place of ``topic_word_prior``: with one
        as sparse as 1 / n_components T would not fall to 1. None: such that the entropy of words under the prior
        slightly exceeds that of the corpus; then T falls as soon as topics predict words better than frequencies do.
        "frequencies": in place of a prior, all topics are equal to the frequencies of words.
    learning_method : {"online", "batch"}, default="online"
        From minibatches, or from all documents at once; ``partial_fit`` always learns from minibatches.
    learning_decay : float or None, default=None
        kappa of the step (learning_offset + t)^-kappa of minibatch t.
    learning_offset : float or None, default=None
        See ``learning_decay``. If only one of the two is given, the other is 0.7 or 1024. If both are None, steps are
        proportional to the minibatch's share of the corpus, for every batch size.
    max_iter : int or None, default=None
        Passes over the documents. None: 700 divided by the square root of their number, times that of their mean number
        of tokens divided by 300 if this is above 1, from 8 to 20; and at most 9 more as long as topics have twins or
        are halved.
    batch_size : int or None, default=None
        Documents in a minibatch. None: 2 % of all, at least 64, and at most 512 but on workers.
    evaluate_every : int, default=-1
        Passes between computations of the perplexity, for ``perp_tol``, in ``fit``. Not positive: never.
    total_samples : int or None, default=None
        Number of documents in a pass of all calls of ``partial_fit``, or in ``fit_chunks``. None: ``partial_fit`` uses
        the number of documents so far and does not anneal; ``fit_chunks`` counts the documents.
    tol : float, default=1e-4
        Batch learning ends once T = 1, or with "local" and as printed in the paper after half of the passes, and a pass
        moves less than this share of the tokens to other topics.
    perp_tol : float, default=0.1
        Learning ends once the perplexity changes by less between two evaluations, at T = 1.
    mean_change_tol : float or None, default=None
        A document is fitted once an update moves less than this number of tokens a topic. None: 1e-2 for topic
        proportions, which predict other words better if they are not quite converged; 1e-3 for all else.
    max_doc_update_iter : int or None, default=None
        Most iterations of fitting a document. None: 15 in a minibatch, 100 elsewhere.
    shuffle : bool, default=True
        Whether the documents of each pass are in a new random order.
    n_jobs : int or None, default=None
        Threads for the documents of a minibatch; results are the same for any number.
    verbose : int, default=0
        Whether to print a line for each pass.
    random_state : int, RandomState instance, Generator or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Parameters of the topics' Dirichlet distributions. Like the next two, read-only and kept until more is learned.
    exp_dirichlet_component_ : ndarray of shape (n_components, n_features)
        exp(E[log probability of a word]).
    topic_word_ : ndarray of shape (n_components, n_features)
        Mean probabilities of the words.
    doc_topic_prior_ : float, or ndarray of shape (n_components,)
        The prior of documents, given or learned.
    topic_word_prior_ : float, or ndarray of shape (n_features,)
    inverse_temperatures_ : ndarray of shape (n_batches,) or (n_batches, 3)
        E[1/T] at each minibatch; with "local", its quantiles 0.05, 0.5 and 0.95 over the documents.
    bound_ : float
        Perplexity of the training documents (of 200 to 400, evenly spaced, if there are more), after ``fit`` alone.
    n_components_, n_iter_ : int
        Number of topics, and of the passes made: those of ``fit`` and the calls of ``partial_fit`` since, or, if these
        began with ``total_samples``, the passes over so many.
    converged_ : bool
        Whether no topic has a twin: another one to which its affinity is above 0.8 (see
        :func:`~sklearn_subanneal.topics.measures.affinities`). After ``fit`` or ``fit_chunks`` alone.
    n_batch_iter_ : int
        Minibatches learned from.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS.
    M. Hoffman, D. Blei, C. Wang, J. Paisley (2013), Stochastic variational inference, JMLR 14.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingLDA
    >>> X = np.kron(np.eye(2, dtype=int), np.full((30, 5), 3))
    >>> model = VariationalTemperingLDA(n_components=2, random_state=0).fit(X)
    >>> model.transform(X[[0, 59]]).round(1).max(axis=1)
    array([1., 1.])
    >>> bool(model.predict(X[:1]) != model.predict(X[-1:]))
    True
    """

    _parameter_constraints: dict = {
        "n_components": [NumberRange(Integral, 1, LARGEST, closed="both"), StrOptions({"learn"})],
        "max_components": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "tempering": [StrOptions(set(TEMPERINGS))],
        "temperature_schedule": [CoolingSchedule, None],
        "temperatures": ["array-like", None],
        "init": [StrOptions({"documents", "random"})],
        "topic_update": [StrOptions({"plug-in", "variational"})],
        "doc_topic_prior": [None, NumberRange(Real, 0, None, closed="neither"), StrOptions({"learn"}), "array-like"],
        "topic_word_prior": [None, NumberRange(Real, 0, None, closed="neither"), "array-like"],
        "partition_function_prior": [NumberRange(Real, 0, None, closed="neither"), StrOptions({"frequencies"}), None],
        "learning_method": [StrOptions({"batch", "online"})],
        "learning_decay": [NumberRange(Real, 0, 1, closed="both"), None],
        "learning_offset": [NumberRange(Real, 1.0, 1e100, closed="both"), None],
        "max_iter": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "batch_size": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "evaluate_every": [NumberRange(Integral, -LARGEST, LARGEST, closed="both")],
        "total_samples": [NumberRange(Real, 0.0, MOST_TOKENS, closed="neither"), None],
        "tol": [NumberRange(Real, 0, None, closed="left")],
        "perp_tol": [NumberRange(Real, 0, None, closed="left")],
        "mean_change_tol": [NumberRange(Real, 0, None, closed="left"), None],
        "max_doc_update_iter": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "shuffle": ["boolean"],
        "n_jobs": [NumberRange(Integral, -LARGEST, LARGEST, closed="both"), None],
        "verbose": ["verbose"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int | str = 10,
        *,
        max_components: int = 100,
        tempering: str = "annealed",
        temperature_schedule=None,
        temperatures=None,
        init: str = "documents",
        topic_update: str = "plug-in",
        doc_topic_prior=None,
        topic_word_prior=None,
        partition_function_prior: float | None = None,
        learning_method: str = "online",
        learning_decay: float | None = None,
        learning_offset: float | None = None,
        max_iter: int | None = None,
        batch_size: int | None = None,
        evaluate_every: int = -1,
        total_samples: float | None = None,
        tol: float = 1e-4,
        perp_tol: float = 0.1,
        mean_change_tol: float | None = None,
        max_doc_update_iter: int | None = None,
        shuffle: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state=None,
    ):
        self.n_components = n_components
        self.max_components = max_components
        self.tempering = tempering
        self.temperature_schedule = temperature_schedule
        self.temperatures = temperatures
        self.init = init
        self.topic_update = topic_update
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.partition_function_prior = partition_function_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.total_samples = total_samples
        self.tol = tol
        self.perp_tol = perp_tol
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> Self:
        """Learn the topics of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Counts of words. CSR is not copied, and may be mapped from disk; other formats are converted to it. float64
            is computed in double precision, other types in single. Fractional counts, such as tf-idf, are allowed.
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If counts are negative or not finite, or a parameter is not as described. The message names the remedy.
        """
        with unchanged_on_failure(self):
            X = validate_counts(self, X, "fit", reset=True)
            generator = seeded_generator(self.random_state)
            batch_size = X.shape[0] if self.learning_method == "batch" else self._batch_size(X.shape[0])
            corpus = MemoryCorpus(X, batch_size, generator if self.shuffle else None)
            run_passes(self, corpus, Totals.of_corpus(X, self._settings().most_topics), generator, X)
            stride = -(-X.shape[0] // N_BOUND)
            self.bound_ = self._fitted_model().perplexity(X if stride == 1 else X[::stride])
        return self

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit_chunks(self, chunks: Iterable, y=None, client=None) -> Self:
        """Learn the topics of documents that are given in chunks, with memory that does not depend on their number.

        Parameters
        ----------
        chunks : iterable of {array-like, sparse matrix}, each of shape (any, n_features), or bag or array of Dask
            Read once to count the documents, and once for each pass. An iterator, which can be read only once, needs
            ``max_iter=1`` and ``total_samples``. Documents keep their order: ``fit`` with ``shuffle=False`` gives the
            same topics for the same documents in one matrix.
        y : None
            Ignored.
        client : dask.distributed.Client or None, default=None
            Whose workers keep the documents and fit them, at temperatures that are not inferred; None: this process.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If there are no chunks, if they differ in width or between passes, or cannot be read as often as needed.
        """
        if self.learning_method == "batch":
            raise ValueError('learning_method="batch" needs all documents at once; use "online" with chunks')
        with unchanged_on_failure(self):
            fit_stream(self, chunks, client)
            # Of another corpus.
            vars(self).pop("bound_", None)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None) -> Self:
        """Learn from more documents.

        With ``total_samples``, steps and temperature follow a plan of ``max_iter`` passes over so many documents.
        Without, topics stand for all documents so far, each of which counts in proportion to the number of those before
        it, since the first ones are fitted to poor topics; the temperature is 1 unless it is inferred. After ``fit``,
        learning continues from its topics. After an interrupt the topics are those of the minibatches so far. A
        ``Checkpoint`` saves nothing here: save the model between chunks, by :func:`sklearn_subanneal.save`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            As :meth:`fit`, and if the number of features differs from that of earlier calls.
        """
        first = not hasattr(self, "_learner_state")
        with unchanged_on_failure(self, Exception if first else ()):
            with unchanged_on_failure(self):
                X = validate_counts(self, X, "partial_fit", reset=first)
                if first:
                    begin_stream(self, X)
            learn_more(self, MemoryCorpus(X, self._batch_size(self.total_samples or X.shape[0])))
        return self

    def _settings(self) -> TopicSettings:
        return TopicSettings(
            **{name: getattr(self, name) for name in TopicSettings.parameters()},
            n_threads=n_workers(self.n_jobs),
        )

    def _batch_size(self, n_documents) -> int:
        return self.batch_size or default_batch_size(n_documents)
