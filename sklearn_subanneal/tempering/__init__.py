"""Tempered sampling of continuous posteriors, by powers of the likelihood or by subsets of the rows.

:func:`sample` draws from any log density: a function, a pair of log prior and log likelihood, a model with rows, a Stan
or PyMC model, or a function of JAX. A model is an instance of :class:`LogDensityModel`, with gradients of
:class:`DifferentiableModel`. A sampler, parallel tempering or tempered transitions, moves points by a transition kernel
on a ladder of inverse temperatures.
"""

from sklearn_subanneal.tempering.guided_hamiltonian import GuidedHamiltonianMonteCarlo
from sklearn_subanneal.tempering.hamiltonian import HamiltonianMonteCarlo
from sklearn_subanneal.tempering.jax_density import JaxDensity
from sklearn_subanneal.tempering.ladders import geometric_ladder
from sklearn_subanneal.tempering.log_densities import DifferentiableModel, GaussianMean, LogDensityModel
from sklearn_subanneal.tempering.parallel_tempering import ParallelTempering
from sklearn_subanneal.tempering.parameter_space import ParameterSpace
from sklearn_subanneal.tempering.pymc_model import PyMCModel
from sklearn_subanneal.tempering.references import IndependentReference, NormalReference
from sklearn_subanneal.tempering.sampling import sample
from sklearn_subanneal.tempering.slice_sampling import SliceSampling
from sklearn_subanneal.tempering.stan_density import StanDensity
from sklearn_subanneal.tempering.tempered_sampler import TemperedSampler
from sklearn_subanneal.tempering.tempered_transitions import TemperedTransitions
from sklearn_subanneal.tempering.tempering_result import TemperingResult
from sklearn_subanneal.tempering.transition_kernels import MetropolisHastings, TransitionKernel

__all__ = [
    "DifferentiableModel",
    "GaussianMean",
    "GuidedHamiltonianMonteCarlo",
    "HamiltonianMonteCarlo",
    "IndependentReference",
    "JaxDensity",
    "LogDensityModel",
    "MetropolisHastings",
    "NormalReference",
    "ParallelTempering",
    "ParameterSpace",
    "PyMCModel",
    "SliceSampling",
    "StanDensity",
    "TemperedSampler",
    "TemperedTransitions",
    "TemperingResult",
    "TransitionKernel",
    "geometric_ladder",
    "sample",
]
