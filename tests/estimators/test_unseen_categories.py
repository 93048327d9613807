"""Categories that fit did not see are rarer than all others; those that are declared and do not occur are known."""

from __future__ import annotations

import copy
import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, CrossCatClassifier, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.datasets import make_planted_views

SHORT = {"n_chains": 2, "n_draws": 3, "max_sweeps": 5, "random_state": 0}
DATA = Path(os.environ.get("SUBANNEAL_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
STRANGE = "never seen"


# --- Three tables: rows, types, and for each categorical column all its known values --------------------------------


@cache
def integers():
    """Codes of categories among reals and booleans, in an array."""
    planted = make_planted_views(300, 8, n_clusters=(3, 4), random_state=0)
    return np.asarray(planted.data), planted.feature_types


@cache
def tickets():
    """A column in which most values occur once, one with a rare value, and one that is always the same."""
    rng = np.random.default_rng(1)
    group = rng.integers(3, size=150)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=150) + 5 * group,
            "ticket": [f"{number:04d}" for number in rng.integers(400, size=150)],
            "colour": np.where(np.arange(150) == 7, "pink", np.array(["red", "green", "blue"])[group]),
            "planet": "earth",
        }
    )
    frame.loc[[3, 20, 33], "colour"] = None
    return frame, {}


@cache
def titanic():
    """The passengers: classes by number, ports, tickets."""
    path = DATA / "titanic" / "titanic_raw.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not in $SUBANNEAL_DATA, nor in ../shared/data next to the checkout")
    frame = pd.read_csv(path)[["survived", "pclass", "sex", "age", "ticket", "embarked"]]
    return frame.iloc[:400], {"survived": "boolean", "pclass": "categorical"}


TABLES = {"integers": integers, "tickets": tickets, "titanic": titanic}


@cache
def fitted(name, estimator=CrossCat):
    X, types = TABLES[name]()
    return estimator(feature_types=types, **SHORT).fit(X)


def versions(model, X, row, column):
    """A row of the table with each known value of a column, and then with a value that the table does not have."""
    values = model._table.columns[column].categories.tolist()
    rows = (X.iloc if isinstance(X, pd.DataFrame) else X)[[row] * (len(values) + 1)].copy()
    if isinstance(X, pd.DataFrame):
        unseen = STRANGE if isinstance(values[0], str) else 99
        rows.isetitem(column, np.array([*values, unseen], dtype=object))
        return rows.reset_index(drop=True)
    rows[:, column] = [*values, 99]
    return rows


def categorical(model):
    return [j for j, kind in enumerate(model._table.kinds) if kind == "categorical"]


@pytest.mark.parametrize("name", quick_only(TABLES, "integers", "tickets"))
def test_an_unseen_level_is_more_novel_than_any_seen_one(name):
    model, (X, _) = fitted(name), TABLES[name]()
    for column in categorical(model):
        for row in (0, 3, 77):
            rows = versions(model, X, row, column)
            novelty, surprisal = model.novelty(rows), model.surprisal(rows)[:, column]
            assert np.isfinite(novelty).all() and np.isfinite(surprisal).all()
            assert novelty[-1] > novelty[:-1].max()
            assert surprisal[-1] > surprisal[:-1].max()
            alone = model.novelty(rows, columns=column)
            assert alone[-1] > alone[:-1].max()


@pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, TreeGuidedNRMM])
def test_mixtures_know_that_it_is_rare(estimator):
    model, (X, _) = fitted("tickets", estimator), tickets()
    for column in categorical(model):
        scores = model.score_samples(versions(model, X, 5, column))
        assert np.isfinite(scores).all() and scores[-1] < scores[:-1].min()


@pytest.mark.parametrize("name", TABLES)
def test_known_and_unseen_values_have_all_the_mass(name):
    model, (X, _) = fitted(name), TABLES[name]()
    for column in categorical(model):
        rows = versions(model, X, 5, column)
        assert logsumexp(-model.surprisal(rows)[:, column]) == pytest.approx(0, abs=1e-9)
        assert logsumexp(-model.novelty(rows, columns=column)) == pytest.approx(0, abs=1e-9)
        rest = rows.copy()
        if isinstance(rest, pd.DataFrame):
            rest.isetitem(column, [None] * len(rest))
            given = rest.iloc[:1]
        else:
            rest[:, column] = np.nan
            given = rest[:1]
        assert logsumexp(model.score_samples(rows, given=given)) == pytest.approx(0, abs=1e-9)
        known = np.exp(model.score_samples(rows, given=given))[:-1]
        np.testing.assert_allclose(model.predict_column_proba(column, rest[:1])[0], known / known.sum(), rtol=1e-7)


# --- Declared levels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_declared_levels_that_do_not_occur_are_categories(package):
    cells = ["low", "high", "low", None] * 15
    levels = ["low", "middle", "high", "huge"]
    if package == "pandas":
        X = pd.DataFrame({"grade": pd.Categorical(cells, categories=levels, ordered=True), "x": np.arange(60.0)})
        new = pd.DataFrame({"grade": [*levels, "tiny"], "x": np.nan})
    else:
        X = pl.DataFrame({"grade": pl.Series(cells, dtype=pl.Enum(levels)), "x": np.arange(60.0)})
        new = pl.DataFrame({"grade": [*levels, "tiny"], "x": [None] * 5}, schema_overrides={"x": pl.Float64})
    types = {"grade": "categorical", "x": "real"}
    model = CrossCat(feature_types=types, **SHORT).fit(X)
    assert model.column_categories("grade").tolist() == ["high", "huge", "low", "middle"]
    assert model.hyperparameters_["columns"]["grade"]["alpha"].shape == (2, 3, 4)
    mass = np.exp(model.score_samples(new))
    assert mass.sum() == pytest.approx(1, abs=1e-9)
    assert mass.argmax() == 0 and mass.argmin() == 4
    assert mass[[1, 3]].min() > 1.5 * mass[4]
    np.testing.assert_allclose(model.predict_column_proba("grade", new[:1])[0, 1], mass[3] / mass[:4].sum(), rtol=1e-9)
    # It is no error to ask for them, and they may be given.
    strict = CrossCat(feature_types=types, unseen="error", **SHORT).fit(X)
    np.testing.assert_allclose(strict.score_samples(new[:4]), np.log(mass[:4]), rtol=1e-12)
    assert np.isfinite(model.score_samples(new[:1], given={"grade": "low"})).all()
    fixed = {"feature_params": {"grade": {"alpha": 5.0}}, "learn_hyperparameters": False}
    even = CrossCat(feature_types=types, **fixed, **SHORT).fit(X)
    rows = even.sample(200, random_state=0)
    assert rows["grade"].dtype == X["grade"].dtype
    assert set(rows["grade"]) == set(levels)


def test_chains_are_not_continued_with_other_levels():
    cells = ["a", "b"] * 10
    X, more = (pd.DataFrame({"c": pd.Categorical(cells, categories=list(levels))}) for levels in ("ab", "abz"))
    model = CrossCat(warm_start=True, **SHORT).fit(X)
    with pytest.raises(ValueError, match="but X changed since"):
        model.set_params(n_draws=4).fit(more)
    # Which levels the rows declare that are scored does not matter.
    np.testing.assert_array_equal(model.novelty(X, seen=True), model.novelty(more, seen=True))


# --- Not among the answers ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def greedy():
    """The unseen value has nearly as much mass as the categories, so that it would come at once."""
    X, types = integers()
    given = {"categorical": {"alpha": 1.0, "unseen": 0.999}}
    return CrossCat(feature_types=types, feature_params=given, learn_hyperparameters=False, **SHORT).fit(X)


def test_no_sample_is_unseen(greedy):
    X, _ = integers()
    columns = categorical(greedy)
    rows = greedy.sample(3000, random_state=0)
    for j in columns:
        assert set(rows[:, j]) == set(greedy.column_categories(j))
    given = greedy.sample(500, given={columns[0]: 1, 0: X[0, 0]}, random_state=0)
    assert (given[:, columns[0]] == 1).all() and np.isin(given, rows)[:, columns].all()


def test_samples_are_conditional_on_known_categories():
    # A small cluster has more unseen values than a large one: given that there are none, it counts less.
    X = np.repeat([[0.0, 0, 0], [100.0, 1, 1]], [2, 12], axis=0)
    model = SubsampleAnnealedDPMM(
        feature_types=["real", "categorical", "categorical"],
        feature_params={"categorical": {"alpha": 0.6, "unseen": 0.59}, "real": {"sigma2": 1.0, "mu": 50.0}},
        learn_hyperparameters=False,
        **SHORT,
    ).fit(X)
    assert model.n_clusters_ == 2
    rows = model.sample(40_000, random_state=1)
    pairs = np.array([[np.nan, a, b] for a in range(2) for b in range(2)])
    law = np.exp(model.score_samples(pairs))
    assert law.sum() < 0.9
    seen = [np.sum((rows[:, 1:] == pair[1:]).all(axis=1)) for pair in pairs]
    assert stats.chisquare(seen, 40_000 * law / law.sum()).pvalue > 1e-3


def test_no_filling_is_unseen(greedy):
    X, _ = integers()
    gaps = X[:50].copy()
    j = categorical(greedy)[0]
    gaps[:25, j], gaps[25:, j] = np.nan, 99
    probabilities = greedy.predict_column_proba(j, gaps)
    assert probabilities.shape == (50, 5)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    best, doubt = probabilities.argmax(axis=1), 1.0 - probabilities.max(axis=1)
    filled, uncertainty = greedy.impute(gaps, return_uncertainty=True)
    # An observed cell stays.
    np.testing.assert_array_equal(filled[:, j], np.where(np.arange(50) < 25, best, 99))
    np.testing.assert_allclose(uncertainty[:, j], np.where(np.arange(50) < 25, doubt, 0.0), rtol=1e-6)
    lenient = copy.copy(greedy).set_params(unseen="missing")
    filled, uncertainty = lenient.impute(gaps, return_uncertainty=True)
    np.testing.assert_array_equal(filled[:, j], best)
    np.testing.assert_allclose(uncertainty[:, j], doubt, rtol=1e-6)


def test_no_class_is_unseen():
    frame = tickets()[0].copy()
    y = frame.pop("colour").fillna("red")
    model = CrossCatClassifier(CrossCat(**SHORT)).fit(frame, y)
    probabilities = model.predict_proba(frame)
    assert probabilities.shape == (150, 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    tell = frame[:1].assign(ticket=STRANGE), frame[:1].assign(ticket=None)
    np.testing.assert_allclose(*(model.predict_proba(rows) for rows in tell), rtol=1e-12)


# --- Options --------------------------------------------------------------------------------------------------------


def test_it_may_be_missing_or_an_error():
    X, types = tickets()
    strange, gone = (X[:4].assign(colour=[cell, "red", "green", "blue"]) for cell in (STRANGE, None))
    model = CrossCat(feature_types=types, **SHORT).fit(X)
    assert (model.novelty(strange) > model.novelty(gone)).tolist() == [True, False, False, False]
    assert np.isfinite(model.surprisal(strange)[0, 2]) and np.isnan(model.surprisal(gone)[0, 2])
    # As evidence for clusters and other cells it is missing.
    for method in (model.predict, model.predict_proba, lambda rows: model.predict_column("size", rows)):
        np.testing.assert_array_equal(method(strange), method(gone))
    # But it is no missing cell, and stays.
    filled = model.impute(gone)
    assert filled["colour"][0] in ("red", "green", "blue", "pink")
    pd.testing.assert_frame_equal(model.impute(strange), filled.assign(colour=[STRANGE, "red", "green", "blue"]))
    assert model.typed_columns(strange)[2][0] == -1
    with pytest.raises(ValueError, match="given has 'never seen' for column 'colour'"):
        model.sample(given={"colour": STRANGE})
    lenient = model.set_params(unseen="missing")
    np.testing.assert_array_equal(lenient.novelty(strange), lenient.novelty(gone))
    assert np.isnan(lenient.surprisal(strange)[0, 2])
    pd.testing.assert_frame_equal(lenient.impute(strange), filled)
    for method in ("novelty", "surprisal", "score_samples", "predict", "impute"):
        with pytest.raises(ValueError, match="'never seen' in column 'colour'"):
            getattr(model.set_params(unseen="error"), method)(strange)


def test_more_rows_with_unseen_categories_are_learned_as_missing():
    X, _ = tickets()
    model = TreeGuidedNRMM(random_state=0).partial_fit(X[:100])
    n_values = model.hyperparameters_["columns"]["ticket"]["alpha"].shape[-1]
    model.partial_fit(X[100:])
    assert model.hyperparameters_["columns"]["ticket"]["alpha"].shape[-1] == n_values
    assert np.isfinite(model.score_samples(X)).all()


def test_booleans_have_no_unseen_value():
    X = pd.DataFrame({"flag": [True, False, True, True] * 5, "x": np.arange(20.0)})
    model = CrossCat(**SHORT).fit(X)
    assert set(model.hyperparameters_["columns"]["flag"]) == {"alpha", "beta"}
    rows = pd.DataFrame({"flag": [True, False], "x": np.nan})
    assert logsumexp(model.score_samples(rows)) == pytest.approx(0, abs=1e-12)
