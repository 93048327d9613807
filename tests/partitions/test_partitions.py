"""Priors of a partition: their probabilities, weights, draws, and what they learn of their own parameters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.enumeration import canonical, log_eppf, partitions
from oracles.reference_chain import noise_floor, partition_counts, total_variation
from scipy.special import logsumexp
from sklearn.base import clone

from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.partitions._gibbs_type import PitmanYorPrior
from sklearn_subanneal.partitions.priors import CONCENTRATION_GRID, DISCOUNT_GRID

PARAMETERS = [(1.0, 0.0), (0.05, 0.0), (200.0, 0.0), (0.7, 0.3), (3.0, 0.95), (-0.2, 0.5), (0.0, 0.4)]
SIZES = [[1], [5], [1, 1, 1, 1], [2, 1], [7, 3, 1], [40, 1, 1, 9], [100_000, 300, 1]]

pairs = pytest.mark.parametrize(("alpha", "d"), PARAMETERS)


def sizes_of(*sizes):
    return np.array(sizes, np.int32)


@pairs
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_log_eppf(alpha, d, sizes):
    assert_allclose(
        PitmanYorPrior(alpha, d).log_eppf(sizes_of(*sizes)), log_eppf(sizes, alpha, d), rtol=1e-11, atol=1e-12
    )


def test_no_rows_have_one_partition():
    assert PitmanYorPrior(1.0, 0.2).log_eppf(sizes_of()) == 0.0


@pairs
@pytest.mark.parametrize("sizes", SIZES[:-1], ids=str)
def test_weights_are_ratios_of_probabilities(alpha, d, sizes):
    prior, here = PitmanYorPrior(alpha, d), log_eppf(sizes, alpha, d)
    joined = [
        np.exp(log_eppf(np.add(sizes, np.eye(len(sizes), dtype=int)[k]), alpha, d) - here) for k in range(len(sizes))
    ]
    opened = np.exp(log_eppf([*sizes, 1], alpha, d) - here)
    weights = np.append(np.array(sizes) + prior.offset, prior.new_base + prior.new_slope * len(sizes))
    assert_allclose(weights / weights.sum(), [*joined, opened], rtol=1e-9)


@pairs
def test_draws_follow_the_prior(alpha, d):
    prior, rng, n_draws = PitmanYorPrior(alpha, d), np.random.default_rng(0), 20_000
    draws = np.array([prior.draw_partition(5, rng) for _ in range(n_draws)])
    assert all(canonical(labels) == tuple(labels) for labels in np.unique(draws, axis=0).tolist())
    law = {state: float(np.exp(log_eppf(np.bincount(state), alpha, d))) for state in partitions(5)}
    assert sum(law.values()) == pytest.approx(1)
    assert total_variation(law, partition_counts(draws)) <= 1.5 * noise_floor(law, n_draws, rng=rng)


def test_a_large_draw_has_the_expected_number_of_clusters():
    alpha, n, rng = 5.0, 2000, np.random.default_rng(1)
    numbers = [
        prior_draw.max() + 1 for prior_draw in (PitmanYorPrior(alpha, 0.0).draw_partition(n, rng) for _ in range(100))
    ]
    p = alpha / (alpha + np.arange(n))
    assert abs(np.mean(numbers) - p.sum()) < 4 * np.sqrt((p * (1 - p)).sum() / 100)


@pytest.mark.parametrize(
    ("concentrations", "discounts"),
    [([0.2, 1.0, 5.0], [0.0]), ([1.5], [0.0, 0.3, 0.8]), ([0.2, 1.0, 5.0, 30.0], [0.0, 0.2, 0.7])],
)
@pytest.mark.parametrize("sizes", [[1], [3, 1], [9, 4, 1, 1, 1], [60, 2]], ids=str)
def test_parameters_follow_their_conditional(concentrations, discounts, sizes):
    n_draws, rng = 8000, np.random.default_rng(2)
    prior = PitmanYorPrior(9.0, 0.1, concentrations, discounts)
    grid = [(a, d) for a in concentrations for d in discounts]
    logs = np.array([log_eppf(sizes, a, d) for a, d in grid])
    law = dict(zip(grid, np.exp(logs - logsumexp(logs)).tolist(), strict=True))
    counts = dict.fromkeys(grid, 0)
    for _ in range(n_draws):
        prior.learn(sizes_of(*sizes), rng)
        counts[prior.concentration, prior.discount] += 1
        assert (prior.offset, prior.new_base, prior.new_slope) == (-prior.discount, prior.concentration, prior.discount)
    assert total_variation(law, counts) <= 1.2 * noise_floor(law, n_draws, 0.999, rng=rng)


def test_large_concentrations_are_improbable_by_default():
    n_draws, rng, prior = 8000, np.random.default_rng(4), PitmanYor().bind().fresh()
    weights = np.tile(1.0 / (1.0 + CONCENTRATION_GRID), len(DISCOUNT_GRID))
    grid = [(a, d) for d in DISCOUNT_GRID.tolist() for a in CONCENTRATION_GRID.tolist()]
    # A single row says nothing of the parameters, and 9 rows in 4 clusters say something.
    for sizes in ([1], [5, 2, 1, 1]):
        logs = np.log(weights) + [log_eppf(sizes, a, d) for a, d in grid]
        law = dict(zip(grid, np.exp(logs - logsumexp(logs)).tolist(), strict=True))
        counts = dict.fromkeys(grid, 0)
        for _ in range(n_draws):
            prior.learn(sizes_of(*sizes), rng)
            counts[prior.concentration, prior.discount] += 1
        assert total_variation(law, counts) <= 1.2 * noise_floor(law, n_draws, 0.999, rng=rng)
    drawn = dict.fromkeys(CONCENTRATION_GRID.tolist(), 0)
    for _ in range(n_draws):
        prior.draw(rng)
        drawn[prior.concentration] += 1
    law = dict(zip(drawn, weights[: len(drawn)] / weights[: len(drawn)].sum(), strict=True))
    assert total_variation(law, drawn) <= 1.2 * noise_floor(law, n_draws, 0.999, rng=rng)


def test_values_of_a_given_grid_have_equal_probability():
    n_draws, rng = 4000, np.random.default_rng(5)
    prior = CRP(concentration_grid=[1.0, 100.0]).bind()
    largest = 0
    for _ in range(n_draws):
        prior.learn(sizes_of(1), rng)
        largest += prior.concentration == 100.0
    assert abs(largest / n_draws - 0.5) < 4 * 0.5 / np.sqrt(n_draws)


@pytest.mark.parametrize(
    "partition", [CRP(), PitmanYor(), PitmanYor(concentration_grid=[0.5, 2.0]), CRP(2.0)], ids=repr
)
def test_all_concentrations_are_as_probable_in_streams(partition):
    before, prior = repr(partition), partition.for_streams()
    given = partition.concentration_grid is not None or partition.concentration == 2.0
    assert repr(partition) == before and (prior is partition) == given
    if not given:
        drawn, rng, bound = dict.fromkeys(CONCENTRATION_GRID.tolist(), 0), np.random.default_rng(6), prior.bind()
        for _ in range(6000):
            bound.draw(rng)
            drawn[bound.concentration] += 1
        law = dict.fromkeys(drawn, 1 / len(drawn))
        assert total_variation(law, drawn) <= 1.2 * noise_floor(law, 6000, 0.999, rng=rng)


def test_without_grids_nothing_is_learned():
    prior, rng = PitmanYorPrior(0.9, 0.1), np.random.default_rng(3)
    before = rng.bit_generator.state
    prior.learn(sizes_of(4, 2), rng)
    assert prior.parameters == {"concentration": 0.9, "discount": 0.1}
    assert rng.bit_generator.state == before


# --- Parameter objects ------------------------------------------------------------------------------------------


def learned(prior):
    """The values that parameters take when they are learned."""
    rng, seen = np.random.default_rng(4), set()
    for _ in range(600):
        prior.learn(sizes_of(3, 1, 1), rng)
        seen.add((round(prior.concentration, 6), round(prior.discount, 6)))
    return {a for a, _ in seen}, {d for _, d in seen}


def test_what_is_given_is_fixed_and_the_rest_is_learned():
    assert learned(PitmanYor(2.0, 0.25).bind()) == ({2.0}, {0.25})
    assert learned(PitmanYor(None, 0.25, concentration_grid=[0.5, 2]).bind()) == ({0.5, 2.0}, {0.25})
    assert learned(PitmanYor(2.0, discount_grid=[0.1, 0.2]).bind()) == ({2.0}, {0.1, 0.2})
    assert learned(CRP(3.0).bind()) == ({3.0}, {0.0})
    assert learned(CRP(concentration_grid=[0.5, 1.5]).bind()) == ({0.5, 1.5}, {0.0})
    concentrations, discounts = learned(PitmanYor().bind())
    assert len(concentrations) > 6 and discounts == {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}


def test_nothing_is_learned_where_learning_is_off():
    assert learned(PitmanYor().bind(learn=False)) == ({1.0}, {0.0})
    assert learned(CRP(0.3).bind(learn=False)) == ({0.3}, {0.0})


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (PitmanYor(-0.5, 0.5), "concentration > -discount; got -0.5"),
        (PitmanYor(0.0, 0.0), "concentration > -discount"),
        (PitmanYor(1.0, 1.0), "0 <= discount < 1"),
        (PitmanYor(1.0, -0.1), "0 <= discount < 1"),
        (PitmanYor(concentration_grid=[1.0, np.nan]), "concentration > -discount"),
        (PitmanYor(discount_grid=[]), "0 <= discount < 1"),
        (CRP(0.0), "concentration > -discount"),
        (CRP("1"), "concentration must be a number or .learn., got '1'"),
        (CRP(True), 'concentration must be a number or "learn", got True'),
    ],
)
def test_bad_parameters_are_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        prior.bind()


def test_priors_can_be_cloned():
    prior = PitmanYor(discount=0.25, concentration_grid=[1.0, 2.0])
    assert clone(prior).get_params() == prior.get_params()
    assert repr(clone(CRP(2.0))) == "CRP(concentration=2.0)"
