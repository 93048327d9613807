"""The replicas of one chain, a point at each level of the ladder: their moves, swaps and exchanges of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tempering.ladders import adapted_ladder
from sklearn_subanneal.tempering.levels import Level, Point
from sklearn_subanneal.tempering.round_trips import RoundTrips
from sklearn_subanneal.tempering.subsets import Subsets

# Rows below which a subset says too little to start from.
SMALLEST = 8
# Counts of moves and of what was accepted.
COUNTS = (
    "n_moves", "accepted", "n_swaps", "swapped", "swap_probability",
    "n_refreshes", "refreshed", "n_transitions", "transitions_accepted",
)  # fmt: skip


class Replicas:
    """One point at each level of a ladder; the product of the levels' densities is what all moves leave as it is.

    Parameters
    ----------
    model : LogDensityModel
    inverse_temperatures : ndarray of shape (n_levels,)
    kernel : TransitionKernel
    subsets : {"nested", "independent"} or None
        What the levels below the first have: subsets of the rows, or None, powers of the likelihood.
    generator : numpy.random.Generator
    workers : concurrent.futures.Executor or None
        Moves the levels side by side.

    Attributes
    ----------
    levels : list of Level
    points : list of Point
    adaptations : list of Adaptation
    generator, streams : numpy.random.Generator, and a list of such
        Of the chain, and of each level.
    """

    def __init__(self, model, inverse_temperatures: NDArray, kernel, subsets: str | None, generator, workers=None):
        self.model, self.kernel, self.subsample = model, kernel, subsets is not None
        self.generator, self._workers = generator, workers
        self.streams = generator.spawn(len(inverse_temperatures))
        # A climb of a warm-up has subsets, whatever the levels have.
        self.subsets = Subsets(model.n_observations, len(inverse_temperatures), subsets or "nested", generator)
        self.adaptations = [kernel.start_adaptation(model.n_parameters, beta) for beta in inverse_temperatures]
        self._make_levels(inverse_temperatures)
        start = self._start()
        self.points = [level.point(start) for level in self.levels]
        self.reset_counts()

    @property
    def inverse_temperatures(self) -> NDArray:
        """Inverse temperatures of the levels."""
        return np.array([level.beta for level in self.levels])

    def _make_levels(self, betas):
        self.levels = [
            Level(self.model, float(beta), rows) for beta, rows in zip(betas, self._rows(betas), strict=True)
        ]

    def _rows(self, betas):
        """Rows of the levels; None for all rows."""
        if not self.subsample:
            return [None] * len(betas)
        n = self.model.n_observations
        sizes = np.where(np.asarray(betas) > 0.0, np.maximum(np.round(np.asarray(betas) * n), 1), 0).astype(int)
        return [None if betas[m] == 1.0 else self.subsets.rows(m, size) for m, size in enumerate(sizes)]

    def _start(self):
        for _ in range(100):
            theta = np.array(self.model.initial(self.generator), dtype=float)
            if theta.shape != (self.model.n_parameters,):
                raise ValueError(
                    f"a start of {type(self.model).__name__} must have shape ({self.model.n_parameters},), "
                    f"got {theta.shape}"
                )
            if all(level.log_density(level.point(theta)) > -np.inf for level in self.levels):
                return theta
        raise ValueError(
            f"{type(self.model).__name__} has no mass at 100 starts; give it initial(rng), or sample_prior(rng), where "
            "prior and likelihood are not zero"
        )

    def reset_counts(self) -> None:
        """Set all counts of acceptances, swaps and evaluations to 0."""
        n_levels = len(self.levels)
        self.n_moves = np.zeros(n_levels)
        self.accepted = np.zeros(n_levels)
        self.n_swaps, self.swapped = np.zeros(n_levels - 1), np.zeros(n_levels - 1)
        self.swap_probability = np.zeros(n_levels - 1)
        self.n_refreshes, self.refreshed = np.zeros(2, dtype=int)
        self.n_transitions, self.transitions_accepted = np.zeros(2, dtype=int)
        self.log_ratios: list[list[tuple]] = [[] for _ in range(n_levels - 1)]
        self.trips = RoundTrips(1, n_levels)
        for level in self.levels:
            level.n_values = level.n_gradients = 0

    def get_state(self) -> dict:
        """All from which replicas that are no longer adapted go on bit for bit, as arrays and numbers."""
        return {
            "generator": self.generator.bit_generator.state,
            "streams": [stream.bit_generator.state for stream in self.streams],
            "orders": self.subsets.get_state(),
            "inverse_temperatures": self.inverse_temperatures,
            "rows": [level.rows for level in self.levels],
            "evaluations": [(level.n_values, level.n_gradients) for level in self.levels],
            "points": [tuple(getattr(point, name) for name in Point.__slots__) for point in self.points],
            "adaptations": [adaptation.get_state() for adaptation in self.adaptations],
            "counts": {name: np.copy(vars(self)[name]) for name in COUNTS},
            "log_ratios": [np.array(ratios).reshape(-1, 2) for ratios in self.log_ratios],
            "trips": self.trips.get_state(),
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of the same model."""
        self.generator.bit_generator.state = state["generator"]
        for stream, saved in zip(self.streams, state["streams"], strict=True):
            stream.bit_generator.state = saved
        self.subsets.set_state(state["orders"])
        ladder = zip(state["inverse_temperatures"].tolist(), state["rows"], strict=True)
        self.levels = [Level(self.model, beta, rows) for beta, rows in ladder]
        for level, counts in zip(self.levels, state["evaluations"], strict=True):
            level.n_values, level.n_gradients = counts
        self.points = [Point(*values) for values in state["points"]]
        for adaptation, saved in zip(self.adaptations, state["adaptations"], strict=True):
            adaptation.set_state(saved, self.model)
        for name in COUNTS:
            setattr(self, name, np.copy(state["counts"][name])[()])
        self.log_ratios = [ratios.tolist() for ratios in state["log_ratios"]]
        self.trips.set_state(state["trips"])

    def move(self, adapt: bool = False) -> None:
        """Move the point of each level by the inner kernel; that of a level without rows is drawn from the prior."""

        looks = adapt and self.kernel.needs_gradients

        def one(m):
            self.levels[m].seen = [] if looks else None
            if self._is_prior(m):
                return self.levels[m].point(np.array(self.model.sample_prior(self.streams[m]), dtype=float)), 1.0
            return self.kernel.move(self.levels[m], self.points[m], self.adaptations[m], self.streams[m])

        numbers = range(len(self.levels))
        moved = list(self._workers.map(one, numbers) if self._workers else map(one, numbers))
        self.n_moves += 1
        for m, (point, acceptance) in enumerate(moved):
            self.points[m] = point
            self.accepted[m] += acceptance
            if adapt and not self._is_prior(m):
                self.adaptations[m].look(self.levels[m])
                self.adaptations[m].update(point.theta, acceptance)

    def _is_prior(self, m):
        return self.levels[m].n_rows == 0 and self.model.samples_prior and len(self.levels) > 1

    def swap(self, pairs, averaged: bool = False) -> None:
        """Offer to swap the points of levels m - 1 and m, for all m of ``pairs`` in turn.

        Parameters
        ----------
        pairs : iterable of int
        averaged : bool, default=False
            Whether the stones for the evidence are those of densities averaged over the subsets, which are independent
            and part of the state, or those of densities given the subsets.
        """
        for m in pairs:
            high, low = self.levels[m - 1], self.levels[m]
            raised, lowered = high.adopt(self.points[m], low), low.adopt(self.points[m - 1], high)
            before = high.log_density(self.points[m - 1]) + low.log_density(self.points[m])
            log_ratio = high.log_density(raised) + low.log_density(lowered) - before
            # What the rows, or the power, that the lower level lacks would add, at both points: the stones stepped on
            # for the evidence.
            above, below = self._with_common_rows(m, raised) if averaged else (raised, lowered)
            stone = high.log_density(above) - low.log_density(self.points[m])
            self.log_ratios[m - 1].append((stone, high.log_density(self.points[m - 1]) - low.log_density(below)))
            self.n_swaps[m - 1] += 1
            self.swap_probability[m - 1] += np.exp(min(0.0, log_ratio))
            if np.log1p(-self.generator.random()) < log_ratio:
                self.points[m - 1], self.points[m] = raised, lowered
                self.swapped[m - 1] += 1
                order = np.arange(len(self.levels))
                order[m - 1 : m + 1] = m, m - 1
                self.trips.reorder(order[None])
        self.trips.look()

    def _with_common_rows(self, m, raised):
        """The lower point at its rows and as many others as make the level above, the upper one at a part of its rows.

        Subset and superset are then distributed alike from both sides, so that the densities of a pair of levels, with
        both subsets, are known up to their constants.
        """
        high, low = self.levels[m - 1], self.levels[m]
        part = self.generator.choice(high.n_rows if high.rows is None else high.rows, low.n_rows, replace=False)
        if high.rows is not None:
            raised = self._at(high, self.subsets.enlarged(m, low.n_rows, high.n_rows, self.generator), self.points[m])
        return raised, self._at(low, np.sort(part), self.points[m - 1])

    def _at(self, level, rows, point):
        """A point evaluated at other rows, in the counts of a level."""
        other = Level(self.model, level.beta, rows)
        point = other.point(point.theta)
        level.n_values += other.n_values
        return point

    def refresh(self) -> None:
        """Offer to exchange some rows of subsets for others: of a random level if they are nested, or of all levels.

        Subsets are part of the state, all equally probable a priori, and the offer is symmetric: it is accepted with
        the ratio of that level's densities.
        """
        if not self.subsample or len(self.levels) < 2:
            return
        levels = range(1, len(self.levels))
        for m in self.generator.integers(1, len(self.levels), 1) if self.subsets.is_nested else levels:
            self._exchange(int(m))

    def _exchange(self, m):
        level, sizes = self.levels[m], np.array([level.n_rows for level in self.levels])
        order = self.subsets.exchanged(m, sizes, self.generator)
        if order is None:
            return
        offered = Level(self.model, level.beta, np.sort(order[: sizes[m]]))
        offered.n_values, offered.n_gradients = level.n_values, level.n_gradients
        point = offered.point(self.points[m].theta)
        log_ratio = offered.log_density(point) - level.log_density(self.points[m])
        self.n_refreshes += 1
        if np.log1p(-self.generator.random()) < log_ratio:
            self.subsets.put(m, order)
            self.levels[m], self.points[m] = offered, point
            self.refreshed += 1
        else:
            level.n_values = offered.n_values

    def even_odd(self, number: int) -> range:
        """The pairs that swap in an iteration: every second one, taking turns."""
        return range(1 + number % 2, len(self.levels), 2)

    def warm_up(
        self, n_iterations: int, adapt_ladder: bool, turns: Callable[[int, float], Iterable], refresh: bool = False
    ) -> None:
        """Find the levels, from the lowest and cheapest up, then let all swap; step sizes, metrics and ladder adapt.

        The next level starts from the adaptation of the one before. A ladder of one level is climbed by subsets, too.

        Parameters
        ----------
        n_iterations : int
            Half of them climb.
        adapt_ladder : bool
            Whether rejections are spread evenly over the ladder.
        turns : callable
            ``turns(n, share)`` gives the numbers 0 to n - 1 of the iterations of a part of the warm-up that may take
            this share of its time; fewer, if the time is over.
        refresh : bool, default=False
            Whether subsets are refreshed when all swap.
        """
        if n_iterations > 0:
            self._adapt(n_iterations, adapt_ladder, turns, refresh)
        for adaptation in self.adaptations:
            adaptation.freeze()

    def _adapt(self, n_iterations, adapt_ladder, turns, refresh):
        self._climb(n_iterations // 2, turns)
        rest = n_iterations - n_iterations // 2
        self._iterate(rest // 2, turns, refresh)
        for adaptation in self.adaptations:
            adaptation.next_window()
        if adapt_ladder and len(self.levels) > 2 and self.n_swaps.all():
            self.respace(adapted_ladder(self.inverse_temperatures, 1.0 - self.swap_probability / self.n_swaps))
        self._iterate(rest - rest // 2, turns, refresh)

    def _iterate(self, n_iterations, turns, refresh):
        for _ in turns(n_iterations, 0.25):
            self.move(adapt=True)
            self.swap(range(len(self.levels) - 1, 0, -1))
            if refresh:
                self.refresh()

    def _climb(self, n_iterations, turns):
        steps = [(level, adaptation) for level, adaptation in zip(self.levels, self.adaptations, strict=True)]
        if len(steps) == 1:
            # The subsets of a climb need no ladder.
            n = self.model.n_observations
            sizes = [size for size in (n // 2, n // 4, n // 8) if size >= SMALLEST]
            below = [Level(self.model, size / n, self.subsets.rows(0, size)) for size in sizes]
            steps += [(level, self.kernel.start_adaptation(self.model.n_parameters, level.beta)) for level in below]
        point, n_each = self.points[-1], max(1, n_iterations // len(steps))
        for at in range(len(steps) - 1, -1, -1):
            level, adaptation = steps[at]
            point = self._with_mass(level, point)
            if at < len(steps) - 1:
                adaptation.inherit(steps[at + 1][1])
            for number in turns(n_each, 0.5 / len(steps)):
                level.seen = [] if self.kernel.needs_gradients else None
                point, acceptance = self.kernel.move(
                    level, point, adaptation, self.streams[min(at, len(self.streams) - 1)]
                )
                adaptation.look(level)
                adaptation.update(point.theta, acceptance)
                if number + 1 == n_each // 2 and at < len(steps) - 1:
                    adaptation.next_window()
            adaptation.next_window()
            if at < len(self.points):
                self.points[at] = point

    def respace(self, inverse_temperatures: NDArray) -> None:
        """Change to another ladder of as many levels; the points stay, and are evaluated anew."""
        self._make_levels(inverse_temperatures)
        self.points = [self._with_mass(level, point) for level, point in zip(self.levels, self.points, strict=True)]

    def _with_mass(self, level: Level, point: Point) -> Point:
        """A point at another level, or, where that has no mass there, the one of the first level.

        What some rows allow, others may exclude, and no trajectory leaves a point without mass. The first level has
        all rows: what has mass there has it everywhere.
        """
        moved = level.point(point.theta)
        return moved if level.log_density(moved) > -np.inf else level.point(self.points[0].theta)

    def redraw_subsets(self) -> None:
        """Draw all subsets anew, whatever the points; those of other levels than the first are not valid after."""
        self.subsets.redraw(self.generator)
        for level, rows in zip(self.levels, self._rows(self.inverse_temperatures), strict=True):
            level.rows = rows
