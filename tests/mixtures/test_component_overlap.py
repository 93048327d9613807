"""Overlaps of components against sums over all rows that there can be, with the weights of rows from the definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, softmax

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.mixtures.component_overlap import component_overlaps
from sklearn_subanneal.mixtures.predictive import Predictive


def joint_overlaps(logs, widths):
    """Of all pairs, the mean of the product of responsibilities, times the square of the share of thinner places."""
    density = logsumexp(logs, axis=1)
    masses = np.exp(density) * widths
    masses /= masses.sum()
    density = density.round(12)
    lower = np.array([masses @ (0.5 * (density < own) + 0.5 * (density <= own)) for own in density])
    responsibilities = softmax(logs, axis=1)
    return responsibilities.T @ ((masses * lower**2)[:, None] * responsibilities)


def tables():
    rng = np.random.default_rng(0)
    group = np.arange(600) % 3
    reals = np.array([0.0, 4.0, 9.0])[group] + np.array([1.0, 1.0, 2.0])[group] * rng.normal(size=600)
    grid = np.linspace(-40.0, 60.0, 4001)
    # Rows of four binary columns: many of them are equally dense.
    often = np.array([[0.9, 0.9, 0.1, 0.1], [0.1, 0.2, 0.9, 0.9], [0.5, 0.05, 0.05, 0.9]])
    booleans = rng.random((600, 4)) < often[group]
    every = np.array(np.meshgrid(*[[False, True]] * 4)).reshape(4, -1).T
    return {"reals": (reals[:, None], grid[:, None]), "booleans": (pd.DataFrame(booleans), pd.DataFrame(every))}


@pytest.mark.parametrize("kind", ["reals", "booleans"])
def test_overlaps_are_those_of_the_definition(kind):
    X, rows = tables()[kind]
    if kind == "booleans":
        X.columns = rows.columns = list("abcd")
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=2, random_state=0).fit(X)
    predictive = Predictive(model._models, model._representative)
    assert predictive.n_clusters > 1
    arrays = model._encode(rows)
    logs = predictive.log_densities([m.values(arrays) for m in model._models])[:, :-1] + predictive.log_weights[:-1]
    joint = joint_overlaps(logs, np.full(len(rows), 1.0))
    estimates = [
        component_overlaps(model._models, model._representative, None, np.random.default_rng(seed))
        for seed in range(20)
    ]
    overlaps, weights = (np.array(some) for some in zip(*estimates, strict=True))
    np.testing.assert_allclose(overlaps.sum(axis=2), 1.0)
    joints = overlaps * weights[:, :, None]
    np.testing.assert_allclose(joints, joints.transpose(0, 2, 1), rtol=1e-9)
    errors = joints.std(axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(joints.mean(axis=0) - joint) < 4.5 * errors + 1e-3 * joint.max()).all()
    assert weights.sum(axis=1).mean() == pytest.approx(joint.sum(), rel=0.01)
    if kind == "reals":
        # The share of a mixture of densities that is below that of a row is uniform: the mean of its square is 1/3.
        assert joint.sum() == pytest.approx(1 / 3, abs=1e-3)
