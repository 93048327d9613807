"""Chains over tables of a few rows, and their distance from the exact posterior over all partitions."""

from __future__ import annotations

import numpy as np
from oracles.reference_chain import (
    noise_floor,
    partition_autocorrelation_time,
    partition_codes,
    total_variation,
)
from support.column_examples import ColumnExample

from sklearn_subanneal.annealing._window import Window
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import PitmanYor

# The bar: 1.5 times what as many independent draws would show, draws thinned to independence.
BAR, CORRELATION = 1.5, 1.2
# Draws by which the thinning is chosen.
PILOT = 4000
NAN = np.nan


def column(name, cells, params, grids):
    kind = name.split("-")[0]
    return ColumnExample(name, kind, np.asarray(cells), params, grids, new_values=np.empty((0, 1)))


REAL = (
    {"mu": 0.3, "kappa": 0.7, "sigma2": 0.4, "nu": 2.5},
    {"mu": [-0.5, 0.6], "kappa": [0.3, 1.2], "sigma2": [0.2, 0.8], "nu": [1.0, 4.0]},
)
CATEGORICAL = ({"alpha": [0.2, 0.5, 0.9]}, {"alpha": [[0.1, 0.7], [0.2, 1.0], [0.3, 2.0]]})
UNSEEN = (CATEGORICAL[0] | {"unseen": 0.08}, CATEGORICAL[1] | {"unseen": [0.08]})
BOOLEAN = ({"alpha": 0.3, "beta": 0.6}, {"alpha": [0.1, 0.5, 2.0], "beta": [0.2, 1.0, 3.0]})
COUNT = (
    {"shape": 1.7, "rate": 0.6, "dispersion": 0.5},
    {"shape": [0.7, 2.0], "rate": [0.2, 1.2], "dispersion": [0.0, 0.5]},
)
CYCLIC = ({"mu": 0.7, "kappa": 2.5, "r": 0.6}, {"mu": [0.7, 3.0], "kappa": [0.8, 4.0], "r": [0.2, 2.0]})
# Small grids: the rest has four hyperparameters besides.
SEMICONTINUOUS = (
    {"alpha": 0.4, **REAL[0], "atoms": [0.0, 1.5]},
    {"alpha": [0.2, 2.0], **REAL[1], "atoms": [[0.0], [1.5]]},
)
ORDINAL = (
    {"location": 0.7, "spread": 1.5, "free": 0.3, "mass": 1.2, "cuts": [0.5, 1.4]},
    {
        "location": [0.2, 1.6],
        "spread": [0.5, 2.0],
        "free": [0.1, 0.6],
        "mass": [0.5, 4.0],
        "cuts": [[0.5], [1.4]],
    },
)
GAUSSIAN = (
    {"mu": [0.2, -0.3], "kappa": 0.5, "psi": [[0.5, 0.2], [0.2, 0.6]], "nu": 3.5},
    {"mu": [[-0.3, 0.6], [-0.3, 0.5]], "kappa": [0.3, 1.2], "sigma2": [[0.2, 0.5], [0.15, 0.4]], "nu": [2.5, 5.0]},
)
PAIRS = [[0.4, 0.1], [-1.2, -1.5], [2.2, 1.4], [-0.9, -0.5], [1.9, 1.1]]
GAPS = [[0.4, 0.1], [NAN, -1.5], [2.2, 1.4], [-0.9, NAN], [1.9, 1.1]]
REALS = column("real", np.array([0.4, -1.2, 2.2, NAN, 0.7], np.float32), *REAL)
CODES = column("categorical", np.array([0, 2, 2, -1, 1], np.int8), *CATEGORICAL)
# With a category that no cell has, and an unseen value that none or one has.
RESERVED = column("categorical-reserved", np.array([0, 2, 2, -1, 0], np.int8), *UNSEEN)
STRANGE = column("categorical-strange", np.array([0, 3, 2, -1, 0], np.int8), *UNSEEN)
FLAGS = column("boolean", np.array([1, 0, -1, 0, 1], np.int8), *BOOLEAN)
COUNTS = column("count", np.array([3, 0, -1, 6, 2], np.int32), *COUNT)
ANGLES = column("cyclic", np.array([0.4, 6.1, 2.2, NAN, 2.7]), *CYCLIC)
SPIKED = column("semicontinuous", np.array([0.0, -1.2, 0.0, NAN, 0.7]), *SEMICONTINUOUS)
LEVELS = column("ordinal", np.array([0, 2, 2, -1, 1], np.int8), *ORDINAL)
# With its gaps in other rows, and a row of which nothing is seen.
MIXED_BLOCK = column(
    "gaussian-missing", np.array([[0.4, 0.1], [-1.2, -1.5], [NAN, 0.9], [NAN, NAN], [1.9, 1.1]]), *GAUSSIAN
)
TABLES = {
    "none": [],
    "real": [REALS],
    "categorical": [CODES],
    "reserved": [RESERVED],
    "strange": [STRANGE],
    "boolean": [FLAGS],
    "count": [COUNTS],
    "cyclic": [ANGLES],
    "semicontinuous": [SPIKED],
    "ordinal": [LEVELS],
    "gaussian": [column("gaussian", np.array(PAIRS), *GAUSSIAN)],
    "gaussian-missing": [column("gaussian-missing", np.array(GAPS), *GAUSSIAN)],
    "mixed": [REALS, CODES, FLAGS, COUNTS, MIXED_BLOCK],
}
N_ROWS = 5
PRIORS = {"crp": (0.8, 0.0), "pitman-yor": (0.6, 0.4), "negative": (-0.2, 0.5)}
PRIOR_GRIDS = {
    "crp": {"alpha": [0.4, 1.0, 2.5], "d": [0.0]},
    "pitman-yor": {"alpha": [0.4, 1.0, 2.5], "d": [0.0, 0.2, 0.5]},
}


class Chain:
    """A mixture over one of the tables, with its window and its generator."""

    def __init__(self, case, n_assigned=N_ROWS, seed=0):
        self.case, self.rng = case, np.random.default_rng(seed)
        columns = [c.statistics(learn=case.learned) for c in TABLES[case.table]]
        for example, statistics in zip(TABLES[case.table], columns, strict=True):
            if case.learned and example.kind == "gaussian":
                # Without vectors, correlations are not learned.
                statistics.parameters = {**statistics.parameters, "psi": np.eye(2)}
        alpha, d = PRIORS[case.prior]
        prior = PitmanYor(alpha, d)
        if case.learned:
            grid = PRIOR_GRIDS[case.prior]
            prior = PitmanYor(concentration_grid=grid["alpha"], discount_grid=grid["d"])
        self.mixture = Mixture(columns, prior.bind(), N_ROWS)
        self.window = Window([0, N_ROWS], [1.0], case.cyclic)
        self.n_assigned = n_assigned
        churn(self.mixture, *self.window.plan(n_assigned, 0, self.rng), 1.0, self.rng)

    def parameters(self):
        return self.mixture.prior.parameters, *(c.parameters for c in self.mixture.columns)

    def draws(self, n_draws, thin, observe=None):
        """Labels (n_draws, n_rows), one every ``thin`` sweeps, and what ``observe()`` gave with each of them."""
        mixture, rng, beta, learned = self.mixture, self.rng, self.case.beta, self.case.learned
        labels, seen = np.empty((n_draws, N_ROWS), np.int32), []
        per_call = self.n_assigned if learned else thin * self.n_assigned
        calls = thin if learned else 1
        for i in range(n_draws):
            if i % 500 == 0:
                moves = self.window.plan(self.n_assigned, 500 * calls * per_call, rng)
                batches = zip(*(list(x.reshape(-1, per_call)) for x in moves), strict=True)
            for _ in range(calls):
                leaving, entering = next(batches)
                churn(mixture, leaving, entering, beta, rng)
                if learned:
                    mixture.learn(rng, beta)
            labels[i] = mixture.labels
            if observe is not None:
                seen.append(observe())
        return labels, seen

    def independent_draws(self, n_effective, thin=1):
        """At least ``n_effective`` effective draws, thinned to independence.

        Parameters
        ----------
        n_effective : float
        thin : int
            Sweeps between draws to begin with; they become more until the draws are nearly independent.

        Returns
        -------
        codes : ndarray of int
            Partitions.
        n_effective : float
        seen : list
            The parameters that went with them, where they are learned.
        """
        n_draws, observe = PILOT, None
        while True:
            labels, seen = self.draws(n_draws, thin, observe)
            codes = partition_codes(labels)
            time = partition_autocorrelation_time(codes)
            # A pilot's estimate is rough: 0.05 off is likely.
            if time > CORRELATION - 0.05 * (n_draws < n_effective):
                thin = int(np.ceil(1.5 * thin))
            elif len(codes) < n_effective * time:
                n_draws = int(np.ceil(max(1.02 * time, 1.1) * n_effective))
                observe = self.parameters if self.case.learned else None
            else:
                return codes, len(codes) / time, seen


def check_distance(law, codes, n_effective):
    """Total variation to ``law`` (its keys in the order of the codes) against the noise floor."""
    counts = dict(zip(law, np.bincount(codes, minlength=len(law)), strict=True))
    floor = noise_floor(law, n_effective, n_replicates=600, rng=np.random.default_rng(1))
    assert total_variation(law, counts) <= BAR * floor
