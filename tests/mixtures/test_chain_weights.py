"""Weights of the chains of mixtures: leave-one-out densities of rows, and their use in the answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logsumexp

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures
from sklearn_subanneal.mixtures.stacking import known_rows, left_out_scores, stacking_weights


def table(rng, n_rows=50):
    group = rng.integers(0, 2, n_rows)
    X = pd.DataFrame(
        {
            "x": 4.0 * group + rng.normal(size=n_rows),
            "y": -3.0 * group + rng.normal(size=n_rows),
            "kind": np.array(["a", "b", "c"])[(group + rng.integers(0, 2, n_rows)) % 3],
            "visits": rng.poisson(1.0 + 4.0 * group),
        }
    )
    X.loc[::7, "kind"] = None
    return X


def documents(rng):
    return sparse.csr_array(rng.poisson(np.where(np.arange(12) < 6, 2.0, 0.3), size=(40, 12)))


CASES = {
    "diag": lambda rng: (SubsampleAnnealedDPMM, {}, table(rng)),
    "full": lambda rng: (SubsampleAnnealedDPMM, {"covariance_type": "full"}, table(rng)),
    "nggp": lambda rng: (TreeGuidedNRMM, {}, table(rng)[["x", "y"]]),
    "documents": lambda rng: (SubsampleAnnealedDPMM, {"feature_types": "bag-of-words"}, documents(rng)),
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    make, settings, X = CASES[request.param](np.random.default_rng(0))
    model = make(n_chains=3, n_draws=4, random_state=0, **settings).fit(X)
    return model, model._encode(X)


def without_row(model, draw, arrays, labels, row):
    """The draw whose clusters have been made anew without one row."""
    kept = np.delete(np.arange(len(labels)), row)
    names, slots = np.unique(labels[kept], return_inverse=True)
    states = []
    for own, state in zip(model._models, draw.columns, strict=True):
        statistics = own.statistics(own.data([array[kept] for array in arrays]), state["parameters"])
        statistics.rebuild(slots.astype(np.int32))
        states.append(statistics.get_state(len(names)))
    return replace(draw, sizes=np.bincount(slots).astype(np.int32), columns=states)


def test_left_out_densities_are_those_of_the_clusters_without_the_row(fitted):
    model, arrays = fitted
    draw, labels = model._draws[1][2], model.posterior_labels_[1, 2]
    factor = LeaveOneOut(model._models, draw, None, [own.data(arrays) for own in model._models], labels)
    found = left_out_scores([Ensemble(model._models, [[factor]])], arrays)
    jacobian = ensemble_of_mixtures(model._models, [draw])
    for row in range(0, len(labels), 3):
        one = [array[[row]] for array in arrays]
        less = without_row(model, draw, arrays, labels, row)
        wanted = ensemble_of_mixtures(model._models, [replace(less, weight=1.0)]).score(one)[0]
        units = sum(np.sum(part) for part in jacobian.log_jacobians(next(jacobian.cells(one, 1))[1]))
        assert found[row] == pytest.approx(wanted - units, abs=2e-4), row


def test_weights_are_those_of_the_left_out_densities(fitted):
    model, arrays = fitted
    data = [own.data(arrays) for own in model._models]
    whole = [
        left_out_scores(
            [
                Ensemble(
                    model._models,
                    [
                        [LeaveOneOut(model._models, *own)]
                        for own in zip(draws, [None] * 4, [data] * 4, labels, strict=True)
                    ],
                )
            ],
            arrays,
        )
        for draws, labels in zip(model._draws, model.posterior_labels_, strict=True)
    ]
    wanted = stacking_weights(np.array(whole), np.zeros((3, len(whole[0]))), np.ones(len(whole[0])), 0.5)
    np.testing.assert_allclose(model.chain_weights_, wanted, atol=1e-6)
    assert model.chain_weights_.std() > 1e-4
    np.testing.assert_allclose([draw.weight for draw in model._flat_draws()], np.repeat(3 * wanted, 4), atol=1e-5)


def test_answers_use_the_weights(fitted):
    model, arrays = fitted
    single = [
        ensemble_of_mixtures(model._models, [replace(draw, weight=1.0)]).score(arrays) for draw in model._flat_draws()
    ]
    shares = np.repeat(model.chain_weights_ / 4, 4)
    wanted = np.log(shares @ np.exp(single))
    np.testing.assert_allclose(
        ensemble_of_mixtures(model._models, model._flat_draws()).score(arrays), wanted, rtol=1e-9
    )
    together = model.posterior_labels_.reshape(12, -1)[:, :3]
    np.testing.assert_allclose(
        model.co_clustering([0, 1, 2])[0], shares @ (together == together[:, :1]), rtol=1e-9, atol=1e-12
    )
    # The draws of the chains themselves have no weights.
    assert all(draw.weight == 1.0 for result in model._results for draw in result.draws)


def test_bags_are_sampled_by_the_weights_of_the_draws():
    rng = np.random.default_rng(1)
    models = []
    for rate in (0.05, 8.0):
        X = np.column_stack([np.full(60, 10), rng.poisson(rate, 60)])
        params = {"bag-of-words": {"base": 1.0, "repeats": "cluster"}}
        model = SubsampleAnnealedDPMM(feature_types="bag-of-words", feature_params=params, n_chains=1, n_draws=1)
        models.append(model.set_params(random_state=0).fit(X))
    model = models[0]
    model._draws = [[replace(one._flat_draws()[0], weight=w) for one, w in zip(models, (1.8, 0.2), strict=True)]]
    shares = []
    for one in (model, models[1]):
        counts = one.sample(3000, random_state=0).toarray().sum(axis=0)
        shares.append(counts[1] / counts.sum())
    assert shares[1] > 0.3
    assert shares[0] == pytest.approx(0.1 * shares[1], abs=0.03)


def test_weights_are_found_from_rows_without_missing_cells_of_a_block():
    X = np.random.default_rng(2).normal(size=(60, 3))
    X[::5, 1] = np.nan
    model = SubsampleAnnealedDPMM(covariance_type="full", n_chains=3, n_draws=2, random_state=0).fit(X)
    arrays, complete = model._encode(X), ~np.isnan(X).any(axis=1)
    np.testing.assert_array_equal(known_rows(model._models, arrays), complete)
    cells, labels = [array[complete] for array in arrays], model.posterior_labels_[:, :, complete]
    data = [own.data(cells) for own in model._models]
    scores = [
        [
            left_out_scores([Ensemble(model._models, [[LeaveOneOut(model._models, draw, None, data, own)]])], cells)
            for draw, own in zip(draws, chain, strict=True)
        ]
        for draws, chain in zip(model._draws, labels, strict=True)
    ]
    whole = -logsumexp(-np.array(scores), axis=1) + np.log(2.0)
    wanted = stacking_weights(whole, np.zeros_like(whole), np.ones(complete.sum()), 0.5)
    np.testing.assert_allclose(model.chain_weights_, wanted, atol=1e-6)
    assert model.chain_weights_.std() > 1e-4


def test_weights_are_equal_where_each_row_has_missing_cells_of_a_block():
    X = np.random.default_rng(2).normal(size=(42, 3))
    X[np.arange(42), np.arange(42) % 3] = np.nan
    model = SubsampleAnnealedDPMM(covariance_type="full", n_chains=3, n_draws=2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.chain_weights_, 1.0 / 3.0)


def test_rows_of_larger_weight_count_as_often():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    weights = rng.integers(0, 3, size=30)
    settings = {"n_chains": 2, "n_draws": 3, "random_state": 0}
    one = SubsampleAnnealedDPMM(**settings).fit(X, sample_weight=weights)
    other = SubsampleAnnealedDPMM(**settings).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(one.chain_weights_, other.chain_weights_, rtol=1e-9)
