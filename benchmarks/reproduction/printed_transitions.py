"""Tempered transitions with errors of algorithm 2 as it is printed: not exact, and for figures of the paper only."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.tempering import TemperedTransitions
from sklearn_subanneal.tempering.levels import Point
from sklearn_subanneal.tempering.replicas import Replicas

# "kernels": the step to the level above is by the kernel of that level. "sum": ratios are added. "point": the point
# that is accepted is the one at the start.
ERRORS = ("kernels", "sum", "point")


class PrintedTransitions(TemperedTransitions):
    """Algorithm 2 of the paper with some of its errors, by default the one with which it may have been run.

    Not exact: the draws are not those of the posterior. With all errors, to the letter, a chain never moves, since the
    point that is accepted is the one it has. With the wrong kernels alone, the acceptance is high, and the variance of
    the draws is wrong: by up to a half in one dimension, and by factors in fifty. Use
    :class:`sklearn_subanneal.tempering.TemperedTransitions` for anything but figures of the paper.

    There is no move at the posterior beside the transition, as in the paper.

    Parameters
    ----------
    subsample : bool, default=True
    errors : tuple of {"kernels", "sum", "point"}, default=("kernels",)
        None of them: exact, but for chains that stay where they are if no transition is accepted.
    inner, inverse_temperatures, n_levels, min_inverse_temperature, adapt_ladder, n_warmup
        As those of ``TemperedTransitions``.

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from printed_transitions import ERRORS, PrintedTransitions
    >>> from sklearn_subanneal.tempering import GaussianMean
    >>> model = GaussianMean(np.random.default_rng(0).normal(size=(8, 1)), covariance=[[1.0]])
    >>> draws = PrintedTransitions(errors=ERRORS, n_warmup=0).sample(model, 20, n_chains=1, random_state=0).draws
    >>> bool(np.ptp(draws) == 0.0)
    True
    """

    def __init__(
        self,
        subsample: bool = True,
        *,
        errors: tuple[str, ...] = ("kernels",),
        inner=None,
        inverse_temperatures=None,
        n_levels: int | None = None,
        min_inverse_temperature: float | None = None,
        adapt_ladder: bool = True,
        n_warmup: int | None = None,
    ):
        super().__init__(
            subsample,
            inner=inner,
            inverse_temperatures=inverse_temperatures,
            n_levels=n_levels,
            min_inverse_temperature=min_inverse_temperature,
            adapt_ladder=adapt_ladder,
            n_warmup=n_warmup,
        )
        self.errors = errors

    def _ladder(self, model):
        if unknown := set(self.errors) - set(ERRORS):
            raise ValueError(f"errors must be some of {ERRORS}, got {sorted(unknown)}")
        return super()._ladder(model)

    def _iterate(self, replicas: Replicas, number: int) -> None:
        if replicas.subsample:
            replicas.redraw_subsets()
        start = replicas.points[0]
        point, ratios = self._down(replicas, start)
        point, others = self._up(replicas, point)
        total = np.logaddexp.reduce(ratios + others) if "sum" in self.errors else sum(ratios + others)
        replicas.n_transitions += 1
        if np.log1p(-replicas.generator.random()) < total:
            replicas.transitions_accepted += 1
            replicas.points[0] = start if "point" in self.errors else point

    def _down(self, replicas: Replicas, point: Point) -> tuple[Point, list[float]]:
        levels, ratios = replicas.levels, []
        for m in range(1, len(levels)):
            below = levels[m].adopt(point, levels[m - 1], replicas.kernel.needs_gradients)
            ratios.append(levels[m].log_density(below) - levels[m - 1].log_density(point))
            point = self._moved(replicas, m, below)
        return point, ratios

    def _up(self, replicas: Replicas, point: Point) -> tuple[Point, list[float]]:
        levels, gradient, ratios = replicas.levels, replicas.kernel.needs_gradients, []
        for m in range(len(levels) - 1, 0, -1):
            if "kernels" in self.errors:
                above = self._moved(replicas, m - 1, levels[m - 1].adopt(point, levels[m], gradient))
                below = levels[m].adopt(above, levels[m - 1])
            else:
                below = self._moved(replicas, m, point)
                above = levels[m - 1].adopt(below, levels[m], gradient and m > 1)
            ratios.append(levels[m - 1].log_density(above) - levels[m].log_density(below))
            point = above
        return point, ratios
