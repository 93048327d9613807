"""The scikit-learn estimators: mixtures, cross-categorization, topic models, Gaussian-process regression."""

from sklearn_subanneal.estimators.crosscat import CrossCat
from sklearn_subanneal.estimators.crosscat_classifier import CrossCatClassifier
from sklearn_subanneal.estimators.crosscat_detector import CrossCatDetector
from sklearn_subanneal.estimators.crosscat_regressor import CrossCatRegressor
from sklearn_subanneal.estimators.dpmm import SubsampleAnnealedDPMM
from sklearn_subanneal.estimators.fmm import VariationalTemperingFMM
from sklearn_subanneal.estimators.gp import TemperedGaussianProcessRegressor
from sklearn_subanneal.estimators.imputer import BayesianImputer
from sklearn_subanneal.estimators.lda import VariationalTemperingLDA
from sklearn_subanneal.estimators.nrmm import TreeGuidedNRMM

__all__ = [
    "BayesianImputer",
    "CrossCat",
    "CrossCatClassifier",
    "CrossCatDetector",
    "CrossCatRegressor",
    "SubsampleAnnealedDPMM",
    "TemperedGaussianProcessRegressor",
    "TreeGuidedNRMM",
    "VariationalTemperingFMM",
    "VariationalTemperingLDA",
]
