"""ChainResult and ChainState: the draws and the trace of a chain, and the state from which it can be continued."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class ChainState:
    """The state from which a chain continues bit for bit, as arrays and numbers.

    Attributes
    ----------
    generator : dict
        State of the bit generator.
    order : ndarray of int32, shape (n_rows,)
        Row of the table at each position.
    window : dict
        State of the subsample.
    model : dict
        State of the partitions and the hyperparameters, by the chain's own ``get_state``.
    annealed : bool
        Whether the schedule is over.
    leg : int
        Which of its starts the chain makes; then, their number: it follows the schedule itself.
    done : int
        Row assignments of this start, or of the schedule, that are done.
    progress : float
        Progress on it, in [0, 1].
    best : tuple of float and ChainResult, or None
        Mean log joint density and state of the best start so far, while starts are made.
    n_sweeps : int
        Sweeps in all, those of starts that were left included.
    n_burn_in : int
        Sweeps of all rows made between the schedule and the draws.
    n_planned : int
        Their number when the chain is judged again.
    arrived : bool
        Whether they are over.
    sweeps_since_draw : int
    seconds, seconds_of_run : float
        Time of the whole chain, and of the present run, to which a time limit applies.
    """

    generator: dict
    order: np.ndarray
    window: dict
    model: dict
    annealed: bool
    leg: int
    done: int
    progress: float
    best: tuple[float, ChainResult] | None
    n_sweeps: int
    n_burn_in: int
    n_planned: int
    arrived: bool
    sweeps_since_draw: int
    seconds: float
    seconds_of_run: float


@dataclass(frozen=True)
class ChainResult:
    """The draws of a chain, its trace, and the state from which it can be continued. Holds no data.

    Attributes
    ----------
    draws : list
        Draws, all at full data.
    labels : list of ndarray of int
        Clusters of the rows in each draw, in the order of the table: (n_rows,), or (n_views, n_rows).
    trace : structured ndarray of shape (n_sweeps,)
        Of the sweeps that led to the state; those of starts that were left are missing.
    state : ChainState
    """

    draws: list
    labels: list[np.ndarray]
    trace: np.ndarray
    state: ChainState

    def cut(self, n_draws: int) -> ChainResult:
        """The same with the first draws alone."""
        return replace(self, draws=self.draws[:n_draws], labels=self.labels[:n_draws])
