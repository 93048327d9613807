"""ViewsParticles, the maker of the particles of a stream of which each is a cross-categorization."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.mixtures.particle import ParticleState
from sklearn_subanneal.partitions import Partition
from sklearn_subanneal.views.views_chain import TRACE
from sklearn_subanneal.views.views_particle import ViewsParticle, ViewsParticleState

# Partitions of the rows that a particle without rows has: one for each column, but at most so many. The sums of all
# columns are kept for each.
MOST_VIEWS = 20
# Partitions of the columns that are drawn until one has no more views.
MOST_TRIALS = 1000


@dataclass(frozen=True)
class ViewsParticles:
    """Particles that are cross-categorizations.

    Attributes
    ----------
    column_partition, row_partition : Partition
    learn : bool
        Whether hyperparameters are redrawn.
    """

    TRACE = TRACE

    column_partition: Partition
    row_partition: Partition
    learn: bool

    def from_prior(self, models, generator):
        """The state before the first row, drawn from the prior given that there are at most 20 views.

        Raises
        ------
        ValueError
            If the prior of the column partition hardly ever has so few.
        """
        n_columns, prior = len(models), self.column_partition.bind(self.learn)
        n_views = min(n_columns, MOST_VIEWS)
        for _ in range(MOST_TRIALS):
            prior.draw(generator)
            labels = prior.draw_partition(n_columns, generator)
            if labels.max() < n_views:
                break
        else:
            raise ValueError(
                f"column_partition={self.column_partition!r} has hardly ever at most {MOST_VIEWS} views of {n_columns} "
                "columns, with which schedule='sequential' begins; give it a smaller concentration, or take another "
                "schedule"
            )
        row_prior = self.row_partition.bind(self.learn)
        first = ParticleState.empty(models, row_prior, generator)
        views = [first]
        for _ in range(n_views - 1):
            # A column has the same hyperparameters in all views.
            row_prior.draw(generator)
            views.append(replace(first, partition=row_prior.parameters))
        return ViewsParticleState(labels, views, prior.parameters, open=True)

    def from_chain(self, models, result, arrays, first):
        """The state after a chain, with its views and no others.

        Where its rows are at hand all columns are counted in all views; if they are gone, only the sums of each column
        in its own view are known, and no column will change its view.
        """
        draw, priors = result.draws[-1], result.state.model.get("columns")
        if priors is None:
            pairs = zip(models, draw.column_parameters(models), strict=True)
            priors = [model.prior_state(parameters) for model, parameters in pairs]
        n_rows, views = len(arrays[0]), []
        cells = [model.data(arrays) for model in models] if n_rows else []
        for number, own in enumerate(draw.views):
            members = draw.members(number)
            if n_rows:
                labels = result.labels[-1][number]
                state = ParticleState(
                    sizes=own.sizes,
                    labels=labels[first:].astype(np.int32),
                    columns=[
                        _sums(model, data, prior, labels, len(own.sizes))
                        for model, data, prior in zip(models, cells, priors, strict=True)
                    ],
                    priors=priors,
                    fillings={},
                    partition=own.prior,
                )
            else:
                state = ParticleState.of_draw([models[j] for j in members], own, [priors[j] for j in members])
            views.append(state)
        return ViewsParticleState(draw.column_labels, views, draw.prior, open=n_rows > 0)

    def particle(self, models, cells, state, generator):
        """A particle of this state."""
        priors = self.column_partition.bind(self.learn), self.row_partition.bind(self.learn)
        return ViewsParticle(models, *priors, cells, state, generator)


def _sums(model, data, prior: dict, labels: np.ndarray, n_clusters: int) -> dict:
    """The statistics of one column under a partition of all rows."""
    column = model.statistics(data)
    column.set_prior_state(prior)
    column.rebuild(labels)
    return column.get_state(n_clusters)
