"""MixtureSimulator: tables drawn from the prior of a mixture, and draws from the posterior given them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.mixtures.mixture_chain import Draw, MixtureSpec
from sklearn_subanneal.mixtures.prior_draws import (
    column_statistics,
    draw_column,
    full_window,
    hide_cells,
    log_likelihood,
    partition_statistics,
)
from sklearn_subanneal.mixtures.table_simulator import TableSimulator


@dataclass(frozen=True, eq=False)
class MixtureSimulator(TableSimulator):
    """The joint distribution of a mixture and of tables like a given one, for ``diagnostics.calibrate``.

    The parameters are a pair: a draw of the mixture, a ``Draw``, and the clusters of the rows, an array (n_rows,). The
    data are the typed columns of a table.

    Attributes
    ----------
    spec : MixtureSpec
    """

    spec: MixtureSpec

    def _drawn(self, generator):
        spec, complete = self.spec, list(self.spec.arrays)
        prior = spec.partition.bind(spec.learn)
        prior.draw(generator)
        labels = prior.draw_partition(spec.n_rows, generator)
        parameters = [model.draw_parameters(generator) for model in spec.models]
        for model, own in zip(spec.models, parameters, strict=True):
            for j, cells in zip(model.sources, draw_column(model, own, labels, generator), strict=True):
                complete[j] = cells
        arrays = [hide_cells(cells, like) for cells, like in zip(complete, spec.arrays, strict=True)]
        chain = replace(spec, arrays=arrays, generator=generator).build(
            np.arange(spec.n_rows), full_window(spec.n_rows)
        )
        state = chain.get_state() | {"labels": labels, "prior": prior.parameters, "moves": [None] * len(spec.moves)}
        for model, own, column in zip(spec.models, parameters, state["columns"], strict=True):
            column |= {"parameters": own} | {name: own[name] for name in own if name in column}
            if "completed" in column:
                column["completed"] = model.values(complete)[np.isnan(model.values(arrays)).any(axis=1)]
        chain.set_state(state)
        chain.mixture.redraw_auxiliary(generator)
        return (chain.state(), labels), arrays, complete

    def statistics(self, parameters: tuple[Draw, np.ndarray], arrays: list[np.ndarray]) -> dict[str, float]:
        """Clusters, hyperparameters that are learned, and densities.

        The log joint is the one that the chain reports; the log likelihood is computed from the table, of which a wrong
        posterior may not know all.

        Parameters
        ----------
        parameters : tuple of Draw and ndarray of shape (n_rows,)
        arrays : list of ndarray of shape (n_rows,)

        Returns
        -------
        statistics : dict of str to float
        """
        (draw, labels), spec = parameters, self.spec
        statistics = [
            model.statistics(model.data(arrays), state["parameters"])
            for model, state in zip(spec.models, draw.columns, strict=True)
        ]
        out = {
            "n_clusters": len(draw.sizes),
            "largest cluster": draw.sizes.max() / spec.n_rows,
            "first rows together": labels[0] == labels[min(1, spec.n_rows - 1)],
            "log joint": draw.log_joint,
            "log likelihood": sum(log_likelihood(column, labels) for column in statistics),
        }
        if spec.learn:
            out |= partition_statistics(spec.partition, draw.prior)
            for model, state in zip(spec.models, draw.columns, strict=True):
                out |= column_statistics(model, state["parameters"])
        return out
