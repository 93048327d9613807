"""Streams of the rows of the small tables of ``enumerated_chains``."""

from __future__ import annotations

from functools import partial

import numpy as np
from oracles.reference_chain import partition_codes
from support.enumerated_chains import N_ROWS, PRIOR_GRIDS, PRIORS, TABLES
from support.sharded_tables import ExampleModel

from sklearn_subanneal.columns.parameters import draw_on_grid
from sklearn_subanneal.mixtures.stream import Stream
from sklearn_subanneal.partitions import PitmanYor


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


class StreamedExample:
    """A table of five rows, as a stream.

    Parameters
    ----------
    table, prior : str
        As in ``enumerated_chains``.
    learned : bool
    n_particles : int
    window : int
        Latest rows that are moved.
    """

    def __init__(self, table, prior, learned=False, *, n_particles=4, window=N_ROWS):
        examples = TABLES[table]
        self.n_particles, self.arrays = n_particles, [example.cells for example in examples]
        concentration, discount = PRIORS[prior]
        partition = PitmanYor(concentration, discount)
        if learned:
            grid = PRIOR_GRIDS[prior]
            partition = PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"])
        models = [StreamedModel(at, example, learned) for at, example in enumerate(examples)]
        self.start = partial(
            Stream.from_prior, models, partition, self.arrays, window=window, learn=learned, learn_from=1
        )

    def run(self, seeds, chunks=(N_ROWS,)):
        """The stream after all rows, and the particles of its last chunk."""
        stream = self.start([np.random.default_rng(seed) for seed in seeds])
        at = 0
        for size in chunks:
            stream, particles, _ = stream.after([array[at : at + size] for array in self.arrays])
            at += size
        return stream, particles

    def runs(self, n_runs, seed=0, chunks=(N_ROWS,)):
        """Log evidences (n_runs,), weights and codes of partitions (n_runs, n_particles)."""
        log_evidences, weights, labels = [], [], []
        for seeds in np.random.SeedSequence(seed).spawn(n_runs):
            stream, particles = self.run(seeds.spawn(self.n_particles + 1), chunks)
            log_evidences.append(stream.present_log_evidence)
            weights.append(stream.weights)
            labels.append([particle.labels(0, N_ROWS) for particle in particles])
        codes = partition_codes(np.array(labels).reshape(-1, N_ROWS)).reshape(n_runs, -1)
        return np.array(log_evidences), np.array(weights), codes
