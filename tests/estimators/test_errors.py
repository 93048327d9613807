"""What users do wrong is told to them: the parameter, the value, the remedy; and what they stop ends at once."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support.moves import VIEW_MOVES
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import Accelerating, StratifiedSubsampling, SubsampleAnneal
from sklearn_subanneal.mixtures import Gibbs, Slice, SplitMerge
from sklearn_subanneal.partitions import CRP, NGGP, NIG, PitmanYor
from sklearn_subanneal.trees import TreeGuided
from sklearn_subanneal.views import ColumnBlocks, ColumnGibbs, ColumnGroups, ColumnPacing, ViewSplitMerge

NAN = np.nan
SHORT = {"n_chains": 2, "n_draws": 2, "max_sweeps": 5, "random_state": 0}
X = np.random.default_rng(0).normal(size=(40, 2))
MODELS = {
    "diag": partial(SubsampleAnnealedDPMM, covariance_type="diag"),
    "full": partial(SubsampleAnnealedDPMM, covariance_type="full"),
    "views": CrossCat,
}
each_model = pytest.mark.parametrize("model", MODELS)
each_estimator = pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, CrossCat])


def fit(data=X, model="diag", **params):
    return MODELS[model](**SHORT | params).fit(data)


def frame(**columns):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    table = {"a": X[:, 0], "c": np.where(X[:, 1] > 0, "u", "v"), "n": rng.poisson(3, 40)}
    return pandas.DataFrame(table | columns)


# --- Tables that cannot be learned ----------------------------------------------------------------------------------

TABLES = {
    "inf": (lambda: np.vstack([X, [np.inf, 0]]), "contains infinity.*column 'x0': correct"),
    "-inf": (lambda: np.vstack([X, [0, -np.inf]]), "contains infinity.*column 'x1': correct"),
    "inf in a frame": (lambda: frame(a=np.inf), "contains infinity.*column 'a': correct"),
    "no rows": (lambda: np.empty((0, 2)), r"0 sample\(s\).*minimum of 1 is required"),
    "no columns": (lambda: np.empty((5, 0)), r"0 feature\(s\).*minimum of 1 is required"),
    "an empty frame": (lambda: frame()[:0], r"0 sample\(s\)"),
    "a frame without columns": (lambda: frame()[[]], r"0 feature\(s\)"),
    "one dimension": (lambda: X[:, 0], "Expected 2D array, got 1D array"),
    "strings": (lambda: np.array([["a", "b"], ["c", "d"]]), "Convert your data to numeric values"),
    "durations": (lambda: frame(a=np.timedelta64(1, "D")), "'a' has dtype timedelta64.*convert it to numbers"),
    "an array of dates": (lambda: np.array([["2020-01-01"]] * 9, "M8[D]"), "'x0' has dtype datetime64.*in a DataFrame"),
    "complex numbers": (lambda: X + 1j, "Complex data not supported"),
}


@pytest.mark.parametrize(("table", "message"), TABLES.values(), ids=TABLES)
@each_model
def test_tables_that_cannot_be_learned(table, message, model):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        fit(table(), model)


@each_model
def test_objects_that_are_no_cells(model):
    with pytest.raises(TypeError, match=r"'a' holds .* of type list, which is not hashable.*convert"):
        fit(frame(a=[[1]] * 40), model)
    with pytest.raises(TypeError, match=r"string or a real number, not 'dict'"):
        fit(np.array([[{}], [{}]], dtype=object), model)


@each_model
def test_sparse_tables(model):
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"Sparse data was passed.*dense"):
        fit(sparse.csr_array(X), model)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"n": -1}, "'n' must be count but holds -1.*from 0 to"),
        ({"n": 0.5}, "'n' must be count but holds 0.5.*declare it 'real'"),
        ({"n": "many"}, "'n' must be count but holds 'many'.*declare it"),
        ({"a": "x"}, "'a' must be real but holds 'x'.*declare it 'categorical'.*or convert it"),
        ({"b": 2}, "'b' must be boolean but holds 2.*declare it 'categorical'"),
    ],
)
@pytest.mark.parametrize("estimator", quick_only([SubsampleAnnealedDPMM, CrossCat], SubsampleAnnealedDPMM))
def test_cells_that_their_type_does_not_admit(column, message, estimator):
    types = {"a": "real", "n": "count", "b": "boolean"}
    good = frame(b=1)
    model = estimator(feature_types=types, **SHORT).fit(good)
    for method in (clone(model).fit, model.predict, model.score_samples, model.impute):
        with pytest.raises(ValueError, match=f"Column {message}"):
            method(good.assign(**column))


# --- Tables that can, however poor ----------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", [True, pytest.param(False, marks=pytest.mark.slow)])
@each_model
@pytest.mark.parametrize("schedule", quick_only(["anneal", "accelerating", "prior"], "anneal"))
def test_poor_tables(schedule, model, learn):
    pairs = [
        (X[:1], X[:3]),
        (X[:2, :1], X[:3, :1]),
        (np.full((10, 1), 7.0), [[7.0], [8.0]]),
        (np.full((10, 2), 0.1), [[0.1, 0.1]]),
        (np.zeros((5, 1)), [[0.0], [1.0]]),
        (np.column_stack([X, np.full(40, 3.0)]), [[0.0, 0.0, 3.0], [0.0, 0.0, 4.0]]),
        (X[:, [0, 0]], X[:3, [0, 0]]),
        ([[1.0, NAN], [NAN, 2.0], [NAN, NAN]], [[1.0, 2.0]]),
        (X[[0] * 30], X[:2]),
    ]
    for table, new in pairs:
        fitted = fit(table, model, schedule=schedule, learn_hyperparameters=learn, n_draws=1)
        assert np.isfinite(fitted.score_samples(new)).all()
        assert np.isfinite(fitted.sample(5, random_state=0)).all()
        assert np.isfinite(fitted.impute(table)).all()
        assert fitted.labels_.max() + 1 == fitted.n_clusters_
    assert fit(X[:1], model).labels_.tolist() == [0]


@pytest.mark.parametrize("schedule", quick_only(["anneal", "accelerating", "prior", "energy"], "anneal"))
@pytest.mark.parametrize(
    "moves", quick_only(["prior", "data-driven", "birth-death", "block", "group"], "birth-death", "group")
)
def test_poor_tables_by_views(moves, schedule):
    discrete = {"feature_types": ["categorical", "count", "boolean"]}
    tables = [
        (X[:1], {}),
        (X[:2], {}),
        (X[:, :1], {}),
        (X[:1, :1], {}),
        (np.zeros((5, 1)), {}),
        (np.zeros((5, 3)), discrete),
        ([[1.0, NAN, NAN], [NAN, 2.0, NAN], [NAN, NAN, 1.0]], discrete),
        (np.column_stack([X, np.full(40, 3.0)]), {}),
    ]
    for table, params in tables:
        fitted = fit(table, "views", moves=VIEW_MOVES[moves], schedule=schedule, n_draws=1, n_chains=1, **params)
        assert np.isfinite(fitted.score_samples(table)).all()
        assert np.isfinite(fitted.impute(table)).all()
        assert fitted.view_labels_.shape == (len(table), fitted.n_views_)
        assert np.isfinite(fitted.view_confidence_).all()


@pytest.mark.parametrize("model", ["diag", "views"])
def test_a_constant_column_prefers_its_constant(model):
    density = fit(np.column_stack([X, np.full(40, 3.0)]), model).score_samples([[0.0, 0.0, 3.0], [0.0, 0.0, 4.0]])
    assert density[0] > density[1] + 3


@each_model
def test_a_constant_column_has_no_units_but_its_own(model):
    # Not all of these are the mean of ten of them in floating point.
    values = (0.25, 0.3, 3e-9, 7e30, -0.3)
    fits = [fit(np.full((10, 1), value), model, feature_types=["real"]) for value in values]
    density = [fitted.score([[value]]) + np.log(abs(value)) for fitted, value in zip(fits, values, strict=True)]
    np.testing.assert_allclose(density, density[0], atol=1e-6)
    # By default it is an atom, whose probability has no unit.
    fits = [fit(np.full((10, 1), value), model) for value in values]
    density = [fitted.score([[value]]) for fitted, value in zip(fits, values, strict=True)]
    np.testing.assert_allclose(density, np.log(11.0 / 12.0), atol=0.1)


@each_model
@pytest.mark.parametrize("factor", quick_only([2.0**-660, 2.0**-60, 2.0**60, 2.0**500], 2.0**-660, 2.0**500))
def test_numbers_of_any_size(model, factor):
    score = fit(X, model).score(X)
    assert fit(factor * X, model).score(factor * X) == pytest.approx(score - 2 * np.log(factor), abs=1e-6)


@each_model
def test_rows_far_out_have_low_and_finite_density(model):
    density = fit(X, model).score_samples([[0, 0], [1e5, 1e5], [1e30, 1e30], [1e300, -1e300]])
    assert np.isfinite(density).all()
    assert (np.diff(density) < -10).all()


@pytest.mark.parametrize("data", [1e30 * X, X + 1e30, 1e200 * X], ids=["scale", "shift", "overflow"])
@each_model
@pytest.mark.parametrize("params", [{"learn_hyperparameters": False}, {"grids": "fixed"}], ids=["known", "grids"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_data_out_of_reach_of_absolute_hyperparameters(data, model, params):
    with pytest.raises(ValueError, match=r'too far from the prior.*feature_params.*grids="data"'):
        fit(data, model, **params)


# --- New data that do not fit ---------------------------------------------------------------------------------------

METHODS = ("predict", "predict_proba", "score_samples", "score", "impute")
METHODS_OF = [("diag", method) for method in METHODS] + [
    ("views", method) for method in (*METHODS, "predict_views", "surprisal", "novelty")
]


@pytest.mark.parametrize(
    ("model", "method"),
    quick_only(METHODS_OF, ("diag", "predict"), ("diag", "impute"), ("views", "score_samples"), ("views", "novelty")),
)
def test_new_data_of_another_shape_or_name(model, method):
    call = getattr(fit(X, model), method)
    with pytest.raises(ValueError, match=rf"X has 3 features, but {type(call.__self__).__name__} is expecting 2"):
        call(np.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"infinity"):
        call([[np.inf, 0.0]])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        call(np.empty((0, 2)))
    table = frame()
    call = getattr(fit(table, model), method)
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- z\n.*yet now missing:\n- a"):
        call(table.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match=r"must be in the same order"):
        call(table[["c", "a", "n"]])
    with pytest.raises(ValueError, match=r"(?s)yet now missing:\n- n"):
        call(table[["a", "c"]])
    with pytest.warns(UserWarning, match=r"does not have valid feature names"):
        call(table.to_numpy(dtype=object))


@pytest.mark.parametrize(("model", "method"), METHODS_OF)
def test_before_fit(model, method):
    with pytest.raises(NotFittedError, match=r"not fitted yet"):
        getattr(MODELS[model](), method)(X)


@each_estimator
@pytest.mark.parametrize("method", ["sample", "co_clustering"])
def test_before_fit_without_data(estimator, method):
    with pytest.raises(NotFittedError, match=r"not fitted yet"):
        getattr(estimator(), method)()


@each_estimator
@pytest.mark.parametrize("n_samples", quick_only([0, -1, 2.5, "3"], 0, 2.5))
def test_samples_that_cannot_be_drawn(estimator, n_samples):
    with pytest.raises(ValueError, match=r"n_samples must be an integer of at least 1, got"):
        estimator(**SHORT).fit(X).sample(n_samples)


@each_estimator
def test_a_similarity_matrix_too_large(estimator):
    with pytest.raises(ValueError, match=r"40 x 40 cells, and max_rows=30.*Pass rows=.*or raise max_rows"):
        estimator(**SHORT).fit(X).co_clustering(max_rows=30)


# --- Parameters -----------------------------------------------------------------------------------------------------

PARAMETERS = [
    ({"n_draws": 0}, r"'n_draws' parameter .* range \[1, 2147483647\]. Got 0"),
    ({"n_chains": 0}, r"'n_chains' parameter .* range \[1, 2147483647\] or a str among {'auto'}. Got 0"),
    ({"thin": 0}, r"'thin' parameter .* range \[1, 2147483647\] or a str among {'auto'}. Got 0"),
    ({"n_draws": 2.5}, "'n_draws' parameter .* int .*Got 2.5"),
    ({"time_limit": 0}, r"'time_limit' parameter .* \(0.0, inf\) or None. Got 0"),
    ({"time_limit": "1"}, "'time_limit' parameter .* Got '1'"),
    ({"schedule": "fast"}, "'schedule' parameter .*'anneal'.* Got 'fast'"),
    ({"schedule": SubsampleAnneal}, r"schedule must be an object, got the class .* write SubsampleAnneal\(\)"),
    ({"schedule": SubsampleAnneal(passes=0)}, "passes must be a number of at least 1, got 0"),
    ({"schedule": Accelerating(n_small=0)}, "n_small must be a number of at least 1, got 0"),
    ({"subsampling": "ring"}, "'subsampling' parameter .* Got 'ring'"),
    ({"subsampling": StratifiedSubsampling()}, "either column= or labels="),
    ({"subsampling": StratifiedSubsampling("q")}, r"column='q'\) is no column of the table; it has \['x0', 'x1'\]"),
    ({"subsampling": StratifiedSubsampling(2)}, r"column=2\) is no column of the table"),
    ({"subsampling": StratifiedSubsampling(labels=[1, 2])}, r"one entry for each of the 40 rows, got shape \(2,\)"),
    ({"partition": PitmanYor(-1.0)}, "concentration must satisfy concentration > -discount; got -1.0"),
    ({"partition": PitmanYor(NAN)}, "concentration must satisfy .*got nan"),
    ({"partition": PitmanYor("one")}, "concentration must be a number or .learn., got 'one'"),
    ({"partition": PitmanYor(0.0, 0.0)}, "concentration must satisfy"),
    ({"partition": PitmanYor(discount=1.0)}, "discount must satisfy 0 <= discount < 1; got 1.0"),
    ({"partition": PitmanYor(discount=-0.1)}, "discount must satisfy .*got -0.1"),
    ({"partition": PitmanYor(concentration_start=-1.0)}, "change concentration_start"),
    ({"partition": NIG(mass_start=0.0)}, "mass_start must be a positive number, got 0.0"),
    ({"partition": "crp"}, "'partition' parameter .* implementing 'bind'.* Got 'crp'"),
    ({"learn_from": 0}, r"'learn_from' parameter .* range \[1, 2147483647\] or None. Got 0"),
    ({"moves": "gibbs"}, "'moves' parameter .*'default'.* Got 'gibbs'"),
    ({"moves": [None]}, "moves has None, which is neither a move nor one of"),
    ({"moves": [Gibbs]}, r"moves has the class Gibbs; write Gibbs\(\)"),
    ({"moves": [SplitMerge()]}, "moves must have exactly one move of the rows"),
    ({"moves": [Gibbs(), SplitMerge(n_proposals=-1)]}, "n_proposals of SplitMerge must be .* got -1"),
    ({"partition": CRP}, r"partition must be an object, got the class CRP; write CRP\(\)"),
    ({"partition": CRP(concentration=0.0)}, "concentration must satisfy .* got 0.0"),
    ({"partition": CRP(concentration="1")}, "concentration must be a number or .learn., got '1'"),
    ({"partition": PitmanYor(concentration_grid=[])}, r"concentration must satisfy .* got \[\]"),
    ({"partition": PitmanYor(discount_grid=[0.5, 1.0])}, "discount must satisfy 0 <= discount < 1"),
    ({"covariance_type": "tied"}, "'covariance_type' parameter .* Got 'tied'"),
    ({"grids": "wide"}, "'grids' parameter .* Got 'wide'"),
    ({"unseen": "ignore"}, "'unseen' parameter .* Got 'ignore'"),
    ({"learn_hyperparameters": "no"}, "'learn_hyperparameters' parameter .* Got 'no'"),
    ({"random_state": "zero"}, "'random_state' parameter .* Got 'zero'"),
    ({"feature_types": "real"}, "'feature_types' parameter .* Got 'real'"),
    ({"feature_types": ["real"]}, "feature_types has 1 types, but X has 2 features"),
    ({"feature_types": ["real", "int"]}, "unknown type 'int'. Types are 'real'"),
    ({"feature_types": {"a": "real"}}, "unknown feature 'a'. Features are 'x0', 'x1'"),
    ({"feature_params": {"a": {}}}, "key 'a', which is neither a column nor one of"),
    ({"feature_params": {"count": {}}}, "key 'count', but the table has no such columns"),
    (
        {"feature_params": {"gaussian": {}}, "covariance_type": "diag"},
        "key 'gaussian', but the table has no such columns",
    ),
    ({"feature_params": {"real": 3}}, r"'real'\] must be a dict with keys among .*'mu'.* got 3"),
    ({"feature_params": {"real": {"m": 3}}}, r"must be a dict with keys among .*'mu'.* unknown: \['m'\]"),
    ({"feature_params": {"real": {"mu": NAN}}}, r"\['real'\]\['mu'\] must be a finite number, got nan"),
    ({"feature_params": {"real": {"mu": [0, 1]}}}, r"\['mu'\] must be a finite number, got \[0, 1\]"),
    ({"feature_params": {"x1": {"kappa": -1}}}, r"\['x1'\]\['kappa'\] must be a number from 1e-12 to .*, got -1"),
    ({"feature_params": {"x1": {"kappa": "1,5"}}}, r"\['kappa'\] must be a number from .*, got '1,5'"),
    ({"feature_params": {"x1": {"nu": None}}}, r"\['nu'\] must be a number from .*, got None"),
    ({"feature_params": {"x1": {"nu": 1e300}}}, r"\['nu'\] must be a number from .*, got 1e\+300"),
    (
        {"feature_types": {1: "cyclic"}, "feature_params": {"x1": {"period": 0}}},
        r"\['period'\] must be a finite positive",
    ),
    ({"feature_types": {1: "cyclic"}, "feature_params": {"cyclic": {"r": 0}}}, r"\['r'\] must be a number from 1e-12"),
    (
        {"feature_types": {1: "cyclic"}, "feature_params": {"x1": {"sigma2": 1}}},
        r"keys among .*'r'.* unknown: \['sigma2'\]",
    ),
    ({"feature_params": {"x1": {"period": 24}}}, r"keys among .*'nu'.* unknown: \['period'\]"),
    ({"feature_params": {"x1": {"sigma2": 0}}}, r"\['sigma2'\] must be a finite positive number, got 0"),
    ({"feature_params": {"x1": {"sigma2": 1e-300}}}, "'x1' has values too far from the prior"),
]
BLOCK = [
    (
        {"real": {"mu": 1.0}},
        "with covariance_type='full' the real and skewed columns are one block; use the key 'gaussian'",
    ),
    ({"x0": {"mu": 1.0}}, "use the key 'gaussian'"),
    ({"gaussian": {"sigma2": 1.0}}, "must be a dict with keys among .*'psi'"),
    ({"gaussian": {"mu": [1, 2, 3]}}, r"\['mu'\] must have shape \(2,\), got \(3,\)"),
    ({"gaussian": {"psi": 1.0}}, r"\['psi'\] must have shape \(2, 2\), got \(\)"),
    ({"gaussian": {"psi": [[1, 2], [2, 1]]}}, "must be symmetric and positive definite"),
    ({"gaussian": {"psi": [[1, 0], [0.5, 1]]}}, "must be symmetric and positive definite"),
    ({"gaussian": {"psi": [[1, "x"], [0.5, 1]]}}, r"\['psi'\] must be a finite number, or an array of such, got"),
    ({"gaussian": {"nu": 0.5}}, r"\['nu'\] must be above 1, got 0.5"),
    ({"gaussian": {"kappa": [1, 2]}}, r"\['kappa'\] must be a number from .*, got \[1, 2\]"),
]


VIEWS = [(params, message) for params, message in PARAMETERS if not {"partition", "covariance_type"} & set(params)] + [
    ({"column_partition": PitmanYor(NAN)}, "concentration must satisfy .*got nan"),
    ({"column_partition": PitmanYor(0.0, 0.0)}, "concentration must satisfy"),
    ({"column_partition": PitmanYor(discount=-0.1)}, "discount must satisfy .*got -0.1"),
    ({"moves": ["gibbs", "sams"]}, "moves has 'sams', which is neither a move nor one of .*'column-gibbs'"),
    ({"moves": [ColumnGroups()]}, "moves must have exactly one move of the rows"),
    ({"moves": [Gibbs(), TreeGuided()]}, "TreeGuided cannot be made in the views"),
    ({"moves": [Slice()]}, "Slice needs a partition .* take CRP"),
    ({"moves": [Gibbs(), ColumnGibbs("uniform")]}, "new_views of ColumnGibbs must be one of .*got 'uniform'"),
    ({"moves": [Gibbs(), ColumnGibbs(n_auxiliary=0)]}, "n_auxiliary of ColumnGibbs must be .* at least 1, got 0"),
    ({"moves": [Gibbs(), ColumnGroups(2.5)]}, "n_proposals of ColumnGroups must be .* at least 1, got 2.5"),
    ({"moves": [Gibbs(), ViewSplitMerge(0)]}, "n_proposals of ViewSplitMerge must be .* at least 1, got 0"),
    ({"moves": [Gibbs(), ColumnBlocks(True)]}, "n_pool of ColumnBlocks must be .* at least 1, got True"),
    ({"moves": [Gibbs(), ColumnBlocks("8")]}, "n_pool of ColumnBlocks must be .* at least 1, got '8'"),
    ({"column_pacing": "often"}, "'column_pacing' parameter .* implementing 'interval'.* Got 'often'"),
    ({"column_pacing": ColumnPacing}, r"column_pacing must be an object, got the class .* write ColumnPacing\(\)"),
    ({"column_pacing": ColumnPacing(rest_above=-1)}, "rest_above of ColumnPacing must be .* got -1"),
    ({"column_pacing": ColumnPacing(rest_above=0)}, "rest_above of ColumnPacing must be .* at least 1, or None, got 0"),
    ({"column_pacing": ColumnPacing(rest_above="none")}, "rest_above of ColumnPacing must be .* got 'none'"),
    (
        {"column_pacing": ColumnPacing(from_share=1.5)},
        "from_share of ColumnPacing must be a number between 0 and 1, got",
    ),
    ({"column_pacing": ColumnPacing(patience=0)}, "patience of ColumnPacing must be .* got 0"),
    ({"covariance_type": "spherical"}, "'covariance_type' parameter .* Got 'spherical'"),
    ({"column_start": "random"}, "'column_start' parameter .* Got 'random'"),
    ({"column_partition": PitmanYor(-1.0)}, "concentration must satisfy concentration > -discount; got -1.0"),
    ({"column_partition": PitmanYor(discount=1.0)}, "discount must satisfy 0 <= discount < 1; got 1.0"),
    ({"column_partition": "crp"}, "'column_partition' parameter .* Got 'crp'"),
    ({"column_partition": NGGP()}, r"column_partition must have .*take CRP\(\) or PitmanYor\(\)"),
    ({"row_partition": "nig"}, r"row_partition must have .*take CRP\(\) or PitmanYor\(\)"),
    ({"row_partition": CRP(0.0)}, "concentration must satisfy .* got 0.0"),
    ({"feature_types": ["real", "gaussian"]}, "unknown type 'gaussian'"),
]


@pytest.mark.parametrize(("params", "message"), PARAMETERS, ids=[str(params)[1:60] for params, _ in PARAMETERS])
def test_parameters_out_of_range(params, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        fit(**params)


@pytest.mark.parametrize(("params", "message"), VIEWS, ids=[str(params)[1:60] for params, _ in VIEWS])
def test_parameters_of_views_out_of_range(params, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        fit(X, "views", **params)


@pytest.mark.parametrize(("feature_params", "message"), BLOCK, ids=[str(params)[1:60] for params, _ in BLOCK])
def test_hyperparameters_of_a_block_out_of_range(feature_params, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        fit(covariance_type="full", feature_params=feature_params)


@pytest.mark.parametrize("alpha", [[1, 2, 3], [[1, 2]]])
def test_one_alpha_for_each_category(alpha):
    with pytest.raises(ValueError, match=r"alpha of column 'c' must be a number or one for each of its 2 categories"):
        fit(frame(), feature_params={"c": {"alpha": alpha}})
    assert fit(frame(), feature_params={"c": {"alpha": [0.5, 2.0]}}).n_clusters_ >= 1


@pytest.mark.parametrize(("given", "learn"), [({"alpha": [0.5, 2.0], "unseen": 0.5}, False), ({"unseen": 0.02}, True)])
def test_unseen_categories_are_rarer_than_all_others(given, learn):
    match = f"unseen of column 'c' must be less than every alpha .* the least is {given['unseen']:g}, got"
    with pytest.raises(ValueError, match=match):
        fit(frame(), feature_params={"c": given}, learn_hyperparameters=learn)
    model = fit(frame(), feature_params={"c": given | {"unseen": 0.015}}, learn_hyperparameters=learn)
    assert (model.hyperparameters_["columns"]["c"]["unseen"] == 0.015).all()


# --- warm_start -----------------------------------------------------------------------------------------------------

CHANGES = [
    ("diag", {"partition": PitmanYor(2.0)}, "partition"),
    ("diag", {"moves": [Gibbs(), SplitMerge(3)]}, "moves"),
    ("diag", {"covariance_type": "full"}, "covariance_type"),
    ("diag", {"feature_params": {"real": {"nu": 3.0}}}, "feature_params"),
    ("diag", {"subsampling": StratifiedSubsampling(0)}, "subsampling"),
    ("diag", {"n_chains": 3}, "n_chains"),
    ("diag", {"grids": "fixed", "learn_hyperparameters": False}, "grids, learn_hyperparameters"),
    ("views", {"row_partition": PitmanYor(discount=0.5)}, "row_partition"),
    ("views", {"column_partition": CRP()}, "column_partition"),
    ("views", {"moves": VIEW_MOVES["prior"]}, "moves"),
    ("views", {"column_pacing": ColumnPacing(patience=3), "n_chains": 1}, "column_pacing, n_chains"),
]


@pytest.mark.parametrize(("model", "change", "names"), CHANGES, ids=[names for *_, names in CHANGES])
def test_chains_are_continued_on_the_same_model(model, change, names):
    fitted = fit(X, model, warm_start=True)
    with pytest.raises(ValueError, match=f"last fit, but {names} changed since; set warm_start=False"):
        fitted.set_params(n_draws=4, **change).fit(X)
    fitted.set_params(warm_start=False).fit(X)
    assert fitted.posterior_labels_.shape == (change.get("n_chains", 2), 4, 40)


@each_estimator
@pytest.mark.parametrize("other", [X[:30], X[::-1], X + [0, 1e-9], X[:, :1]], ids=["rows", "order", "cell", "columns"])
def test_chains_are_continued_on_the_same_table(other, estimator):
    with pytest.raises(ValueError, match=r"last fit, but X changed since; set warm_start=False"):
        estimator(warm_start=True, **SHORT).fit(X).set_params(n_draws=4).fit(other)


@each_estimator
def test_chains_are_not_cut(estimator):
    model = estimator(warm_start=True, **SHORT).fit(X)
    with pytest.raises(ValueError, match=r"n_draws=1 must be at least the 2 draws that there are"):
        model.set_params(n_draws=1).fit(X)
    with pytest.warns(UserWarning, match=r"without raising n_draws") as caught:
        model.set_params(n_draws=2).fit(X)
    assert caught[0].filename == __file__


# --- Interruption ---------------------------------------------------------------------------------------------------


class Spoiler:
    """A callback that fails at some sweep of one chain."""

    def __init__(self, error, chain=0, after=3):
        self.error, self.chain, self.after, self.n_sweeps = error, chain, after, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata and metadata["trace"]["chain"] == self.chain:
            self.n_sweeps += 1
            if self.n_sweeps == self.after:
                raise self.error

    def teardown(self, estimator, context):
        pass


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError("no more paper"), KeyboardInterrupt()], ids=lambda e: type(e).__name__)
@each_estimator
def test_an_error_in_a_callback_ends_all_chains(n_jobs, error, estimator):
    before = set(threading.enumerate())
    model = estimator(n_chains=4, n_draws=10**6, n_jobs=n_jobs, random_state=0)
    model.set_callbacks(Spoiler(error))
    with pytest.raises(type(error)) as caught:
        model.fit(np.tile(X, (50, 2)))
    assert caught.value is error
    # With draws without number, threads that were not told to end would run for ever.
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive()
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("error", [RuntimeError("no more paper"), KeyboardInterrupt()], ids=lambda e: type(e).__name__)
@each_estimator
def test_a_fit_that_fails_leaves_the_model_before_as_it_was(error, estimator):
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    model = estimator(n_chains=1, n_draws=2, random_state=0).fit(frame)
    scores, labels = model.score_samples(frame), model.labels_
    model.set_callbacks(Spoiler(error))
    with pytest.raises(type(error)):
        model.fit(np.tile(X, (2, 3)))
    np.testing.assert_array_equal(model.score_samples(frame), scores)
    assert model.labels_ is labels
    assert list(model.feature_names_in_) == list(frame.columns)
