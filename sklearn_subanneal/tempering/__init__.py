"""Tempered sampling of continuous posteriors, by powers of the likelihood or by subsets of the rows.

A model is any object with

- ``n_parameters``, ``n_observations``;
- ``log_prior(theta)`` and ``log_likelihood(theta, rows=None)``, floats; -inf where there is no mass. ``theta`` is a
  float64 vector in coordinates without constraints, the Jacobian in the prior; ``rows`` is an array of ints, and for
  models whose rows are not independent the likelihood is the marginal one of these rows;
- a start: ``initial(rng)``, or ``sample_prior(rng)``;
- for Hamiltonian Monte Carlo ``grad_log_prior(theta)`` and ``grad_log_likelihood(theta, rows=None)``, or
  ``log_likelihood_and_gradient(theta, rows=None)``, where the two come cheaper together.
"""

from sklearn_subanneal.tempering.guided import GuidedHamiltonianMonteCarlo
from sklearn_subanneal.tempering.kernels import HamiltonianMonteCarlo, MetropolisHastings
from sklearn_subanneal.tempering.ladders import geometric_ladder
from sklearn_subanneal.tempering.models import GaussianMean
from sklearn_subanneal.tempering.parallel import ParallelTempering
from sklearn_subanneal.tempering.result import TemperingResult
from sklearn_subanneal.tempering.transitions import TemperedTransitions

__all__ = [
    "GaussianMean",
    "GuidedHamiltonianMonteCarlo",
    "HamiltonianMonteCarlo",
    "MetropolisHastings",
    "ParallelTempering",
    "TemperedTransitions",
    "TemperingResult",
    "geometric_ladder",
]
