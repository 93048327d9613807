"""Nonparametric Bayesian models by annealing, as scikit-learn estimators."""

import importlib

try:
    from sklearn_subanneal._core import _special  # noqa: F401
except ImportError as error:
    raise ImportError(
        "The compiled parts of sklearn_subanneal are missing. Run `pip install .` in its folder, and start Python "
        "elsewhere."
    ) from error

from sklearn_subanneal._core.version import __version__
from sklearn_subanneal.annealing import Checkpoint, TraceMonitor
from sklearn_subanneal.estimators import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor,
    TreeGuidedNRMM,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
)
from sklearn_subanneal.portable import load, save

# Imported where they are first used, by name: most programs need few of them.
_PACKAGES = (
    "annealing",
    "columns",
    "datasets",
    "diagnostics",
    "mixtures",
    "partitions",
    "plotting",
    "posterior",
    "report",
    "tempering",
    "topics",
    "trees",
    "variational",
    "views",
)

__all__ = [
    "BayesianImputer",
    "Checkpoint",
    "CrossCat",
    "CrossCatClassifier",
    "CrossCatDetector",
    "CrossCatRegressor",
    "SubsampleAnnealedDPMM",
    "TemperedGaussianProcessRegressor",
    "TraceMonitor",
    "TreeGuidedNRMM",
    "VariationalTemperingFMM",
    "VariationalTemperingLDA",
    "__version__",
    "load",
    "save",
]


def __getattr__(name):
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*__all__, *_PACKAGES})
