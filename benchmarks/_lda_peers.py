"""Learning curves of the topic models of other packages; None for a package that is not installed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from _common import Clock
from _lda import Corpus, point, split
from sklearn.decomposition import LatentDirichletAllocation

# Steps, minibatches and prior of the topics (None: 1 / n_topics) from which the choice starts, scikit-learn's defaults,
# and what else is tried of each. The steps of Mandt et al. (2016) are an offset of 1024 and a decay of 0.7.
STEPS = {"batch_size": 128, "learning_offset": 10.0, "learning_decay": 0.7, "topic_word_prior": None}
TRIED_STEPS = {
    "batch_size": (32, 64, 256, 512),
    "learning_offset": (1.0, 64.0, 1024.0),
    "learning_decay": (0.5, 0.9),
    "topic_word_prior": (0.1, 0.3, 0.6),
}
# Priors of documents (None: 1 / n_topics) and topics of tomotopy, and whether it learns the former; and the sweeps
# after which they are compared.
PRIORS = {"alpha": None, "eta": 0.01, "learns": False}
TRIED_PRIORS = {"alpha": (0.1,), "eta": (0.05, 0.1, 0.2, 0.4), "learns": (True,)}
SWEEPS_OF_CHOICE = 100


def chosen(run, corpus: Corpus, first: dict, tried: dict) -> dict | None:
    """The settings with which a tenth of the training documents is predicted best; None without the package.

    One setting after the other is chosen, given those before. ``run`` takes a corpus and the settings, and gives a
    curve. The held-out documents have no part in it.
    """
    part, settings = split(corpus.train), first
    if (curve := run(part, first)) is None:
        return None
    best = curve[-1]["nats"]
    for name, values in tried.items():
        for trial in [settings | {name: value} for value in values]:
            if (nats := run(part, trial)[-1]["nats"]) > best:
                settings, best = trial, nats
    return settings


def scikit_learn(
    corpus: Corpus, n_topics: int, seed: int, n_passes: int, steps: dict = STEPS, record=point
) -> list[dict]:
    """Scikit-learn, online; a point after each pass."""
    n = corpus.train.shape[0]
    model = LatentDirichletAllocation(n_topics, learning_method="online", total_samples=n, random_state=seed, **steps)
    generator = np.random.default_rng(seed)
    points, cpu = [], 0.0
    for number in range(n_passes):
        documents = corpus.train[generator.permutation(n)]
        with Clock() as clock:
            model.partial_fit(documents)
        cpu += clock.cpu
        points.append(record(corpus, model.components_, cpu, passes=number + 1))
    return points


def gensim(corpus: Corpus, n_topics: int, seed: int, n_passes: int, steps: dict = STEPS) -> list[dict] | None:
    """Gensim, online; a point after each pass."""
    try:
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel
    except ImportError:
        return None
    n, n_words = corpus.train.shape
    model = LdaModel(
        id2word={word: str(word) for word in range(n_words)},
        num_topics=n_topics,
        chunksize=steps["batch_size"],
        offset=steps["learning_offset"],
        decay=steps["learning_decay"],
        alpha="symmetric",
        eta=steps["topic_word_prior"] or 1.0 / n_topics,
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
    corpus: Corpus, n_topics: int, seed: int, sweeps: list[int], priors: dict = PRIORS, record=point
) -> list[dict] | None:
    """Collapsed Gibbs sampling by tomotopy on one worker; a point after each of the given numbers of sweeps."""
    model = _tomotopy_model(corpus, n_topics, seed, **priors)
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


def _tomotopy_model(corpus, n_topics, seed, alpha, eta, learns=False):
    """An untrained model of the training documents; unless it learns the prior of documents, with fixed priors."""
    try:
        from tomotopy import LDAModel
    except ImportError:
        return None
    model = LDAModel(k=n_topics, alpha=alpha or 1.0 / n_topics, eta=eta, seed=seed)
    model.optim_interval = 10 if learns else 0
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
