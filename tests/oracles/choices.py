"""Random procedures whose choices are made by a function `choose`: drawn, or enumerated to give exact laws.

With a `choose` that draws, a move is a step of a Markov chain; with one that goes through every choice in turn
(`step_law`), the same code gives the exact law of its outcome, and so proves on a small table that a move is exact.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import numpy as np

Choose = Callable[[Sequence[float]], int]


def sampler(rng: np.random.Generator) -> Choose:
    """Return a `choose` that draws an index with probability proportional to its weight."""

    def choose(weights: Sequence[float]) -> int:
        u = rng.random() * math.fsum(weights)
        for index, weight in enumerate(weights):
            u -= weight
            if u < 0:
                return index
        return max(index for index, weight in enumerate(weights) if weight > 0)

    return choose


def step_law(step: Callable[[Choose], Hashable]) -> dict[Hashable, float]:
    """Return the exact law of the outcome of a random procedure, by going through all of its choices.

    Examples
    --------
    >>> step_law(lambda choose: choose([1, 1]) + choose([3, 1]))
    {0: 0.375, 1: 0.5, 2: 0.125}
    """
    law: dict[Hashable, float] = defaultdict(float)
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        path, probability = [], 1.0

        def choose(weights: Sequence[float], path=path, prefix=prefix) -> int:
            nonlocal probability
            possible = [index for index, weight in enumerate(weights) if weight > 0]
            if len(path) < len(prefix):
                index = prefix[len(path)]
            else:
                index = possible[0]
                waiting.extend((*path, other) for other in reversed(possible[1:]))
            path.append(index)
            probability *= weights[index] / math.fsum(weights)
            return index

        law[step(choose)] += probability
    return dict(law)


def shuffled(items: Sequence, choose: Choose) -> list:
    """The items in a random order."""
    left = list(items)
    return [left.pop(choose([1.0] * len(left))) for _ in range(len(left))]


def chosen(log_weights: Sequence[float], choose: Choose) -> int:
    """An index with probability proportional to exp(log weight)."""
    top = max(log_weights)
    return choose([math.exp(weight - top) for weight in log_weights])


def accepted(log_ratio: float, choose: Choose) -> bool:
    """Whether a proposal of Metropolis and Hastings is taken."""
    return choose([1.0 - math.exp(min(log_ratio, 0.0)), math.exp(min(log_ratio, 0.0))]) == 1
