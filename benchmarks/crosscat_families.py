"""CrossCat with its defaults on families of planted views: weak signal, many levels, missing cells, wide tables, zeros.

Each view has clusters of its own; within a cluster columns are independent. Reals are normal with standard deviation 1
around means of clusters, which have the standard deviation ``separation``; categories and booleans have frequencies
from a Dirichlet distribution with parameter .5. Amounts are 0 in a share of the rows of a cluster that is drawn
uniformly, and otherwise lognormal: their logarithms have standard deviation .6 around means of clusters, which have the
standard deviation 1.5. Counts are negative binomial with the variance mean + mean^2 / 2; the logarithms of their means
are normal around 2. The columns are in random order, and their types are not told, but that codes are categories.
The gap is the mean log density of the true model minus that of the estimator, in nats per held-out row.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from _common import Clock, note, parser, report, split, spread
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat

MIXED = ("real", "real", "real", "categorical", "boolean")
# View ARI of the fit and of its chains.
BARS = {"view_ari": 0.95}


@dataclass(frozen=True)
class Family:
    """Planted tables of one kind.

    Attributes
    ----------
    n_rows : int
    n_columns, n_clusters : tuple of int
        Of each view.
    separation : float
    n_levels : int
        Of a categorical column.
    missing : float
        Share of missing cells.
    kinds : tuple of str
        From which each column draws its own.
    """

    n_rows: int
    n_columns: tuple[int, ...]
    n_clusters: tuple[int, ...]
    separation: float = 2.0
    n_levels: int = 4
    missing: float = 0.0
    kinds: tuple[str, ...] = MIXED

    def table(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:
        """Cells, view of each column, true log density of each row, and types of the categorical columns."""
        rng = np.random.default_rng(seed)
        columns, views, kinds, log_density = [], [], [], np.zeros(self.n_rows)
        for view, (n_columns, k) in enumerate(zip(self.n_columns, self.n_clusters, strict=True)):
            weights = rng.dirichlet(np.full(k, 3.0))
            labels = rng.choice(k, self.n_rows, p=weights)
            logs = np.tile(np.log(weights), (self.n_rows, 1))
            for _ in range(n_columns):
                kind = self.kinds[rng.integers(len(self.kinds))]
                cells, of_clusters = self._column(kind, k, labels, rng)
                is_missing = rng.random(self.n_rows) < self.missing
                logs += np.where(is_missing[:, None], 0.0, of_clusters)
                columns.append(np.where(is_missing, np.nan, cells))
                views.append(view)
                kinds.append(kind)
            log_density += np.logaddexp.reduce(logs, axis=1)
        order = rng.permutation(len(columns))
        codes = {int(i): "categorical" for i, j in enumerate(order) if kinds[j] == "categorical"}
        return np.column_stack(columns)[:, order], np.array(views)[order], log_density, codes

    def _column(self, kind, k, labels, rng):
        """Cells, and the log density of each in all clusters."""
        if kind == "real":
            means = self.separation * rng.normal(size=k)
            cells = means[labels] + rng.normal(size=self.n_rows)
            return cells, -0.5 * (cells[:, None] - means) ** 2 - 0.5 * np.log(2.0 * np.pi)
        if kind == "amount":
            return self._amounts(k, labels, rng)
        if kind == "count":
            means, size = np.exp(2.0 + rng.normal(size=k)), 2.0
            cells = rng.poisson(means[labels] * rng.gamma(size, 1.0 / size, self.n_rows))
            return cells.astype(float), stats.nbinom.logpmf(cells[:, None], size, size / (size + means))
        frequencies = rng.dirichlet(np.full(2 if kind == "boolean" else self.n_levels, 0.5), size=k)
        below = rng.random(self.n_rows)[:, None] > frequencies.cumsum(axis=1)[labels]
        codes = below.sum(axis=1).clip(0, frequencies.shape[1] - 1)
        return codes.astype(float), np.log(np.maximum(frequencies[:, codes].T, 1e-300))

    def _amounts(self, k, labels, rng):
        shares, means, deviation = rng.uniform(size=k), 5.0 + 1.5 * rng.normal(size=k), 0.6
        is_zero = rng.random(self.n_rows) < shares[labels]
        logs = means[labels] + deviation * rng.normal(size=self.n_rows)
        z = (logs[:, None] - means) / deviation
        density = np.log1p(-shares) - 0.5 * (z**2 + np.log(2.0 * np.pi)) - np.log(deviation) - logs[:, None]
        return np.where(is_zero, 0.0, np.exp(logs)), np.where(is_zero[:, None], np.log(shares), density)


FAMILIES = {
    "weak signal": Family(5_000, (10,) * 4, (4, 7, 12, 20), separation=1.0),
    "missing cells": Family(10_000, (10,) * 4, (4, 7, 12, 20), missing=0.3),
    "views of 40 to 1 columns": Family(5_000, (40, 20, 10, 5, 2, 1), (8, 7, 6, 5, 4, 3)),
    "200 columns": Family(1_000, (50,) * 4, (3, 5, 7, 9)),
    "100 levels": Family(10_000, (10,) * 4, (4, 7, 12, 20), n_levels=100),
    "20 levels alone": Family(10_000, (10,) * 3, (4, 7, 12), n_levels=20, kinds=("categorical",)),
    "100 levels alone": Family(10_000, (10,) * 3, (4, 7, 12), n_levels=100, kinds=("categorical",)),
    "amounts with zeros": Family(4_000, (10,) * 3, (4, 7, 12), kinds=("amount",)),
    "amounts and others": Family(4_000, (10,) * 3, (4, 7, 12), kinds=("amount", "real", "boolean")),
    "counts that vary more than Poisson": Family(4_000, (10,) * 3, (4, 7, 12), kinds=("count",)),
    "such counts and others": Family(4_000, (10,) * 3, (4, 7, 12), kinds=("count", "real", "boolean")),
}
QUICK = {"mixed": Family(300, (4, 3), (2, 3), separation=3.0)}


def run(family: Family, seed: int) -> dict:
    """The default on one table."""
    X, views, log_density, codes = family.table(seed)
    train, test = split(len(X), seed)
    model = CrossCat(feature_types=codes or "auto", random_state=seed)
    with Clock() as clock, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X[train])
    views = views[model.part_columns_]
    of_chains = [adjusted_rand_score(views, labels[-1]) for labels in model.posterior_column_labels_]
    return {
        "cpu_seconds": clock.cpu,
        "cpu_seconds_a_chain": clock.cpu / model.n_chains_,
        "n_chains": model.n_chains_,
        "view_ari": adjusted_rand_score(views, model.column_labels_),
        "share_of_chains": float(np.mean([ari >= BARS["view_ari"] for ari in of_chains])),
        "gap": float(np.mean(log_density[test]) - model.score(X[test])),
        "warned": float(any(issubclass(warning.category, ConvergenceWarning) for warning in caught)),
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    given.add_argument("--first", type=int, default=0, help="the first seed")
    arguments = given.parse_args()
    families = QUICK if arguments.quick else {name: FAMILIES[name] for name in arguments.families}
    results = {}
    for name, family in families.items():
        runs = []
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            runs.append(run(family, seed))
            note(f"{name}, seed {seed}: " + ", ".join(f"{key} {value:.3g}" for key, value in runs[-1].items()))
        results[name] = {key: spread([found[key] for found in runs]) for key in runs[0]}
    report("crosscat_families", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
