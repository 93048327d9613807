"""Tables of five rows, for moves whose law is compared with the exact posterior."""

import numpy as np
from oracles.enumeration import exact_posterior

from sklearn_subanneal.columns.binding import bind_columns

N_ROWS = 5
REAL = np.array([0.4, -1.5, np.nan, 2.0, 1.75])
CODES = np.array([0, 2, 1, 1, -1], np.int8)
COUNTS = np.array([3, 0, 7, 2, -1], np.int32)
PAIR = np.array([[0.5, -0.2], [np.nan, 1.0], [2.0, 1.5], [1.7, 2.2], [-1.0, 0.3]])
PARAMS = {
    "real": {"mu": 0.1, "kappa": 0.4, "sigma2": 0.6, "nu": 2.0},
    "categorical": {"alpha": np.array([0.5, 1.0, 2.0]), "unseen": 0.2},
    "count": {"shape": 1.3, "rate": 0.4},
    "gaussian": {"mu": np.zeros(2), "kappa": 0.5, "psi": 0.7 * np.eye(2), "nu": 3.5},
}
MIXED = [("real", REAL), ("categorical", CODES), ("count", COUNTS)]
BLOCK = [("gaussian", PAIR)]


def statistics(columns):
    """Statistics as a chain makes them, with hyperparameters fixed."""
    if columns is BLOCK:
        arrays, kinds, covariance = list(PAIR.T), ["real", "real"], "full"
    else:
        arrays, kinds, covariance = [cells for _, cells in columns], [kind for kind, _ in columns], "diag"
    names = [f"x{j}" for j in range(len(arrays))]
    models = bind_columns(
        names,
        kinds,
        [3] * len(arrays),
        arrays,
        covariance_type=covariance,
        feature_params={kind: PARAMS[kind] for kind, _ in columns},
        learn=False,
    )
    return [model.statistics(model.data(arrays)) for model in models]


def exact(columns, concentration, discount, beta):
    return exact_posterior([(kind, cells, PARAMS[kind]) for kind, cells in columns], concentration, discount, beta)


CASES = {
    "crp-mixed": (MIXED, 1.0, 0.0, 1.0, False),
    "crp-mixed-gibbs": (MIXED, 1.0, 0.0, 1.0, True),
    "pitman-yor-mixed": (MIXED, 0.7, 0.4, 1.0, False),
    "heated": (MIXED, 1.0, 0.2, 0.4, False),
    # The missing cell of the block is state: only the rows' own step redraws it.
    "block-gibbs": (BLOCK, 1.0, 0.2, 1.0, True),
}
