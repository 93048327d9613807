"""ViewsSimulator: tables drawn from the prior of a cross-categorization, and draws from the posterior given them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.joint_real import draw_real_parameters
from sklearn_subanneal.mixtures.parts import joint_members
from sklearn_subanneal.mixtures.prior_draws import (
    column_statistics,
    draw_column,
    draw_rows,
    full_window,
    hide_cells,
    log_likelihood,
    partition_statistics,
)
from sklearn_subanneal.mixtures.table_simulator import TableSimulator
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.views_spec import ViewsSpec


@dataclass(frozen=True, eq=False)
class ViewsSimulator(TableSimulator):
    """The joint distribution of a cross-categorization and of tables like a given one, for ``diagnostics.calibrate``.

    The parameters are a pair: a draw of the views, a ``ViewsDraw``, and the clusters of the rows in each of them, an
    array (n_views, n_rows). The data are the typed columns of a table.

    Attributes
    ----------
    spec : ViewsSpec
    """

    spec: ViewsSpec

    def _drawn(self, generator):
        spec, models = self.spec, self.spec.models
        chain = self._chain(spec.arrays, generator)
        views, complete = chain.views, list(spec.arrays)
        joint = joint_members(models, range(len(models)))
        if joint:
            chain.reals.parameters = draw_real_parameters([models[j] for j in joint], generator)
        views.prior.draw(generator)
        views.draw_from_prior(generator)
        of_reals = views.get_state_of_reals()
        states = [column.get_prior_state() for column in chain.columns]
        for v, labels in enumerate(views.row_labels):
            members = views.members(v)
            block = joint_members(models, members)
            for j in members:
                if j not in block:
                    states[j]["parameters"] = models[j].draw_parameters(generator)
                    complete[j] = draw_column(models[j], states[j]["parameters"], labels, generator)[0]
            if block:
                own = chain.reals.block_parameters([joint.index(j) for j in block], *of_reals["views"][v])
                values = draw_rows(
                    lambda values, own=own: GaussianStatistics(GaussianData(values), own), len(block), labels, generator
                )
                for i, j in enumerate(block):
                    complete[j] = models[j].typed(values[:, [i]])[0]
        arrays = [hide_cells(cells, like) for cells, like in zip(complete, spec.arrays, strict=True)]
        if joint:
            filled, seen = (
                np.column_stack([models[j].values(cells)[:, 0] for j in joint]) for cells in (complete, arrays)
            )
            of_reals["filled"] = filled[np.isnan(seen)]
        state = {
            "column_labels": views.column_labels,
            "row_labels": views.row_labels,
            "prior": views.prior.parameters,
            "row_priors": [mixture.prior.parameters for mixture in views.mixtures],
            "columns": states,
            "patience": ({}, {}),
            "moves": [None] * len(spec.moves),
            "streams": [],
            "reals": of_reals,
        }
        chain = self._chain(arrays, generator)
        chain.set_state(state)
        return (chain.state(), chain.labels_of_rows()), arrays, complete

    def _chain(self, arrays, generator):
        spec = replace(self.spec, arrays=arrays, generator=generator)
        return spec.build(np.arange(spec.n_rows), full_window(spec.n_rows))

    def statistics(self, parameters: tuple[ViewsDraw, np.ndarray], arrays: list[np.ndarray]) -> dict[str, float]:
        """Views, clusters, hyperparameters that are learned, missing cells, and densities.

        The log joint is the one that the chain reports; the log likelihood is computed from the table, of which a wrong
        posterior may not know all.

        Parameters
        ----------
        parameters : tuple of ViewsDraw and ndarray of shape (n_views, n_rows)
        arrays : list of ndarray of shape (n_rows,)

        Returns
        -------
        statistics : dict of str to float
        """
        (draw, labels), spec = parameters, self.spec
        columns, first = draw.column_labels, draw.views[draw.column_labels[0]]
        own = labels[columns[0]]
        out = {
            "n_views": len(draw.views),
            "largest view": np.bincount(columns).max(),
            "first columns together": columns[0] == columns[min(1, len(columns) - 1)],
            "n_clusters": sum(len(view.sizes) for view in draw.views),
            "n_clusters of the first view": len(first.sizes),
            "largest cluster": first.sizes.max() / spec.n_rows,
            "first rows together": own[0] == own[min(1, spec.n_rows - 1)],
            "log joint": draw.log_joint,
            "log likelihood": self._log_likelihood(draw, labels, arrays),
        }
        if draw.filled is not None:
            out |= {"first filled cell": draw.filled[0], "mean square of filled cells": np.mean(draw.filled**2)}
        if spec.learn:
            out |= partition_statistics(spec.column_partition, draw.prior, "column ")
            out |= partition_statistics(spec.row_partition, first.prior)
            for model, values in zip(spec.models, draw.column_parameters(spec.models), strict=True):
                out |= column_statistics(model, values)
            if len(joint := joint_members(spec.models, range(len(spec.models)))) > 1:
                out["correlation"] = _prior_correlation(draw, spec.models, *joint[:2])
        return out

    def _log_likelihood(self, draw, labels, arrays):
        """Log marginal likelihood of all columns; of blocks, the rows without missing cells."""
        out, models = 0.0, self.spec.models
        for v, view in enumerate(draw.views):
            members = draw.members(v)
            block = joint_members(models, members)
            states = iter(view.columns)
            for j in members:
                if j not in block:
                    statistics = models[j].statistics(models[j].data(arrays), next(states)["parameters"])
                    out += log_likelihood(statistics, labels[v])
            if block:
                cells = np.column_stack([models[j].values(arrays)[:, 0] for j in block])
                statistics = GaussianStatistics(GaussianData(cells), view.columns[-1]["parameters"])
                out += log_likelihood(statistics, labels[v])
        return out


def _prior_correlation(draw, models, i, j):
    """The correlation of two joint reals in the prior of the block of their view; 0 if they are in two views."""
    if draw.column_labels[i] != draw.column_labels[j]:
        return 0.0
    v = draw.column_labels[i]
    block = joint_members(models, draw.members(v))
    psi = draw.views[v].columns[-1]["parameters"]["psi"]
    i, j = block.index(i), block.index(j)
    return psi[i, j] / np.sqrt(psi[i, i] * psi[j, j])
