"""Nonparametric Bayesian models by annealing, as scikit-learn estimators."""

import importlib
import os
import sys

try:
    importlib.import_module("sklearn_subanneal._core._special")
except ModuleNotFoundError as error:
    if error.name != "sklearn_subanneal._core._special":
        # A library that it needs is missing.
        raise
    raise ImportError(
        f"Python {sys.version_info.major}.{sys.version_info.minor} imports the sources of sklearn_subanneal in "
        f"{os.path.dirname(__file__)}, which are not compiled for it. If the package is installed, start Python in "
        "another folder. If it is not, run `pip install .` in the folder above, and then start Python elsewhere."
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
