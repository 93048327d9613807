"""Gaussian-process regression as a density of its hyperparameters, and predictions averaged over their draws."""

from sklearn_subanneal.gaussian_process.averaged_regression import AveragedRegression, Standardization
from sklearn_subanneal.gaussian_process.coordinates import TotalAndRatio
from sklearn_subanneal.gaussian_process.kernel_model import KernelModel
from sklearn_subanneal.gaussian_process.regression_model import GaussianProcessModel
from sklearn_subanneal.gaussian_process.sparse_regression import SparseRegression
from sklearn_subanneal.gaussian_process.stationary_model import StationaryModel

__all__ = [
    "AveragedRegression",
    "GaussianProcessModel",
    "KernelModel",
    "SparseRegression",
    "Standardization",
    "StationaryModel",
    "TotalAndRatio",
]
