"""BayesianImputer: what it fills, containers and names of its output, its place in pipelines and searches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_subanneal import BayesianImputer, CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import SubsampleAnneal

BRIEF = CrossCat(schedule=SubsampleAnneal(passes=10), n_chains=1, n_draws=5, max_sweeps=5)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=240)
    frame = pd.DataFrame(
        {
            "height": 4.0 * group + rng.normal(size=240),
            "weight": -3.0 * group + rng.normal(size=240),
            "colour": pd.Categorical.from_codes(np.where(rng.random(240) < 0.95, group, 0), ["blue", "green", "red"]),
            "sold": rng.random(240) < 0.2 + 0.3 * group,
        }
    )
    hidden = rng.random((240, 3)) < 0.2
    gaps = frame.copy()
    gaps.iloc[:, :3] = gaps.iloc[:, :3].mask(hidden)
    return frame, gaps, group


def test_cells_are_filled_and_observed_ones_stay(table):
    frame, gaps, _ = table
    filled = BayesianImputer(BRIEF, random_state=0).fit_transform(gaps)
    assert not filled.isna().any().any()
    pd.testing.assert_series_equal(filled.dtypes, gaps.dtypes)
    observed = gaps.notna()
    assert (filled.astype(object).where(observed) == gaps.astype(object).where(observed)).to_numpy()[observed].all()
    hidden = gaps["height"].isna()
    error = (filled["height"] - frame["height"])[hidden]
    assert error.std() < 0.6 * frame["height"].std()
    hidden = gaps["colour"].isna()
    assert (filled["colour"] == frame["colour"])[hidden].mean() > 0.7


def test_sampled_cells_vary_as_the_table_does(table):
    frame, gaps, _ = table
    mean = BayesianImputer(BRIEF, random_state=0).fit(gaps)
    tables = mean.sample_imputations(gaps)
    assert len(tables) == 20
    hidden = gaps["height"].isna().to_numpy()
    draws = np.array([own["height"][hidden] for own in tables])
    assert draws.std(axis=0).mean() > 0.3
    # A sampled cell is as far from the truth as another sampled one, within chance.
    truth = frame["height"][hidden].to_numpy()
    ranks = (draws < truth).mean(axis=0)
    assert 0.35 < ranks.mean() < 0.65
    one = BayesianImputer(BRIEF, sample_posterior=True, random_state=0).fit(gaps)
    assert not np.allclose(one.transform(gaps)["height"], mean.transform(gaps)["height"])
    pd.testing.assert_frame_equal(one.transform(gaps), one.transform(gaps))


def test_indicators_stand_to_the_right(table):
    _, gaps, _ = table
    imputer = BayesianImputer(BRIEF, add_indicator=True, random_state=0).fit(gaps)
    filled = imputer.transform(gaps.iloc[:7])
    names = ["missingindicator_height", "missingindicator_weight", "missingindicator_colour"]
    assert filled.columns.tolist() == [*gaps.columns, *names] == imputer.get_feature_names_out().tolist()
    np.testing.assert_array_equal(filled[names], gaps.iloc[:7, :3].isna())
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[:5, 1] = np.nan
    filled = BayesianImputer(BRIEF, add_indicator=True).fit_transform(X)
    np.testing.assert_array_equal(filled[:, 2], np.arange(50) < 5)
    several = BayesianImputer(BRIEF, add_indicator=True, n_imputations=2).fit(X).sample_imputations(X)
    assert [own.shape for own in several] == [(50, 3), (50, 3)]


def test_an_indicator_does_not_take_the_place_of_a_column(table):
    """As where the output of one imputer is imputed again."""
    _, gaps, _ = table
    gaps = gaps.assign(missingindicator_height=1.5)
    for X in (gaps, pytest.importorskip("polars").from_pandas(gaps)):
        imputer = BayesianImputer(BRIEF, add_indicator=True, random_state=0)
        with pytest.raises(ValueError, match="'missingindicator_height', and X has a column of that name: rename it"):
            imputer.fit(X)
        plain = imputer.set_params(add_indicator=False).fit(X)
        with pytest.raises(ValueError, match="or set add_indicator=False"):
            plain.set_params(add_indicator=True).transform(X)
    # Of a column without gaps there is no indicator.
    whole = gaps.assign(height=2.5)
    filled = BayesianImputer(BRIEF, add_indicator=True, random_state=0).fit_transform(whole)
    assert (filled["missingindicator_height"] == 1.5).all()


def test_polars_in_and_out(table):
    pl = pytest.importorskip("polars")
    _, gaps, _ = table
    frame = pl.DataFrame({name: gaps[name].astype(object).where(gaps[name].notna(), None).tolist() for name in gaps})
    filled = BayesianImputer(BRIEF, add_indicator=True, random_state=0).fit_transform(frame)
    assert isinstance(filled, pl.DataFrame)
    assert filled.null_count().sum_horizontal().item() == 0
    assert filled["missingindicator_height"].to_list() == gaps["height"].isna().tolist()


@pytest.mark.parametrize("add_indicator", [False, True])
def test_pandas_of_polars_has_its_types(table, add_indicator):
    """All columns had become numbers, or objects; dates beside indicators failed."""
    pl = pytest.importorskip("polars")
    gaps = table[1][:60].assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), "D"))
    gaps["colour"] = gaps["colour"].astype("string")
    imputer = BayesianImputer(BRIEF, add_indicator=add_indicator, random_state=0)
    own = imputer.fit_transform(pl.from_pandas(gaps))
    assert isinstance(own, pl.DataFrame)
    frame = imputer.set_output(transform="pandas").transform(pl.from_pandas(gaps))
    pd.testing.assert_frame_equal(frame, own.to_pandas())
    with config_context(transform_output="pandas"):
        plain = BayesianImputer(BRIEF, add_indicator=add_indicator, random_state=0)
        pd.testing.assert_frame_equal(plain.fit_transform(pl.from_pandas(gaps)), frame)
    assert [dtype.kind for dtype in frame.dtypes] == ["f", "f", "O", "b", "M"] + 3 * add_indicator * ["b"]
    assert isinstance(imputer.set_output(transform="default").transform(pl.from_pandas(gaps)), pl.DataFrame)


def test_indicators_beside_numbered_columns(table):
    """Labels of two types are refused by all of scikit-learn."""
    numbered = table[1][["height", "weight"]].set_axis([0, 1], axis=1)
    imputer = BayesianImputer(BRIEF, add_indicator=True, random_state=0)
    filled = imputer.fit_transform(numbered)
    assert filled.columns.tolist() == ["x0", "x1", "missingindicator_x0", "missingindicator_x1"]
    assert filled.columns.tolist() == imputer.get_feature_names_out().tolist()
    assert StandardScaler().fit(filled).n_features_in_ == 4
    assert BayesianImputer(BRIEF, random_state=0).fit_transform(numbered).columns.tolist() == [0, 1]


def test_models_that_do_not_fill_tables_are_refused_before_the_fit(table):
    gaps = table[1][["height", "weight"]]
    counts = np.random.default_rng(0).poisson(1.0, (30, 6)).astype(float)
    bags = TreeGuidedNRMM(feature_types="bag-of-words", n_chains=1, n_draws=2, max_sweeps=3)
    three = "must be a CrossCat, a SubsampleAnnealedDPMM or a TreeGuidedNRMM, or such a model in a FrozenEstimator"
    inner = BayesianImputer(BRIEF)
    for wrong, X, message in (
        (bags, counts, "BayesianImputer has nothing to fill: a word that does not occur"),
        (FrozenEstimator(clone(bags).fit(counts)), counts, "has nothing to fill"),
        (inner, gaps, three),
        (FrozenEstimator(clone(inner).fit(gaps)), gaps, three),
        (CrossCat, gaps, three),
    ):
        imputer = BayesianImputer(wrong)
        with pytest.raises(ValueError, match=message):
            imputer.fit(X)
        assert vars(imputer).keys() == vars(BayesianImputer()).keys()


def test_before_a_classifier(table):
    _, gaps, group = table
    encode = ColumnTransformer([("colour", OneHotEncoder(), ["colour"])], remainder=StandardScaler())
    model = make_pipeline(BayesianImputer(BRIEF, random_state=0), encode, LogisticRegression())
    X = gaps.drop(columns="sold")
    assert cross_val_score(model, X, group, cv=3).mean() > 0.85
    search = GridSearchCV(
        model,
        {
            "bayesianimputer__estimator__schedule": [SubsampleAnneal(passes=3), SubsampleAnneal(passes=6)],
            "bayesianimputer__sample_posterior": [False, True],
        },
        cv=2,
    ).fit(X, group)
    assert search.best_score_ > 0.85
    assert len(search.cv_results_["params"]) == 4


def test_within_a_column_transformer_that_gives_frames(table):
    _, gaps, _ = table
    chosen = ColumnTransformer(
        [("two", BayesianImputer(BRIEF, random_state=0), ["height", "colour"])], verbose_feature_names_out=False
    ).set_output(transform="pandas")
    filled = chosen.fit_transform(gaps)
    assert filled.columns.tolist() == ["height", "colour"] == chosen.get_feature_names_out().tolist()
    X = gaps[["height", "weight"]].to_numpy()
    frame = BayesianImputer(BRIEF, add_indicator=True).set_output(transform="pandas").fit_transform(X)
    assert frame.columns.tolist() == ["x0", "x1", "missingindicator_x0", "missingindicator_x1"]


def test_any_of_the_models(table):
    _, gaps, _ = table
    model = SubsampleAnnealedDPMM(schedule=SubsampleAnneal(passes=5), n_chains=1, n_draws=2)
    imputer = BayesianImputer(model, n_imputations=3, random_state=0).fit(gaps)
    assert isinstance(imputer.estimator_, SubsampleAnnealedDPMM)
    assert model.random_state is None
    assert not imputer.transform(gaps).isna().any().any()
    first, second, _ = imputer.sample_imputations(gaps)
    assert not first.isna().any().any()
    assert not first.equals(second)


def test_learning_has_as_much_time_as_a_chain(table, monkeypatch):
    """Where the time is over at once, cells are those of the model alone."""
    _, gaps, _ = table
    handed, learned = [], CrossCat._refinements
    monkeypatch.setattr(CrossCat, "_refinements", lambda *given: handed.append(given[-1]) or learned(*given[:2], 0.0))
    imputer = BayesianImputer(clone(BRIEF).set_params(time_limit=0.5), random_state=0).fit(gaps)
    BayesianImputer(BRIEF, random_state=0).fit(gaps)
    assert handed == [0.5, np.inf]
    pd.testing.assert_frame_equal(imputer.transform(gaps), imputer.estimator_.impute(gaps))


def test_equal_seeds_give_equal_tables(table):
    _, gaps, _ = table
    imputer = BayesianImputer(BRIEF, n_imputations=2, random_state=3).fit(gaps)
    other = clone(imputer).fit(gaps)
    for one, two in zip(imputer.sample_imputations(gaps), other.sample_imputations(gaps), strict=True):
        pd.testing.assert_frame_equal(one, two)


def test_failed_fits_leave_the_imputer_as_it_was(table):
    _, gaps, _ = table
    imputer = BayesianImputer(BRIEF, random_state=0).fit(gaps)
    with pytest.raises(ValueError, match="infinity"):
        imputer.fit(gaps.assign(height=np.inf))
    assert not imputer.transform(gaps).isna().any().any()
    with pytest.raises(ValueError, match="n_imputations"):
        BayesianImputer(n_imputations=0).fit(gaps)


def test_all_views_say_something_of_a_category():
    """Three groups of columns, independent of one another; the category depends on all, and is in the view of one."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, (3, 600))
    sold = rng.random(600) < 1.0 / (1.0 + np.exp(-4.0 * (groups - 0.5).sum(axis=0)))
    X = pd.DataFrame({f"x{j}": 5.0 * groups[j // 3] + rng.normal(size=600) for j in range(9)})
    gaps = X.assign(sold=pd.array(np.where(np.arange(600) % 2, sold, None), "boolean"))
    imputer = BayesianImputer(CrossCat(n_chains=1), random_state=0).fit(gaps)
    filled, by_model = imputer.transform(gaps)["sold"], imputer.estimator_.impute(gaps)["sold"]
    of_pools, of_model = ((own == sold)[::2].mean() for own in (filled, by_model))
    assert of_pools > 0.8 > of_model + 0.05
    # New rows are no others.
    of_new = imputer.transform(gaps.iloc[::-2].reset_index(drop=True))["sold"]
    assert (of_new.to_numpy() == filled[::-2].to_numpy()).mean() > 0.97
