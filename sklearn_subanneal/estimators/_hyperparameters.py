"""Values of the hyperparameters in all draws: of the priors of the partitions, and of the columns."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.partitions import Partition
from sklearn_subanneal.views.draws import ViewsDraw


def partition_hyperparameters(partition: BaseEstimator, values: dict) -> list[str]:
    """Names of the reported hyperparameters of a prior: its parameters, and the auxiliary variable u where it has one.

    ``values`` are those of a bound prior, which may have fixed ones besides: a CRP has the discount 0.
    """
    parameters = partition.get_params(deep=False)
    return [name for name in values if name in parameters or name == "log_u"]


def column_hyperparameters(models, parameters: list[list[list[dict]]]) -> dict:
    """Values of the hyperparameters of each column, (n_chains, n_draws, ...), in the units of the data.

    ``parameters`` has them in standard units, for every column in every draw of every chain.
    """
    out = {}
    for m, model in enumerate(models):
        reports = [[model.report(columns[m]) for columns in chain] for chain in parameters]
        out[model.name] = {
            name: np.array([[report[name] for report in chain] for chain in reports]) for name in reports[0][0]
        }
    return out


def mixture_hyperparameters(models, draws: list[list[Draw]], partition: Partition) -> dict:
    """Values of all hyperparameters of a mixture, (n_chains, n_draws, ...), in the units of the data."""
    out = {
        name: np.array([[draw.prior[name] for draw in chain] for chain in draws])
        for name in partition_hyperparameters(partition, draws[0][0].prior)
    }
    parameters = [[[state["parameters"] for state in draw.columns] for draw in chain] for chain in draws]
    return out | {"columns": column_hyperparameters(models, parameters)}


def view_hyperparameters(models, draws: list[list[ViewsDraw]], rows: Partition, columns: Partition) -> dict:
    """Values of all hyperparameters of a cross-categorization, (n_chains, n_draws, ...), in the units of the data."""

    def values(of):
        return np.array([[of(draw) for draw in chain] for chain in draws])

    def of_rows(name):
        return values(lambda draw: [draw.views[view].prior[name] for view in draw.column_labels])

    draw = draws[0][0]
    out = {
        f"column_{name}": values(lambda draw, name=name: draw.prior[name])
        for name in partition_hyperparameters(columns, draw.prior)
    }
    out |= {name: of_rows(name) for name in partition_hyperparameters(rows, draw.views[0].prior)}
    parameters = [[draw.column_parameters(models) for draw in chain] for chain in draws]
    return out | {"columns": column_hyperparameters(models, parameters)}
