"""Held-out document completion against processor seconds: this package, scikit-learn and tomotopy on NIPS and arXiv.

One document in ten is held out. Half of the distinct words of each is observed; topic proportions are fitted to these,
with the topics at their means, and the tokens of the other half are predicted: nats a token. All systems are judged by
the same evaluator, with alpha = 1 / K. Seconds are of training alone, all threads included; every method runs on one.

    python lda_completion.py --corpus nips --seeds 5
"""

from __future__ import annotations

import time
from typing import NamedTuple

import _common
import numpy as np
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.inference import lengths, local_step
from sklearn_subanneal.topics.scores import log_likelihoods, split_words
from sklearn_subanneal.topics.topics import Topics

FILES = {"nips": ("nips", "nips_uci_1500x7605.npz"), "arxiv": ("arxiv", "arxiv_bow_40k.npz")}
N_TOPICS = {"nips": 50, "arxiv": 100}
SHORTEST = 20
# The paper's steps, at which plain stochastic variational inference is at its best here.
PAPER = {"learning_offset": 1024.0, "learning_decay": 0.7, "batch_size": 100}
OURS = {
    "default": {},
    "SVI": {"tempering": "none", "topic_update": "variational", **PAPER},
    "AVI": {"tempering": "annealed", "topic_update": "variational", **PAPER},
    "VT": {"tempering": "global", "topic_update": "variational", **PAPER},
    "LVT": {"tempering": "local", "topic_update": "variational", **PAPER},
    "VT, plug-in": {"tempering": "global"},
    "LVT, plug-in": {"tempering": "local"},
    "no annealing, plug-in": {"tempering": "none"},
}


class Corpus(NamedTuple):
    """Documents to train on, and the halves of those held out."""

    train: sparse.csr_matrix
    observed: sparse.csr_matrix
    held_out: sparse.csr_matrix


def load(name: str, data: str | None) -> Corpus | None:
    """The corpus, split; None if its file is not there."""
    path = _common.find_data(data, *FILES[name])
    if path is None:
        return None
    with np.load(path, allow_pickle=True) as file:
        arrays = file["data"].astype(np.float32), file["indices"].astype(np.int32), file["indptr"]
        X = sparse.csr_matrix(arrays, shape=tuple(file["shape"]))
    X.sort_indices()
    X = X[lengths(X) >= SHORTEST]
    generator = np.random.default_rng(0)
    order = generator.permutation(X.shape[0])
    n_test = round(0.1 * X.shape[0])
    train = X[np.sort(order[n_test:])]
    observed, held_out = split_words(X[np.sort(order[:n_test])], generator)
    # A word without training is predicted by nobody.
    held_out.data[~np.asarray(train.sum(axis=0) > 0).ravel()[held_out.indices]] = 0.0
    return Corpus(train, observed, held_out)


def completion(corpus: Corpus, probabilities: np.ndarray, alpha: float) -> float:
    """Nats a held-out token, for topics given as their words' probabilities (n_topics, n_words)."""
    topics = Topics(np.ascontiguousarray(probabilities.T, dtype=np.float32), 0.0, "plug-in")
    prior = np.full(topics.n_topics, alpha)
    gamma = local_step(corpus.observed, topics, prior, max_iter=200, tol=1e-4).gamma
    proportions = gamma / gamma.sum(axis=1, keepdims=True)
    total = log_likelihoods(corpus.held_out, topics.mean_weights(), proportions).sum()
    return float(total / lengths(corpus.held_out).sum())


def point(corpus, probabilities, cpu, **more) -> dict:
    """One point of a curve."""
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    score = completion(corpus, probabilities, 1.0 / len(probabilities))
    return {"cpu": round(cpu, 3), "nats": round(score, 4), **more}


def ours(corpus, n_topics, seed, settings) -> list[dict]:
    """The package; its whole run is one point, for a schedule knows its end."""
    model = VariationalTemperingLDA(n_topics, random_state=seed, **settings)
    with _common.Clock() as clock:
        model.fit(corpus.train)
    trace = np.median(np.atleast_2d(model.temperatures_.T), axis=0)
    every = max(1, len(trace) // 40)
    return [
        point(corpus, model.topic_word_, clock.cpu, passes=model.n_iter_, inverse_temperature=trace[::every].tolist())
    ]


def scikit_learn(corpus, n_topics, seed, n_passes) -> list[dict]:
    """Scikit-learn, online, with the paper's steps; a point after each pass."""
    model = LatentDirichletAllocation(
        n_topics, learning_method="online", total_samples=corpus.train.shape[0], random_state=seed, **PAPER
    )
    generator = np.random.default_rng(seed)
    points, cpu = [], 0.0
    for number in range(n_passes):
        documents = corpus.train[generator.permutation(corpus.train.shape[0])]
        with _common.Clock() as clock:
            model.partial_fit(documents)
        cpu += clock.cpu
        points.append(point(corpus, model.components_, cpu, passes=number + 1))
    return points


def tomotopy(corpus, n_topics, seed, sweeps) -> list[dict] | None:
    """Collapsed Gibbs sampling on one worker; a point at some numbers of sweeps. None if it is not installed."""
    try:
        import tomotopy as tp
    except ImportError:
        return None
    X = corpus.train
    model = tp.LDAModel(k=n_topics, alpha=1.0 / n_topics, eta=0.01, seed=seed)
    model.optim_interval = 0
    for d in range(X.shape[0]):
        entries = slice(X.indptr[d], X.indptr[d + 1])
        model.add_doc([str(v) for v in np.repeat(X.indices[entries], X.data[entries].astype(int))])
    points, cpu, done = [], 0.0, 0
    for target in sweeps:
        start = time.process_time()
        model.train(target - done, workers=1)
        cpu += time.process_time() - start
        done = target
        probabilities = np.full((n_topics, X.shape[1]), 1e-12)
        words = [int(word) for word in model.used_vocabs]
        probabilities[:, words] = [model.get_topic_word_dist(k) for k in range(n_topics)]
        points.append(point(corpus, probabilities, cpu, sweeps=target))
    return points


def main() -> None:
    """Run and print."""
    arguments = _common.parser(__doc__.splitlines()[0])
    arguments.add_argument("--corpus", choices=sorted(FILES), default="nips")
    arguments.add_argument("--data", default=None, help="folder of the development data")
    arguments.add_argument("--methods", nargs="*", default=["default"], help=f"of {sorted(OURS)}, or all")
    arguments.add_argument("--others", nargs="*", default=["scikit-learn", "tomotopy"])
    arguments.add_argument("--passes", type=int, default=None, help="of this package, in place of its default")
    given = arguments.parse_args()
    corpus = load(given.corpus, given.data)
    if corpus is None:
        _common.skip("lda_completion", given, f"no {given.corpus} in the data folder")
        return
    n_topics = 5 if given.quick else N_TOPICS[given.corpus]
    n_seeds = 1 if given.quick else given.seeds
    more = {} if given.passes is None else {"max_iter": given.passes}
    methods = {
        name: lambda seed, settings=OURS[name]: ours(corpus, n_topics, seed, settings | more)
        for name in (OURS if given.methods == ["all"] else given.methods)
    }
    if "scikit-learn" in given.others:
        methods["scikit-learn"] = lambda seed: scikit_learn(corpus, n_topics, seed, 1 if given.quick else 4)
    if "tomotopy" in given.others:
        sweeps = [1] if given.quick else [10, 20, 50, 100, 200, 400]
        methods["tomotopy"] = lambda seed: tomotopy(corpus, n_topics, seed, sweeps)
    results = {name: {"curves": []} for name in methods}
    for seed in range(n_seeds):
        for name, method in methods.items():
            curve = method(seed)
            if curve is None:
                _common.note(f"{name} is not installed")
                continue
            results[name]["curves"].append(curve)
            _common.note(f"{given.corpus} {name} seed {seed}: {curve[-1]['nats']} at {curve[-1]['cpu']} s")
    for result in results.values():
        if result["curves"]:
            result["nats"] = _common.spread([curve[-1]["nats"] for curve in result["curves"]])
            result["cpu"] = _common.spread([curve[-1]["cpu"] for curve in result["curves"]])
    _common.report("lda_completion", given, results, n_topics=n_topics, documents=corpus.train.shape[0])


if __name__ == "__main__":
    main()
