"""Missing cells of real tables, imputed by CrossCat and BayesianImputer with their defaults and by chained equations.

Of each table, 15 % of the cells are hidden: completely at random, or at random given the first numeric column without
missing cells, which itself stays (cells of rows with larger values are hidden more often). The peers are
scikit-learn's IterativeImputer with its default, Bayesian ridge regressions, and with 50 extra trees, which is the
method of missForest; they get one-hot categories. Numbers are scored by the root mean squared error and by the
continuous ranked probability score (CRPS) of normal distributions with the imputed mean and its standard deviation,
both divided by the standard deviation of the column; text, and numbers of at most six different values, which are
codes or grades, by the share of wrong values, numbers rounded to the nearest value that occurs. "error" is the mean
over all columns, "crps" the median (the uncertainty that CrossCat gives for a very skewed column is no standard
deviation). The standard deviations of the peers are those of the predictive distribution of the ridge regression, and
of the predictions of single trees, which are grown to leaves of one row.
"""

import warnings

import numpy as np
import pandas as pd
from _common import Clock, note, parser, report
from _frames import READERS, read
from scipy.special import ndtr
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge

from sklearn_subanneal import BayesianImputer, CrossCat

SHARE = 0.15
MOST_CODES = 6
TABLES = "wheat wine breast_cancer diabetes concrete energy boston hospitals satellites adult titanic letter magic gvhd"


class Hidden:
    """A table of which some cells are hidden."""

    def __init__(self, frame: pd.DataFrame, mechanism: str, seed: int):
        self.frame = frame
        self.numeric = np.array([pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes])
        self.coded = self.numeric & (frame.nunique() <= MOST_CODES).to_numpy()
        observed, share = frame.notna().to_numpy(copy=True), np.full((len(frame), 1), SHARE)
        if mechanism == "at_random":
            complete = np.flatnonzero(self.numeric & observed.all(axis=0) & (frame.nunique() > 10).to_numpy())
            if len(complete):
                rank = frame.iloc[:, complete[0]].rank(pct=True).to_numpy()
                share = (2.0 * SHARE * rank)[:, None]
                observed[:, complete[0]] = False
        self.cells = observed & (np.random.default_rng(seed).random(observed.shape) < share)
        # A value that would be seen nowhere else stays.
        for j in np.flatnonzero(~self.numeric):
            seen = frame.iloc[:, j][~self.cells[:, j]].dropna().unique()
            self.cells[:, j] &= frame.iloc[:, j].isin(seen).to_numpy()
        self.table = frame.mask(self.cells)
        for name in frame.columns[self.numeric]:
            self.table[name] = self.table[name].astype(float)

    def errors(self, filled: pd.DataFrame, spreads: np.ndarray) -> dict:
        """Mean errors over the columns; ``spreads`` are standard deviations of the imputed numbers."""
        rmse, crps, wrong = [], [], []
        for j, name in enumerate(self.frame):
            rows = self.cells[:, j]
            if not rows.any():
                continue
            truth, found = self.frame[name][rows], filled[name][rows]
            if self.coded[j]:
                levels = np.sort(self.table[name].dropna().unique())
                nearest = levels[np.abs(found.to_numpy(float)[:, None] - levels).argmin(axis=1)]
                wrong.append(float((truth.to_numpy(float) != nearest).mean()))
            elif not self.numeric[j]:
                wrong.append(float((truth.astype(str).to_numpy() != found.astype(str).to_numpy()).mean()))
            else:
                scale = self.table[name].std()
                error = (found.to_numpy(float) - truth.to_numpy(float)) / (scale if scale > 0 else 1.0)
                spread = spreads[rows, j] / (scale if scale > 0 else 1.0)
                rmse.append(float(np.sqrt(np.mean(error**2))))
                crps.append(float(np.mean(normal_crps(error, spread))))
        out = {"error": float(np.mean(rmse + wrong))}
        if rmse:
            out |= {"rmse": float(np.mean(rmse)), "crps": float(np.median(crps))}
        if wrong:
            out["wrong"] = float(np.mean(wrong))
        return out


def normal_crps(error: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Continuous ranked probability score of normal distributions whose means are off by ``error``."""
    deviation = np.maximum(deviation, 1e-6)
    z = error / deviation
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    return deviation * (z * (2.0 * ndtr(z) - 1.0) + 2.0 * density - 1.0 / np.sqrt(np.pi))


def run_crosscat(hidden: Hidden, seed: int):
    """CrossCat, unmodified."""
    model = CrossCat(random_state=seed).fit(hidden.table)
    return model.impute(hidden.table, return_uncertainty=True)


def run_imputer(hidden: Hidden, seed: int):
    """BayesianImputer, unmodified."""
    model = BayesianImputer(random_state=seed).fit(hidden.table)
    return model.impute(hidden.table, return_uncertainty=True)


def run_chained(hidden: Hidden, estimator, rounds: int, seed: int):
    """Chained equations, categories one-hot."""
    blocks, places, start = [], [], 0
    for j, name in enumerate(hidden.table):
        own = hidden.table[name]
        if hidden.numeric[j]:
            block = own.to_numpy(float)[:, None]
        else:
            block = np.array(pd.get_dummies(own), dtype=float)
            block[own.isna()] = np.nan
        blocks.append(block)
        places.append(np.arange(start, start + block.shape[1]))
        start += block.shape[1]
    X = np.hstack(blocks)
    scale = np.where(np.nanstd(X, axis=0) > 0, np.nanstd(X, axis=0), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = IterativeImputer(estimator, max_iter=rounds, random_state=seed)
        filled = model.fit_transform(X / scale) * scale
    deviations = predicted_deviations(model, filled / scale) * scale
    out, spreads = hidden.table.copy(), np.zeros(hidden.table.shape)
    for j, (name, place) in enumerate(zip(hidden.table, places, strict=True)):
        rows = hidden.table[name].isna().to_numpy()
        if hidden.numeric[j]:
            out.loc[rows, name], spreads[:, j] = filled[rows, place[0]], deviations[:, place[0]]
        else:
            values = np.array(sorted(hidden.table[name].dropna().unique()), dtype=object)
            out.loc[rows, name] = values[filled[rows][:, place].argmax(axis=1)]
    return out, spreads


def predicted_deviations(model: IterativeImputer, filled: np.ndarray) -> np.ndarray:
    """Standard deviation of each cell given the others of its row, by the last regression of its column."""
    out = np.zeros_like(filled)
    for feature, neighbors, estimator in model.imputation_sequence_[-model.n_features_with_missing_ :]:
        cells = filled[:, neighbors]
        if isinstance(estimator, BayesianRidge):
            out[:, feature] = estimator.predict(cells, return_std=True)[1]
        else:
            out[:, feature] = np.std([tree.predict(cells) for tree in estimator.estimators_], axis=0)
    return out


def engines(seed: int, rounds: int) -> dict:
    """Functions of a table with hidden cells."""
    forest = ExtraTreesRegressor(50, random_state=seed)
    return {
        "crosscat": lambda hidden: run_crosscat(hidden, seed),
        "imputer": lambda hidden: run_imputer(hidden, seed),
        "ridge": lambda hidden: run_chained(hidden, BayesianRidge(), rounds, seed),
        "trees": lambda hidden: run_chained(hidden, forest, rounds, seed),
    }


def main() -> None:
    given = parser(__doc__, seeds=3)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--engines", nargs="+", default=["crosscat", "imputer", "ridge", "trees"])
    given.add_argument("--mechanisms", nargs="+", default=["completely_at_random", "at_random"])
    given.add_argument("--rounds", type=int, default=10, help="of chained equations (default 10, scikit-learn's own)")
    given.add_argument("--rows", type=int, default=5000, help="at most so many rows (default 5,000)")
    arguments = given.parse_args()
    results = {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 100 if arguments.quick else arguments.rows)
        if frame is None:
            note(f"{name}: no file")
            continue
        for mechanism in arguments.mechanisms:
            for seed in range(1 if arguments.quick else arguments.seeds):
                hidden = Hidden(frame, mechanism, seed)
                for engine in arguments.engines:
                    try:
                        with Clock() as clock:
                            found = engines(seed, arguments.rounds)[engine](hidden)
                    except np.linalg.LinAlgError as error:
                        # The ridge regressions of chained equations may diverge where columns are nearly collinear.
                        note(f"{name} {mechanism} {seed} {engine}: no result: {error}")
                        continue
                    figures = {**hidden.errors(*found), "cpu_seconds": clock.cpu}
                    results.setdefault(name, {}).setdefault(mechanism, {}).setdefault(engine, []).append(figures)
                    described = ", ".join(f"{key} {value:.3f}" for key, value in figures.items())
                    note(f"{name} {mechanism} {seed} {engine}: {described}")
    report("missing_cells", arguments, results)


if __name__ == "__main__":
    main()
