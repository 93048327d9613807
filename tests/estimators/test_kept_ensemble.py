"""Ensembles that are kept between questions, threads that share rows, and models of fewer draws."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.mixtures.distillation import sufficient_draws
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.predictive import ensemble_of_mixtures
from sklearn_subanneal.views.views_predictive import ensemble_of_views

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def table(seed, n=150):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "a": 4.0 * group + rng.normal(size=n),
            "b": group + rng.normal(size=n),
            "c": np.array(["x", "y", "z"])[(group + rng.integers(0, 2, n)) % 3],
            "d": rng.normal(size=n),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05)


@pytest.fixture(scope="module")
def crosscat():
    return CrossCat(n_chains=2, n_draws=4, random_state=0).fit(table(0))


@pytest.fixture(scope="module")
def mixture():
    X = table(0).drop(columns="c")
    return SubsampleAnnealedDPMM(covariance_type="diag", n_chains=2, n_draws=4, random_state=0).fit(X)


def answers(model, X):
    found = [model.score_samples(X), np.asarray(model.impute(X).drop(columns="c", errors="ignore"))]
    if isinstance(model, CrossCat):
        found += [model.score_samples(X, given={"a": 4.0}), np.array([model.probability("a > 3 and c == 'x'")])]
        found.append(model.conditional_quantiles("d", given={"c": "y"}))
    return found


@pytest.mark.parametrize("name", ["crosscat", "mixture"])
def test_answers_are_those_of_a_new_copy(name, request):
    model, X = request.getfixturevalue(name), table(1)
    X = X if name == "crosscat" else X.drop(columns="c")
    one = X.assign(a=np.nan)
    wanted = answers(pickle.loads(pickle.dumps(model)), one)
    for _ in range(2):
        for found, own in zip(answers(model, one), wanted, strict=True):
            assert_array_equal(found, own)


def test_not_part_of_the_model(crosscat):
    before = len(pickle.dumps(clone(crosscat))), len(pickle.dumps(crosscat))
    crosscat.score_samples(table(1))
    assert (len(pickle.dumps(clone(crosscat))), len(pickle.dumps(crosscat))) == before


def test_another_fit_has_other_answers():
    model = CrossCat(n_chains=1, n_draws=2, random_state=0).fit(table(0))
    before = model.score_samples(table(1))
    model.fit(table(2))
    after = model.score_samples(table(1))
    assert not np.allclose(before, after)
    arrays = model._encode(table(1), scored=True)
    assert_allclose(after, ensemble_of_views(model._models, model._flat_draws()).score(arrays), rtol=1e-12)


def test_many_threads_ask_one_model(crosscat):
    with crosscat._average() as one, crosscat._average() as other:
        assert one is not other
    tables = [table(seed) for seed in range(8)]
    alone = [crosscat.score_samples(X) for X in tables]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(crosscat.score_samples, tables * 4))
    for found, wanted in zip(together, alone * 4, strict=True):
        assert_array_equal(found, wanted)


def test_threads_share_rows(mixture, monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.estimators._kept_ensemble.LEAST_ROWS_A_THREAD", 10)
    X = table(3).drop(columns="c")
    alone = mixture.score_samples(X)
    shared = pickle.loads(pickle.dumps(mixture)).set_params(n_jobs=3)
    assert_array_equal(shared.score_samples(X), alone)


def test_evidence_of_each_row_goes_with_it(crosscat, monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.estimators._kept_ensemble.LEAST_ROWS_A_THREAD", 10)
    X, given = table(4), table(5)
    X, given = X.assign(a=np.nan, d=np.nan), given.assign(b=np.nan, c=np.nan)
    alone = crosscat.score_samples(X, given)
    shared = pickle.loads(pickle.dumps(crosscat)).set_params(n_jobs=2)
    assert_array_equal(shared.score_samples(X, given), alone)


@pytest.mark.parametrize("name", ["crosscat", "mixture"])
@pytest.mark.parametrize("max_loss", [0.2, 0.02])
def test_distilled_models_lose_no_more_than_asked(name, max_loss, request):
    model = request.getfixturevalue(name)
    X = table(6, 400) if name == "crosscat" else table(6, 400).drop(columns="c")
    fast = model.distill(X, max_loss=max_loss)
    loss = model.score_samples(X).mean() - fast.score_samples(X).mean()
    assert fast.distillation_loss_ == pytest.approx(loss, abs=1e-9)
    assert loss <= max_loss
    (n_chains, n_draws), all_draws = fast.log_joint_.shape, model._flat_draws()
    if n_draws < 8:
        assert n_chains == 1
        assert_array_equal(fast.posterior_labels_.shape, (1, n_draws, 150))
        assert fast.hyperparameters_["concentration"].shape[:2] == (1, n_draws)
        # One draw does not do if there are more.
        build = ensemble_of_views if name == "crosscat" else ensemble_of_mixtures
        arrays = model._encode(X, scored=True)
        best_of_one = max(build(model._models, [draw]).score(arrays).mean() for draw in all_draws)
        assert n_draws == 1 or model.score_samples(X).mean() - best_of_one > max_loss
    answers(fast, X.assign(a=np.nan))
    fast.sample(3, random_state=0), fast.predict(X), fast.transform(X), fast.sample_imputations(X, 2, random_state=0)


def test_all_methods_of_a_distilled_crosscat(crosscat):
    fast = crosscat.distill(max_loss=0.5, random_state=0)
    assert fast.log_joint_.size < 8
    X = table(0)
    assert fast.dependence_.shape == (4, 4)
    assert fast.co_clustering(rows=np.arange(5)).shape == (5, 5)
    assert fast.surprisal(X).shape == fast.surprisal(X, seen=True).shape == X.shape
    assert fast.impute(X).isna().sum().sum() == 0
    again = pickle.loads(pickle.dumps(fast))
    assert_array_equal(again.score_samples(X), fast.score_samples(X))


class Densities:
    """An ensemble of draws with these densities of the rows."""

    most_clusters = 1

    def __init__(self, densities, weights):
        self.logs, self.log_weights = np.log(densities), np.log(weights)
        self.products = [None] * len(densities)

    def cells(self, arrays, n_terms):
        half = len(arrays[0]) // 2
        return ((rows, rows) for rows in (slice(0, half), slice(half, None)))

    def log_densities(self, rows):
        return self.logs[:, rows]


def test_sufficient_draws():
    # Each is good at one row of four: the loss is 0.213, 0.102, 0.040 with one, two and three of them.
    densities, arrays = 1.0 + 3.0 * np.eye(4), [np.zeros(4)]
    whole = np.log(densities.mean(axis=0)).mean()
    for limit, n_chosen in ((5.0, 1), (0.22, 1), (0.21, 2), (0.1, 3), (0.03, 4)):
        found, loss = sufficient_draws(Densities(densities, np.ones(4)), arrays, limit)
        assert found == list(range(n_chosen))
        assert loss == pytest.approx(whole - np.log(densities[found].mean(axis=0)).mean(), abs=1e-12)
        assert loss <= limit
    # The best one first, whatever its number.
    densities[2] *= 1.1
    assert sufficient_draws(Densities(densities, np.ones(4)), arrays, 0.22)[0] == [2]


def test_a_model_all_of_whose_draws_are_needed(crosscat, monkeypatch):
    monkeypatch.setattr(
        "sklearn_subanneal.estimators._distillation.sufficient_draws", lambda *arguments: (list(range(8)), 0.0)
    )
    whole = crosscat.distill()
    assert whole.log_joint_.shape == (2, 4)
    assert_array_equal(whole.score_samples(table(1)), crosscat.score_samples(table(1)))
    # The copy is another model.
    assert not hasattr(crosscat, "distillation_loss_")


@pytest.mark.parametrize("kind", [CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM])
def test_the_loss_is_that_of_a_distilled_model(kind, monkeypatch):
    """It had stayed when the model had other draws."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = kind(covariance_type="diag", n_chains=2, n_draws=2, max_sweeps=1, random_state=0).fit(X)
    assert not hasattr(model.distill(max_loss=1.0).fit(X), "distillation_loss_")
    monkeypatch.setattr(
        "sklearn_subanneal.estimators._distillation.sufficient_draws", lambda *arguments: (list(range(4)), 0.0)
    )
    whole = model.distill()
    assert whole.distillation_loss_ == 0.0
    assert not hasattr(whole.partial_fit(X[:9]), "distillation_loss_")


@pytest.mark.parametrize("max_loss", [0.0, -1.0, np.nan, "much"])
def test_bad_losses(crosscat, max_loss):
    with pytest.raises(ValueError, match="max_loss must be a positive number"):
        crosscat.distill(max_loss=max_loss)


@pytest.mark.parametrize("name", ["crosscat", "mixture"])
def test_rows_with_few_cells(name, request, monkeypatch):
    model, X = request.getfixturevalue(name), table(7, 60)
    X = X if name == "crosscat" else X.drop(columns="c")
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.85)
    assert X.isna().all(axis=1).any()
    found = model.score_samples(X)
    left_out = []
    monkeypatch.setattr(DistinctRows, "rows_with", lambda self, members: left_out.append(members))
    assert_allclose(model.score_samples(X), found, rtol=1e-12, atol=1e-12)
    assert left_out
    assert_allclose(found[X.isna().all(axis=1)], 0.0, atol=1e-15)
    assert_allclose([model.score_samples(X.iloc[[i]])[0] for i in range(60)], found, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("given", [True, False])
def test_distilled_models_of_documents(given):
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(30, 0.1), size=3)
    X = csr_array(np.array([rng.multinomial(30, words[i % 3]) for i in range(80)]))
    model = TreeGuidedNRMM(feature_types="bag-of-words", n_chains=1, n_draws=3, random_state=0).fit(X)
    fast = model.distill(X if given else None, max_loss=0.5, random_state=0)
    assert fast.log_joint_.size < 3
    assert model.score(X) - fast.score(X) < 1.0
