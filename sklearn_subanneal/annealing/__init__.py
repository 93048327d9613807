"""Annealed Markov chains of any model: schedules, subsampling, callbacks, checkpoints, parallel chains."""

from sklearn_subanneal.annealing.checkpoint import Checkpoint
from sklearn_subanneal.annealing.schedules import (
    Accelerating,
    EnergyAnneal,
    PriorGibbs,
    Schedule,
    SequentialGibbs,
    SubsampleAnneal,
    TemperedAccelerating,
)
from sklearn_subanneal.annealing.subsampling import (
    CyclicSubsampling,
    RandomSubsampling,
    StratifiedSubsampling,
    Subsampling,
)
from sklearn_subanneal.annealing.trace_monitor import TraceMonitor

__all__ = [
    "Accelerating",
    "Checkpoint",
    "CyclicSubsampling",
    "EnergyAnneal",
    "PriorGibbs",
    "RandomSubsampling",
    "Schedule",
    "SequentialGibbs",
    "StratifiedSubsampling",
    "SubsampleAnneal",
    "Subsampling",
    "TemperedAccelerating",
    "TraceMonitor",
]
