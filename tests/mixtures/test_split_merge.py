"""Split-merge moves leave the exact posterior as it is, alone and together with Gibbs sampling."""

import numpy as np
import pytest
from oracles.reference_chain import effective_draws, noise_floor, partition_codes, partition_counts, total_variation
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score
from support.small_tables import CASES, MIXED, N_ROWS, exact, statistics

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.partitions import CRP, PitmanYor


def sample(columns, concentration, discount, beta, n_draws, with_gibbs, n_scans=0, seed=0):
    generator = np.random.Generator(np.random.PCG64(seed))
    mixture = Mixture(statistics(columns), PitmanYor(concentration, discount).bind(), N_ROWS)
    mixture.set_labels(np.zeros(N_ROWS, np.int32), generator)
    moves = SplitMergeKernel(mixture.columns, N_ROWS, n_scans=n_scans)
    rows = np.arange(N_ROWS, dtype=np.int32)
    draws = np.empty((n_draws, N_ROWS), np.int32)
    n_accepted = 0
    for t in range(n_draws):
        n_accepted += moves.propose(mixture, 12, beta, generator)
        if with_gibbs:
            churn(mixture, rows, rows, beta, generator)
        draws[t] = mixture.labels
    assert n_accepted > n_draws
    return draws


@pytest.mark.parametrize("n_draws", [15_000, pytest.param(110_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_scans", [0, pytest.param(-1, marks=pytest.mark.slow)])
def test_enumeration(n_scans, case, n_draws):
    columns, concentration, discount, beta, with_gibbs = CASES[case]
    posterior = exact(columns, concentration, discount, beta)
    draws = sample(columns, concentration, discount, beta, n_draws, with_gibbs, n_scans)
    floor = noise_floor(posterior, int(effective_draws(partition_codes(draws))), rng=np.random.default_rng(0))
    assert total_variation(posterior, partition_counts(draws)) <= 1.5 * floor


@pytest.mark.parametrize("case", [pytest.param("crp-mixed", marks=pytest.mark.slow), "pitman-yor-mixed"])
def test_enumeration_with_scans_by_the_columns(case):
    test_enumeration(-1, case, 15_000)


def test_clusters_of_many_categories_are_found():
    """One row says little of its cluster: splits by allocation alone are never accepted."""
    rng, n_rows, n_columns, n_clusters, n_levels = np.random.default_rng(0), 3000, 10, 8, 100
    frequencies = rng.dirichlet(np.full(n_levels, 0.5), size=(n_clusters, n_columns)).cumsum(axis=2)
    labels = rng.integers(n_clusters, size=n_rows)
    X = (rng.random((n_rows, n_columns, 1)) > frequencies[labels]).sum(axis=2).clip(0, n_levels - 1)
    given = {"feature_types": ["categorical"] * n_columns, "n_chains": 1, "n_draws": 2, "random_state": 0}
    assert adjusted_rand_score(labels, SubsampleAnnealedDPMM(**given).fit(X).labels_) > 0.8


@pytest.mark.parametrize("n_columns", [100, 3000])
def test_merges_of_wide_tables_are_accepted(n_columns):
    """A random split of a cluster: the proposal to merge is accepted, in whatever order the anchors come."""
    rng, generator = np.random.default_rng(0), np.random.default_rng(1)
    X = (rng.random((40, n_columns)) < rng.beta(0.5, 0.5, n_columns)).astype(np.int8)
    columns = [CategoricalStatistics(CategoricalData(x.copy()), {"alpha": np.full(2, 0.5)}) for x in X.T]
    mixture, kernel = Mixture(columns, CRP(1.0).bind(False), 40), SplitMergeKernel(columns, 40)
    n_merged = 0
    for _ in range(200):
        mixture.set_labels((np.arange(40) >= 20).astype(np.int32), generator)
        n_merged += kernel.propose(mixture, 1, 1.0, generator) and mixture.n_clusters == 1
    # The anchors are in different halves with probability 20 / 39.
    assert n_merged > binom.ppf(1e-4, 200, 20 / 39)


def test_unassigned_rows_stay_out():
    generator = np.random.Generator(np.random.PCG64(0))
    mixture = Mixture(statistics(MIXED), PitmanYor(1.0, 0.0).bind(), N_ROWS)
    mixture.set_labels(np.array([0, -1, 1, -1, 0], np.int32), generator)
    SplitMergeKernel(mixture.columns, N_ROWS).propose(mixture, 200, 1.0, generator)
    np.testing.assert_array_equal(mixture.labels < 0, [False, True, False, True, False])
    assert mixture.n_assigned == 3 and mixture.sizes.sum() == 3


@pytest.mark.parametrize("n_assigned", [0, 1])
def test_nothing_to_split_or_merge(n_assigned):
    generator = np.random.Generator(np.random.PCG64(0))
    mixture = Mixture(statistics(MIXED), PitmanYor(1.0, 0.0).bind(), N_ROWS)
    mixture.set_labels(np.array([0] * n_assigned + [-1] * (N_ROWS - n_assigned), np.int32), generator)
    assert SplitMergeKernel(mixture.columns, N_ROWS).propose(mixture, 10, 1.0, generator) == 0


def test_statistics_after_accepted_moves_are_those_of_the_partition():
    generator = np.random.Generator(np.random.PCG64(3))
    mixture = Mixture(statistics(MIXED), PitmanYor(1.0, 0.3).bind(), N_ROWS)
    mixture.set_labels(np.zeros(N_ROWS, np.int32), generator)
    SplitMergeKernel(mixture.columns, N_ROWS).propose(mixture, 101, 1.0, generator)
    other = Mixture(statistics(MIXED), PitmanYor(1.0, 0.3).bind(), N_ROWS)
    other.set_labels(mixture.labels, generator)
    assert mixture.log_joint() == pytest.approx(other.log_joint(), abs=1e-9)
