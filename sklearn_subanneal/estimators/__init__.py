"""The estimators."""

from sklearn_subanneal.estimators.dpmm import SubsampleAnnealedDPMM

__all__ = ["SubsampleAnnealedDPMM"]
