"""Time of a Gibbs sweep per row and cluster: Gaussian blocks by width, bags of words by vocabulary.

A block takes O(width^2), with rank-one updates of Cholesky factors; a bag takes O(number of its words).
"""

import numpy as np
from _common import Clock, parser, report, spread
from scipy import sparse

from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import NGGP

N_CLUSTERS = 32
WIDTHS = (2, 6, 20, 50)
# words in the vocabulary, and different words in a bag
VOCABULARIES = ((1000, 100), (10_000, 100), (100_000, 100), (10_000, 400))


def sweeps(column, labels: np.ndarray, n_sweeps: int, seed: int) -> dict:
    """CPU nanoseconds per row and cluster of Gibbs sampling, and of an exchange that removes and assigns every row."""
    generator, n_rows = np.random.default_rng(seed), len(labels)
    mixture = Mixture([column], NGGP(1.0, 0.25).bind(learn=False), n_rows)
    mixture.set_labels(labels, generator)
    mixture.redraw_auxiliary(generator)
    rows = np.arange(n_rows, dtype=np.int32)
    first, second = rows[: n_rows // 2], rows[n_rows // 2 :]
    out = {"gibbs": [], "churn": []}
    for _ in range(n_sweeps):
        with Clock() as clock:
            churn(mixture, rows, rows, 1.0, generator)
        out["gibbs"].append(1e9 * clock.cpu / (n_rows * mixture.n_clusters))
    churn(mixture, first, np.full_like(first, -1), 1.0, generator)
    for _ in range(n_sweeps):
        with Clock() as clock:
            churn(mixture, second, first, 1.0, generator)
            churn(mixture, first, second, 1.0, generator)
        out["churn"].append(1e9 * clock.cpu / (n_rows * mixture.n_clusters))
    return {name: spread(values) for name, values in out.items()} | {"clusters": mixture.n_clusters}


def block(width: int, n_rows: int, seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    labels = (np.arange(n_rows) % N_CLUSTERS).astype(np.int32)
    cells = rng.normal(size=(n_rows, width)) + 6.0 * rng.normal(size=(N_CLUSTERS, width))[labels]
    prior = {"mu": np.zeros(width), "kappa": 0.05, "psi": np.eye(width) * (width + 2.0), "nu": width + 2.0}
    return GaussianStatistics(GaussianData(cells), prior), labels


def bags(n_words: int, n_different: int, n_rows: int, seed: int) -> tuple:
    rng = np.random.default_rng(seed)
    labels = (np.arange(n_rows) % N_CLUSTERS).astype(np.int32)
    # Each cluster has its own pool of words, twice as many as a bag has.
    pools = np.array([rng.choice(n_words, 2 * n_different, replace=False) for _ in range(N_CLUSTERS)])
    words = np.array([rng.choice(pools[k], n_different, replace=False) for k in labels])
    times = rng.geometric(0.6, size=words.shape)
    start = np.arange(0, words.size + 1, n_different)
    counts = sparse.csr_array((times.ravel(), words.ravel(), start), (n_rows, n_words))
    return BagOfWordsStatistics(BagOfWordsData(counts), {"beta": 0.1, "n_words": n_words}), labels


def main() -> None:
    given = parser(__doc__, seeds=3).parse_args()
    n_rows, n_sweeps = (640, 2) if given.quick else (6400, 5)
    gaussian, multinomial = [], []
    for width in WIDTHS:
        runs = [sweeps(*block(width, n_rows, seed), n_sweeps, seed) for seed in range(given.seeds)]
        gaussian.append({"width": width} | _median(runs))
    for n_words, n_different in VOCABULARIES:
        runs = [sweeps(*bags(n_words, n_different, n_rows // 4, seed), n_sweeps, seed) for seed in range(given.seeds)]
        multinomial.append({"vocabulary": n_words, "words_of_a_row": n_different} | _median(runs))
    report("nrmm_kernel", given, {"gaussian": gaussian, "multinomial": multinomial}, unit="ns a (row, cluster)")


def _median(runs: list[dict]) -> dict:
    return {name: float(np.median([run[name]["median"] for run in runs])) for name in ("gibbs", "churn")} | {
        "clusters": runs[0]["clusters"]
    }


if __name__ == "__main__":
    main()
