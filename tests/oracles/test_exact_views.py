"""The enumerated cross-categorization against sums written out, mixtures, and mixtures of predictives."""

from __future__ import annotations

import doctest
import itertools
import math
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import views_enumeration
from oracles.enumeration import blocks, canonical, fixed_mixture, grid_mixture, log_eppf
from oracles.reference import log_marginal, log_predictive
from oracles.tiny_table import COLUMN_GRID, COLUMN_PRIOR, LEARNED, NAN, ROW_GRID, ROW_PRIOR, TABLE
from oracles.views_enumeration import fixed_views, grid_views
from scipy.special import logsumexp


def oracle(learned, table=None, beta=1.0):
    if learned:
        return grid_views(LEARNED if table is None else table, ROW_GRID, COLUMN_GRID, beta)
    return fixed_views(TABLE if table is None else table, ROW_PRIOR, COLUMN_PRIOR, beta)


both = pytest.mark.parametrize("learned", [False, True], ids=["fixed", "learned"])


# --- The oracle -------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("beta", [1.0, 0.4])
def test_every_state_is_there_once(learned, beta):
    views = oracle(learned, beta=beta)
    law = views.posterior()
    assert len(law) == 4065
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-12)
    for column in range(3):
        of_column = defaultdict(float)
        for (columns, rows), p in law.items():
            of_column[columns, rows[columns[column]]] += p
        assert of_column == pytest.approx(views.law(column), abs=1e-14)
    together = sum(p * np.equal.outer(columns, columns) for (columns, _), p in law.items())
    assert_allclose(views.dependence(), together, atol=1e-13)


def test_posterior_is_the_product_written_out():
    @cache
    def log_cluster(j, block):
        kind, x, params = TABLE[j]
        return 0.4 * log_marginal(kind, x[list(block)], params)

    @cache
    def log_prior(labels, prior):
        return float(log_eppf(np.bincount(labels), *prior))

    logs = {}
    law = oracle(False, beta=0.4).posterior()
    for columns, rows in law:
        terms = [log_prior(columns, COLUMN_PRIOR), *(log_prior(own, ROW_PRIOR) for own in rows)]
        terms += [log_cluster(j, block) for j, view in enumerate(columns) for block in blocks(rows[view])]
        logs[columns, rows] = sum(terms)
    total = logsumexp(list(logs.values()))
    assert_allclose(list(law.values()), np.exp(np.array(list(logs.values())) - total), rtol=1e-9)
    assert oracle(False, beta=0.4).log_evidence == pytest.approx(total)


def test_grids_are_averages_of_fixed_evidences():
    flags, alphas, concentrations, discounts = np.array([1, 0, 1]), [0.2, 1.0], [0.4, 2.5], [0.0, 0.6]
    table = [("boolean", flags, {"alpha": alphas, "beta": [0.5]})] * 2
    learned = grid_views(table, {"alpha": concentrations, "d": [0.0]}, {"alpha": [0.5], "d": discounts})
    evidence = np.zeros((2, 2, 2))
    for points in itertools.product(range(2), repeat=5):
        d, u, v, a, b = points
        first, second = (("boolean", flags, {"alpha": alphas[i], "beta": 0.5}) for i in (a, b))
        # Both columns in the view with the first concentration, or each in a view with its own.
        one = fixed_mixture([first, second], concentrations[u]).log_evidence
        two = [fixed_mixture([x], concentrations[i]).log_evidence for x, i in [(first, u), (second, v)]]
        one, two = log_eppf([2], 0.5, discounts[d]) + one, log_eppf([1, 1], 0.5, discounts[d]) + sum(two)
        evidence[d, u, a] += (np.exp(one) + np.exp(two)) / 32
    assert learned.log_evidence == pytest.approx(np.log(evidence.sum()))
    evidence /= evidence.sum()
    assert_allclose(learned.column_prior_posterior()[0], evidence.sum(axis=(1, 2)))
    assert_allclose(learned.prior_posterior(0)[:, 0], evidence.sum(axis=(0, 2)))
    assert_allclose(learned.hyperparameter_posteriors(0)["alpha"][0], evidence.sum(axis=(0, 1)))
    assert_allclose(learned.hyperparameter_posteriors(0)["beta"][0], [1.0])


@both
def test_one_column_is_a_mixture(learned):
    table = (LEARNED if learned else TABLE)[:1]
    views = oracle(learned, table)
    mixture = grid_mixture(table, ROW_GRID) if learned else fixed_mixture(table, *ROW_PRIOR)
    assert {rows: p for (_, rows), p in views.law().items()} == pytest.approx(mixture.posterior())
    assert_allclose(views.log_evidence, mixture.log_evidence)
    assert_allclose(views.prior_posterior(), mixture.prior_posterior())
    new = [np.array([0.1, NAN, -2.0])]
    assert_allclose(views.log_predictive(new), mixture.log_predictive(new), atol=1e-12)
    if learned:
        for name, marginals in mixture.hyperparameter_posteriors(0).items():
            assert_allclose(views.hyperparameter_posteriors(0)[name], marginals)


@both
def test_posterior_permutes_with_rows_and_columns(learned):
    table, (rows, columns) = LEARNED if learned else TABLE, ([2, 0, 3, 1], [1, 2, 0])
    law = oracle(learned).posterior()
    permuted = oracle(learned, [(table[j][0], table[j][1][rows], table[j][2]) for j in columns]).posterior()
    for (labels, partitions_of_rows), p in law.items():
        moved = np.array(labels)[columns]
        views = [partitions_of_rows[v] for v in dict.fromkeys(moved.tolist())]
        key = canonical(moved), tuple(canonical(np.array(own)[rows]) for own in views)
        assert permuted[key] == pytest.approx(p, rel=1e-9)


NEW = [np.array([0.1, NAN, NAN, 5.0]), np.array([2.0, 1.0, NAN, NAN]), np.array([NAN, 4.0, NAN, 0.0])]


@pytest.mark.slow
def test_predictive_is_the_mixture_over_states():
    views = oracle(False)
    density = np.zeros(4)
    alpha, d = ROW_PRIOR
    for (labels, rows), p in views.posterior().items():
        for i in range(4):
            product = p
            for v, own in enumerate(rows):
                clusters = blocks(own)
                sizes = [len(block) - d for block in clusters] + [alpha + d * len(clusters)]
                members = [j for j in range(3) if labels[j] == v]
                product *= sum(
                    size / (alpha + 4) * math.exp(sum(log_cell(i, j, block) for j in members))
                    for size, block in zip(sizes, [*clusters, ()], strict=True)
                )
            density[i] += product
    assert_allclose(views.log_predictive(NEW), np.log(density), atol=1e-10)


@cache
def log_cell(i, j, block):
    """Log density of the cell of new row i, given those of a cluster."""
    kind, x, params = TABLE[j]
    return log_predictive(kind, NEW[j][i], x[list(block)], params)


@both
def test_predictive_is_a_distribution(learned):
    views = oracle(learned)
    codes = [np.array([NAN, NAN, NAN]), np.arange(3.0), np.array([2.0, 2.0, 2.0])]
    given = [np.array([NAN]), np.array([NAN]), np.array([2.0])]
    assert_allclose(np.exp(views.log_predictive(codes) - views.log_predictive(given)).sum(), 1.0)
    with pytest.raises(ValueError, match="beta"):
        oracle(learned, beta=0.4).log_predictive(codes)


@both
def test_a_cell_that_was_seen_is_as_likely_as_predicted(learned):
    # p(x | rest) of a cell in the table, and of the same row as a new one: the row itself must be left out.
    views = oracle(learned)
    table = LEARNED if learned else TABLE
    last = [np.asarray(x, dtype=float)[3:] for _, x, _ in table]
    shorter = oracle(learned, [(kind, np.asarray(x, dtype=float)[:3], own) for kind, x, own in table])
    without = [last[0], np.array([NAN]), last[2]]
    expected = shorter.log_predictive(last) - shorter.log_predictive(without)
    assert_allclose(views.cell_log_density(3, 1, last[1]), expected, atol=1e-10)


def test_examples():
    assert doctest.testmod(views_enumeration).failed == 0
