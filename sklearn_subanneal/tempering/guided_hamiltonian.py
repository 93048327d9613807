"""Hamiltonian Monte Carlo along a cheap surrogate of the density, corrected by the density at the end of each move."""

from __future__ import annotations

from numbers import Real

import numpy as np

from sklearn_subanneal.tempering.adaptation import Adaptation
from sklearn_subanneal.tempering.corrections import CorrectedLevel, Correction
from sklearn_subanneal.tempering.hamiltonian import HamiltonianMonteCarlo
from sklearn_subanneal.tempering.levels import Level, Point

# A guide is fitted to so many points for each parameter, and again when there are so many times more.
POINTS, GROWTH = 15, 1.3
# Share of the moves without it while it is being learned.
UNGUIDED = 0.3
# Mean acceptance below which it does not pay, since points stick, and how fast the mean forgets.
WORTH, FORGETTING = 0.65, 0.05


class GuidedHamiltonianMonteCarlo(HamiltonianMonteCarlo):
    """Hamiltonian Monte Carlo along the gradients of a guide, accepted or not by the density itself.

    The guide is the likelihood of a subset of the rows, to a power, with a quadratic for the rows that it lacks; both
    are fitted during warm-up to gradients of all rows, and frozen with it. A trajectory by the gradients of whatever
    function keeps volume, and is the same backwards, so the draws are exact; a move costs one likelihood of all rows
    and no gradient. It is accepted less often the worse the guide: one that has not been accepted in two thirds of its
    moves at the end of warm-up is dropped, and what is left is :class:`HamiltonianMonteCarlo`. It pays with few
    parameters and costly likelihoods. Results do not count what the guide evaluates.

    Parameters
    ----------
    step_size : float or None, default=None
        See :class:`HamiltonianMonteCarlo`; adapted to the integrator's error alone, on the guide.
    share : float, default=0.25
        Of the rows, for the guide; 0: a quadratic alone.
    unguided : float, default=0.05
        Share of the moves that are without the guide; they leave a place whose density the guide underrates.
    n_steps, trajectory, max_steps, jitter, metric, target_acceptance
        See :class:`HamiltonianMonteCarlo`.

    References
    ----------
    C. Rasmussen (2003), Gaussian processes to speed up hybrid Monte Carlo for expensive Bayesian integrals, Bayesian
    Statistics 7.
    R. Neal (2011), MCMC using Hamiltonian dynamics, Handbook of MCMC, section 5.5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import rank_normalized_rhat
    >>> from sklearn_subanneal.tempering import GaussianMean, GuidedHamiltonianMonteCarlo, ParallelTempering
    >>> X = np.random.default_rng(0).normal(1.0, 1.0, (50, 2))
    >>> sampler = ParallelTempering(inner=GuidedHamiltonianMonteCarlo(), inverse_temperatures=[1.0])
    >>> result = sampler.sample(GaussianMean(X, covariance=np.eye(2)), n_draws=200, random_state=0)
    >>> bool((rank_normalized_rhat(result.draws) < 1.05).all()), bool(result.n_gradients.mean() < 100)
    (True, True)
    """

    def __init__(
        self,
        step_size: float | None = None,
        *,
        share: float = 0.25,
        unguided: float = 0.05,
        n_steps: int | None = None,
        trajectory: float = 1.5,
        max_steps: int = 16,
        jitter: float = 0.2,
        metric: str = "dense",
        target_acceptance: float = 0.8,
    ):
        super().__init__(
            step_size,
            n_steps=n_steps,
            trajectory=trajectory,
            max_steps=max_steps,
            jitter=jitter,
            metric=metric,
            target_acceptance=target_acceptance,
        )
        self.share = share
        self.unguided = unguided

    def check(self, model) -> None:
        """Raise ValueError if a parameter is out of range, or the model has no gradients."""
        super().check(model)
        if not (isinstance(self.share, Real) and 0.0 <= self.share < 1.0):
            raise ValueError(f"share must be in [0, 1), got {self.share!r}")
        if not (isinstance(self.unguided, Real) and 0.0 <= self.unguided <= 1.0):
            raise ValueError(f"unguided must be in [0, 1], got {self.unguided!r}")

    def start_adaptation(self, n_parameters: int, beta: float) -> GuidedAdaptation:
        """The adaptation of this kernel at a level of inverse temperature ``beta``, at its start."""
        return GuidedAdaptation(super().start_adaptation(n_parameters, beta), n_parameters)

    def move(self, level: Level, point: Point, adaptation: GuidedAdaptation, generator) -> tuple[Point, float]:
        """Follow the guide, or the density itself, and accept the end or not; see :meth:`TransitionKernel.move`."""
        adaptation.prepare(level, self.share, generator)
        guide, learning = adaptation.guide, adaptation.learning
        if guide is None or generator.random() < (UNGUIDED if learning else self.unguided):
            moved, adaptation.error = super().move(level, point, adaptation, generator)
            return moved, adaptation.error
        start = guide.point(point.theta, gradient=True)
        end, kinetic = self.trajectory_from(guide, start, adaptation, generator)
        acceptance, adaptation.error = 0.0, 0.0
        if end is not None:
            # Small steps can help the guide's own error, not its distance from the level.
            adaptation.error = float(np.exp(min(0.0, guide.log_density(end) - guide.log_density(start) - kinetic)))
            proposal = level.point(end.theta, gradient=learning)
            log_ratio = level.log_density(proposal) - level.log_density(point) - kinetic
            acceptance = float(np.exp(min(0.0, log_ratio)))
            if np.log1p(-generator.random()) < log_ratio:
                point = proposal
        adaptation.worth += FORGETTING * (acceptance - adaptation.worth)
        return point, acceptance


class GuidedAdaptation(Adaptation):
    """Adaptation of a guided kernel: step size, metric and guide.

    Attributes
    ----------
    seen : list of Point
        Points at which the level has been evaluated with its gradient; none after warm-up.
    guide : CorrectedLevel or None
        None before it is fitted, and after it has been dropped.
    error : float
        Probability of acceptance of the last move if the guide were the level.
    worth : float
        Recent mean acceptance of guided moves.
    """

    def __init__(self, start: Adaptation, n_parameters: int):
        super().__init__(n_parameters, start.step_size, start.target, start.metric, start.adapt)
        self.seen: list[Point] = []
        self.guide: CorrectedLevel | None = None
        self.error, self.worth = 1.0, WORTH
        self._enough = POINTS * n_parameters

    def look(self, level: Level) -> None:
        """Keep the points that a move has seen, from all windows, for the guide."""
        self.seen += level.seen or ()
        super().look(level)

    def update_all(self, thetas, acceptance: float) -> None:
        """Record where moves ended; the step size is adapted to the error of the integrator alone."""
        super().update_all(thetas, self.error)

    def freeze(self) -> None:
        """End the adaptation, and drop a guide that does not pay."""
        super().freeze()
        self.seen = []
        if self.worth < WORTH:
            self.guide = None

    def get_state(self) -> dict:
        """Of a frozen adaptation, as arrays and numbers."""
        guide = self.guide
        described = guide and {"beta": guide.beta, "rows": guide.rows, "correction": guide.correction.get_state()}
        return super().get_state() | {"guide": described, "error": self.error, "worth": self.worth}

    def set_state(self, state: dict, model) -> None:
        """Restore what ``get_state`` gave, frozen; ``model`` is the one that is sampled."""
        super().set_state(state, model)
        self.error, self.worth, self.guide = state["error"], state["worth"], None
        if (guide := state["guide"]) is not None:
            subset = Level(model, guide["beta"], guide["rows"])
            self.guide = CorrectedLevel(subset, Correction(**guide["correction"]))

    def prepare(self, level: Level, share: float, generator) -> None:
        """Fit the guide to the points that were evaluated with gradients, if there are enough of them."""
        if self.guide is not None:
            self.guide.follow(level)
        if not self.learning or len(self.seen) < self._enough:
            return
        if self.guide is None:
            rows = np.arange(level.model.n_observations) if level.rows is None else level.rows
            rows = np.sort(generator.choice(rows, round(share * len(rows)), replace=False))
        else:
            rows = self.guide.rows
        subset = Level(level.model, share, rows)
        self.guide = CorrectedLevel(subset, Correction.fit(level, self.seen, subset), level.power)
        self._enough = GROWTH * len(self.seen)
