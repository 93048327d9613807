"""Clusters of the representative draw that the draws do not separate are one cluster of the estimate."""

import numpy as np
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.mixtures.predictive import assign_rows
from sklearn_subanneal.posterior import expected_loss, representative_draw


@pytest.fixture(scope="module")
def overlapping():
    """Two clear clusters; a heavy-tailed one is divided in many ways."""
    rng = np.random.default_rng(3)
    return np.vstack([rng.standard_t(1.5, (150, 2)), rng.normal(60.0, 1.0, (50, 2))])


@pytest.fixture(scope="module", params=[CrossCat, SubsampleAnnealedDPMM])
def fitted(request, overlapping):
    return request.param(n_chains=2, n_draws=8, random_state=0).fit(overlapping)


def groups_and_draw(model):
    if isinstance(model, CrossCat):
        return model._groups[0], *model._view(0, None)[:2]
    return model._groups, model._models, model._representative


def test_some_clusters_are_merged(fitted):
    groups, _, draw = groups_and_draw(fitted)
    assert len(groups) == len(draw.sizes) > fitted.n_clusters_ == groups.max() + 1 == len(np.unique(fitted.labels_))


def test_probabilities_of_merged_clusters_add_up(fitted, overlapping):
    groups, models, draw = groups_and_draw(fitted)
    apart = np.exp(assign_rows(models, draw, fitted._encode(overlapping), np.arange(len(groups))))
    kept = groups >= 0
    expected = apart[:, kept] @ np.eye(fitted.n_clusters_)[groups[kept]]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(overlapping), expected, atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(overlapping), fitted.labels_)
    np.testing.assert_array_equal(expected.argmax(axis=1), fitted.labels_)


def test_the_loss_is_not_larger_than_that_of_the_draw(fitted):
    draws = fitted.posterior_labels_
    draw = draws[representative_draw(draws)]
    of_draw, of_labels = expected_loss([draw, fitted.labels_], draws)
    assert of_labels < of_draw
