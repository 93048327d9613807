"""Diagnostics of Markov chains: R-hat, effective sample size, traces, Geweke's test, simulation-based calibration."""

from sklearn_subanneal.diagnostics.calibration import CalibrationResult, calibrate
from sklearn_subanneal.diagnostics.chain_convergence import Convergence
from sklearn_subanneal.diagnostics.convergence import (
    autocorrelation_time,
    effective_sample_size,
    monte_carlo_error,
    rank_normalized_rhat,
)
from sklearn_subanneal.diagnostics.geweke import GewekeResult, geweke_test
from sklearn_subanneal.diagnostics.pair_tests import DependenceWarning
from sklearn_subanneal.diagnostics.traces import partition_traces, summary

__all__ = [
    "CalibrationResult",
    "Convergence",
    "DependenceWarning",
    "GewekeResult",
    "autocorrelation_time",
    "calibrate",
    "effective_sample_size",
    "geweke_test",
    "monte_carlo_error",
    "partition_traces",
    "rank_normalized_rhat",
    "summary",
]
