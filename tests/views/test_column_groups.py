"""Groups of joint reals that leave a view by their correlations, or come back."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.enumeration import log_eppf, partitions
from oracles.reference import log_marginal
from oracles.reference_blocks import block_prior, correlation_of_vectors
from oracles.reference_chain import partition_codes
from support.enumerated_views import check_marginal
from support.joint_reals import real_table, views_of

from sklearn_subanneal import CrossCat
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.views import ColumnGroups
from sklearn_subanneal.views._column_groups import ColumnGroupsKernel

N_COLUMNS, N_SHARED, N_DRAWS, THIN = 5, 2, 4000, 12


@pytest.mark.parametrize("beta", [pytest.param(0.0, marks=pytest.mark.slow), 1.0])
def test_partitions_of_the_columns_follow_the_posterior_of_one_row(beta):
    """One row has one partition, so that 52 partitions of five columns are all; correlations are those of ten rows."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(10, 2)) @ rng.normal(size=(2, N_COLUMNS)) + 0.5 * rng.normal(size=(10, N_COLUMNS))
    vectors = rng.normal(size=(N_COLUMNS, 4))
    params = {"mu": np.zeros(N_COLUMNS), "sigma2": np.full(N_COLUMNS, 0.4), "kappa": 0.5, "nu": 3.0}
    reals = real_table(range(N_COLUMNS), cells, params | {"vectors": vectors, "n_shared": N_SHARED})
    views = views_of({}, reals, PitmanYor(1.3, 0.2).bind(), PitmanYor(1.0).bind())
    row = np.zeros(1, np.int32)
    views.churn(np.full(1, -1, np.int32), row, 1.0, [rng] * views.n_views)

    logs = []
    for state in partitions(N_COLUMNS):
        logs.append(log_eppf(np.bincount(state), 1.3, 0.2))
        for view in range(max(state) + 1):
            block = np.flatnonzero(np.equal(state, view))
            own = {"mu": params["mu"][block], "sigma2": params["sigma2"][block], "kappa": 0.5, "nu": 3.0}
            prior = block_prior(own, correlation_of_vectors(vectors[block], N_SHARED))
            logs[-1] += beta * log_marginal("gaussian", cells[:1, block], prior)
    law = np.exp(np.array(logs) - max(logs))

    kernel, draws = ColumnGroupsKernel(), np.empty((N_DRAWS, N_COLUMNS), np.int32)
    for draw in draws:
        kernel.propose(views, THIN, beta, rng)
        draw[:] = views.column_labels
    assert kernel.n_accepted > N_DRAWS
    check_marginal("column partition", law / law.sum(), partition_codes(draws), rng)


def test_groups_of_joint_reals_part_by_their_correlations():
    """Columns of one cluster: no partition of the rows tells the two groups, and a single column will not leave."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(200, 2))
    X = np.repeat(factors, 8, axis=1) + 0.3 * rng.normal(size=(200, 16))
    model = CrossCat(
        moves=[Gibbs(), ColumnGroups()], column_start="together", schedule="sequential", n_chains=1, random_state=0
    ).fit(X)
    np.testing.assert_array_equal(model.column_labels_, np.repeat([0, 1], 8))
