"""Peak memory of fits, as traced by Python: a few times the table, for many rows and for many columns."""

import tracemalloc

import numpy as np
import pytest

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import Accelerating
from sklearn_subanneal.datasets import make_gaussian_mixture
from sklearn_subanneal.mixtures.stacking import chain_weights_of_mixtures
from sklearn_subanneal.posterior import representative_draw


def peak_of(call):
    """Bytes that were allocated at once, at most, and the result."""
    tracemalloc.start()
    try:
        found = call()
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


def test_peak_memory_of_a_fit_of_many_rows():
    X, _, _ = make_gaussian_mixture(
        n_samples=100_000, n_features=10, n_clusters=8, covariance_type="diag", random_state=0
    )
    model = SubsampleAnnealedDPMM(
        n_chains=2, schedule=Accelerating(passes=1, n_small=300), max_sweeps=0, random_state=0, n_jobs=1
    )
    peak, _ = peak_of(lambda: model.fit(X))
    assert peak < 4.0 * X.nbytes
    assert model.posterior_labels_.dtype == np.int32


def test_draws_are_compared_without_copies():
    labels = np.random.default_rng(0).integers(30, size=(2, 10, 50_000), dtype=np.int32)
    peak, _ = peak_of(lambda: representative_draw(labels))
    assert peak < 0.5 * labels.nbytes


@pytest.mark.slow
def test_draws_of_many_columns_are_weighed_one_at_a_time():
    X = np.random.default_rng(0).normal(size=(60, 300))
    parameters = {"n_chains": 2, "feature_types": "from_dtype", "max_sweeps": 0, "random_state": 0}
    model = SubsampleAnnealedDPMM(schedule=Accelerating(passes=1, n_small=60), **parameters).fit(X)
    arrays, counts = list(X.T), np.ones(len(X), int)

    def weights(n_draws):
        draws = [own[:n_draws] for own in model._draws]
        return chain_weights_of_mixtures(model._models, draws, model.posterior_labels_[:, :n_draws], arrays, counts)

    weights(1)
    few, _ = peak_of(lambda: weights(2))
    all_draws, _ = peak_of(lambda: weights(10))
    assert all_draws < 1.5 * few
