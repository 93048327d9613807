"""All estimators with settings that take milliseconds, and their answers to a table, for tests of extreme numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from sklearn_subanneal import (
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

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 3, "random_state": 0}
# Mixtures of tables: their keyword arguments are those of the constructor.
MIXTURES = {
    "diag": partial(SubsampleAnnealedDPMM, covariance_type="diag", **SHORT),
    "full": partial(SubsampleAnnealedDPMM, covariance_type="full", **SHORT),
    "nrmm": partial(TreeGuidedNRMM, **SHORT),
    "views": partial(CrossCat, **SHORT),
    "views, diag": partial(CrossCat, covariance_type="diag", **SHORT),
}
OTHERS = {
    "imputer": lambda: BayesianImputer(CrossCat(**SHORT), n_imputations=2, random_state=0),
    "detector": lambda: CrossCatDetector(CrossCat(**SHORT), n_calibration=5, random_state=0),
    "classifier": lambda: CrossCatClassifier(CrossCat(**SHORT), random_state=0),
    "regressor": lambda: CrossCatRegressor(CrossCat(**SHORT), random_state=0),
    "factorial": lambda: VariationalTemperingFMM(2, max_iter=10, random_state=0),
    "process": lambda: TemperedGaussianProcessRegressor(n_chains=1, n_draws=3, n_warmup=3, random_state=0),
}
TOPICS = {
    "topics": lambda: VariationalTemperingLDA(2, max_iter=3, random_state=0),
    "bags": lambda: TreeGuidedNRMM(feature_types="bag-of-words", **SHORT),
}
TABLES = MIXTURES | OTHERS
ALL = TABLES | TOPICS
SUPERVISED = ("classifier", "regressor", "process")


def fitted(name: str, X, y=None, **params):
    """An estimator after ``fit``; y: by default two classes, or an ordinary target."""
    model = ALL[name](**params)
    if name not in SUPERVISED:
        return model.fit(X)
    if y is None:
        y = np.arange(len(X)) % 2 if name == "classifier" else np.sin(np.arange(len(X)))
    return model.fit(X, y)


def answers(model, X) -> Iterator[tuple[str, object]]:
    """What a fitted model says of rows, and of itself: the name of a method or attribute, and its answer."""
    for name in ("log_joint_", "dependence_", "bound_", "components_", "component_variances_", "log_evidence_"):
        if hasattr(model, name):
            yield name, getattr(model, name)
    of_rows = "score_samples predict predict_proba predict_views transform surprisal novelty impute p_values " + (
        "decision_function predict_interval predict_quantiles sample_y sample_imputations"
    )
    for name in of_rows.split():
        if hasattr(model, name):
            yield name, getattr(model, name)(X)
    if isinstance(model, CrossCat | SubsampleAnnealedDPMM | TreeGuidedNRMM):
        gaps = np.array(X, dtype=float)
        gaps[::2, 0] = np.nan
        yield "impute with gaps", model.impute(gaps, return_uncertainty=True)
        yield "sample", model.sample(60, random_state=0)
        yield "co_clustering", model.co_clustering()
    if isinstance(model, CrossCat) and next(iter(model.feature_types_.values())) in ("real", "skewed"):
        yield "conditional_quantiles", model.conditional_quantiles(0)
    if isinstance(model, VariationalTemperingFMM):
        yield "inverse_transform", model.inverse_transform(model.transform(X))
    if isinstance(model, TemperedGaussianProcessRegressor):
        yield "predict with std", model.predict(X, return_std=True)


def not_finite(answer) -> np.ndarray:
    """The numbers of an answer that are NaN or infinite."""
    if sparse.issparse(answer):
        answer = answer.data
    if isinstance(answer, list | tuple):
        return np.concatenate([np.zeros(0), *map(not_finite, answer)])
    if isinstance(answer, pd.DataFrame):
        answer = answer.select_dtypes("number").to_numpy()
    numbers = np.asarray(answer, dtype=float).ravel()
    return numbers[~np.isfinite(numbers)]
