"""Nonparametric Bayesian models by annealing, as scikit-learn estimators."""

try:
    from sklearn_subanneal._core import _special  # noqa: F401
except ImportError as error:
    raise ImportError(
        "The compiled parts of sklearn_subanneal are missing. Run `pip install .` in its folder, and start Python "
        "elsewhere."
    ) from error

from sklearn_subanneal.annealing import Checkpoint, TraceMonitor
from sklearn_subanneal.estimators import (
    CrossCat,
    CrossCatClassifier,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor,
    TreeGuidedNRMM,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "Checkpoint",
    "CrossCat",
    "CrossCatClassifier",
    "CrossCatRegressor",
    "SubsampleAnnealedDPMM",
    "TemperedGaussianProcessRegressor",
    "TraceMonitor",
    "TreeGuidedNRMM",
    "VariationalTemperingFMM",
    "VariationalTemperingLDA",
    "__version__",
]
