"""Throughput of the row kernel (score, draw, update) on one core, in cells of the table per second.

Beside it, in the same run, stands a loop in C for these very tables (`_row_loop.c`, compiled by gcc for this processor
with -O3 -ffast-math): Gibbs sweeps, exchanges of rows, and scores alone, which are the arithmetic that a sweep needs
unless clusters are ruled out. Coefficients of 30 clusters fit the first-level cache, those of 128 only the second.
"""

import numpy as np
from _common import Clock, note, parser, report, spread
from _row_loop import WIDTHS, RowLoop, compiled

from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP

# Bars of Gibbs sweeps and of the exchange of rows, of CASES[0]: million cells per second, and shares of the loop in C.
BARS = {"gibbs": 40.0, "churn": 25.0}
SHARES = {"gibbs": 0.75, "churn": 0.5}
# Rows, real and categorical columns, planted clusters, and the deviation of their means in that of a cell: at 4 rows
# hardly ever leave their cluster, at 0.5 a quarter of them do.
CASES = [
    (20_000, 16, 16, 30, 4.0),
    (20_000, 16, 16, 8, 4.0),
    (20_000, 16, 16, 128, 4.0),
    (20_000, 32, 0, 30, 4.0),
    (20_000, 0, 32, 30, 4.0),
    (20_000, 16, 16, 30, 0.5),
]


def planted(n_rows: int, n_real: int, n_categorical: int, n_clusters: int, distance: float, seed: int) -> tuple:
    """A table of clusters: reals and codes, by columns, and the initial labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n_rows)
    means = distance * rng.normal(size=(n_real, n_clusters))
    reals = (rng.normal(size=(n_real, n_rows)) + means[:, labels]) / np.hypot(1.0, distance)
    modes = rng.integers(0, 5, (n_categorical, n_clusters))
    is_noise = rng.random((n_categorical, n_rows)) > distance
    codes = (
        np.where(is_noise, rng.integers(0, 5, is_noise.shape), modes[:, labels]) + rng.integers(0, 2, is_noise.shape)
    ) % 5
    return reals.astype(np.float32), codes.astype(np.int8), labels


def statistics(reals: np.ndarray, codes: np.ndarray) -> list:
    """Statistics of the columns."""
    prior = {"mu": 0.0, "kappa": 0.1, "sigma2": 0.1, "nu": 2.0}
    return [
        *(NormalStatistics(NormalData(column), prior) for column in reals),
        *(CategoricalStatistics(CategoricalData(column), {"alpha": np.ones(5)}) for column in codes),
    ]


def rate(work, n_cells: int, n_times: int) -> float:
    """Million cells per second, by the median of the times."""
    seconds = []
    for _ in range(n_times):
        with Clock() as clock:
            work()
        seconds.append(clock.cpu)
    return n_cells / np.median(seconds) / 1e6


def measure(case: tuple, seed: int, n_sweeps: int, libraries: list) -> dict:
    """Million cells per second of Gibbs sweeps over all rows, and of exchanging rows between the two halves."""
    n_rows, n_cells = case[0], case[0] * (case[1] + case[2])
    reals, codes, labels = planted(*case, seed)
    mixture = Mixture(statistics(reals, codes), CRP(1.0).bind(), n_rows)
    generator = np.random.default_rng(seed)
    mixture.set_labels(labels.astype(np.int32), generator)
    rows = np.arange(n_rows, dtype=np.int32)
    half, no_row = n_rows // 2, np.full(n_rows, -1, np.int32)
    first, second = rows[:half], rows[half : 2 * half]

    def both(exchange):
        return lambda: (exchange(second, first), exchange(first, second))

    def in_kernel(leaving, entering):
        churn(mixture, leaving, entering, 1.0, generator)

    for _ in range(3):
        in_kernel(rows, rows)
    out = {"moved": churn(mixture, rows, rows, 1.0, generator) / n_rows}
    out["gibbs"] = rate(lambda: in_kernel(rows, rows), n_cells, n_sweeps)
    in_kernel(first, no_row[:half])
    out["churn"] = rate(both(in_kernel), n_cells, n_sweeps)
    for library in libraries:
        loop = RowLoop(library, reals, codes, labels)
        found = {
            "c_scores": rate(loop.score_all, n_cells, n_sweeps),
            "c_gibbs": rate(loop.gibbs, n_cells, n_sweeps),
        }
        loop.exchange(first, no_row[:half])
        found["c_churn"] = rate(both(loop.exchange), n_cells, n_sweeps)
        loop.close()
        out |= {name: max(value, out.get(name, 0.0)) for name, value in found.items()}
    return out | {"n_clusters": mixture.n_clusters}


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--sweeps", type=int, default=9, help="timed sweeps per seed; the median is reported")
    arguments = given.parse_args()
    n_rows = 2_000 if arguments.quick else None
    libraries = [library for width in WIDTHS if (library := compiled(width)) is not None]
    if not libraries:
        note("no C compiler was found: without the loop in C")
    results = []
    for case in CASES:
        sized = (n_rows or case[0], *case[1:])
        runs = [measure(sized, seed, arguments.sweeps, libraries) for seed in range(arguments.seeds)]
        found = {
            "rows": sized[0],
            "real": sized[1],
            "categorical": sized[2],
            "planted_clusters": sized[3],
            "distance": sized[4],
        }
        found |= {name: spread([run[name] for run in runs]) for name in runs[0]}
        if libraries:
            for name in ("gibbs", "churn"):
                found[f"{name}_share_of_c"] = spread([run[name] / run[f"c_{name}"] for run in runs])
        note(f"{sized}: " + ", ".join(f"{name} {of['median']:.2f}" for name, of in found.items() if type(of) is dict))
        results.append(found)
    report("row_kernel", arguments, results, bars_of_the_first={"million_cells_a_second": BARS, "shares_of_c": SHARES})


if __name__ == "__main__":
    main()
