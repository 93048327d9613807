"""The estimators."""

from sklearn_subanneal.estimators.crosscat import CrossCat
from sklearn_subanneal.estimators.crosscat_supervised import CrossCatClassifier, CrossCatRegressor
from sklearn_subanneal.estimators.dpmm import SubsampleAnnealedDPMM
from sklearn_subanneal.estimators.fmm import VariationalTemperingFMM
from sklearn_subanneal.estimators.gp import TemperedGaussianProcessRegressor
from sklearn_subanneal.estimators.lda import VariationalTemperingLDA
from sklearn_subanneal.estimators.nrmm import TreeGuidedNRMM

__all__ = [
    "CrossCat",
    "CrossCatClassifier",
    "CrossCatRegressor",
    "SubsampleAnnealedDPMM",
<<<<<<< HEAD
    "TemperedGaussianProcessRegressor",
=======
    "TreeGuidedNRMM",
>>>>>>> ba6287c141d33a095c30dd159d8b1eadbe36d3b9
    "VariationalTemperingFMM",
    "VariationalTemperingLDA",
]
