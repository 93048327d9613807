"""Split-merge moves leave the exact posterior as it is, alone and together with Gibbs sampling."""

import numpy as np
import pytest
from oracles.enumeration import exact_posterior
from oracles.reference_chain import effective_draws, noise_floor, partition_codes, partition_counts, total_variation

from sklearn_subanneal.columns.models import bind_columns
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._split_merge import SplitMerge
from sklearn_subanneal.partitions import PitmanYor

N_ROWS = 5
REAL = np.array([0.4, -1.5, np.nan, 2.0, 1.75])
CODES = np.array([0, 2, 1, 1, -1], np.int8)
COUNTS = np.array([3, 0, 7, 2, -1], np.int32)
PAIR = np.array([[0.5, -0.2], [np.nan, 1.0], [2.0, 1.5], [1.7, 2.2], [-1.0, 0.3]])

PARAMS = {
    "real": {"mu": 0.1, "kappa": 0.4, "sigma2": 0.6, "nu": 2.0},
    "categorical": {"alpha": np.array([0.5, 1.0, 2.0])},
    "count": {"shape": 1.3, "rate": 0.4},
    "gaussian": {"mu": np.zeros(2), "kappa": 0.5, "psi": 0.7 * np.eye(2), "nu": 3.5},
}
MIXED = [("real", REAL), ("categorical", CODES), ("count", COUNTS)]
BLOCK = [("gaussian", PAIR)]


def statistics(columns):
    """Statistics as a chain makes them, with hyperparameters fixed."""
    if columns is BLOCK:
        arrays, kinds, covariance = list(PAIR.T), ["real", "real"], "full"
    else:
        arrays, kinds, covariance = [cells for _, cells in columns], [kind for kind, _ in columns], "diag"
    names = [f"x{j}" for j in range(len(arrays))]
    models = bind_columns(
        names,
        kinds,
        [3] * len(arrays),
        arrays,
        covariance_type=covariance,
        feature_params={kind: PARAMS[kind] for kind, _ in columns},
        learn=False,
    )
    return [model.statistics(model.data(arrays)) for model in models]


def exact(columns, concentration, discount, beta):
    return exact_posterior([(kind, cells, PARAMS[kind]) for kind, cells in columns], concentration, discount, beta)


def sample(columns, concentration, discount, beta, n_draws, with_gibbs, seed=0):
    generator = np.random.Generator(np.random.PCG64(seed))
    mixture = Mixture(statistics(columns), PitmanYor(concentration, discount).bind(), N_ROWS)
    mixture.set_labels(np.zeros(N_ROWS, np.int32), generator)
    moves, rows = SplitMerge(mixture.columns, N_ROWS), np.arange(N_ROWS, dtype=np.int32)
    draws = np.empty((n_draws, N_ROWS), np.int32)
    n_accepted = 0
    for t in range(n_draws):
        n_accepted += moves.propose(mixture, 12, beta, generator)
        if with_gibbs:
            churn(mixture, rows, rows, beta, generator)
        draws[t] = mixture.labels
    assert n_accepted > n_draws
    return draws


CASES = {
    "crp-mixed": (MIXED, 1.0, 0.0, 1.0, False),
    "crp-mixed-gibbs": (MIXED, 1.0, 0.0, 1.0, True),
    "pitman-yor-mixed": (MIXED, 0.7, 0.4, 1.0, False),
    "heated": (MIXED, 1.0, 0.2, 0.4, False),
    # The missing cell of the block is state: only the rows' own step redraws it.
    "block-gibbs": (BLOCK, 1.0, 0.2, 1.0, True),
}


@pytest.mark.parametrize("n_draws", [15_000, pytest.param(110_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
def test_enumeration(case, n_draws):
    columns, concentration, discount, beta, with_gibbs = CASES[case]
    posterior = exact(columns, concentration, discount, beta)
    draws = sample(columns, concentration, discount, beta, n_draws, with_gibbs)
    floor = noise_floor(posterior, int(effective_draws(partition_codes(draws))), rng=np.random.default_rng(0))
    assert total_variation(posterior, partition_counts(draws)) <= 1.5 * floor


def test_unassigned_rows_stay_out():
    generator = np.random.Generator(np.random.PCG64(0))
    mixture = Mixture(statistics(MIXED), PitmanYor(1.0, 0.0).bind(), N_ROWS)
    mixture.set_labels(np.array([0, -1, 1, -1, 0], np.int32), generator)
    SplitMerge(mixture.columns, N_ROWS).propose(mixture, 200, 1.0, generator)
    np.testing.assert_array_equal(mixture.labels < 0, [False, True, False, True, False])
    assert mixture.n_assigned == 3 and mixture.sizes.sum() == 3


@pytest.mark.parametrize("n_assigned", [0, 1])
def test_nothing_to_split_or_merge(n_assigned):
    generator = np.random.Generator(np.random.PCG64(0))
    mixture = Mixture(statistics(MIXED), PitmanYor(1.0, 0.0).bind(), N_ROWS)
    mixture.set_labels(np.array([0] * n_assigned + [-1] * (N_ROWS - n_assigned), np.int32), generator)
    assert SplitMerge(mixture.columns, N_ROWS).propose(mixture, 10, 1.0, generator) == 0


def test_statistics_after_accepted_moves_are_those_of_the_partition():
    generator = np.random.Generator(np.random.PCG64(3))
    mixture = Mixture(statistics(MIXED), PitmanYor(1.0, 0.3).bind(), N_ROWS)
    mixture.set_labels(np.zeros(N_ROWS, np.int32), generator)
    SplitMerge(mixture.columns, N_ROWS).propose(mixture, 101, 1.0, generator)
    other = Mixture(statistics(MIXED), PitmanYor(1.0, 0.3).bind(), N_ROWS)
    other.set_labels(mixture.labels, generator)
    assert mixture.log_joint() == pytest.approx(other.log_joint(), abs=1e-9)
