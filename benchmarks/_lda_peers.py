"""Learning curves of the topic models of other packages; None for a package that is not installed."""

from __future__ import annotations

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


def tomotopy(
    corpus: Corpus, n_topics: int, seed: int, sweeps: list[int], alpha=None, eta: float = 0.01, record=point
) -> list[dict] | None:
    """Collapsed Gibbs sampling by tomotopy on one worker; a point after each of the given numbers of sweeps."""
    try:
        from tomotopy import LDAModel
    except ImportError:
        return None
    X = corpus.train
    model = LDAModel(k=n_topics, alpha=alpha or 1.0 / n_topics, eta=eta, seed=seed)
    model.optim_interval = 0
    for d in range(X.shape[0]):
        entries = slice(X.indptr[d], X.indptr[d + 1])
        model.add_doc([str(v) for v in np.repeat(X.indices[entries], X.data[entries].astype(int))])
    points, cpu, done = [], 0.0, 0
    for target in sweeps:
        with Clock() as clock:
            model.train(target - done, workers=1)
        cpu, done = cpu + clock.cpu, target
        probabilities = np.full((n_topics, X.shape[1]), 1e-12)
        words = [int(word) for word in model.used_vocabs]
        probabilities[:, words] = [model.get_topic_word_dist(k) for k in range(n_topics)]
        points.append(record(corpus, probabilities, cpu, sweeps=target))
    return points
