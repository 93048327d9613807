"""What a warm-up leaves: points that the whole table allows, and step sizes for the last metric."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.tempering import DifferentiableModel, HamiltonianMonteCarlo, ParallelTempering, sample

ROWS = np.random.default_rng(3).uniform(size=60)


class UniformRows(DifferentiableModel):
    """Rows between 0 and exp(theta): each one excludes some values of theta."""

    n_parameters, n_observations = 1, len(ROWS)

    def log_prior(self, theta):
        return float(2.0 * theta[0] - np.exp(theta[0]))

    def grad_log_prior(self, theta):
        return 2.0 - np.exp(theta)

    def log_likelihood(self, theta, rows=None):
        own = ROWS if rows is None else ROWS[rows]
        return -len(own) * float(theta[0]) if np.exp(theta[0]) > own.max(initial=0.0) else -np.inf

    def grad_log_likelihood(self, theta, rows=None):
        return np.array([-float(len(ROWS) if rows is None else len(rows))])

    def sample_prior(self, rng):
        return np.log(rng.gamma(2.0, size=1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("levels", [{"inverse_temperatures": [1.0]}, {}, {"subsets": "independent"}], ids=str)
def test_no_draw_is_impossible(levels):
    """Points that a subset allows may be excluded by the rows of the next level, and no trajectory leaves those."""
    for seed in range(4):
        result = ParallelTempering(**levels).sample(UniformRows(), 60, n_chains=2, random_state=seed)
        assert np.isfinite(result.log_density).all() and np.exp(result.draws.min()) > ROWS.max()


def test_moves_that_are_hardly_ever_accepted_are_said():
    """Trajectories that leave the support are rejected: here nearly all do."""
    with pytest.warns(ConvergenceWarning, match=r"accepted with a share of 0\.0\d\d: draws hardly differ"):
        ParallelTempering(inverse_temperatures=[1.0]).sample(UniformRows(), 100, n_chains=1, random_state=0)


def curved(x):
    return -0.125 * x[0] ** 2 - 12.5 * (x[1] - 0.5 * x[0] ** 2) ** 2


def slope_of_curved(x):
    pull = 25.0 * (x[1] - 0.5 * x[0] ** 2)
    return np.array([pull * x[0] - 0.25 * x[0], -pull])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_step_sizes_follow_the_target_acceptance():
    """The last metric comes with a step size of its own, which the rest of the warm-up adapts."""
    found, steps = [], []
    for target in (0.6, 0.95):
        explorer = HamiltonianMonteCarlo(target_acceptance=target, n_steps=8)
        setting = {"gradient": slope_of_curved, "reference": (0.0, 3.0), "n_parameters": 2, "n_levels": 4}
        result = sample(curved, explorer=explorer, n_chains=4, n_draws=100, random_state=0, **setting)
        found.append(result.acceptance.mean(axis=0)[:3])
        steps.append(result.step_sizes[0, 0])
    assert (found[0] > 0.35).all() and (found[1] > 0.75).all() and steps[1] < 0.7 * steps[0]
