"""Streams of the rows of the small tables of ``enumerated_chains`` and ``view_tables``."""

from __future__ import annotations

from functools import partial

import numpy as np
from oracles.reference_chain import partition_codes
from support import enumerated_chains, view_tables
from support.enumerated_views import joined
from support.sharded_tables import ExampleModel

from sklearn_subanneal.columns.parameters import draw_on_grid
from sklearn_subanneal.mixtures.particle import MixtureParticles
from sklearn_subanneal.mixtures.stream import Stream
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.views.views_particles import ViewsParticles


class StreamedModel(ExampleModel):
    """An example of a column as a model of it, in its own units."""

    largest = 0

    def __init__(self, at, example, learned):
        super().__init__(example, learned)
        self.sources = (at,)

    def values(self, arrays):
        return arrays[self.sources[0]]

    def units(self, arrays):
        return 0.0

    def log_jacobian(self, values):
        return 0.0

    def data(self, arrays):
        example, self.example = self.example, _Cells(self.example, arrays[self.sources[0]])
        data = super().data(slice(None))
        self.example = example
        return data

    def draw_parameters(self, generator):
        drawn = {name: draw_on_grid(grid, generator) for name, grid in (self.grids or {}).items()}
        if "sigma2" in drawn and self.example.kind == "gaussian":
            sigma2 = drawn.pop("sigma2")
            drawn["psi"] = (drawn["nu"] - len(sigma2) + 1) * np.diag(sigma2)
        return self.parameters | drawn


class _Cells:
    """Some cells of an example."""

    def __init__(self, example, cells):
        self.kind, self.params, self.cells = example.kind, example.params, cells


class _StreamedTable:
    """A small table, as a stream.

    Parameters
    ----------
    examples : list
        Of its columns.
    maker : ParticleMaker
    learned : bool
    n_particles : int
    window : int
        Latest rows that are moved.
    """

    def __init__(self, examples, maker, learned, n_particles, window):
        self.n_particles, self.arrays = n_particles, [example.cells for example in examples]
        self.n_rows, self.maker = len(self.arrays[0]), maker
        self.models = [StreamedModel(at, example, learned) for at, example in enumerate(examples)]
        settings = {"window": window, "learn": learned, "learn_from": 1}
        self.start = partial(Stream.from_prior, self.models, maker, self.arrays, **settings)

    def run(self, seeds, chunks=None):
        """The stream after all rows, and the particles of its last chunk."""
        stream = self.start([np.random.default_rng(seed) for seed in seeds])
        at = 0
        for size in chunks or (self.n_rows,):
            stream, particles, _ = stream.after([array[at : at + size] for array in self.arrays])
            at += size
        return stream, particles

    def runs(self, n_runs, seed=0, chunks=None):
        """Log evidences (n_runs,), weights and codes of partitions (n_runs, n_particles)."""
        log_evidences, weights, labels = [], [], []
        for seeds in np.random.SeedSequence(seed).spawn(n_runs):
            stream, particles = self.run(seeds.spawn(self.n_particles + 1), chunks)
            log_evidences.append(stream.present_log_evidence)
            weights.append(stream.weights)
            labels.append([self.partition(particle) for particle in particles])
        codes = partition_codes(np.concatenate(labels)).reshape(n_runs, -1)
        return np.array(log_evidences), np.array(weights), codes


class StreamedExample(_StreamedTable):
    """A table of five rows, as a stream of mixtures.

    Parameters
    ----------
    table, prior : str
        As in ``enumerated_chains``.
    learned, n_particles, window
        As those of ``_StreamedTable``.
    """

    def __init__(self, table, prior, learned=False, *, n_particles=4, window=enumerated_chains.N_ROWS):
        concentration, discount = enumerated_chains.PRIORS[prior]
        partition = PitmanYor(concentration, discount)
        if learned:
            grid = enumerated_chains.PRIOR_GRIDS[prior]
            partition = PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"])
        maker = MixtureParticles(partition, learned)
        super().__init__(enumerated_chains.TABLES[table], maker, learned, n_particles, window)

    def partition(self, particle):
        """Clusters of the rows."""
        return particle.labels(0, self.n_rows)


class StreamedViews(_StreamedTable):
    """A table of four rows and three columns, as a stream of cross-categorizations.

    Parameters
    ----------
    table, prior : str
        As in ``view_tables``.
    learned, n_particles, window
        As those of ``_StreamedTable``.
    """

    def __init__(self, table, prior, learned=False, *, n_particles=4, window=view_tables.N_ROWS):
        case = view_tables.Case("", table, prior, learned)
        if learned:
            grids = [case.column_grid(), case.row_grid()]
            priors = [PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"]) for grid in grids]
        else:
            priors = [PitmanYor(*own) for own in reversed(view_tables.PRIORS[prior])]
        maker = ViewsParticles(*priors, learned)
        super().__init__(view_tables.TABLES[table], maker, learned, n_particles, window)

    def partition(self, particle):
        """Views of the columns, and clusters of the rows in the view of the first column."""
        columns = particle.column_labels
        return joined(columns, particle.views[columns[0]].labels(0, self.n_rows))
