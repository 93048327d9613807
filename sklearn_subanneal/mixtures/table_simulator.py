"""TableSimulator: base of simulators of tables, with draws from the posterior given a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.annealing.spec import ChainSpec


@dataclass(frozen=True, eq=False)
class TableSimulator:
    """The joint distribution of a model and of tables like a given one.

    Attributes
    ----------
    spec : ChainSpec
        The chain, over the table that the drawn tables are like: they have its rows, columns and missing cells. The
        units and grids of its models are the prior, whatever the drawn tables are.
    n_chains : int
        Number of chains whose draws are taken together.
    """

    spec: ChainSpec
    n_chains: int = 1

    def draw_prior(self, generator: np.random.Generator) -> tuple[tuple[Any, np.ndarray], list[np.ndarray]]:
        """Hyperparameters, partitions and a table, from the prior.

        Where missing cells have limits, those of the model are part of its prior: what has a cell beyond them is drawn
        anew.

        Parameters
        ----------
        generator : numpy.random.Generator

        Returns
        -------
        parameters : tuple of a draw and ndarray of int
            With the clusters of the rows.
        arrays : list of ndarray of shape (n_rows,)
        """
        while True:
            parameters, arrays, complete = self._drawn(generator)
            if all(_are_possible(model, arrays, complete) for model in self.spec.models):
                return parameters, arrays

    def _drawn(self, generator):
        """Parameters and a table, as of ``draw_prior``, and the table before cells were hidden; of any values."""
        raise NotImplementedError(f"{type(self).__name__} must draw its parameters and its table")

    def draw_posterior(self, arrays: list[np.ndarray], generator: np.random.Generator) -> list[tuple[Any, np.ndarray]]:
        """All draws of all chains given a table.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
            Typed columns of the table.
        generator : numpy.random.Generator

        Returns
        -------
        parameters : list of (draw, ndarray of int)
            With the clusters of the rows.
        """
        out = []
        for own in generator.spawn(self.n_chains):
            result = replace(self.spec, arrays=arrays, generator=own).run(ChainContext())
            out += zip(result.draws, result.labels, strict=True)
        return out


def _are_possible(model, arrays, complete):
    """Whether the missing cells of the columns of a model are within their limits."""
    if model.limits is None:
        return True
    values, (low, high) = model.values(complete), model.limits
    return bool(((low <= values) & (values <= high))[np.isnan(model.values(arrays))].all())
