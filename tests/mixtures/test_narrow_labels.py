"""Labels of 128 clusters fit the type int8, the number of clusters does not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP

N_CLUSTERS, N_ROWS = 128, 640
LABELS = np.arange(N_ROWS) % N_CLUSTERS
CELLS = np.random.default_rng(0).normal(size=N_ROWS).astype(np.float32)
PRIOR = {"mu": 0.0, "kappa": 0.1, "sigma2": 0.1, "nu": 2.0}


def columns() -> list:
    codes = (LABELS % 5).astype(np.int8)
    return [
        NormalStatistics(NormalData(CELLS), PRIOR),
        CategoricalStatistics(CategoricalData(codes), {"alpha": np.ones(5)}),
    ]


@pytest.mark.parametrize("number", [0, 1], ids=["real", "categorical"])
def test_statistics_of_so_many_clusters(number):
    found = []
    for labels in (LABELS.astype(np.int32), LABELS.astype(np.int8)):
        statistics = columns()[number]
        statistics.rebuild(labels)
        found.append((statistics.capacity, *statistics.log_marginals(N_CLUSTERS)))
    assert_array_equal(*found)
    under = [columns()[number].log_likelihood_under(LABELS.astype(dtype)) for dtype in (np.int32, np.int8)]
    assert under[0] == under[1]


def test_a_mixture_of_so_many_clusters():
    generator = np.random.default_rng(0)
    mixture = Mixture(columns(), CRP(1.0).bind(), N_ROWS)
    mixture.set_labels(LABELS.astype(np.int8), generator)
    assert mixture.n_clusters == N_CLUSTERS
    assert_array_equal(mixture.labels, LABELS)


def groups() -> np.ndarray:
    """So many groups of rows, far apart in eight columns."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(N_CLUSTERS, 8))[LABELS] + 0.001 * rng.normal(size=(N_ROWS, 8))


def short(model, **settings):
    # Narrow clusters at the start, as the groups are: so short a chain finds all of them.
    given = {"covariance_type": "diag", "feature_params": {"real": {"sigma2": 0.05}}}
    return model(n_chains=1, n_draws=2, max_sweeps=20, random_state=0, **given, **settings)


@pytest.mark.parametrize("model", [SubsampleAnnealedDPMM, CrossCat])
def test_streams_that_begin_with_so_many_clusters(model):
    X = groups()
    settings = {"column_start": "together"} if model is CrossCat else {}
    stream = short(model, **settings)
    with warnings.catch_warnings():
        # An overflow is one.
        warnings.simplefilter("error", RuntimeWarning)
        stream.partial_fit(X)
        assert stream.n_clusters_ == N_CLUSTERS
        stream.partial_fit(X[:20])
    assert stream.n_clusters_ == N_CLUSTERS


@pytest.mark.parametrize("model", [SubsampleAnnealedDPMM, CrossCat])
def test_fits_go_on_from_so_many_clusters(model):
    X = groups()
    settings = {"column_start": "together"} if model is CrossCat else {}
    fitted = short(model, warm_start=True, **settings).fit(X)
    assert fitted.n_clusters_ == N_CLUSTERS
    assert fitted.set_params(n_draws=4).fit(X).n_clusters_ == N_CLUSTERS
