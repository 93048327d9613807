"""Diagnostics of Markov chains: R-hat, effective sample size, traces of partitions, Geweke's test of samplers."""

from sklearn_subanneal.diagnostics.convergence import (
    autocorrelation_time,
    effective_sample_size,
    monte_carlo_error,
    rank_normalized_rhat,
)
from sklearn_subanneal.diagnostics.geweke import GewekeResult, geweke_test
from sklearn_subanneal.diagnostics.traces import partition_traces, summary

__all__ = [
    "GewekeResult",
    "autocorrelation_time",
    "effective_sample_size",
    "geweke_test",
    "monte_carlo_error",
    "partition_traces",
    "rank_normalized_rhat",
    "summary",
]
