"""The public estimators and samplers with settings that take milliseconds, and their methods with their parameters."""

from __future__ import annotations

import inspect

import numpy as np
from hostile_values import anything, chosen, suitable
from scipy import stats

import sklearn_subanneal
from sklearn_subanneal.tempering import GaussianMean, ParallelTempering, sample

CHAINS = {"n_chains": 1, "n_draws": 2, "max_sweeps": 2, "random_state": 0}
QUICK = {
    "CrossCat": CHAINS,
    "SubsampleAnnealedDPMM": CHAINS,
    "TreeGuidedNRMM": CHAINS,
    "VariationalTemperingLDA": {"n_components": 2, "max_iter": 2, "random_state": 0},
    "VariationalTemperingFMM": {"n_components": 2, "max_iter": 3, "random_state": 0},
    "TemperedGaussianProcessRegressor": {"n_chains": 1, "n_draws": 3, "n_warmup": 2, "random_state": 0},
    "ParallelTempering": {"n_warmup": 3},
    "sample": {"n_levels": 3, "n_chains": 2, "n_draws": 3, "n_warmup": 3, "random_state": 0, "time_limit": 5.0},
    "CrossCatClassifier": {"random_state": 0},
    "CrossCatRegressor": {"random_state": 0},
    "CrossCatDetector": {"random_state": 0},
    "BayesianImputer": {"n_imputations": 2, "random_state": 0},
}
NAMES = list(QUICK)
# Estimators around another one, and how often each is taken.
OUTER = ("CrossCatClassifier", "CrossCatRegressor", "CrossCatDetector", "BayesianImputer")
WEIGHTS = (22, 12, 11, 9, 8, 6, 4, 6, 8, 7, 7, 6)
# What scikit-learn itself gives an estimator, what needs objects that this campaign does not make, and figures, which
# would stay open.
LEFT_OUT = (
    "get_metadata_routing get_params set_params set_callbacks set_output set_fit_request set_score_request simulator "
    "set_predict_request set_partial_fit_request set_transform_request typed_columns chain_specs warmup_length "
    "plot"
).split()
# Arguments that are tables, or lists of them.
TABLES = ("X", "X_held_out", "chunks")


SAMPLERS = {"ParallelTempering": ParallelTempering, "sample": sample}


def class_of(name: str):
    """A class of an estimator or a sampler, or the function ``tempering.sample``."""
    return SAMPLERS[name] if name in SAMPLERS else getattr(sklearn_subanneal, name)


def parameters(function) -> list[str]:
    """Names of the parameters of a method or constructor."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = inspect.signature(function).parameters
    return [name for name, parameter in found.items() if name != "self" and parameter.kind not in kinds]


def required(function) -> set[str]:
    """Names of the parameters that have no default."""
    found = inspect.signature(function).parameters
    return {name for name, parameter in found.items() if parameter.default is parameter.empty and name != "self"}


def methods(name: str) -> list[str]:
    """Public methods and properties of an estimator, but those that fit."""
    cls = class_of(name)
    names = [method for method in dir(cls) if not method.startswith("_") and method not in LEFT_OUT]
    return [method for method in names if not method.startswith("fit")]


def hostile_params(rng, name: str, n_hostile: int) -> dict:
    """Some constructor parameters: half of them suit their name, half may be anything."""
    cls, params = class_of(name), {}
    for _ in range(n_hostile):
        parameter = chosen(rng, [p for p in parameters(cls) if p != "estimator"])
        value = suitable(rng, parameter, 12) if rng.random() < 0.6 else anything(rng, parameter)
        params[parameter] = value
    return params


def make(name: str, params: dict):
    """An estimator with quick settings, and these."""
    return class_of(name)(**QUICK[name] | params)


def arguments(rng, function, tables, n_rows: int, share: float) -> dict:
    """Arguments of a method; about this share of them may be anything, and the optional ones are often left out."""
    needed, given = required(function), {}
    for name in parameters(function):
        if name not in needed and rng.random() < 0.5:
            continue
        # Scikit-learn's own method, which takes any list of names.
        if rng.random() < share and name != "input_features":
            given[name] = anything(rng, name)
        elif name == "chunks":
            given[name] = [tables(rng) for _ in range(rng.integers(3))]
        elif name in TABLES:
            given[name] = tables(rng)
        elif name == "model":
            given[name] = tempered_model(rng)
        else:
            given[name] = suitable(rng, name, n_rows)
    return given


def tempered_model(rng):
    """A model of a sampler, well or ill."""
    n = int(rng.integers(1, 8))
    X = rng.normal(size=(n, 2))
    scale = float(chosen(rng, [1.0, 1.0, 1e-300, 1e150, 1e-8, 1e8]))
    return GaussianMean(scale * X, covariance=scale**2 * np.eye(2) if 1e-100 < scale < 1e100 else np.eye(2))


# What a target of two reals, named or not, may be given with.
COMPANIONS = [
    {"reference": (0.0, 3.0), "n_parameters": 2}, {"reference": (0.0, 3.0), "n_parameters": 2, "vectorized": True},
    {"reference": ([0.0, 1.0], [2.0, 3.0])}, {"prior": (0.0, 2.0), "n_parameters": 2}, {"initial": [0.0, 1.0]},
    {"initial": np.eye(2), "reference": "variational"},
    {"reference": (0.0, 3.0), "parameters": {"a": "real", "b": "real"}},
    {"reference": (0.0, 3.0), "parameters": {"a": ("positive", 1), "b": (0.0, 1.0)}},
    {"prior": {"a": stats.norm(0.0, 2.0), "b": stats.gamma(2.0)}},
    {"reference": (0.0, 2.0), "n_parameters": 2, "gradient": lambda x: -np.asarray(x), "explorer": "hmc"}, {},
]  # fmt: skip


def density(rng) -> dict:
    """Arguments of ``tempering.sample``: a model, or a target, well or ill, with what it needs, or not."""
    if rng.random() < 0.25:
        return {"target": tempered_model(rng)}
    return {"target": suitable(rng, "target", 3)} | chosen(rng, COMPANIONS)
