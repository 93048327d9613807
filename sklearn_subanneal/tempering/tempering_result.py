"""The result of a tempered sampler: draws of all chains, rates and counts, and the log evidence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

# Chains that differ more have not mixed; fewer draws than these do not tell.
LARGE_RHAT, FEWEST_DRAWS = 1.05, 10


@dataclass(frozen=True)
class TemperingResult:
    """Draws of all chains, and rates and counts of the sampling phase; warm-up is not counted.

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
    log_evidence : float
        Log of the model's evidence, by stepping stones, if the ladder ends at 0 and subsets stay as they are; else nan.
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
    warmup_share: NDArray
    seconds: NDArray

    @classmethod
    def of(cls, chains: list) -> TemperingResult:
        """Put chains together; all keep as many draws as the shortest."""
        n_draws = min(len(chain.draws) for chain in chains)
        stacked = {name: np.array([chain.summary[name] for chain in chains]) for name in chains[0].summary}
        return cls(
            draws=np.array([chain.draws[:n_draws] for chain in chains]),
            log_density=np.array([chain.log_density[:n_draws] for chain in chains]),
            log_evidence=stepping_stones([chain.log_ratios for chain in chains]),
            **stacked,
        )

    def warn(self, stacklevel: int = 3) -> None:
        """Issue a ``ConvergenceWarning`` if the warm-up was cut, or chains disagree: an R-hat above 1.05."""
        problems = []
        if (self.warmup_share < 1.0).any():
            problems.append(
                f"The time limit ended the warm-up of {(self.warmup_share < 1.0).sum()} of {len(self.draws)} chains, "
                f"after {self.warmup_share.min():.0%} of it: draws may be far from the posterior. Raise time_limit, or "
                "lower n_warmup."
            )
        n_chains, n_draws, _ = self.draws.shape
        rhat = self.potential_scale_reduction()[0] if n_chains > 1 and n_draws >= FEWEST_DRAWS else np.ones(1)
        worst = int(np.argmax(np.nan_to_num(rhat, nan=1.0)))
        if rhat[worst] > LARGE_RHAT:
            problems.append(
                f"The chains disagree: R-hat is {rhat[worst]:.2f} for parameter {worst}. More draws "
                "help, or a longer warm-up (n_warmup); if there may be several modes, a ladder (n_levels, "
                "min_inverse_temperature)."
            )
        if problems:
            warnings.warn(" ".join(problems), ConvergenceWarning, stacklevel=stacklevel)

    def potential_scale_reduction(self) -> tuple[NDArray, NDArray]:
        """R-hat and effective number of draws by variances between and within chains alone, of each parameter.

        For comparison with the paper. With few chains the second varies by factors; better estimates are those of
        :func:`sklearn_subanneal.diagnostics.rank_normalized_rhat` and
        :func:`~sklearn_subanneal.diagnostics.effective_sample_size`.

        References
        ----------
        J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, equations 4 to 8 (6 with its square).
        """
        n_chains, n_draws, _ = self.draws.shape
        between = n_draws * self.draws.mean(axis=1).var(axis=0, ddof=1)
        within = self.draws.var(axis=1, ddof=1).mean(axis=0)
        variance = (n_draws - 1) / n_draws * within + between / n_draws
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(variance / within), n_chains * n_draws * np.minimum(1.0, variance / between)

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
            Of the parameters; None: "theta" with one dimension.

        Returns
        -------
        arviz.InferenceData (ArviZ before 1.0) or xarray.DataTree (since)
        """
        try:
            import arviz
        except ImportError as error:
            raise ImportError("to_arviz needs ArviZ: pip install arviz.") from error
        if names is None:
            posterior = {"theta": self.draws}
        else:
            posterior = {name: self.draws[:, :, k] for k, name in enumerate(names)}
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return arviz.from_dict({"posterior": posterior})
        return arviz.from_dict(posterior=posterior)


def stepping_stones(chains: list) -> float:
    """Log evidence from the log ratios of neighbouring densities at the draws of the lower one; nan without any.

    Parameters
    ----------
    chains : list of list of ndarray
        For each chain and pair of levels.

    References
    ----------
    W. Xie, P. Lewis, Y. Fan, L. Kuo, M.-H. Chen (2011), Improving marginal likelihood estimation for Bayesian
    phylogenetic model selection, Systematic Biology 60.
    """
    if not chains[0]:
        return np.nan
    # Chains may have other ladders, so each is a path of its own; their estimates of the evidence are averaged.
    paths = [sum(logsumexp(ratios) - np.log(len(ratios)) for ratios in chain) for chain in chains]
    return float(logsumexp(paths) - np.log(len(paths)))
