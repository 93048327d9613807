"""Numbers at the edges: every answer of every estimator is finite, or its fit is refused in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.scale_models import ALL, MIXTURES, SHORT, SUPERVISED, TABLES, TOPICS, answers, fitted, not_finite
from support.tiers import quick_only

import sklearn_subanneal
from sklearn_subanneal import CrossCat, CrossCatDetector
from sklearn_subanneal.columns.count import Count
from sklearn_subanneal.partitions import CRP, NGGP, PitmanYor

# An answer that is finite by luck, after an overflow on the way, is none.
pytestmark = [
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(40, 2)) + 4.0 * (np.arange(40) % 2)[:, None]


def with_row(*cells):
    """The table with another row among the others."""
    X = Z.copy()
    X[3] = cells
    return X


# Tables, each with the parts of messages by which some estimators refuse it.
FIXED = {"factorial": r"X must have no cells beyond 1e\+30.*rescale it"}
HUGE = FIXED | {"process": r"X must have no cells beyond 1e\+145.*rescale it"}
HARD = {
    "far 1e6": (with_row(1e6, -1e6), {}),
    "far 1e12": (with_row(1e12, 1e12), {}),
    "far 1e300": (with_row(1e300, 0.0), HUGE),
    "offset 1e9, three values": (1e9 + np.sign(Z), {}),
    "offset 1e9": (1e9 + Z, {}),
    "offset 1e15": (1e15 + Z, {}),
    "tiny 1e-30": (1e-30 * Z, {}),
    "tiny 1e-300": (1e-300 * Z, {}),
    "huge 1e300": (1e300 * Z, HUGE),
    "largest": (Z / np.abs(Z).max() * 1.79e308, HUGE),
    "float32 1e38": ((3e38 * Z / np.abs(Z).max()).astype(np.float32), FIXED),
    "float32 1e29": ((1e29 * Z).astype(np.float32), {}),
    "float32 1e-30": ((1e-30 * Z).astype(np.float32), {}),
    "denormal": (5e-324 * np.round(3.0 * Z), {}),
    "large beside small": (Z * [1e300, 1e-300], HUGE),
    "constant 1e300": (np.full((40, 2), 1e300), HUGE),
    "constant 0": (np.zeros((40, 2)), {}),
    "one row": (Z[:1], {}),
}
CASES = [(name, about) for about in HARD for name in TABLES]
# One each of the estimators and the tables.
QUICK = {(name, list(HARD)[i % len(HARD)]) for i, name in enumerate([*TABLES, *TABLES])}
QUICK |= {("factorial", "float32 1e29"), ("process", "huge 1e300"), ("full", "denormal")}


def assert_finite(model, X):
    for method, answer in answers(model, X):
        assert not not_finite(answer).size, method


def test_all_estimators_are_tested():
    public = {name for name in sklearn_subanneal.__all__ if hasattr(getattr(sklearn_subanneal, name), "fit")}
    assert public == {type(make()).__name__ for make in ALL.values()}


@pytest.mark.parametrize(("name", "about"), quick_only(CASES, *QUICK))
def test_tables(name, about):
    X, refused = HARD[about]
    if name in refused:
        with pytest.raises(ValueError, match=refused[name]):
            fitted(name, X)
        return
    assert_finite(fitted(name, X), X)


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("factorial", "process")])
def test_rows_far_away(name):
    """Log densities of rows far away are finite as well: of t distributions, they fall by logarithms."""
    far = np.array([[1e5, 1e5], [1e30, -1e30], [1e300, -1e300], [1.7e308, 0.0]])
    assert_finite(fitted(name, Z), far)


# --- Targets and counts -----------------------------------------------------------------------------------------------

BEYOND = r"y must have no cells beyond 1e\+145.*rescale it"
TARGETS = {
    "1e300": (1e300 * Z[:, 0], BEYOND),
    "constant 1e300": (np.full(40, 1e300), BEYOND),
    "1e144": (1e144 * Z[:, 0], ""),
    "constant": (np.full(40, 7.0), ""),
    "constant 0": (np.zeros(40), ""),
    "one outlier of 1e12": (np.where(np.arange(40) == 3, 1e12, Z[:, 0]), ""),
    "1e-300": (1e-300 * Z[:, 0], ""),
    "float32 1e38": ((3e37 * Z[:, 0]).astype(np.float32), ""),
    "float16": (np.float16(6e3) * Z[:, 0].astype(np.float16), ""),
    "booleans": (Z[:, 0] > 2.0, ""),
    "1e9 and three values": (1e9 + np.sign(Z[:, 0]), ""),
}


@pytest.mark.parametrize(("y", "refused"), TARGETS.values(), ids=TARGETS)
def test_targets_of_a_process(y, refused):
    """Squares of float16 and float32 overflowed; booleans have no difference."""
    if refused:
        with pytest.raises(ValueError, match=refused):
            fitted("process", Z, y)
        return
    assert_finite(fitted("process", Z, y), Z)


@pytest.mark.parametrize("about", [about for about in TARGETS if about != "booleans"])
def test_targets_of_a_table(about):
    assert_finite(fitted("regressor", Z, TARGETS[about][0]), Z)


COUNTS = RNG.poisson(2.0, (30, 6)).astype(float)
TOO_MANY = {"topics": r"fewer than 1e\+12 in all", "bags": r"may occur at most|may hold at most"}
CORPORA = {
    "1e6": (1e6 * COUNTS, {}),
    "1e100": (1e100 * COUNTS, TOO_MANY),
    "float32": ((1e36 * COUNTS).astype(np.float32), TOO_MANY),
    "one word": (COUNTS[:, :1], {}),
    "one document": (COUNTS[:1], {}),
    "most empty": (np.where(np.arange(30)[:, None] == 3, COUNTS + 1.0, 0.0), {}),
    "int8": (COUNTS.astype(np.int8), {}),
}


@pytest.mark.parametrize("about", CORPORA)
@pytest.mark.parametrize("name", TOPICS)
def test_counts(name, about):
    X, refused = CORPORA[about]
    if name in refused:
        with pytest.raises(ValueError, match=refused[name]):
            fitted(name, X)
        return
    model = fitted(name, X)
    for method in ("transform", "score"):
        assert not not_finite(getattr(model, method)(X)).size, method


# --- Priors -----------------------------------------------------------------------------------------------------------

PRIORS = [
    (CRP(1e308), "concentration must be at most"),
    (CRP(1e10), ""),
    (CRP(1e-308), ""),
    (PitmanYor(1e308, 0.5), "concentration must be at most"),
    (PitmanYor(1.0, 1.0 - 1e-12), ""),
    (PitmanYor(-0.3 + 1e-12, 0.3), ""),
    (NGGP(1e308), "mass must be a number from 1e-100 to"),
    (NGGP(1e100), ""),
    (NGGP(1e-100), ""),
    (NGGP(1.0, 0.999), ""),
]


@pytest.mark.parametrize(("prior", "refused"), PRIORS, ids=str)
@pytest.mark.parametrize("name", quick_only(["diag", "full", "nrmm"], "diag", "nrmm"))
def test_partitions(name, prior, refused):
    if refused:
        with pytest.raises(ValueError, match=refused):
            fitted(name, Z, partition=prior)
        return
    assert_finite(fitted(name, Z, partition=prior), Z)


MIXED = {
    "real": Z[:, 0],
    "count": RNG.poisson(3, 40),
    "categorical": np.arange(40) % 3,
    "boolean": np.arange(40) % 2,
    "cyclic": RNG.uniform(0, 6, 40),
    "ordinal": np.arange(40) % 4,
    "skewed": np.exp(Z[:, 1]),
}
EDGES = [
    *((kind, name, value) for kind in ("real", "skewed") for name in ("kappa", "nu") for value in (1e-12, 1e12)),
    *(("count", name, value) for name in ("shape", "rate") for value in (1e-12, 1e12)),
    *(("cyclic", name, value) for name in ("kappa", "r") for value in (1e-12, 1e12)),
    *(("cyclic", "period", value) for value in (1e-300, 1e300)),
    *(("ordinal", name, value) for name in ("spread", "mass") for value in (1e-12, 1e12)),
    ("categorical", "alpha", 1e-12),
    ("categorical", "alpha", 1e12),
    ("real", "sigma2", 1e-20),
    ("real", "sigma2", 1e100),
]


def test_counts_drawn_beyond_the_largest_cell():
    model = Count("n", (0,), {}, {})
    with np.errstate(all="ignore"):
        assert model.typed(np.array([[1e12], [3.0]]))[0].tolist() == [Count.largest, 3]


@pytest.mark.parametrize(("kind", "name", "value"), EDGES)
def test_hyperparameters_at_the_ends_of_their_ranges(kind, name, value):
    """Counts drawn beyond the largest cell were missing cells; angles of a denormal period were not finite."""
    X, types = np.column_stack(list(MIXED.values())), list(MIXED)
    params = {"feature_types": types, "feature_params": {kind: {name: value}}, "learn_hyperparameters": False}
    assert_finite(fitted("diag", X, **params), X)


def test_draws_of_a_block_with_hardly_any_degrees_of_freedom():
    given = {"gaussian": {"nu": 1.0 + 1e-10}}
    assert_finite(fitted("full", Z, feature_params=given, learn_hyperparameters=False), Z)


@pytest.mark.parametrize("period", [5e-324, 1e308])
def test_periods_out_of_range(period):
    with pytest.raises(ValueError, match=r"period of column 'x0' must be from 1e-300 to 1e\+300.*rescale"):
        fitted(
            "diag", MIXED["cyclic"][:, None], feature_types=["cyclic"], feature_params={"cyclic": {"period": period}}
        )


@pytest.mark.parametrize("noise", [1e-100, 1e100])
@pytest.mark.parametrize("about", ["far 1e12", "float32 1e29", "tiny 1e-30", "offset 1e9"])
def test_noise_far_from_the_data(noise, about):
    """Rows of float32 overflowed, and equal components gave a singular matrix."""
    X = HARD[about][0]
    model = ALL["factorial"]().set_params(noise_variance=noise).fit(X)
    assert_finite(model, X)


# --- Many rows and categories -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["diag", "full"])
@pytest.mark.parametrize("n_rows", quick_only([20_000, 100_000, 1_000_000], 20_000))
def test_a_cluster_of_all_rows(name, n_rows):
    X = 1e9 + np.random.default_rng(1).normal(size=(n_rows, 2))
    model = fitted(name, X, partition=CRP(1e-300))
    assert model.n_clusters_ == 1
    # Of a normal with the moments of the table, whose parameters cost a few nats per thousand rows at most.
    expected = -(0.5 * np.log(2.0 * np.pi * X.var(axis=0)) + 0.5).sum()
    assert model.log_joint_[0, -1] / n_rows == pytest.approx(expected, abs=5e-3)
    assert model.score(X[:2000]) == pytest.approx(expected, abs=0.2)


@pytest.mark.parametrize("n", quick_only([2_000, 100_000], 2_000))
def test_categories_that_are_all_different(n):
    table = pd.DataFrame({"id": np.arange(n).astype(str), "x": np.random.default_rng(2).normal(size=n)})
    model = fitted("diag", table, feature_types={"id": "categorical"})
    assert np.isfinite(model.log_joint_).all() and np.isfinite(model.score_samples(table[:100])).all()
    filled = model.impute(table[:6].assign(id=None))
    assert set(filled["id"]) <= set(table["id"])
    assert set(model.sample(9, random_state=0)["id"]) <= set(table["id"])


# --- Units ------------------------------------------------------------------------------------------------------------

# Few digits: a shift rounds none of them.
GRID = np.round(64.0 * Z) / 64.0
UNITS = [(2.0**-70, 0.0), (2.0**90, 0.0), (1.0, 2.0**20), (2.0**-9, -(2.0**14))]


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize(("factor", "shift"), quick_only(UNITS, *UNITS[1::2]))
def test_other_units_are_the_same_model(name, factor, shift):
    """The partitions are the same; log densities differ by the logarithm of the derivative."""
    one, other = fitted(name, GRID), fitted(name, factor * GRID + shift)
    np.testing.assert_array_equal(other.labels_, one.labels_)
    jacobian = 2.0 * np.log(factor)
    np.testing.assert_allclose(
        other.score_samples(factor * GRID + shift) + jacobian, one.score_samples(GRID), rtol=1e-6
    )
    np.testing.assert_allclose(other.log_joint_ + len(GRID) * jacobian, one.log_joint_, rtol=1e-6)


def of_detector(X, new, covariance_type, types):
    """Which rows a detector takes to be outliers, the p-values of new rows, and those of drift by dependence."""
    model = CrossCat(covariance_type=covariance_type, feature_types=types, **SHORT)
    detector = CrossCatDetector(model, n_calibration=20, random_state=0).fit(X)
    drifts = sorted((drift.column, drift.p_given_others) for drift in detector.drift(new))
    return detector.predict(X), detector.p_values(new), [p for _, p in drifts]


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
@pytest.mark.parametrize("factor", [2.0**-30, 2.0**30])
def test_other_units_have_the_same_outliers(factor, covariance_type):
    """Rows without a cell, and with an atom where others have a density, had been outliers in small units alone."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(160, 3))
    amounts = np.where(rng.random(160) < 0.2, 0.0, x[:, 0] + rng.normal(5.0, 1.0, size=160))
    X = np.column_stack([np.where(np.arange(160) % 10 == 0, np.nan, x[:, 1]), x[:, 0], amounts])
    X, new = X[:120], X[120:]
    types = ["real", "real", "semicontinuous"]
    one, other = (of_detector(u * X, u * new, covariance_type, types) for u in (1.0, factor))
    np.testing.assert_array_equal(other[0], one[0])
    for own, wanted in zip(other[1:], one[1:], strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-6)
    # Nor are they odd for that alone: of 120 rows, 12 are outliers.
    has_gap, has_atom = np.isnan(X[:, 0]), X[:, 2] == 0.0
    assert (one[0] < 0).sum() == 12
    assert (one[0] < 0)[has_gap].mean() < 0.5 and (one[0] < 0)[has_atom].mean() < 0.5


def test_supervised_estimators_are_named():
    assert set(SUPERVISED) <= set(ALL)
