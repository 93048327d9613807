"""Estimates of the evidence, and weighted partitions, of many runs of sequential Monte Carlo against the exact ones."""

from __future__ import annotations

import numpy as np


def check_estimates(runs, log_evidence, law, most_error):
    """The mean of the estimates of the evidence, and of the weighted partitions, each in four standard errors.

    Parameters
    ----------
    runs : tuple
        Log evidences (n_runs,), weights and codes of partitions (n_runs, n_particles).
    log_evidence : float
        The exact one.
    law : ndarray of shape (n_partitions,)
        Probabilities of the partitions, by their codes.
    most_error : float
        The standard error of the mean, relative to the evidence, is less than this.
    """
    log_evidences, weights, codes = runs
    n_runs = len(log_evidences)
    ratios = np.exp(log_evidences - log_evidence)
    error = ratios.std() / np.sqrt(n_runs)
    assert error < most_error
    assert abs(ratios.mean() - 1.0) < 4.0 * error
    found = np.zeros((n_runs, len(law)))
    np.add.at(found, (np.arange(n_runs)[:, None], codes), ratios[:, None] * weights)
    # Of partitions that are drawn often enough for normal errors.
    common = np.flatnonzero(law * n_runs > 20)
    assert common.size >= 3
    z = (found.mean(axis=0) - law)[common] / (found.std(axis=0)[common] / np.sqrt(n_runs))
    assert np.abs(z).max() < 4.5
    assert np.mean(z**2) < 1.0 + 4.0 * np.sqrt(2.0 / len(common))
