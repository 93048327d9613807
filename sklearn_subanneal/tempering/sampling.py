"""sample: draws and log evidence of any log density, by non-reversible parallel tempering."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from numbers import Real
from pathlib import Path

from sklearn_subanneal._core.arguments import LARGEST, checked_flag, checked_integer, shortened
from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.checkpoint import Checkpoint
from sklearn_subanneal.annealing.runner import ChainContext, spawn_generators
from sklearn_subanneal.annealing.saved_fit import ChainSaver, SavedFit, digest
from sklearn_subanneal.tempering.ensemble_run import EnsembleSpec
from sklearn_subanneal.tempering.guided_hamiltonian import GuidedHamiltonianMonteCarlo
from sklearn_subanneal.tempering.hamiltonian import HamiltonianMonteCarlo
from sklearn_subanneal.tempering.ladders import subset_ladder
from sklearn_subanneal.tempering.log_densities import LogDensityModel
from sklearn_subanneal.tempering.parallel_tempering import ParallelTempering
from sklearn_subanneal.tempering.slice_sampling import SliceSampling
from sklearn_subanneal.tempering.targets import ReferenceTarget, target_of
from sklearn_subanneal.tempering.tempered_sampler import LONGEST, MOST_LEVELS
from sklearn_subanneal.tempering.tempering_result import TemperingResult
from sklearn_subanneal.tempering.transition_kernels import MetropolisHastings, TransitionKernel

EXPLORERS = {"slice": SliceSampling, "hmc": HamiltonianMonteCarlo, "mh": lambda: MetropolisHastings(n_steps=10)}
LEVELS = ("auto", "powers", "subsets")
# Rows from which subsets are taken, and parameters up to which they are: see doc/theory/tempering.md.
MANY_ROWS, FEW_PARAMETERS = 300_000, 2
# Parameters above which a target with gradients is explored by them.
MANY_PARAMETERS = 15
# Chains; of a target that takes many points at once, more.
CHAINS, MANY_CHAINS = 16, 64
# Draws of each chain by subsets, whose levels do not lead to a barrier that is known.
SUBSET_DRAWS = 1000


def sample(
    target,
    *,
    prior=None,
    reference=None,
    parameters=None,
    n_parameters: int | None = None,
    initial=None,
    gradient=None,
    vectorized: bool = False,
    levels: str = "auto",
    explorer=None,
    n_levels: int | None = None,
    n_chains: int | None = None,
    n_draws: int | None = None,
    n_warmup: int | None = None,
    random_state=None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    checkpoint: Checkpoint | None = None,
    verbose: bool = False,
) -> TemperingResult:
    """Draw from any density known up to a constant, and estimate the log of that constant, by parallel tempering.

    A ladder of densities leads from a reference, which is sampled exactly, to the target, so that modes are found and
    visited by their probabilities however far apart they are, if the reference covers them. Rounds of 1, 2, 4, ...
    iterations choose the number of levels and where they are, the kernels' steps and metrics, and, if asked for, the
    reference; then everything is frozen and draws are made.

    Parameters
    ----------
    target : callable, pair of callables, LogDensityModel, str or path of a .stan file, or PyMC model
        A log density, or with ``prior`` a log likelihood, of an array of ``n_parameters`` numbers, or, with
        ``parameters`` or distributions, of parameters by their names; it returns a number, -inf where there is no mass.
        A pair is a log prior and a log likelihood. Densities of constrained parameters are those of their values: the
        Jacobian is added here. For functions of JAX, see :class:`JaxDensity`.
    prior, reference : tuple, dict or NormalReference, default=None
        Where the ladder starts: a pair (mean, standard deviation) of a normal density, in coordinates without
        constraints; or a dict from names to frozen distributions of :mod:`scipy.stats`, or pairs of one and a number,
        whose supports are the constraints. As ``prior`` it is multiplied with the likelihood that ``target`` is; as
        ``reference`` it is not, and ``target`` is the whole density. ``reference="variational"``, the default beside
        ``initial``, is a normal density fitted to the draws of the rounds: near and cheap, but modes that no round
        reaches stay unknown, and no diagnostic can tell.
    parameters : dict of str to int, str or tuple, default=None
        Names, and for each a number of reals, "real", "positive", an interval, or pairs of these or of "simplex" and a
        number; see :class:`ParameterSpace`.
    n_parameters : int or None, default=None
        If the target takes an array, and nothing else says how long it is.
    initial : array-like of shape (n_parameters,) or (n_points, n_parameters), or dict, default=None
        Where a variational reference starts; the mean and covariance of several points, or one point and the identity.
    gradient : callable or None, default=None
        Gradient of the target, for Hamiltonian Monte Carlo: as an array, or by names as a dict.
    vectorized : bool, default=False
        Whether the target takes many points at once, as arrays with one axis more, and returns an array: many times as
        fast, since all levels of all chains are evaluated by one call.
    levels : {"auto", "powers", "subsets"}, default="auto"
        Of a LogDensityModel: powers of its likelihood, or nested subsets of its rows, which are cheaper and have no
        evidence. "auto" takes subsets from 300,000 rows and up to 2 parameters. ``result.levels`` says which.
    explorer : {"slice", "hmc", "mh"}, TransitionKernel or None, default=None
        Moves within a level. None: slice sampling, or Hamiltonian Monte Carlo for more than 15 parameters of a target
        with gradients.
    n_levels : int or None, default=None
        None: two for each unit of the barrier, the sum of the shares of swaps that are rejected. 1: no tempering.
    n_chains : int or None, default=None
        Chains are independent after warm-up, but share what it tunes. None: 16, or 64 if vectorized, since more chains
        then cost little.
    n_draws : int or None, default=None
        Draws of each chain. None: as many as make about 2,500 round trips of all chains, from 250 to 50,000; the share
        of a mode has then a standard error of about 0.01. By subsets 1,000.
    n_warmup : int or None, default=None
        Iterations of all rounds. None: 255, or 127 from 64 chains on, and five more for each level, in which nothing is
        tuned.
    random_state : int, RandomState instance, Generator or None, default=None
    n_jobs : int or None, default=None
        Threads that evaluate a target that is not vectorized; results are the same for any number.
    time_limit : float or None, default=None
        Seconds, up to one more move of all points, of which at most half are for the warm-up.
    checkpoint : Checkpoint or None, default=None
        Saves the chains after their warm-up, so that the same call in another process resumes them, bit for bit.
    verbose : bool, default=False
        Print what was chosen.

    Returns
    -------
    result : TemperingResult

    Raises
    ------
    ValueError
        If an argument is not as described, or the target is nan or inf somewhere.

    Warns
    -----
    ConvergenceWarning
        If the time limit ended the warm-up, no replica made a round trip, or R-hat of a parameter is above 1.05.

    References
    ----------
    S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet (2022), Non-reversible parallel tempering: a scalable highly
    parallel MCMC scheme, JRSS B 84. N. Surjanovic, S. Syed, A. Bouchard-Cote, T. Campbell (2022), Parallel tempering
    with a variational reference, NeurIPS 35.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering import sample
    >>> def two_modes(x):
    ...     return np.logaddexp(np.log(0.3) - 0.5 * (x[0] + 5) ** 2, np.log(0.7) - 0.5 * (x[0] - 5) ** 2)
    >>> result = sample(two_modes, reference=(0.0, 10.0), n_parameters=1, n_draws=800, random_state=0)
    >>> bool(abs((result.draws < 0).mean() - 0.3) < 0.05), bool(abs(result.log_evidence - 0.919) < 0.05)
    (True, True)
    """
    given = {
        "prior": prior,
        "reference": reference,
        "initial": initial,
        "parameters": parameters,
        "n_parameters": n_parameters,
        "gradient": gradient,
    }
    model = _model(target, given, vectorized)
    is_variational = isinstance(model, ReferenceTarget) and model.is_guess
    n_chains = MANY_CHAINS if n_chains is None and model.is_vectorized else CHAINS if n_chains is None else n_chains
    n_chains = checked_integer("n_chains", n_chains, otherwise="None or ")
    for name, value, least in (("n_draws", n_draws, 1), ("n_warmup", n_warmup, 0)):
        if value is not None:
            checked_integer(name, value, least, otherwise="None or ")
    if n_levels is not None:
        checked_integer("n_levels", n_levels, 1, MOST_LEVELS, otherwise="None or ")
    if n_jobs is not None:
        checked_integer("n_jobs", n_jobs, -LARGEST, otherwise="None or ")
    if time_limit is not None and not (isinstance(time_limit, Real) and 0.0 < time_limit <= LONGEST):
        raise ValueError(f"time_limit must be a positive number of seconds or None, got {shortened(time_limit)}")
    if not isinstance(checkpoint, Checkpoint | None):
        raise ValueError(f"checkpoint must be a Checkpoint or None, got {checkpoint!r}; write Checkpoint(folder)")
    say = _Speaker(checked_flag("verbose", verbose))
    kernel = _kernel(explorer, model)
    if _takes_subsets(levels, model):
        say(f"Levels are nested subsets of the {model.n_observations} rows; levels='powers' gives the log evidence.")
        deepest, least = subset_ladder(model.n_parameters, model.n_observations)
        sampler = ParallelTempering(
            inner=kernel, n_levels=n_levels or deepest, min_inverse_temperature=least, n_warmup=n_warmup
        )
        # Chains that run one after the other share the time.
        turns = -(-n_chains // min(n_workers(n_jobs), n_chains))
        limit = None if time_limit is None else time_limit / turns
        return sampler.sample(model, n_draws or SUBSET_DRAWS, n_chains, random_state, n_jobs, limit, checkpoint)
    say(f"Levels are powers; points are moved by {type(kernel).__name__}.")
    (generator,) = spawn_generators(random_state, 1)
    spec = EnsembleSpec(
        model,
        kernel,
        n_chains,
        n_levels,
        n_draws,
        n_warmup,
        is_variational,
        generator,
        n_workers=n_workers(n_jobs),
        time_limit=time_limit,
        say=say,
    )
    saved = SavedFit(
        "sample",
        [] if checkpoint is None else [checkpoint],
        lambda: _identity(spec, target, given, random_state),
    )
    saved.check_draws(n_draws or LARGEST)
    previous, ended = saved.result(0, n_draws or 0)
    context = ChainContext(reporter=ChainSaver(saved, 0) if saved else None)
    # In this process, whatever the backend of joblib: targets need not be picklable, and threads are in the run.
    with saved.open(), one_blas_thread():
        run = replace(spec, previous=previous, ended=ended).run(context)
    result = TemperingResult.of_ensemble(run, model)
    result.warn()
    return result


class _Speaker:
    """Prints messages, or not."""

    def __init__(self, is_on: bool):
        self._is_on = is_on

    def __call__(self, message: str) -> None:
        if self._is_on:
            print(f"sample: {message}")


def _model(target, given, vectorized):
    """The model that a target is, or stands for."""
    if type(target).__module__.partition(".")[0] == "pymc":
        from sklearn_subanneal.tempering.pymc_model import PyMCModel

        target = PyMCModel(target)
    if isinstance(target, LogDensityModel):
        superfluous = [name for name, value in given.items() if value is not None]
        if superfluous or vectorized:
            raise ValueError(
                f"{(superfluous or ['vectorized'])[0]} must be left out for a LogDensityModel, which has its own"
            )
        return target
    if isinstance(target, str | os.PathLike):
        if Path(target).suffix != ".stan":
            raise ValueError(f"a file that is a target must end with .stan, got {shortened(target)}")
        from sklearn_subanneal.tempering.stan_density import StanDensity

        target = StanDensity(target)
    return target_of(target, vectorized=vectorized, **given)


def _kernel(explorer, model):
    kernel = explorer
    if kernel is None:
        kernel = "hmc" if model.has_gradients and model.n_parameters > MANY_PARAMETERS else "slice"
    if isinstance(kernel, str):
        if kernel not in EXPLORERS:
            raise ValueError(f"explorer must be one of {tuple(EXPLORERS)}, a TransitionKernel or None, got {kernel!r}")
        kernel = EXPLORERS[kernel]()
    if not isinstance(kernel, TransitionKernel) or isinstance(kernel, GuidedHamiltonianMonteCarlo):
        raise ValueError(
            f"explorer must be one of {tuple(EXPLORERS)}, a TransitionKernel without a guide, or None, got "
            f"{shortened(explorer)}"
        )
    kernel.check(model)
    return kernel


def _takes_subsets(levels, model):
    if not isinstance(levels, str) or levels not in LEVELS:
        raise ValueError(f"levels must be one of {LEVELS}, got {shortened(levels)}")
    if levels == "subsets" and model.n_observations == 1:
        raise ValueError("levels='subsets' needs a LogDensityModel with rows; one observation has no subsets")
    many = model.n_observations >= MANY_ROWS and model.n_parameters <= FEW_PARAMETERS
    return levels == "subsets" or (levels == "auto" and many)


def _identity(spec, target, given, random_state):
    """Digests of all that a run has in common with the one that it continues."""
    own = given | {
        "target": target,
        "explorer": spec.kernel,
        "n_chains": spec.n_chains,
        "n_levels": spec.n_levels,
        "n_warmup": spec.n_warmup,
        "random_state": random_state,
        "time_limit": spec.time_limit,
    }
    try:
        return {name: digest(value) for name, value in own.items()}
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"checkpoint needs a target and an explorer that can be pickled, to tell them from others: {error}; define "
            "classes and functions at the top of a module"
        ) from error
