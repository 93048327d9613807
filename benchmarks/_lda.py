"""Helpers of the topic-model benchmarks: corpora, splits, held-out document completion, and learning curves.

A tenth of the documents is held out. Half of the distinct words of each held-out document is observed; topic
proportions are fitted to them, with the topics at their means. The score is the mean log probability of the tokens of
the other half, in nats per token. All packages are scored by the same evaluator, with alpha = 1 / K. Seconds are CPU
seconds of the training alone.
"""

from __future__ import annotations

import gzip
from typing import NamedTuple

import numpy as np
from _common import Clock, find_data
from scipy import sparse

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.local_step import local_step
from sklearn_subanneal.topics.measures import coherence, diversity, n_twins
from sklearn_subanneal.topics.topic_scores import document_lengths, log_likelihoods, split_words, top_words
from sklearn_subanneal.topics.word_statistics import Topics

FILES = {
    "kos": ("kos", "docword.kos.txt.gz"),
    "nips": ("nips", "nips_uci_1500x7605.npz"),
    "arxiv": ("arxiv", "arxiv_bow_40k.npz"),
    "nips0_12": ("nips0_12", "nips0_12_mindf5.npz"),
    "nyt": ("nyt", "nyt_topmost_9172x10000.npz"),
}
N_TOPICS = {"kos": 50, "nips": 50, "arxiv": 100, "nips0_12": 50, "nyt": 50}
SHORTEST = 20
# The step sizes of Mandt et al. (2016).
PAPER = {"learning_offset": 1024.0, "learning_decay": 0.7, "batch_size": 100}


class Corpus(NamedTuple):
    """Training documents, and the two halves of the held-out documents."""

    train: sparse.csr_matrix
    observed: sparse.csr_matrix
    held_out: sparse.csr_matrix


def read(name: str, data: str | None) -> sparse.csr_matrix | None:
    """Word counts of all documents, float32; None if the file is missing."""
    path = find_data(data, *FILES[name])
    if path is None:
        return None
    if path.suffix == ".gz":
        with gzip.open(path, "rt") as file:
            shape = int(file.readline()), int(file.readline())
            file.readline()
            document, word, count = np.loadtxt(file, dtype=np.int32).T
        X = sparse.csr_matrix((count.astype(np.float32), (document - 1, word - 1)), shape=shape)
    else:
        with np.load(path, allow_pickle=True) as file:
            arrays = file["data"].astype(np.float32), file["indices"].astype(np.int32), file["indptr"]
            X = sparse.csr_matrix(arrays, shape=tuple(file["shape"]))
    X.sort_indices()
    return X


def load(name: str, data: str | None, quick: bool = False, seed: int = 0) -> Corpus | None:
    """The corpus without its shortest documents, split at random; None if its file is missing."""
    X = read(name, data)
    if X is None:
        return None
    return split(X[document_lengths(X) >= SHORTEST], 400 if quick else None, seed)


def split(X: sparse.csr_matrix, n_documents: int | None = None, seed: int = 0) -> Corpus:
    """Hold out a tenth of the documents, or of ``n_documents`` random ones."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(X.shape[0])[:n_documents]
    n_test = round(0.1 * len(order))
    train = X[np.sort(order[n_test:])]
    observed, held_out = split_words(X[np.sort(order[:n_test])], generator)
    # Words without training data cannot be predicted.
    held_out.data[~np.asarray(train.sum(axis=0) > 0).ravel()[held_out.indices]] = 0.0
    return Corpus(train, observed, held_out)


def completion(corpus: Corpus, probabilities: np.ndarray) -> float:
    """Nats per held-out token, for topics given as weights of their words (n_topics, n_words)."""
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    topics = Topics(np.ascontiguousarray(probabilities.T, dtype=np.float32), 0.0, "plug-in")
    prior = np.full(topics.n_topics, 1.0 / topics.n_topics)
    gamma = local_step(corpus.observed, topics, prior, max_iter=200, tol=1e-4).gamma
    proportions = gamma / gamma.sum(axis=1, keepdims=True)
    total = log_likelihoods(corpus.held_out, topics.mean_weights(), proportions).sum()
    return float(total / document_lengths(corpus.held_out).sum())


def qualities(corpus: Corpus, probabilities: np.ndarray) -> dict:
    """Twins, diversity of 25 top words, and NPMI of 10 in the held-out documents, of topics (n_topics, n_words)."""
    held_out = (corpus.observed + corpus.held_out).tocsr()
    return {
        "twins": n_twins(probabilities),
        "diversity": diversity(top_words(probabilities, 25)),
        "npmi": float(coherence(top_words(probabilities, 10), held_out).mean()),
    }


def point(corpus: Corpus, probabilities: np.ndarray, cpu: float, **more) -> dict:
    """One point of a curve."""
    return {"cpu": round(cpu, 3), "nats": round(completion(corpus, probabilities), 4), **more}


def fitted(corpus: Corpus, n_topics: int, seed: int, settings: dict) -> list[dict]:
    """Result of ``fit`` as a curve with one point, with the trace of E[1/T] (the median over documents)."""
    model = VariationalTemperingLDA(n_topics, random_state=seed, **settings)
    with Clock() as clock:
        model.fit(corpus.train)
    return [point(corpus, model.topic_word_, clock.cpu, passes=model.n_iter_, inverse_temperature=trace(model))]


def learned(
    corpus: Corpus, n_topics: int, seed: int, settings: dict, parts: int = 1, n_points: int | None = None
) -> list[dict]:
    """The curve of ``max_iter`` passes by ``partial_fit``, with ``parts`` parts per pass, at ``n_points`` points.

    The last point has the trace of E[1/T] (the median over documents), and the qualities of the topics.
    """
    n = corpus.train.shape[0]
    model = VariationalTemperingLDA(n_topics, random_state=seed, total_samples=n, **settings)
    generator = np.random.default_rng(seed)
    n_parts = model.max_iter * parts
    shown = set(np.linspace(n_parts, 0, n_points or n_parts, endpoint=False).round().astype(int).tolist())
    points, cpu, documents = [], 0.0, corpus.train
    for number in range(n_parts):
        part = number % parts
        if part == 0:
            documents = corpus.train[generator.permutation(n)]
        with Clock() as clock:
            model.partial_fit(documents[part * n // parts : (part + 1) * n // parts])
        cpu += clock.cpu
        if number + 1 in shown:
            points.append(point(corpus, model.topic_word_, cpu, passes=(number + 1) / parts))
    points[-1] |= {"inverse_temperature": trace(model), **qualities(corpus, model.topic_word_)}
    return points


def trace(model, n_points: int = 60) -> list[float]:
    """E[1/T] at some minibatches, evenly spaced."""
    values = np.median(np.atleast_2d(model.inverse_temperatures_.T), axis=0)
    return [round(float(value), 4) for value in values[np.linspace(0, len(values) - 1, n_points).astype(int)]]
