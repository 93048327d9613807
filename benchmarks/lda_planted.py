"""Are planted topics found, and their number? Five generators of documents, fresh seeds, the default.

A topic is found if a learned one has a Bhattacharyya affinity above 0.9 with it. The generators: "plain" documents of
80 tokens; "long" ones of 300, in which few topics are likely; "unequal" topics, of which the largest has ten times as
many tokens as the smallest; "pairs" of topics, of which each document that has one has the other, too; "zipf", words
with the frequencies of natural language, of which half of each topic are those of all. With ``--learn`` the number is
learned.

"reachable" is how many are found by updates that start from the true topics: the documents are too few to estimate the
others within this affinity.
"""

from __future__ import annotations

import numpy as np
from _common import Clock, note, parser, report
from scipy import sparse

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.local_step import local_step
from sklearn_subanneal.topics.measures import affinities, n_twins
from sklearn_subanneal.topics.topic_settings import default_word_prior
from sklearn_subanneal.topics.word_statistics import Topics

FOUND = 0.9
GENERATORS = ("plain", "long", "unequal", "pairs", "zipf")
# Documents for each topic, at least 1000 in all.
DOCUMENTS_A_TOPIC = 120
# Updates by all documents from the true topics.
UPDATES = 20
BARS = {"share of seeds with all topics found": 0.9, "learned number, largest relative error": 0.2}


def planted(generator: str, n_topics: int, seed: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Documents (n_documents, n_words), and the topics (n_topics, n_words) from which they are drawn."""
    rng = np.random.default_rng([seed, n_topics, GENERATORS.index(generator)])
    n_documents, n_words = max(1000, DOCUMENTS_A_TOPIC * n_topics), 400 + 24 * n_topics
    common = rng.dirichlet(np.full(n_words, 1.0))
    topics = 0.7 * rng.dirichlet(np.full(n_words, 0.05), n_topics) + 0.3 * common
    alpha, length = np.full(n_topics, 0.1), 80
    if generator == "long":
        alpha, length = np.full(n_topics, 0.05), 300
    elif generator == "unequal":
        alpha = 0.1 * n_topics * np.geomspace(1.0, 0.1, n_topics) / np.geomspace(1.0, 0.1, n_topics).sum()
    elif generator == "zipf":
        frequency = 1.0 / np.arange(10, n_words + 10)
        own = rng.gamma(0.05, 1.0, (n_topics, n_words)) * frequency
        topics = 0.5 * own / own.sum(axis=1, keepdims=True) + 0.5 * frequency / frequency.sum()
    proportions = rng.dirichlet(alpha, n_documents)
    if generator == "pairs":
        mixed = np.zeros((n_topics, n_topics))
        for topic in range(n_topics):
            # Of an odd number the last topic is alone.
            for member in (topic, topic ^ 1 if topic ^ 1 < n_topics else topic):
                mixed[topic, member] += 0.5
        proportions = 0.5 * proportions + 0.5 * proportions @ mixed
    lengths = rng.integers(length // 2, 3 * length // 2, n_documents)
    rows = [sparse.csr_matrix(rng.multinomial(n, row @ topics)) for n, row in zip(lengths, proportions, strict=True)]
    return sparse.vstack(rows, format="csr").astype(np.float32), topics


def reachable(documents, truth) -> int:
    """How many topics are found by updates at T = 1 that start from the true ones."""
    n_topics, n_words = truth.shape
    table = np.ascontiguousarray((truth * (documents.sum() / n_topics)).T, dtype=np.float32)
    topics = Topics(table, default_word_prior(documents.sum(), n_topics, n_words), "plug-in")
    for _ in range(UPDATES):
        step = local_step(documents, topics, np.full(n_topics, 1.0 / n_topics), max_iter=50, tol=1e-3, statistics=True)
        topics.blend(step.words, step.statistics, 1.0)
    return n_found(truth, topics.means())


def n_found(truth, topics) -> int:
    """How many true topics have a learned one with an affinity above FOUND."""
    return int((affinities(truth, topics).max(axis=1) > FOUND).sum())


def run(generator: str, n_topics: int, seed: int, learn: bool) -> dict:
    """One fit, and how much of the truth it found."""
    documents, truth = planted(generator, n_topics, seed)
    model = VariationalTemperingLDA("learn" if learn else n_topics, random_state=seed)
    with Clock() as clock:
        model.fit(documents)
    return {
        "found": n_found(truth, model.topic_word_),
        "reachable": reachable(documents, truth),
        "topics": model.n_components_,
        "twins": n_twins(model.topic_word_),
        "cpu": clock.cpu,
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--generators", nargs="+", choices=GENERATORS, default=list(GENERATORS))
    given.add_argument("--topics", nargs="+", type=int, default=[10, 25, 50])
    given.add_argument("--learn", action="store_true", help="learn the number of topics, too")
    arguments = given.parse_args()
    n_seeds, numbers, results = (1, [4], {}) if arguments.quick else (arguments.seeds, arguments.topics, {})
    for generator in arguments.generators:
        for n_topics in numbers:
            runs = [run(generator, n_topics, seed, arguments.learn) for seed in range(n_seeds)]
            results.setdefault(generator, {})[n_topics] = runs
            columns = {key: [one[key] for one in runs] for key in ("found", "reachable", "topics", "twins")}
            cpu = float(np.median([one["cpu"] for one in runs]))
            note(
                f"{generator}, {n_topics} topics: "
                + ", ".join(f"{k} {v}" for k, v in columns.items())
                + f", {cpu:.2g} CPU-s"
            )
    report("lda_planted", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
