"""All figures, by paper."""

from __future__ import annotations

from figures import annealing, measures, tempering, variational
from figures.figure import Figure, Run

PAPERS = (annealing.PAPER, measures.PAPER, variational.PAPER, tempering.PAPER)
FIGURES: dict[str, Figure] = {figure.name: figure for paper in PAPERS for figure in paper.figures}


def runs_of(figures) -> list[Run]:
    """Every run that these figures need, once, the longest first."""
    runs = {run.name: run for figure in figures for run in figure.runs}
    return sorted(runs.values(), key=lambda run: -run.minutes)


def minutes(runs: list[Run], n_jobs: int) -> float:
    """Until the last of them ends, if each takes the next when a job is free."""
    free = [0.0] * n_jobs
    for run in runs:
        free[free.index(min(free))] += run.minutes
    return max(free)
