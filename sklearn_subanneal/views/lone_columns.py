"""Log densities of the cells of some columns by themselves, whatever the other cells of their rows are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.parts import marginal_states
from sklearn_subanneal.mixtures.predictive import restricted
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import without


def score_lone_columns(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    arrays: list[np.ndarray],
    groups: Sequence[Collection[int]],
    seen: SeenRows | None = None,
) -> np.ndarray:
    """log p(the cells of some columns), in the units of the data; missing cells are marginalised.

    Training rows are removed from their clusters. The draws keep their weights: those of the posterior without a row
    would differ, but few cells say little about which draw is right.

    Parameters
    ----------
    models : list of ColumnModel
    draws : list of ViewsDraw
    arrays : list of ndarray of shape (n_rows,)
        Typed columns.
    groups : sequence of collection of int
        Indices of columns.
    seen : SeenRows or None, default=None
        For training rows, as :func:`~sklearn_subanneal.views.views_predictive.left_out` takes them.

    Returns
    -------
    log_densities : ndarray of shape (n_rows, n_groups)
    """
    data = None if seen is None else [model.data(arrays) for model in models]
    weights = np.array([draw.weight for draw in draws])

    def factors(at, group):
        draw = draws[at]
        for v, view in enumerate(draw.views):
            members = draw.members(v)
            if set(group).isdisjoint(members):
                continue
            if seen is None:
                yield restricted(models, view, members, group)
            else:
                kept, states = marginal_states(models, members, view.columns, group)
                own = replace(view, columns=states)
                yield LeaveOneOut(models, own, kept, data, seen.labels[at][v], seen.completed(draw))

    out = np.empty((len(arrays[0]), len(groups)))
    for i, group in enumerate(groups):
        products = [list(factors(at, group)) for at in range(len(draws))]
        average = Ensemble(models, products, weights, left_out=seen is not None)
        out[:, i] = average.score(without(arrays, set(range(len(arrays))) - set(group)))
    return out
