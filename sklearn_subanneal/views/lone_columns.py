"""Log densities of the cells of some columns by themselves, whatever the other cells of their rows are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.parts import marginal_states
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows


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
    weights, out = np.array([draw.weight for draw in draws]), np.empty((len(arrays[0]), len(groups)))
    for i, group in enumerate(groups):
        # A table of the group alone: whatever is done for each column of the whole one would be done for each group.
        group = sorted(group)
        own = [replace(models[j], sources=(at,)) for at, j in enumerate(group)]
        cells = [arrays[j] for j in group]
        data = None if seen is None else [model.data(cells) for model in own]

        def factors(at, group=group, own=own, data=data):
            draw = draws[at]
            for v, view in enumerate(draw.views):
                members = draw.members(v)
                if set(group).isdisjoint(members):
                    continue
                kept, states = marginal_states(models, members, view.columns, group)
                view, places = replace(view, columns=states), [group.index(m) for m in kept]
                if seen is None:
                    yield Predictive(own, view, places)
                else:
                    completed = _of_places(seen.completed(draw), group)
                    yield LeaveOneOut(own, view, places, data, seen.labels[at][v], completed)

        products = [list(factors(at)) for at in range(len(draws))]
        out[:, i] = Ensemble(own, products, weights, left_out=seen is not None).score(cells)
    return out


def _of_places(completed, group):
    """The cells of a block, as :class:`LeaveOneOut` takes them, by the places of its columns in a group."""
    return lambda places, rows: completed([group[at] for at in places], rows)
