"""The result of a tempered sampler: draws of all chains, rates and counts, and the log evidence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.tempering.evidence import (
    chains_evidence,
    ladder_pairs,
    stepping_stones,
    thermodynamic_integral,
)
from sklearn_subanneal.tempering.result_table import result_table
from sklearn_subanneal.tempering.scale_reduction import potential_scale_reduction

# Chains that differ more have not mixed; fewer draws than these do not tell.
LARGE_RHAT, FEWEST_DRAWS = 1.05, 10
# Fewer accepted moves than that leave the draws nearly as they were.
LEAST_ACCEPTANCE = 0.03


@dataclass(frozen=True, repr=False)
class TemperingResult:
    """Draws of all chains, and rates and counts of the sampling phase; warm-up is not counted.

    Printed, it is a table of the parameters with their means, standard deviations, quantiles and R-hat, below the log
    evidence.

    Attributes
    ----------
    draws : ndarray of shape (n_chains, n_draws, n_parameters)
    log_density : ndarray of shape (n_chains, n_draws)
        Log prior plus log likelihood of all rows.
    inverse_temperatures : ndarray of shape (n_chains, n_levels)
        Inverse temperatures, as adapted in each chain.
    n_rows : ndarray of int, shape (n_chains, n_levels)
        Rows of each level's likelihood.
    step_sizes, acceptance : ndarray of shape (n_chains, n_levels)
        Of the inner kernel.
    swap_rates : ndarray of shape (n_chains, n_levels - 1)
        Share of the swaps between neighbours that were accepted; 0 where there were none.
    transition_rate, refresh_rate : ndarray of shape (n_chains,)
        Share of the tempered transitions, and of the exchanges of rows, that were accepted.
    n_values, n_gradients : ndarray of int, shape (n_chains, n_levels)
        Evaluations of each level's likelihood: alone, and with its gradient.
    log_evidence, log_evidence_error : float
        Log of the model's evidence, by stepping stones from both sides of each pair of levels, and its standard error,
        if the ladder ends at 0 and subsets, if there are any, stay as they are or are independent; else nan. The error
        is infinite where the draws of two neighbouring levels do not overlap.
    thermodynamic_log_evidence : float
        The same by thermodynamic integration over the levels: a check, since it has an error of its own that more
        levels reduce, and needs draws from the reference at which the likelihood has a mean.
    round_trips : ndarray of int, shape (n_chains,)
        How often replicas went from the lowest level to the first and back; -1 without swaps.
    levels : {"powers", "subsets", "one"}
        What the levels below the first have: powers of the likelihood, subsets of the rows; or that there are none.
    parameters : dict of str to ndarray of shape (n_chains, n_draws, ...)
        The draws by names, and with the constraints of the parameters, where they have been given.
    warmup_share : ndarray of shape (n_chains,)
        Share of the warm-up that was made before a time limit ended it; 1 if all was.
    seconds : ndarray of shape (n_chains,)
        Warm-up included.
    """

    draws: NDArray
    log_density: NDArray
    inverse_temperatures: NDArray
    n_rows: NDArray
    step_sizes: NDArray
    acceptance: NDArray
    swap_rates: NDArray
    transition_rate: NDArray
    refresh_rate: NDArray
    n_values: NDArray
    n_gradients: NDArray
    log_evidence: float
    log_evidence_error: float
    thermodynamic_log_evidence: float
    round_trips: NDArray
    levels: str
    warmup_share: NDArray
    seconds: NDArray
    parameters: dict

    def __repr__(self) -> str:
        return result_table(self)

    @classmethod
    def of(cls, chains: list, constrained: Callable | None = None) -> TemperingResult:
        """Put chains together; all keep as many draws as the shortest.

        Parameters
        ----------
        chains : list of TemperedChainResult
        constrained : callable or None, default=None
            Gives parameters by their names from draws.
        """
        n_draws = min(len(chain.draws) for chain in chains)
        stacked = {name: np.array([chain.summary[name] for chain in chains]) for name in chains[0].summary}
        log_evidence, error = chains_evidence([chain.log_ratios for chain in chains])
        draws = np.array([chain.draws[:n_draws] for chain in chains])
        subsets = (stacked["n_rows"][:, 1:] < stacked["n_rows"][:, :1]) & (stacked["inverse_temperatures"][:, 1:] > 0.0)
        return cls(
            draws=draws,
            log_density=np.array([chain.log_density[:n_draws] for chain in chains]),
            log_evidence=log_evidence,
            log_evidence_error=error,
            thermodynamic_log_evidence=np.nan,
            levels="one" if subsets.shape[1] == 0 else "subsets" if subsets.any() else "powers",
            parameters={} if constrained is None else constrained(draws),
            **stacked,
        )

    @classmethod
    def of_ensemble(cls, run, model) -> TemperingResult:
        """Of the run of an ensemble, whose chains have one ladder.

        Parameters
        ----------
        run : EnsembleResult
        model : LogDensityModel
        """
        state, draws = run.state, np.ascontiguousarray(run.draws.transpose(1, 0, 2))
        arrays, betas = state["arrays"], state["inverse_temperatures"]
        n_chains, n_levels = arrays["n_values"].shape

        def for_each_chain(values):
            return np.tile(np.asarray(values), (n_chains, 1))

        log_evidence = error = integral = np.nan
        if n_levels > 1 and betas[-1] == 0.0:
            log_evidence, error = stepping_stones(ladder_pairs(betas, run.log_likelihood))
            integral = thermodynamic_integral(betas, run.log_likelihood.reshape(-1, n_levels))
        return cls(
            draws=draws,
            log_density=run.log_density.T.copy(),
            inverse_temperatures=for_each_chain(betas),
            n_rows=for_each_chain(np.where(betas > 0.0, model.n_observations, 0)),
            step_sizes=for_each_chain([adaptation["step_size"] for adaptation in state["adaptations"]]),
            acceptance=arrays["accepted"] / max(state["n_iterations"], 1),
            swap_rates=arrays["swapped"] / np.maximum(arrays["n_swaps"], 1),
            transition_rate=np.zeros(n_chains),
            refresh_rate=np.zeros(n_chains),
            n_values=arrays["n_values"],
            n_gradients=arrays["n_gradients"],
            log_evidence=log_evidence,
            log_evidence_error=error,
            thermodynamic_log_evidence=integral,
            round_trips=state["trips"]["counts"] if n_levels > 1 else np.full(n_chains, -1),
            levels="powers" if n_levels > 1 else "one",
            warmup_share=np.full(n_chains, run.warmup_share),
            seconds=np.full(n_chains, run.seconds),
            parameters=model.constrained(draws),
        )

    @property
    def barriers(self) -> NDArray:
        """Sum of the shares of swaps that are rejected, of each chain: how far reference and posterior are apart."""
        return (1.0 - self.swap_rates).sum(axis=1)

    @property
    def best_round_trips(self) -> NDArray:
        """Round trips that non-reversible swaps would make with kernels that forget, and with ever more levels.

        n_draws / (2 + 2 barrier), of each chain; with the levels that there are, the barrier counts rejections r as
        r / (1 - r).

        References
        ----------
        S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet (2022), Non-reversible parallel tempering: a scalable
        highly parallel MCMC scheme, JRSS B 84, section 3.4.
        """
        return self.draws.shape[1] / (2.0 + 2.0 * self.barriers)

    def warn(self, stacklevel: int = 3) -> None:
        """Issue a ``ConvergenceWarning`` of the ``problems``, unless there are none."""
        if self.problems:
            warnings.warn(" ".join(self.problems), ConvergenceWarning, stacklevel=stacklevel)

    @property
    def problems(self) -> list[str]:
        """What there is to report.

        A warm-up cut short, levels that do not overlap, no round trip, moves that are hardly ever accepted, or R-hat
        above 1.05.
        """
        problems = []
        n_chains, n_draws, _ = self.draws.shape
        if (self.warmup_share < 1.0).any():
            problems.append(
                f"The time limit ended the warm-up of {(self.warmup_share < 1.0).sum()} of {n_chains} chains, "
                f"after {self.warmup_share.min():.0%} of it: draws may be far from the posterior. Raise time_limit, or "
                "lower n_warmup."
            )
        n_levels = self.inverse_temperatures.shape[1]
        lowest = int(self.swap_rates.mean(axis=0).argmin()) if n_levels > 1 else 0
        if np.isinf(self.log_evidence_error):
            problems.append(
                f"log_evidence is not known: the draws of levels {lowest} and {lowest + 1} hardly overlap, and its "
                "standard error is infinite. More levels help (n_levels), or a reference nearer to the posterior."
            )
        if n_levels > 1 and not self.round_trips.any() and n_draws >= FEWEST_DRAWS * n_levels:
            problems.append(
                f"No replica went from the lowest level to the posterior and back: swaps between levels {lowest} and "
                f"{lowest + 1} are accepted with a share of {self.swap_rates[:, lowest].mean():.3f}. More levels help "
                "(n_levels), or more draws, or a reference nearer to the posterior."
            )
        if n_draws >= FEWEST_DRAWS and (accepted := float(self.acceptance[:, 0].mean())) < LEAST_ACCEPTANCE:
            problems.append(
                f"Moves at the posterior are accepted with a share of {accepted:.3f}: draws hardly differ. Another "
                "inner kernel may help, such as SliceSampling() where a trajectory leaves the support, or a longer "
                "warm-up."
            )
        rhat = self.potential_scale_reduction()[0] if n_chains > 1 and n_draws >= FEWEST_DRAWS else np.ones(1)
        worst = int(np.argmax(np.nan_to_num(rhat, nan=1.0)))
        if rhat[worst] > LARGE_RHAT:
            problems.append(
                f"The chains disagree: R-hat is {rhat[worst]:.2f} for parameter {worst}. More draws "
                "help, or a longer warm-up (n_warmup); if there may be several modes, a ladder (n_levels, "
                "min_inverse_temperature), which ends at a prior or a reference wide enough for all of them."
            )
        return problems

    def potential_scale_reduction(self) -> tuple[NDArray, NDArray]:
        """R-hat and effective number of draws by variances between and within chains alone, of each parameter.

        For comparison with the paper. With few chains the second varies by factors; better estimates are those of
        :func:`sklearn_subanneal.diagnostics.rank_normalized_rhat` and
        :func:`~sklearn_subanneal.diagnostics.effective_sample_size`.

        References
        ----------
        J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, equations 4 to 8 (6 with its square).
        """
        return potential_scale_reduction(self.draws)

    def cost(self, exponent: float = 1.0, value: float = 1.0) -> NDArray:
        """Evaluations of all levels in evaluations of the gradient at the posterior, shape (n_chains,).

        Parameters
        ----------
        exponent : float, default=1.0
            Of the cost of an evaluation in its number of rows: 1 where rows are independent, 3 for Gaussian processes.
        value : float, default=1.0
            Cost of the likelihood alone, relative to that with its gradient; 0 counts the inner kernels only.
        """
        share = (self.n_rows / np.maximum(self.n_rows[:, :1], 1)) ** exponent
        return (share * (self.n_gradients + value * self.n_values)).sum(axis=1)

    def to_arviz(self, names=None):
        """Hand the draws to ArviZ.

        Parameters
        ----------
        names : list of str, default=None
            Of the coordinates; None: the parameters by their own names, or "theta" with one dimension.

        Returns
        -------
        arviz.InferenceData (ArviZ before 1.0) or xarray.DataTree (since)
        """
        try:
            import arviz
        except ImportError as error:
            raise ImportError("to_arviz needs ArviZ: pip install arviz.") from error
        if names is None:
            posterior = self.parameters or {"theta": self.draws}
        else:
            posterior = {name: self.draws[:, :, k] for k, name in enumerate(names)}
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return arviz.from_dict({"posterior": posterior})
        return arviz.from_dict(posterior=posterior)
