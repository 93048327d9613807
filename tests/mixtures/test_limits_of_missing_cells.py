"""Missing cells of a block that have limits: chains follow the posterior given that they are within these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from oracles.enumeration import fixed_mixture
from oracles.reference_chain import partition_autocorrelation_time, partition_codes
from support.column_examples import CLASSES
from support.enumerated_chains import GAPS, GAUSSIAN, N_ROWS, NAN, PRIORS, Chain, check_distance
from support.exact_mixtures import exact_law
from support.sharded_tables import ShardedExample

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._slice import SliceKernel
from sklearn_subanneal.partitions import CRP

# Far from the cells of one of the clusters in which each row might be.
LIMITS = np.array([[1.0, -2.0], [3.0, 0.0]])
# The two missing cells of the table, each with its column.
HOLES = [(1, 0), (3, 1)]


@dataclass(frozen=True)
class Case:
    moves: tuple = ()
    table: str = "gaussian-missing"
    prior: str = "crp"
    learned: bool = False
    cyclic: bool = False
    beta: float = 1.0


@pytest.fixture
def limited(monkeypatch):
    monkeypatch.setitem(CLASSES, "gaussian", (lambda cells: GaussianData(cells, LIMITS), GaussianStatistics))


@cache
def limited_law(prior="crp"):
    """The law of the partition, the cells integrated out over the limits by Gauss-Legendre quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = {}
    for x, wx in zip(nodes, weights, strict=True):
        for y, wy in zip(nodes, weights, strict=True):
            cells = np.array(GAPS)
            for (row, column), node in zip(HOLES, (x, y), strict=True):
                low, high = LIMITS[:, column]
                cells[row, column] = 0.5 * (low + high + (high - low) * node)
            exact = fixed_mixture([("gaussian", cells, GAUSSIAN[0])], *PRIORS[prior])
            for state, p in exact.posterior().items():
                total[state] = total.get(state, 0.0) + wx * wy * np.exp(exact.log_evidence) * p
    whole = sum(total.values())
    return {state: p / whole for state, p in total.items()}


def check(labels):
    codes = partition_codes(labels)
    check_distance(limited_law(), codes, len(codes) / partition_autocorrelation_time(codes))


def test_the_limits_matter():
    """By far more than the distance that the tests below allow."""
    law, unlimited = limited_law(), exact_law("gaussian-missing", "crp", False)
    assert 0.5 * sum(abs(law[state] - unlimited[state]) for state in law) > 0.2


def test_gibbs_sampling(limited):
    chain = Chain(Case())
    labels, seen = chain.draws(20_000, 1, lambda: chain.mixture.columns[0].get_prior_state()["completed"])
    check(labels)
    drawn = np.array(seen)[:, [0, 1], [0, 1]]
    assert (drawn >= [LIMITS[0, 0], LIMITS[0, 1]]).all() and (drawn <= [LIMITS[1, 0], LIMITS[1, 1]]).all()
    assert len(np.unique(drawn)) > 1000


def test_slice_sampling(limited):
    parameters = {name: np.asarray(value, float) if np.ndim(value) else value for name, value in GAUSSIAN[0].items()}
    block = GaussianStatistics(GaussianData(np.array(GAPS), LIMITS), parameters)
    mixture, rng = Mixture([block], CRP(PRIORS["crp"][0]).bind(), N_ROWS), np.random.default_rng(0)
    rows = np.arange(N_ROWS, dtype=np.int32)
    churn(mixture, np.full(N_ROWS, -1, np.int32), rows, 1.0, rng)
    slicer, labels = SliceKernel(mixture.columns, N_ROWS), np.empty((40_000, N_ROWS), np.int32)
    for i in range(len(labels)):
        slicer.sweep(mixture, 1.0, rng)
        labels[i] = mixture.labels
    check(labels)


@pytest.mark.slow
def test_shards(limited):
    """Sweeps draw labels given the missing cells, and these given the labels."""
    labels, _ = ShardedExample(Case(("sweep", "single", "split-merge"))).draws(20_000, 1)
    check(labels)


@pytest.mark.parametrize("limit", [None, 50.0])
def test_cells_without_limits_wander_off(limit):
    """In a cluster in which they are missing in all rows, with few degrees of freedom."""
    prior, largest = {"mu": np.zeros(1), "kappa": 0.01, "psi": 0.01 * np.eye(1), "nu": 0.5}, 0.0
    data = GaussianData(np.full((6, 1), NAN), None if limit is None else [[-limit], [limit]])
    rows = np.arange(6, dtype=np.int32)
    for seed in range(100):
        mixture, rng = Mixture([GaussianStatistics(data, prior)], CRP(1e-9).bind(), 6), np.random.default_rng(seed)
        churn(mixture, np.full(6, -1, np.int32), rows, 1.0, rng)
        for _ in range(10):
            churn(mixture, rows, rows, 1.0, rng)
        largest = max(largest, np.abs(mixture.columns[0].get_prior_state()["completed"]).max())
    assert 1.0 < largest <= 50.0 if limit else largest > 1e6
