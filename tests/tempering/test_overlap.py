"""Levels whose draws do not overlap say nothing of their ratio, nor of its error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.tempering import GaussianMean, HamiltonianMonteCarlo, ParallelTempering
from sklearn_subanneal.tempering.evidence import chains_evidence, log_ratio_of_constants, stepping_stones


def pair(gap, n=200, seed=0):
    """Log ratios, of mean 0 but for ``gap``, at draws of two unit normals."""
    lower, upper = np.random.default_rng(seed).normal(size=(2, 8, n // 8))
    return gap * lower - 0.5 * gap**2, gap * upper + 0.5 * gap**2


@pytest.mark.parametrize("gap", [0.5, 2.0, 4.0])
def test_the_error_is_that_of_many_runs(gap):
    found = np.array([stepping_stones([pair(gap, seed=seed)]) for seed in range(200)])
    finite = np.isfinite(found[:, 1])
    assert finite.mean() > 0.9
    ratio = np.sqrt(np.mean(found[finite, 1] ** 2)) / found[finite, 0].std()
    assert 0.6 < ratio < 1.6


@pytest.mark.parametrize("gap", [12.0, 40.0])
def test_without_overlap_it_is_infinite(gap):
    ratio, influence = log_ratio_of_constants(*pair(gap))
    assert np.isfinite(ratio) and np.isinf(influence).all()
    assert stepping_stones([pair(1.0), pair(gap)])[1] == np.inf
    one = [(own[:1], other[:1]) for own, other in (pair(1.0), pair(gap))]
    assert chains_evidence([one, one])[1] == np.inf
    nowhere = np.full((8, 5), -np.inf), np.zeros((8, 5))
    assert stepping_stones([nowhere]) == (-np.inf, np.inf)


def test_it_is_said():
    model = GaussianMean(np.random.default_rng(0).normal(1.0, 1.0, (2000, 3)), np.eye(3), 100.0)
    sampler = ParallelTempering(False, inverse_temperatures=[1.0, 0.0], inner=HamiltonianMonteCarlo(n_steps=3))
    with pytest.warns(ConvergenceWarning, match=r"log_evidence is not known: the draws of levels 0 and 1 hardly"):
        result = sampler.sample(model, 40, n_chains=2, random_state=0)
    assert result.log_evidence_error == np.inf and "standard error inf" in repr(result)
