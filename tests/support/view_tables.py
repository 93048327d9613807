"""Tables of 4 x 3 for the views of a cross-categorization, and the exact posteriors of their states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from oracles.views_enumeration import fixed_views, grid_views
from support.enumerated_chains import column

NAN = np.nan
N_ROWS, N_COLUMNS = 4, 3

# Columns that say much of one another, and more in one order of their rows than in another: where all partitions are
# about as likely, wrong ratios of acceptance and wrong weights would not show.
TABLES = {
    "real": [
        column(
            "real",
            np.array([4.0, -0.1, -0.9, -2.7], np.float32),
            {"mu": 0.0, "kappa": 0.3, "sigma2": 0.007, "nu": 4.0},
            {"mu": [-0.5, 0.6], "kappa": [0.1, 1.0], "sigma2": [0.007, 0.07], "nu": [2.0, 10.0]},
        ),
        column(
            "categorical",
            np.array([-1, 0, 0, 1], np.int8),
            {"alpha": [0.04, 0.04, 0.4]},
            {"alpha": [[0.04, 0.5], [0.04, 0.5], [0.1, 1.0]]},
        ),
        column(
            "count",
            np.array([-1, 20, 8, 2], np.int32),
            {"shape": 0.4, "rate": 0.5},
            {"shape": [0.4, 2.0], "rate": [0.1, 0.5, 2.0]},
        ),
    ],
    "boolean": [
        column(
            "boolean",
            np.array([0, 1, 1, 0], np.int8),
            {"alpha": 0.4, "beta": 0.05},
            {"alpha": [0.1, 0.4, 2.0], "beta": [0.05, 0.4, 2.0]},
        ),
        column(
            "count",
            np.array([20, 0, 0, -1], np.int32),
            {"shape": 0.1, "rate": 0.04},
            {"shape": [0.1, 1.0], "rate": [0.04, 0.2, 1.0]},
        ),
        column(
            "real",
            np.array([NAN, 3.1, -2.5, 0.5], np.float32),
            {"mu": 0.0, "kappa": 0.7, "sigma2": 0.01, "nu": 20.0},
            {"mu": [0.0, 0.8], "kappa": [0.1, 0.7], "sigma2": [0.01, 0.1], "nu": [3.0, 20.0]},
        ),
    ],
}
TABLES["semicontinuous"] = [
    column(
        "semicontinuous",
        np.array([0.0, 0.0, 2.1, -2.3]),
        {"alpha": 0.2, "mu": 0.0, "kappa": 0.3, "sigma2": 0.02, "nu": 4.0, "atoms": [0.0]},
        {
            "alpha": [0.1, 1.0],
            "mu": [-0.5, 0.6],
            "kappa": [0.1, 1.0],
            "sigma2": [0.02, 0.2],
            "nu": [2.0, 10.0],
            "atoms": [[0.0]],
        },
    ),
    *TABLES["real"][1:],
]
# Of the rows in a view, and of the columns. With the last one views are so rare that their births are often refused.
PRIORS = {
    "crp": ((0.8, 0.0), (0.5, 0.0)),
    "pitman-yor": ((0.6, 0.4), (0.7, 0.3)),
    "negative": ((-0.2, 0.5), (-0.2, 0.25)),
}
DISCOUNTS = {"crp": [0.0], "pitman-yor": [0.0, 0.2, 0.5]}
ROW_CONCENTRATIONS, COLUMN_CONCENTRATIONS = [0.1, 1.0, 8.0], [0.1, 0.6, 3.0]


@dataclass(frozen=True)
class Case:
    moves: str
    table: str
    prior: str
    learned: bool
    beta: float = 1.0

    def __str__(self):
        parts = [self.moves, self.table, self.prior, "learned" if self.learned else "fixed"]
        return "-".join(parts + ([f"heated{self.beta}"] if self.beta != 1.0 else []))

    def row_grid(self):
        return {"alpha": ROW_CONCENTRATIONS, "d": DISCOUNTS[self.prior]}

    def column_grid(self):
        return {"alpha": COLUMN_CONCENTRATIONS, "d": DISCOUNTS[self.prior]}


@cache
def exact_views(table, prior, learned, beta):
    columns, case = TABLES[table], Case("", table, prior, learned, beta)
    if learned:
        return grid_views([(c.kind, c.scored, c.grids) for c in columns], case.row_grid(), case.column_grid(), beta)
    return fixed_views([(c.kind, c.scored, c.params) for c in columns], *PRIORS[prior], beta)


def exact_of(case):
    return exact_views(case.table, case.prior, case.learned, case.beta)


def hyperparameters(case, history):
    """Name, law and codes of each hyperparameter that is learned."""
    exact, laws = exact_of(case), []
    priors = [
        ("columns", exact.column_prior_posterior(), case.column_grid()),
        ("rows", exact.prior_posterior(0), case.row_grid()),
    ]
    for i, (name, law, grid) in enumerate(priors):
        a = np.searchsorted(grid["alpha"], [own[i]["concentration"] - 1e-9 for own in history])
        d = np.searchsorted(grid["d"], [own[i]["discount"] - 1e-9 for own in history])
        laws.append((name, law.ravel(), a * len(grid["d"]) + d))
    for j, example in enumerate(TABLES[case.table]):
        parameters = [example.reference_params(own[2 + j]) for own in history]
        for name, marginals in exact.hyperparameter_posteriors(j).items():
            values = np.array([own[name] for own in parameters]).reshape(len(history), -1)
            for i, (law, line) in enumerate(zip(marginals, np.atleast_2d(example.grids[name]), strict=True)):
                laws.append((f"{example.kind} {name}[{i}]", law, np.searchsorted(line, values[:, i] - 1e-9)))
    return laws
