"""n_chains="auto": two chains where they agree, else four."""

from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import make_gaussian_mixture, make_planted_views
from sklearn_subanneal.estimators._enough_chains import agree

SEPARATE = make_gaussian_mixture(2000, 8, n_clusters=5, covariance_type="diag", random_state=0)[0]
# Clusters that overlap: nothing says to which of them a row belongs.
OVERLAPPING = make_gaussian_mixture(300, 1, n_clusters=6, random_state=0)[0]
TRACE = np.dtype([("n_assigned", "i8"), ("inverse_temperature", "f8"), ("log_joint", "f8")])


def chain(rows, columns=None, log_joint=(-5.0, -4.0, -4.0, -5.0), climbs=False):
    """The result of a chain whose draws have these labels of the rows and, with views, of the columns."""
    draws = [SimpleNamespace(log_joint=value) for value in log_joint]
    if columns is not None:
        for draw in draws:
            draw.column_labels = np.asarray(columns)
    noise = np.random.default_rng(1).normal(size=40)
    trace = np.array([(len(np.atleast_2d(rows)[0]), 1.0, noise[i] + 2.0 * i * climbs) for i in range(40)], TRACE)
    return SimpleNamespace(draws=draws, labels=[np.asarray(rows)] * len(draws), trace=trace)


HALVES, THIRDS = np.repeat([0, 1], 30), np.repeat([0, 1, 2], 20)


def test_equal_partitions_agree():
    assert agree([chain(HALVES), chain(1 - HALVES)])


def test_different_partitions_do_not():
    assert not agree([chain(HALVES), chain(THIRDS)])


def test_one_row_in_a_hundred_elsewhere_is_agreement_but_not_five():
    rows = np.repeat([0, 1], 500)
    few, more = rows.copy(), rows.copy()
    few[:4], more[:40] = 1, 1
    assert agree([chain(rows), chain(few)])
    assert not agree([chain(rows), chain(more)])


def test_a_chain_that_rises_does_not_agree():
    assert not agree([chain(HALVES), chain(HALVES, climbs=True)])


def test_draws_with_a_trend_do_not_agree():
    rising = tuple(100.0 * np.arange(8) + np.random.default_rng(0).normal(size=8))
    assert not agree([chain(HALVES, log_joint=rising), chain(HALVES, log_joint=rising)])


def test_views_are_compared_and_the_rows_in_each_of_them():
    rows, swapped = np.array([HALVES, THIRDS]), np.array([THIRDS, HALVES])
    # The same views by other numbers.
    assert agree([chain(rows, [0, 0, 1, 1]), chain(swapped, [1, 1, 0, 0])])
    assert not agree([chain(rows, [0, 0, 1, 1]), chain(rows, [0, 1, 1, 1])])
    # The first view has the same clusters, the second has not.
    assert not agree([chain(rows, [0, 0, 1, 1]), chain(np.array([HALVES, HALVES]), [0, 0, 1, 1])])


@pytest.mark.parametrize(("X", "n_chains"), [pytest.param(SEPARATE, 2, marks=pytest.mark.slow), (OVERLAPPING, 4)])
def test_chains_are_those_of_a_fixed_number(X, n_chains):
    auto = SubsampleAnnealedDPMM(random_state=0).fit(X)
    fixed = SubsampleAnnealedDPMM(n_chains=n_chains, random_state=0).fit(X)
    assert auto.n_chains_ == len(auto.log_joint_) == n_chains
    np.testing.assert_array_equal(auto.log_joint_, fixed.log_joint_)
    np.testing.assert_array_equal(auto.score_samples(X), fixed.score_samples(X))


def test_four_chains_with_a_time_limit():
    assert SubsampleAnnealedDPMM(time_limit=0.05, n_draws=1, random_state=0).fit(SEPARATE).n_chains_ == 4


def test_the_number_of_jobs_does_not_matter():
    one, three = (SubsampleAnnealedDPMM(n_jobs=n, random_state=0).fit(OVERLAPPING) for n in (1, 3))
    np.testing.assert_array_equal(one.log_joint_, three.log_joint_)


@pytest.mark.parametrize(("X", "n_chains"), [(SEPARATE, 2), (OVERLAPPING, 4)])
def test_warm_start_continues_the_chains_there_are(X, n_chains):
    model = SubsampleAnnealedDPMM(n_draws=4, warm_start=True, random_state=0).fit(X)
    first = model.log_joint_
    model.set_params(n_draws=6).fit(X)
    assert model.n_chains_ == n_chains
    np.testing.assert_array_equal(model.log_joint_[:, :4], first)


def test_two_chains_for_planted_views():
    table = make_planted_views(n_samples=1000, n_features=12, n_clusters=(3, 5), random_state=0)
    model = CrossCat(random_state=0).fit(table.data)
    assert model.n_chains_ == len(model.posterior_column_labels_) == 2
