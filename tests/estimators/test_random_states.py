"""NumPy's Generators as `random_state`, of constructors and of methods: what scikit-learn does with its instances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

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
from sklearn_subanneal._core.random_states import checked_random_state, seeded_generator
from sklearn_subanneal.annealing import SequentialGibbs
from sklearn_subanneal.diagnostics import calibrate
from sklearn_subanneal.partitions import CRP
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.posterior import pool_fits

# Fits are short.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FAST = {"schedule": SequentialGibbs(passes=3), "n_chains": 2, "n_draws": 2, "max_sweeps": 5}
INNER = CrossCat(**FAST)


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 2.0 * rng.integers(2, size=(40, 1))
    return X, np.repeat([0, 1], 20)


# How each is fitted, and a number that tells fits apart.
ESTIMATORS = {
    "dpmm": (SubsampleAnnealedDPMM(**FAST), lambda model, X: model.score(X)),
    "nrmm": (TreeGuidedNRMM(**FAST), lambda model, X: model.score(X)),
    "crosscat": (INNER, lambda model, X: model.score(X)),
    "classifier": (CrossCatClassifier(INNER), lambda model, X: model.predict_proba(X).sum(axis=0)[0]),
    "regressor": (CrossCatRegressor(INNER), lambda model, X: model.predict(X).sum()),
    "detector": (CrossCatDetector(INNER, n_calibration=5), lambda model, X: model.score_samples(X).sum()),
    "imputer": (BayesianImputer(INNER), lambda model, X: model.estimator_.score(X)),
    "lda": (VariationalTemperingLDA(2, max_iter=2), lambda model, X: model.components_[0, 0]),
    "fmm": (VariationalTemperingFMM(2, init="random", max_iter=2), lambda model, X: model.components_[0, 0]),
    "gp": (
        TemperedGaussianProcessRegressor(n_chains=1, n_draws=5, n_warmup=2),
        lambda model, X: model.predict(X[:, :2]).sum(),
    ),
}


def fit(name, model):
    X, y = table()
    if name == "lda":
        X = np.abs(X).round()
    return model.fit(X[:, :2] if name == "gp" else X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fits_with_a_generator(name):
    """It moves on by a fit, so that the next one differs; a clone has a copy of it, as it is."""
    model, number = ESTIMATORS[name]
    X, _ = table()
    model = clone(model).set_params(random_state=np.random.default_rng(0))
    again = clone(model)
    first = number(fit(name, model), X)
    second = number(fit(name, model), X)
    assert number(fit(name, again), X) == first != second
    assert number(fit(name, again), X) == second
    assert again.random_state is not model.random_state


def test_a_generator_in_an_estimator_inside():
    """It is cloned with that estimator: fits are equal."""
    X, y = table()
    model = CrossCatRegressor(clone(INNER).set_params(random_state=np.random.default_rng(3)))
    first = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), first)


def test_any_number_of_jobs_and_searches():
    X, _ = table()
    one, two = (
        CrossCat(n_jobs=n_jobs, random_state=np.random.default_rng(1), **FAST).fit(X).log_joint_ for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    search = GridSearchCV(CrossCat(random_state=np.random.default_rng(1), **FAST), {"n_draws": [2, 2]}, cv=2).fit(X)
    first, second = search.cv_results_["mean_test_score"]
    assert first == second


def test_saved_models_keep_their_generator(tmp_path):
    X, _ = table()
    model = CrossCat(random_state=np.random.default_rng(1), **FAST).fit(X)
    save(model, tmp_path / "model.zip")
    loaded = load(tmp_path / "model.zip")
    np.testing.assert_array_equal(loaded.fit(X).log_joint_, model.fit(X).log_joint_)


@pytest.fixture(scope="module")
def fitted():
    X, _ = table()
    words = np.random.default_rng(1).poisson(2.0, (40, 6))
    return {
        "crosscat": CrossCat(column_start="together", n_chains=1, n_draws=2, random_state=0).fit(X),
        "mixture": SubsampleAnnealedDPMM(
            CRP(20.0),
            covariance_type="diag",
            feature_params={"real": {"sigma2": 0.05}},
            n_chains=1,
            n_draws=2,
            random_state=4,
        ).fit(X),
        "topics": VariationalTemperingLDA(2, max_iter=2, random_state=0).fit(words),
        "regression": TemperedGaussianProcessRegressor(n_chains=1, n_draws=5, n_warmup=2).fit(X[:, :2], X[:, 2]),
        "gaps": np.where(X > 2.0, np.nan, X),
        "words": words,
    }


def least_squares(rows):
    return LinearRegression().fit(rows[:, :2], rows[:, 2])


METHODS = {
    "sample": lambda of, rng: of["crosscat"].sample(3, random_state=rng),
    "sample_imputations": lambda of, rng: of["crosscat"].sample_imputations(of["gaps"], 2, rng)[1],
    "mutual_information": lambda of, rng: of["crosscat"].mutual_information(0, [1, 2], random_state=rng).value,
    "relatedness": lambda of, rng: of["crosscat"].relatedness(0, [1, 2], random_state=rng).value,
    "relatedness_matrix": lambda of, rng: of["crosscat"].relatedness_matrix(random_state=rng),
    "sample of a mixture": lambda of, rng: of["mixture"].sample(3, random_state=rng),
    "sample_imputations of a mixture": lambda of, rng: of["mixture"].sample_imputations(of["gaps"], 2, rng)[1],
    "distill": lambda of, rng: of["mixture"].distill(max_loss=10.0, random_state=rng).distillation_loss_,
    # With few merges at so large an overlap, it is open what is merged.
    "merge_components": lambda of, rng: of["mixture"].merge_components(0.15, random_state=rng).tree_.overlaps,
    "document_completion_score": lambda of, rng: of["topics"].document_completion_score(of["words"], random_state=rng),
    "sample_y": lambda of, rng: of["regression"].sample_y(np.zeros((1, 2)), random_state=rng),
    "pool_fits": lambda of, rng: (
        pool_fits(least_squares, [table()[0]] * 2, n_bootstraps=5, random_state=rng).standard_error
    ),
    "calibrate": lambda of, rng: (
        calibrate(
            lambda rng: (rng.normal(), None),
            lambda data, rng: rng.normal(size=99),
            lambda draw, data: {"x": draw},
            n_replications=3,
            random_state=rng,
        ).ranks
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_with_a_generator(fitted, name):
    """Equal generators give equal numbers, and one that has moved on others."""
    ask, rng = METHODS[name], np.random.default_rng(0)
    first, second = ask(fitted, rng), ask(fitted, rng)
    np.testing.assert_array_equal(ask(fitted, np.random.default_rng(0)), first)
    assert np.any(first != second)


def test_seeds_are_the_same_bits_as_ever():
    """Integers and instances are as scikit-learn has them; anything else is refused as there."""
    assert checked_random_state(5).randint(1000) == np.random.RandomState(5).randint(1000)
    instance = np.random.RandomState(5)
    assert checked_random_state(instance) is instance
    bits = np.random.RandomState(5).randint(0, 2**32, size=4, dtype=np.uint32)
    assert seeded_generator(5).random() == np.random.Generator(np.random.PCG64(bits)).random()
    with pytest.raises(ValueError, match="cannot be used to seed"):
        CrossCat(**FAST).fit(table()[0]).sample(random_state="seed")
    with pytest.raises(ValueError, match="'random_state' parameter"):
        CrossCat(random_state="seed").fit(table()[0])
