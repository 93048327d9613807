"""Learning curves of the topic models of other packages; None for a package that is not installed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from _common import Clock
from _lda import PAPER, Corpus, point
from sklearn.decomposition import LatentDirichletAllocation


def scikit_learn(corpus: Corpus, n_topics: int, seed: int, n_passes: int, record=point) -> list[dict]:
    """Scikit-learn, online, with the paper's step sizes; a point after each pass."""
    n = corpus.train.shape[0]
    model = LatentDirichletAllocation(n_topics, learning_method="online", total_samples=n, random_state=seed, **PAPER)
    generator = np.random.default_rng(seed)
    points, cpu = [], 0.0
    for number in range(n_passes):
        documents = corpus.train[generator.permutation(n)]
        with Clock() as clock:
            model.partial_fit(documents)
        cpu += clock.cpu
        points.append(record(corpus, model.components_, cpu, passes=number + 1))
    return points


def gensim(corpus: Corpus, n_topics: int, seed: int, n_passes: int) -> list[dict] | None:
    """Gensim, online, with the paper's step sizes; a point after each pass."""
    try:
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel
    except ImportError:
        return None
    n, n_words = corpus.train.shape
    model = LdaModel(
        id2word={word: str(word) for word in range(n_words)},
        num_topics=n_topics,
        chunksize=PAPER["batch_size"],
        offset=PAPER["learning_offset"],
        decay=PAPER["learning_decay"],
        alpha="symmetric",
        eta=1.0 / n_topics,
        eval_every=None,
        random_state=seed,
    )
    generator = np.random.default_rng(seed)
    points, cpu = [], 0.0
    for number in range(n_passes):
        order = generator.permutation(n)
        documents = list(Sparse2Corpus(corpus.train[order].astype(int), documents_columns=False))
        with Clock() as clock:
            model.update(documents)
        cpu += clock.cpu
        points.append(point(corpus, model.get_topics(), cpu, passes=number + 1))
    return points


def proportions_of_scikit_learn(documents, model, tol: float):
    """A function that gives the topic proportions of documents by scikit-learn with the topics of our model."""
    theirs = LatentDirichletAllocation(model.n_components, mean_change_tol=tol, max_iter=1)
    theirs.fit(documents[:2])
    theirs.components_ = model.components_
    theirs.exp_dirichlet_component_ = model.exp_dirichlet_component_
    return lambda: theirs.transform(documents)


def tomotopy(
    corpus: Corpus, n_topics: int, seed: int, sweeps: list[int], alpha=None, eta: float = 0.01, record=point
) -> list[dict] | None:
    """Collapsed Gibbs sampling by tomotopy on one worker; a point after each of the given numbers of sweeps."""
    model = _tomotopy_model(corpus, n_topics, seed, alpha, eta)
    if model is None:
        return None
    points, cpu, done = [], 0.0, 0
    for target in sweeps:
        with Clock() as clock:
            model.train(target - done, workers=1)
        cpu, done = cpu + clock.cpu, target
        points.append(record(corpus, _tomotopy_topics(model, corpus.train.shape[1]), cpu, sweeps=target))
    return points


def learned_topics(corpus: Corpus, n_topics: int, seed: int, sweeps: int, alpha: float, eta: float):
    """Topics (n_topics, n_words) of tomotopy, and its inference; None if it is not installed.

    The inference takes documents and a number of sweeps, and gives CPU seconds and topic proportions.
    """
    model = _tomotopy_model(corpus, n_topics, seed, alpha, eta)
    if model is None:
        return None
    model.train(sweeps, workers=1)

    def infer(documents, n_sweeps):
        given = [model.make_doc(words) for words in _lists_of_words(documents)]
        with Clock() as clock:
            proportions, _ = model.infer(given, iterations=n_sweeps, workers=1)
        return clock.cpu, np.array(proportions)

    topics = _tomotopy_topics(model, corpus.train.shape[1])
    return topics / topics.sum(axis=1, keepdims=True), infer


def _tomotopy_model(corpus, n_topics, seed, alpha, eta):
    """An untrained model of the training documents, with fixed priors."""
    try:
        from tomotopy import LDAModel
    except ImportError:
        return None
    model = LDAModel(k=n_topics, alpha=alpha or 1.0 / n_topics, eta=eta, seed=seed)
    model.optim_interval = 0
    for words in _lists_of_words(corpus.train):
        model.add_doc(words)
    return model


def _lists_of_words(documents):
    for start, stop in pairwise(documents.indptr):
        yield [str(v) for v in np.repeat(documents.indices[start:stop], documents.data[start:stop].astype(int))]


def _tomotopy_topics(model, n_words):
    probabilities = np.full((model.k, n_words), 1e-12)
    words = [int(word) for word in model.used_vocabs]
    probabilities[:, words] = [model.get_topic_word_dist(k) for k in range(model.k)]
    return probabilities
