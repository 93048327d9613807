"""Base class of the tempered samplers: checks of their parameters, and chains run side by side by joblib."""

from __future__ import annotations

import pickle
from dataclasses import replace
from numbers import Real

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal._core.arguments import LARGEST, checked_flag, checked_integer, shortened
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.checkpoint import Checkpoint
from sklearn_subanneal.annealing.runner import CancelFlag, ChainContext, run_chains, spawn_generators
from sklearn_subanneal.annealing.saved_fit import ChainSaver, SavedFit, digest
from sklearn_subanneal.tempering.hamiltonian import HamiltonianMonteCarlo
from sklearn_subanneal.tempering.ladders import check_ladder, default_ladder
from sklearn_subanneal.tempering.log_densities import LogDensityModel
from sklearn_subanneal.tempering.replicas import Replicas
from sklearn_subanneal.tempering.subsets import SUBSETS
from sklearn_subanneal.tempering.tempered_chain import TemperedChainSpec, run_tempered_chain
from sklearn_subanneal.tempering.tempering_result import TemperingResult
from sklearn_subanneal.tempering.transition_kernels import MetropolisHastings, TransitionKernel

# A chain has a point and its statistics at each of them.
MOST_LEVELS = 10_000
# Seconds that a float can hold.
LONGEST = 1e300


class TemperedSampler(BaseEstimator):
    """Base of the tempered samplers.

    A subclass has the parameters ``subsample``, ``subsets``, ``inner``, ``inverse_temperatures``, ``n_levels``,
    ``min_inverse_temperature``, ``adapt_ladder`` and ``n_warmup``, and overrides ``_iterate``.
    """

    def _iterate(self, replicas: Replicas, number: int) -> None:
        """Make one iteration; ``replicas.points[0]`` is its draw."""
        raise NotImplementedError(f"{type(self).__name__} must define an iteration")

    def _has_evidence(self, replicas: Replicas) -> bool:
        """Whether the swaps give stepping stones for the log evidence."""
        return False

    def takes_subsets(self, model: LogDensityModel) -> bool:
        """Whether levels of this model have subsets of its rows; one row has no subsets that differ."""
        return bool(self.subsample) and model.n_observations != 1

    def sample(
        self,
        model,
        n_draws: int,
        n_chains: int = 4,
        random_state=None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> TemperingResult:
        """Draw from the posterior of a model.

        Parameters
        ----------
        model : LogDensityModel
        n_draws : int
            Draws kept in each chain, after warm-up.
        n_chains : int, default=4
        random_state : int, RandomState instance, Generator or None, default=None
        n_jobs : int or None, default=None
            Chains side by side, in threads; with more jobs than chains the levels of a chain, too. Results are the same
            for any number.
        time_limit : float or None, default=None
            Seconds a chain; after these it ends with the draws that it has, at least one. At most half of the time is
            for the warm-up. All chains keep as many draws as the shortest.
        checkpoint : Checkpoint or None, default=None
            Saves the chains after their warm-up, so that the same call in another process resumes them, bit for bit.

        Returns
        -------
        result : TemperingResult

        Raises
        ------
        ValueError
            If a parameter or the model is not as described; or the folder of the checkpoint holds other chains.

        Warns
        -----
        ConvergenceWarning
            If the time limit ended the warm-up, no replica made a round trip, or R-hat of a parameter is above 1.05.
        """
        specs = self.chain_specs(model, n_draws, n_chains, random_state, n_jobs, time_limit)
        if not isinstance(checkpoint, Checkpoint | None):
            raise ValueError(f"checkpoint must be a Checkpoint or None, got {checkpoint!r}; write Checkpoint(folder)")
        saved = SavedFit(
            type(self).__name__,
            [] if checkpoint is None else [checkpoint],
            lambda: self._identity(model, specs, random_state, time_limit),
        )
        saved.check_draws(specs[0].n_draws)
        cancel, contexts = CancelFlag(), []
        for number, spec in enumerate(specs):
            previous, ended = saved.result(number, spec.n_draws)
            specs[number] = replace(spec, previous=previous, ended=ended)
            contexts.append(ChainContext(cancel, ChainSaver(saved, number) if saved else None))
        with saved.open():
            chains = run_chains(run_tempered_chain, specs, contexts, n_jobs)
        result = TemperingResult.of(chains, model.constrained)
        result.warn()
        return result

    def _identity(self, model, specs, random_state, time_limit) -> dict[str, str]:
        """Digests of all that chains have in common with those that they continue."""
        own = self.get_params(deep=False) | {
            "n_warmup": specs[0].n_warmup,
            "n_chains": len(specs),
            "random_state": random_state,
            "time_limit": time_limit,
            "model": model,
        }
        try:
            return {name: digest(value) for name, value in own.items()}
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(
                f"checkpoint needs a model and an inner kernel that can be pickled, to tell them from others: {error}; "
                "define classes and functions at the top of a module"
            ) from error

    def chain_specs(
        self,
        model: LogDensityModel,
        n_draws: int,
        n_chains: int = 4,
        random_state=None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
    ) -> list[TemperedChainSpec]:
        """The chains that :meth:`sample` runs, with the same parameters.

        Raises
        ------
        ValueError
            If a parameter is not as described: before any chain starts.
        """
        for name in ("subsample", "refresh", "adapt_ladder"):
            if hasattr(self, name):
                checked_flag(name, getattr(self, name))
        if not isinstance(self.subsets, str) or self.subsets not in SUBSETS:
            raise ValueError(f"subsets must be one of {SUBSETS}, got {shortened(self.subsets)}")
        n_draws, n_chains = checked_integer("n_draws", n_draws), checked_integer("n_chains", n_chains)
        if n_jobs is not None:
            checked_integer("n_jobs", n_jobs, -LARGEST, otherwise="None or ")
        if time_limit is not None and not (isinstance(time_limit, Real) and 0.0 < time_limit <= LONGEST):
            raise ValueError(f"time_limit must be a positive number of seconds or None, got {shortened(time_limit)}")
        if not isinstance(model, LogDensityModel):
            raise ValueError(f"model must be a LogDensityModel, got {type(model).__name__}; derive it from that class")
        kernel, ladder = self._kernel(model), self._ladder(model)
        return [
            TemperedChainSpec(
                self,
                model,
                kernel,
                ladder,
                n_draws,
                self.warmup_length(n_draws),
                generator,
                number,
                n_workers=max(1, n_workers(n_jobs) // n_chains),
                time_limit=time_limit,
            )
            for number, generator in enumerate(spawn_generators(random_state, n_chains))
        ]

    def _kernel(self, model):
        kernel = self.inner
        if kernel is None:
            kernel = HamiltonianMonteCarlo() if model.has_gradients else MetropolisHastings(n_steps=5)
        if not isinstance(kernel, TransitionKernel):
            raise ValueError(f"inner must be a TransitionKernel, as MetropolisHastings(), or None, got {kernel!r}")
        kernel.check(model)
        return kernel

    def _ladder(self, model) -> NDArray:
        if self.inverse_temperatures is not None:
            if self.n_levels is not None or self.min_inverse_temperature is not None:
                raise ValueError("give inverse_temperatures, or n_levels and min_inverse_temperature, not both")
            return check_ladder(self.inverse_temperatures)
        return self._geometric(model, self.n_levels, self.min_inverse_temperature)

    def _geometric(self, model, n_levels, min_inverse_temperature):
        if n_levels is not None:
            checked_integer("n_levels", n_levels, 1, MOST_LEVELS, otherwise="None or ")
        lowest = min_inverse_temperature
        if lowest is not None and not (isinstance(lowest, Real) and 0.0 <= lowest < 1.0):
            raise ValueError(
                f"min_inverse_temperature must be a number between 0 and 1, 0 included, or None, got {lowest!r}"
            )
        return default_ladder(model.n_parameters, self.takes_subsets(model), n_levels, lowest)

    def warmup_length(self, n_draws: int) -> int:
        """Iterations of warm-up before ``n_draws`` draws."""
        if self.n_warmup is None:
            return max(100, n_draws // 2)
        return checked_integer("n_warmup", self.n_warmup, 0, otherwise="None or ")
