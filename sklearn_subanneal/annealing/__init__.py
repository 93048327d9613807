"""Annealed chains of any model: schedules, subsampling, callbacks, checkpoints, and the runner of several chains."""
