"""A table of four rows and three columns of different types, its priors and grids: small enough to enumerate."""

import numpy as np

NAN = np.nan
REAL = {"mu": 0.3, "kappa": 0.7, "sigma2": 0.4, "nu": 2.5}
CATEGORICAL, COUNT, BOOLEAN = {"alpha": [0.2, 0.5, 0.9]}, {"shape": 1.7, "rate": 0.6}, {"alpha": 0.3, "beta": 0.6}
TABLE = [
    ("real", np.array([0.4, -1.2, 2.2, NAN]), REAL),
    ("categorical", np.array([0.0, 2.0, 2.0, 1.0]), CATEGORICAL),
    ("count", np.array([3.0, 0.0, NAN, 6.0]), COUNT),
]
GRIDS = {
    "real": {"mu": [-0.5, 0.6], "kappa": [0.3, 1.2], "sigma2": [0.2, 0.8], "nu": [1.0, 4.0]},
    "categorical": {"alpha": [[0.1, 0.7], [0.2, 1.0], [0.3, 2.0]]},
    "count": {"shape": [0.7, 2.0], "rate": [0.2, 0.5, 1.2]},
}
LEARNED = [(kind, x, GRIDS[kind]) for kind, x, _ in TABLE]
# Concentration and discount, of the rows of a view and of the columns.
ROW_GRID, COLUMN_GRID = {"alpha": [0.4, 2.5], "d": [0.0, 0.5]}, {"alpha": [0.3, 1.0, 3.0], "d": [0.0, 0.4]}
ROW_PRIOR, COLUMN_PRIOR = (0.6, 0.4), (0.8, 0.3)
