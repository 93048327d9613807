"""Throughput of the row kernel (score, draw, update) on one core, in cells of the table per second."""

import numpy as np
from _common import Clock, parser, report, spread

from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP

# Bar and goal of Gibbs sampling and of the exchange of rows, in million cells per second; sizes as in CASES[0].
BARS = {"gibbs": 17.0, "churn": 12.0}
GOALS = {"gibbs": 30.0, "churn": 20.0}
# rows, real columns, categorical columns, planted clusters
CASES = [(20_000, 16, 16, 30), (20_000, 16, 16, 8), (20_000, 16, 16, 128), (20_000, 32, 0, 30), (20_000, 0, 32, 30)]


def planted(n_rows: int, n_real: int, n_categorical: int, n_clusters: int, seed: int) -> tuple[list, np.ndarray]:
    """Column statistics of a table with well separated clusters, and the initial labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n_rows)
    columns = []
    for _ in range(n_real):
        means = 4.0 * rng.normal(size=n_clusters)
        values = (rng.normal(size=n_rows) + means[labels]) / 4.0
        prior = {"mu": 0.0, "kappa": 0.1, "sigma2": 0.1, "nu": 2.0}
        columns.append(NormalStatistics(NormalData(values.astype(np.float32)), prior))
    for _ in range(n_categorical):
        codes = (rng.integers(0, 5, n_clusters)[labels] + rng.integers(0, 2, n_rows)) % 5
        columns.append(CategoricalStatistics(CategoricalData(codes.astype(np.int8)), {"alpha": np.ones(5)}))
    return columns, labels


def measure(case: tuple, seed: int, n_sweeps: int) -> dict:
    """Million cells per second of Gibbs sweeps over all rows, and of exchanging rows between the two halves."""
    n_rows, n_columns = case[0], case[1] + case[2]
    columns, labels = planted(*case, seed)
    mixture = Mixture(columns, CRP(1.0).bind(), n_rows)
    generator = np.random.default_rng(seed)
    mixture.set_labels(labels.astype(np.int32), generator)
    rows = np.arange(n_rows, dtype=np.int32)
    no_row = np.full(n_rows, -1, np.int32)
    for _ in range(3):
        churn(mixture, rows, rows, 1.0, generator)
    gibbs = []
    for _ in range(n_sweeps):
        with Clock() as clock:
            churn(mixture, rows, rows, 1.0, generator)
        gibbs.append(clock.cpu)
    half = n_rows // 2
    first, second = rows[:half], rows[half : 2 * half]
    churn(mixture, first, no_row[:half], 1.0, generator)
    exchange = []
    for _ in range(n_sweeps):
        with Clock() as clock:
            churn(mixture, second, first, 1.0, generator)
            churn(mixture, first, second, 1.0, generator)
        exchange.append(clock.cpu)
    return {
        "gibbs": n_rows * n_columns / np.median(gibbs) / 1e6,
        "churn": 2 * half * n_columns / np.median(exchange) / 1e6,
        "n_clusters": mixture.n_clusters,
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--sweeps", type=int, default=9, help="timed sweeps per seed; the median is reported")
    arguments = given.parse_args()
    n_rows = 2_000 if arguments.quick else None
    results = []
    for case in CASES:
        sized = (n_rows or case[0], *case[1:])
        runs = [measure(sized, seed, arguments.sweeps) for seed in range(arguments.seeds)]
        results.append(
            {
                "rows": sized[0],
                "real": sized[1],
                "categorical": sized[2],
                "planted_clusters": sized[3],
                "n_clusters": spread([run["n_clusters"] for run in runs]),
                "gibbs_million_cells_per_second": spread([run["gibbs"] for run in runs]),
                "churn_million_cells_per_second": spread([run["churn"] for run in runs]),
            }
        )
    report("row_kernel", arguments, results, bars_of_the_first={"at_least": BARS, "goals": GOALS})


if __name__ == "__main__":
    main()
