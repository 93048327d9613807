"""The printed tree-guided sampler: its forest is sound, and its bias is there to be seen."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.reference_chain import effective_draws, noise_floor, partition_codes, partition_counts, total_variation
from support.blobs import blobs, gaussian
from support.small_tables import CASES, MIXED, exact, statistics

from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.trees._ibhc import IBHC
from sklearn_subanneal.trees._tree_guided_paper import TreeGuidedPaperKernel


def start(columns, prior, labels):
    generator = np.random.Generator(np.random.PCG64(0))
    mixture = Mixture(columns, prior.bind(learn=False), len(labels))
    mixture.set_labels(np.asarray(labels, np.int32), generator)
    return mixture, generator


@pytest.mark.slow
def test_too_few_clusters(n_draws=6000):
    columns, concentration, discount, beta, _ = CASES["crp-mixed"]
    mixture, generator = start(statistics(columns), PitmanYor(concentration, discount), np.zeros(5))
    sampler = TreeGuidedPaperKernel(mixture.columns, 5, n_proposals=3)
    draws = np.empty((n_draws, 5), np.int32)
    for t in range(n_draws):
        sampler.sweep(mixture, beta, generator)
        draws[t] = mixture.labels
    posterior = exact(columns, concentration, discount, beta)
    floor = noise_floor(posterior, int(effective_draws(partition_codes(draws))), rng=np.random.default_rng(0))
    assert total_variation(posterior, partition_counts(draws)) > 4 * floor
    n_clusters = sum(p * (max(labels) + 1) for labels, p in posterior.items())
    assert np.mean(draws.max(axis=1) + 1) < 0.95 * n_clusters
    assert 0 < sampler.n_accepted < sampler.n_proposed <= 3 * n_draws


@pytest.mark.parametrize("start_with", ["one", "ibhc", "random"])
def test_the_forest_stays_that_of_the_partition(start_with):
    X, _ = blobs(150, n_blobs=6, seed=1)
    X *= 0.5
    labels = np.zeros(len(X), np.int32)
    if start_with == "random":
        labels = np.arange(len(X)) % 5
    if start_with == "ibhc":
        forest = IBHC([gaussian(X)], len(X), CRP(1.0).bind())
        forest.insert_rows(np.arange(len(X), dtype=np.int32))
        labels = forest.labels
    mixture, generator = start([gaussian(X)], CRP(1.0), labels)
    sampler = TreeGuidedPaperKernel(mixture.columns, len(X), n_proposals=5)
    for _ in range(60):
        sampler.sweep(mixture, 1.0, generator)
        np.testing.assert_array_equal(sampler.forest.labels, mixture.labels)
        # Statistics and potentials of all nodes are those that a forest of this shape has.
        again = IBHC([gaussian(X)], len(X), CRP(1.0).bind(), sampler.forest.hierarchy())
        np.testing.assert_allclose(sampler.forest.log_joint, again.log_joint, rtol=1e-8)
        np.testing.assert_allclose(sampler.forest.log_potential, again.log_potential, rtol=1e-8)
    other, _ = start([gaussian(X)], CRP(1.0), mixture.labels)
    assert mixture.log_joint() == pytest.approx(other.log_joint(), abs=1e-7)


def test_it_follows_a_partition_that_has_changed():
    mixture, generator = start(statistics(MIXED), CRP(1.0), [0, 0, 1, -1, 1])
    sampler = TreeGuidedPaperKernel(mixture.columns, 5)
    sampler.sweep(mixture, 1.0, generator)
    np.testing.assert_array_equal(mixture.labels < 0, [False, False, False, True, False])
    mixture.set_labels(np.array([0, 1, 2, 3, 4], np.int32), generator)
    sampler.forest.follow(mixture, 1.0)
    np.testing.assert_array_equal(sampler.forest.labels, np.arange(5))


def test_state_goes_on():
    X, _ = blobs(60, n_blobs=4, seed=1)
    mixture, generator = start([gaussian(X)], CRP(1.0), np.arange(60) % 3)
    sampler = TreeGuidedPaperKernel(mixture.columns, 60)
    sampler.sweep(mixture, 1.0, generator)
    other = TreeGuidedPaperKernel(mixture.columns, 60)
    other.forest.follow(mixture, 1.0)
    other.set_state(sampler.get_state())
    np.testing.assert_allclose(other.forest.log_potential, sampler.forest.log_potential, rtol=1e-9)
