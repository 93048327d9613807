"""Semicontinuous columns in the block of a mixture with full covariance: which atom a cell is, and the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.shards import ShardedTable

# Fits are short.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1], 150)
SIZE = RNG.normal(size=300) + 8.0 * GROUP
PRICE = np.where(RNG.random(300) < np.where(GROUP, 0.2, 0.6), 0.0, 0.7 * SIZE + 0.1 * RNG.normal(size=300) + 40.0)
PRICE[::11] = np.nan
SIZE[::7] = np.nan
X = pd.DataFrame({"price": PRICE, "size": SIZE})
IS_ZERO = pd.array(np.where(np.isnan(PRICE), None, PRICE == 0.0), dtype="boolean")
PARTS = pd.DataFrame({"price (atom)": IS_ZERO, "price (rest)": np.where(PRICE == 0.0, np.nan, PRICE), "size": SIZE})
KINDS = {"price": "semicontinuous", "size": "real"}
KINDS_OF_PARTS = {"price (atom)": "boolean", "price (rest)": "real", "size": "real"}
SHORT = {"covariance_type": "full", "n_chains": 2, "n_draws": 4, "max_sweeps": 5, "random_state": 0}


@pytest.fixture(scope="module")
def pair():
    """The model of the table, and that of its parts as columns."""
    model = SubsampleAnnealedDPMM(feature_types=KINDS, feature_params={"price": {"atoms": 0.0}}, **SHORT).fit(X)
    return model, SubsampleAnnealedDPMM(feature_types=KINDS_OF_PARTS, **SHORT).fit(PARTS)


def test_it_is_the_model_of_the_parts(pair):
    model, parts = pair
    assert model.feature_types_ == KINDS
    assert model.part_types_ == KINDS_OF_PARTS
    assert_array_equal(model.posterior_labels_, parts.posterior_labels_)
    assert_array_equal(model.log_joint_, parts.log_joint_)
    assert_array_equal(model.score_samples(X), parts.score_samples(PARTS))
    # Of this table it is the better one, as the trial sees.
    chosen = SubsampleAnnealedDPMM(feature_types=KINDS, **SHORT | {"covariance_type": "auto"}).fit(X)
    assert_array_equal(chosen.score_samples(X), model.score_samples(X))


def test_imputations_are_means_of_draws_or_sure_atoms(pair):
    model = pair[0]
    rows = pd.DataFrame({"price": np.nan, "size": [-1.0, 0.5, 8.0, 9.0]})
    filled, spread = model.impute(rows, return_uncertainty=True)
    # Rows have draws of their own: many rows take less time than many tables.
    many = rows.loc[np.tile(np.arange(4), 200)].reset_index(drop=True)
    draws = np.array([own["price"] for own in model.sample_imputations(many, 20, random_state=0)]).reshape(-1, 4)
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(filled["price"] - draws.mean(axis=0)) < 5.0 * error + 0.02 * draws.std(axis=0)).all()
    assert_allclose(spread[:, 0], draws.std(axis=0), rtol=0.1)
    sure = SubsampleAnnealedDPMM(feature_types=KINDS, **SHORT).fit(
        X.assign(price=np.where(np.isnan(PRICE) | (GROUP == 1), PRICE, 0.0))
    )
    assert sure.impute(rows)["price"][0] == 0.0


def test_moments_are_those_of_all_cells(pair):
    model, parts = pair
    n_clusters = model.n_clusters_
    assert n_clusters == len(model._representative.sizes) >= 2
    share, mean, size = parts.means_.T
    variances = parts.covariances_
    assert_allclose(model.means_, np.column_stack([(1.0 - share) * mean, size]), rtol=1e-12)
    expected = np.empty((n_clusters, 2, 2))
    expected[:, 0, 0] = (1.0 - share) * (variances[:, 1, 1] + mean**2) - ((1.0 - share) * mean) ** 2
    expected[:, 0, 1] = expected[:, 1, 0] = (1.0 - share) * variances[:, 1, 2]
    expected[:, 1, 1] = variances[:, 2, 2]
    assert_allclose(model.covariances_, expected, rtol=1e-9)


def test_moments_with_several_atoms():
    other = X.assign(price=np.where((PRICE > 0.0) & (RNG.random(300) < 0.3), 10.0, PRICE))
    given = {"feature_types": KINDS, "feature_params": {"price": {"atoms": [0.0, 10.0]}}}
    model = SubsampleAnnealedDPMM(**given, **SHORT).fit(other)
    assert list(model.part_types_.values()) == ["categorical", "real", "real"]
    found = model._groups.max() + 1
    samples = model.sample(200_000, random_state=0)
    labels = model.predict(samples)
    # Clusters are far apart, and the draw that represents the posterior is like the others.
    for k in np.flatnonzero(model.weights_ > 0.2):
        own = samples[labels == k]
        assert_allclose(model.means_[k], own.mean(), rtol=0.05, atol=0.1)
    assert found == len(model.means_)


def test_streams_and_shards_are_those_of_the_parts():
    both = []
    for cells, kinds in ((X, KINDS), (PARTS, KINDS_OF_PARTS)):
        stream = SubsampleAnnealedDPMM(feature_types=kinds, window=200, **SHORT)
        for start in range(0, 300, 100):
            stream.partial_fit(cells[start : start + 100])
        shards = SubsampleAnnealedDPMM(feature_types=kinds, **SHORT).fit(ShardedTable(cells, n_start_rows=200))
        both.append((stream, shards))
    for model, parts in zip(*both, strict=True):
        assert len(model.part_types_) == 3
        assert_array_equal(model.labels_, parts.labels_)
        assert_array_equal(model.score_samples(X), parts.score_samples(PARTS))


def test_hyperparameters_of_the_rest_are_those_of_single_columns():
    given = {"feature_types": KINDS, **SHORT, "covariance_type": "auto"}
    for params in ({"price": {"nu": 3.0}}, {"semicontinuous": {"kappa": 1.0}}, {"price": {"transform": "log"}}):
        model = SubsampleAnnealedDPMM(feature_params=params, **given).fit(X)
        (own,) = params.values()
        assert model.covariance_type_ == ("full" if own.keys() == {"transform"} else "diag")
    model = SubsampleAnnealedDPMM(feature_params={"price": {"alpha": 2.0, "atoms": 0.0}}, **given).fit(X)
    assert model.covariance_type_ == "full"
