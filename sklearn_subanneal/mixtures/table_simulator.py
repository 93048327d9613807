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
