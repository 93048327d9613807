"""The likelihood of Gaussian blocks and the posterior of their views against figures computed elsewhere."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import reference_blocks
from oracles.enumeration import blocks
from oracles.reference import line_quadrature, log_marginal
from oracles.reference_blocks import JointReals, block_prior, block_views, correlation_of_vectors, log_regression
from scipy.special import logsumexp

from sklearn_subanneal.columns.gaussian import correlation_of

# Exact posteriors of tables of five rows and three real columns, over all partitions, by another program.
ORACLES = json.loads((Path(__file__).parent / "oracles_blocks.json").read_text())["cases"]
NAN = np.nan
MU, SIGMA2 = [0.2, -0.3, 0.1], [0.5, 0.8, 0.3]
VECTORS = np.array([[1.0, 0.4, 0.2], [1.1, 0.1, -0.3], [-0.6, 0.9, 0.5]])
CELLS = np.array([[0.4, 1.0, -0.3], [-1.2, 0.1, 0.8], [2.0, 0.7, -1.1], [0.3, -0.8, 0.2], [1.1, 1.2, 0.9]])

FEW = CELLS[:3]


def prior_of(block, shared=True):
    """The prior of some of the three columns."""
    block = list(block)
    params = {"mu": np.array(MU)[block], "sigma2": np.array(SIGMA2)[block], "kappa": 0.4, "nu": 2.5}
    return block_prior(params, correlation_of_vectors(VECTORS[block], 2) if shared else None)


def evidence(cells, block):
    return log_marginal("gaussian", cells[:, block], prior_of(block))


def test_correlations_are_those_of_the_package():
    for n_shared in (0, 1, 3):
        assert_allclose(correlation_of_vectors(VECTORS, n_shared), correlation_of(VECTORS, n_shared), rtol=1e-14)
    assert np.linalg.eigvalsh(correlation_of_vectors(VECTORS, 3)).min() > 0.0


@pytest.mark.parametrize("shared", [False, True])
def test_a_column_joins_by_a_regression(shared):
    for block in [(0, 1), (2, 0), (0, 1, 2), (1, 2, 0)]:
        joint, rest = (prior_of(own, shared) for own in (block, block[:-1]))
        ratio = log_marginal("gaussian", CELLS[:, block], joint) - log_marginal("gaussian", CELLS[:, block[:-1]], rest)
        assert_allclose(log_regression(CELLS[:, block[-1]], CELLS[:, block[:-1]], joint), ratio, rtol=1e-10)


def test_missing_cells_of_a_column_that_joins_drop_out():
    cells = CELLS.copy()
    cells[[1, 4], 2] = NAN
    joined = evidence(CELLS, [0, 1]) + log_regression(cells[:, 2], CELLS[:, :2], prior_of([0, 1, 2]))
    assert_allclose(joined, evidence(cells, [0, 1, 2]), rtol=1e-10)


def test_missing_cells_are_integrated_out():
    cells = CELLS.copy()
    cells[1, 2], cells[3, 0] = NAN, NAN

    def density(z, y):
        filled = cells.copy()
        filled[1, 2], filled[3, 0] = z, y
        return np.exp(evidence(filled, [0, 1, 2]))

    # Where the rows see the columns of the block differently, the reference has a sum of its own.
    nodes, log_weights = line_quadrature(2.8, 1 / 5)
    inner = [[np.log(max(density(z, y), 1e-300)) for z in nodes] for y in nodes]
    both = logsumexp(np.array(inner) + log_weights + log_weights[:, None])
    assert_allclose(evidence(cells, [0, 1, 2]), both, atol=1e-3)


def test_one_column_is_a_real():
    one = {"mu": MU[0], "sigma2": SIGMA2[0], "kappa": 0.4, "nu": 2.5}
    cells = CELLS.copy()
    cells[2, 0] = NAN
    for x in (CELLS, cells):
        assert_allclose(evidence(x, [0]), log_marginal("real", x[:, 0], one), rtol=1e-12)


# --- The posterior of the views ---------------------------------------------------------------------------------


def oracle_views(case, cells=None, **grids):
    cells = np.array(case["X"], dtype=float) if cells is None else cells
    own = {"mu": np.array(case["mu"])[:, None], "sigma2": np.array(case["psi"])[:, None] / case["nu0"]}
    own |= {"kappa": [case["kappa"]], "nu": [case["nu0"]]}
    return block_views(
        {},
        JointReals((0, 1, 2), cells, own | grids),
        {"alpha": [case["row_concentration"]], "d": [case["row_discount"]]},
        {"alpha": [case["column_concentration"]], "d": [case["column_discount"]]},
    )


@pytest.mark.parametrize("case", ORACLES, ids=["complete", "missing"])
def test_oracle_posterior(case):
    views = oracle_views(case)
    assert views.log_evidence == pytest.approx(case["log_evidence"], abs=1e-7)
    law = views.law(0)
    columns, rows = {}, {}
    for (state, partition), p in law.items():
        columns[state] = columns.get(state, 0.0) + p
        rows[partition] = rows.get(partition, 0.0) + p
    assert [list(state) for state in columns] == case["column_partitions"]
    assert_allclose(list(columns.values()), case["column_probs"], atol=1e-8)
    assert [list(state) for state in rows] == case["row_partitions_of_view_of_column_0"]
    assert_allclose(list(rows.values()), case["row_probs"], atol=1e-8)


def test_posterior_is_the_product_written_out():
    cells, flags = CELLS[:, :2], np.array([1.0, 0.0, 0.0, 1.0, -1.0])
    reals = JointReals((0, 2), cells, {"mu": [[0.1], [0.2]], "sigma2": [[0.4], [0.9]], "kappa": [0.3], "nu": [2.0]})
    alone = {"alpha": [0.4], "beta": [0.7]}
    views = block_views(
        {1: ("boolean", flags, alone)}, reals, {"alpha": [0.8], "d": [0.2]}, {"alpha": [0.5], "d": [0.0]}
    )
    block = block_prior({"mu": [0.1, 0.2], "sigma2": [0.4, 0.9], "kappa": 0.3, "nu": 2.0})
    # All columns in one view.
    logs = views.log_view((0, 1, 2)) - views._log_prior[:, 0]
    for state, log_likelihood in zip(views.states, logs, strict=True):
        exact = sum(log_marginal("gaussian", cells[list(own)], block) for own in blocks(state))
        exact += sum(log_marginal("boolean", flags[list(own)], {"alpha": 0.4, "beta": 0.7}) for own in blocks(state))
        assert log_likelihood == pytest.approx(exact, rel=1e-10)


def test_hyperparameters_are_averages_of_fixed_evidences():
    case = ORACLES[0]
    grids = {"kappa": [0.2, 1.0], "mu": [[-0.4, 0.3], [0.0], [0.1]]}
    learned = oracle_views(case, FEW, **grids)
    law = learned.real_posteriors(0)
    # mu belongs to its column: an average over it is one over evidences.
    one = [oracle_views(case, FEW, **(grids | {"mu": [[mu], [0.0], [0.1]]})).log_evidence for mu in grids["mu"][0]]
    assert learned.log_evidence == pytest.approx(logsumexp(one) - np.log(2), rel=1e-12)
    assert_allclose(law["mu"], np.exp(one - logsumexp(one)), rtol=1e-9)
    assert law["kappa"].sum() == pytest.approx(1.0)
    assert_allclose(law["nu"], [1.0])
    # kappa belongs to the view: where all columns are alone, each has its own.
    apart = [learned.log_view((i,)) for i in range(3)]
    fixed = [
        [oracle_views(case, FEW, **(grids | {"kappa": [k]})).log_view((i,)) for k in grids["kappa"]] for i in range(3)
    ]
    assert_allclose(apart, logsumexp(fixed, axis=1) - np.log(2), rtol=1e-10)


def test_density_of_a_missing_cell():
    complete = oracle_views(ORACLES[0], FEW)
    cells = FEW.copy()
    cells[2, 2] = NAN
    views = oracle_views(ORACLES[0], cells)
    nodes, log_weights = line_quadrature(2.5, 1 / 3)
    assert logsumexp(views.log_density_of_cell(2, 2, nodes) + log_weights) == pytest.approx(0.0, abs=5e-3)
    # A cell that is filled is as likely as the evidences say.
    ratio = complete.log_evidence - views.log_evidence
    assert_allclose(views.log_density_of_cell(2, 2, [FEW[2, 2]]), ratio, rtol=1e-10)


def test_examples():
    assert doctest.testmod(reference_blocks).failed == 0
