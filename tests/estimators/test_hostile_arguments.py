"""What hostile tables and arguments have broken once: each is refused in words, or has an answer that is finite."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from sklearn_subanneal import (
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
from sklearn_subanneal.annealing import Accelerating, SubsampleAnneal
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.tempering import GaussianMean, ParallelTempering

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 2, "random_state": 0}
X = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(0).poisson(2.0, (12, 4))


@pytest.fixture(scope="module")
def crosscat():
    return CrossCat(**SHORT).fit(X)


@pytest.fixture(scope="module")
def process():
    return TemperedGaussianProcessRegressor(n_chains=1, n_draws=2, n_warmup=2, random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("co_clustering", {"rows": [0.5]}, r"rows must be indices from 0 to 11.* got \[0.5\]"),
        ("co_clustering", {"rows": {"a": 1}}, r"rows must be indices from 0 to 11"),
        ("co_clustering", {"rows": [[0]]}, r"rows must be indices from 0 to 11"),
        ("co_clustering", {"max_rows": b"x"}, r"max_rows must be an integer of at least 1, got b'x'"),
        ("row_similarity", {"rows": [0], "max_rows": {}}, r"max_rows must be an integer of at least 1, got \{\}"),
        ("sample", {"n_samples": True}, r"n_samples must be an integer of at least 1, got True"),
        ("sample", {"n_samples": 10**400}, r"n_samples must be an integer from 1 to 2147483647, got 1000"),
        ("sample", {"keep_missing": np.zeros(2)}, r"keep_missing must be True or False, got array"),
        ("sample", {"random_state": 2**32}, r"random_state must be a seed from 0 to 4294967295, got 4294967296"),
        ("impute", {"X": X, "return_uncertainty": "no"}, r"return_uncertainty must be True or False, got 'no'"),
        ("surprisal", {"X": X, "seen": pd.DataFrame({"a": [1]})}, r"seen must be True or False, got "),
        (
            "merge_components",
            {"n_groups": np.datetime64("NaT")},
            r"n_groups must be from 1 to \d+, the number of components, got ",
        ),
        ("conditional_quantiles", {"column": 0, "quantiles": ["a"]}, r"quantiles must be a list of prob.* got \['a'\]"),
        (
            "conditional_quantiles",
            {"column": 0, "quantiles": [5e-324]},
            r"quantiles must be .* at least 1e-12 from both",
        ),
        ("probability", {"event": np.array(1)}, r"event must be a string, or a list of strings, got array\(1\)"),
        ("probability", {"event": [[1, 2], [3]]}, r"event must be a string, got \[1, 2\]. An event is made of"),
        ("impute", {"X": X, "seen": np.zeros((2, 2))}, r"seen must be True or False, got array"),
        ("cluster_stability", {"X": X, "n_refits": 2**31}, r"n_refits must be an integer from 0 to 100000, got 2147"),
        ("distill", {"max_loss": 10**400}, r"max_loss must be a positive number, got 1000"),
        ("relatedness", {"a": np.array("a"), "b": 0}, r"a names the unknown column 'a'"),
        ("predict", {"X": {"a": [1.0]}}, r"X must be an array or a DataFrame, got \{'a': \[1.0\]\} of type dict"),
        ("predict", {"X": [[1.0, 2.0], [3.0]]}, r"X must be an array with rows of equal length"),
        ("predict", {"X": pd.DataFrame(X, columns=["a", "a"])}, r"X has two columns of the name 'a': rename one"),
        ("predict", {"X": np.array([[10**400, 1]], object)}, r"X holds 10+.*too large.*convert the cells to numbers"),
    ],
)
def test_arguments_of_crosscat(crosscat, method, arguments, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        getattr(crosscat, method)(**arguments)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("predict", {"X": X, "return_std": True, "return_cov": True}, r"return_std and return_cov must not both be"),
        ("predict", {"X": X, "return_cov": [1, 2]}, r"return_cov must be True or False, got \[1, 2\]"),
        ("predict", {"X": 1e200 * X}, r"X must have no cells beyond 1e\+145"),
        ("predict_interval", {"X": X, "coverage": "0.9"}, r"coverage must be a number between 0 and 1.* got '0.9'"),
        ("sample_y", {"X": X, "n_samples": 0}, r"n_samples must be an integer of at least 1, got 0"),
        ("log_predictive_density", {"X": X, "y": ["a"] * 12}, r"y holds 'a', which is no number"),
        ("log_predictive_density", {"X": X, "y": np.zeros(3)}, r"inconsistent numbers of samples: \[12, 3\]"),
        (
            "log_marginal_likelihood",
            {"theta": csr_array(np.eye(2))},
            r"theta must be an array with rows of equal length",
        ),
        ("log_marginal_likelihood", {"theta": "a"}, r"theta must be an array or a DataFrame, got 'a' of type str"),
    ],
)
def test_arguments_of_a_process(process, method, arguments, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        getattr(process, method)(**arguments)


def test_targets_out_of_reach_of_a_process():
    model = TemperedGaussianProcessRegressor(n_chains=1, n_draws=2, n_warmup=2)
    with pytest.raises(ValueError, match=r"y must have no cells beyond 1e\+145.*got 1.7e\+308; rescale it"):
        model.fit(X, np.where(X[:, 0] > 0, 1.7e308, -1.7e308))
    with pytest.raises(ValueError, match=r"Input y contains NaN"):
        model.fit(X, [None] * 12)
    with pytest.raises(ValueError, match=r"y has dtype datetime64\[D\], dates"):
        model.fit(X, np.datetime64("2020-01-01") + np.arange(12))
    assert [name for name in vars(model) if name.endswith("_")] == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"row_partition": CRP(1e308)}, r"concentration must be at most 1e\+10.*got 1e\+308"),
        (
            {"row_partition": CRP(10**400)},
            r"concentration must be at most 1e\+10, more than a table has rows; got 10",
        ),
        (
            {"row_partition": CRP(concentration_grid=[1e308])},
            r"concentration must be at most 1e\+10.*got \[1e\+308\]",
        ),
        ({"missing_indicator": np.array(1)}, r"missing_indicator must be None, 'missing-only' or names"),
        ({"missing_indicator": np.zeros((1, 1))}, r"missing_indicator names the unknown column \[0.0\]"),
        ({"row_partition": CRP(concentration_start=1e308)}, r"concentration_start must be at most 1e\+10"),
        ({"row_partition": PitmanYor(discount_grid={})}, r"discount must satisfy 0 <= discount < 1; got \{\}"),
        ({"schedule": SubsampleAnneal(10**400)}, r"passes must be a number from 1 to 2.14748e\+09, got 1000"),
        ({"schedule": Accelerating(n_small=10**400)}, r"n_small must be a number from 1 to 1e\+300, got 1000"),
        ({"n_draws": 10**400}, r"'n_draws' parameter of CrossCat must be an int in the range \[1, 2147483647\]"),
        ({"n_jobs": 2**63}, r"'n_jobs' parameter of CrossCat must be an int in the range"),
        ({"feature_params": {"x0": {"sigma2": 10**400}}}, r"feature_params\['x0'\]\['sigma2'\] must be"),
        ({"n_draws": True}, r"'n_draws' parameter of CrossCat must be an int in the range"),
        ({"n_jobs": 0}, r"n_jobs must be None, a number of workers, or -1 for .*, got 0"),
        ({"time_limit": Fraction(10**400, 3)}, r"'time_limit' parameter of CrossCat must be a float in the range"),
        ({"feature_types": np.zeros((2, 2))}, r"feature_types holds the unknown type array"),
        ({"feature_types": np.array(1)}, r"feature_types must be 'auto' or 'from_dtype', a sequence"),
        ({"feature_grids": {"cyclic": {}}}, r"feature_grids has the key 'cyclic'.*leave it out"),
    ],
)
def test_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        CrossCat(**SHORT | params).fit(X)


@pytest.mark.parametrize("outer", [CrossCatClassifier, CrossCatRegressor])
def test_parameters_of_an_inner_estimator(outer):
    """They were not checked: a name that is no schedule gave a KeyError."""
    with pytest.raises(ValueError, match=r"'schedule' parameter of CrossCat must be"):
        outer(CrossCat(schedule="x0")).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"missing_indicator must be None, 'missing-only' or names"):
        outer(CrossCat(missing_indicator=csr_array(np.eye(2)))).fit(X, X[:, 0] > 0)


def test_classes_in_lists_of_unequal_length():
    with pytest.raises(ValueError, match=r"y must be an array with rows of equal length, got \[\[1, 2\], \[3\]\]"):
        CrossCatClassifier(CrossCat(**SHORT)).fit(X, [[1, 2], [3]])


def test_large_concentrations_are_finite():
    assert np.isfinite(CrossCat(CRP(1e10), CRP(1e10), **SHORT).fit(X).log_joint_).all()


@pytest.mark.parametrize("strata", [[1, "a"] * 6, [None] * 12, [1, None] * 6])
def test_strata_that_cannot_be_sorted(strata):
    # NumPy makes strings of numbers beside strings.
    if strata[1] == "a":
        assert CrossCat(**SHORT).fit(X, strata=strata).n_views_ >= 1
        return
    with pytest.raises(ValueError, match=r"strata must be labels that can be sorted.*convert them to strings"):
        CrossCat(**SHORT).fit(X, strata=strata)


@pytest.mark.parametrize("weights", [["a"] * 12, {0: 1}, [10**400] * 12])
def test_weights_that_are_no_numbers(weights):
    with pytest.raises((ValueError, TypeError), match=r"sample_weight (holds|must be)"):
        SubsampleAnnealedDPMM(**SHORT).fit(X, sample_weight=weights)


def test_fractions_too_large():
    for large in (Fraction(10**400, 3), Decimal("1E+400")):
        frame = pd.DataFrame({"a": [Fraction(1, 3), large] * 3})
        with pytest.raises(ValueError, match=r"Column 'a' holds a number too large for floating point: divide"):
            CrossCat(**SHORT).fit(frame)


def test_integers_of_128_bits():
    frame = pl.DataFrame({"a": [0, 2**100] * 6}, {"a": pl.Int128})
    assert np.isfinite(CrossCat(**SHORT).fit(frame).score_samples(frame)).all()


def test_words_are_no_counts():
    """Texts given to a topic model: the remedy is to count their words."""
    for texts in (["the cat", "on the mat"], pd.DataFrame({"text": ["the cat"]}), np.array([["cat"]], object)):
        with pytest.raises(ValueError, match=r"'(the )?cat'.*sklearn.feature_extraction.text.CountVectorizer"):
            VariationalTemperingLDA(2).fit(texts)
    for params in ({"learning_offset": 10**400}, {"total_samples": 1e308}, {"mean_change_tol": 10**400}):
        with pytest.raises(ValueError, match=rf"'{next(iter(params))}' parameter of VariationalTemperingLDA must be"):
            VariationalTemperingLDA(2, **params).partial_fit(COUNTS)
    with pytest.raises(ValueError, match=r"'doc_topic_prior' parameter of VariationalTemperingLDA must be"):
        VariationalTemperingLDA(2, doc_topic_prior=10**400).fit(COUNTS)
    model = VariationalTemperingLDA(2, max_iter=1, random_state=0).fit(COUNTS)
    periods = pd.DataFrame({"a": pd.PeriodIndex([], freq="M"), "b": pd.array([], "Float32"), "c": [], "d": []})
    with pytest.raises(ValueError, match=r"Column .a. of X has dtype period.*CountVectorizer"):
        model.perplexity(periods)
    with pytest.raises(ValueError, match=r"feature_names must be an array with rows of equal length"):
        model.top_words(feature_names=[[1, 2], [3]])
    with pytest.raises(ValueError, match=r"normalize must be True or False, got "):
        model.transform(COUNTS, normalize=csr_array(np.eye(2)))
    with pytest.raises(ValueError, match=r"measure must be one of"):
        model.coherence(COUNTS, measure=np.array("a"))


def test_rows_of_a_factorial_model():
    half = VariationalTemperingFMM(2, noise_variance=np.float16(6e4), random_state=0).partial_fit(X)
    assert np.isfinite(half.bounds_).all()
    model = VariationalTemperingFMM(2, max_iter=2, random_state=0).fit(100.0 * X)
    with pytest.raises(ValueError, match=r"X holds 'a', which is no number"):
        model.inverse_transform([["a", 1]])
    with pytest.raises(ValueError, match=r"X holds activations beyond the range of its dtype; give what transform"):
        model.inverse_transform([[1.7e308, 1.7e308], [1.7e308, -1.7e308]])
    with pytest.raises(ValueError, match=r"'noise_variance' parameter .* range \[1e-100, 1e\+100\]"):
        VariationalTemperingFMM(noise_variance=5e-324).fit(X)


def test_models_of_a_sampler():
    model = GaussianMean(X, np.eye(2))
    with pytest.raises(ValueError, match=r"adapt_ladder must be True or False"):
        ParallelTempering(adapt_ladder=np.array([True, False])).sample(model, 3)
    with pytest.raises(ValueError, match=r"min_inverse_temperature must be a number between 0 and 1, 0 included"):
        ParallelTempering(min_inverse_temperature="a").sample(model, 3)
    thirds = ParallelTempering(min_inverse_temperature=Fraction(1, 3), n_warmup=2).sample(model, 3, random_state=0)
    assert np.isfinite(thirds.draws).all()
    with pytest.raises(ValueError, match=r"inverse_temperatures must start at 1.*got \{'a'\}"):
        ParallelTempering(inverse_temperatures={"a"}).sample(model, 3)
    with pytest.raises(ValueError, match=r"time_limit must be a positive number of seconds or None, got "):
        ParallelTempering().sample(model, 3, time_limit=Fraction(10**400, 3))
    with pytest.raises(ValueError, match=r"swaps must be 'even-odd' or 'systematic', got array"):
        ParallelTempering(swaps=np.array([1, 2])).sample(model, 3)
    with pytest.raises(ValueError, match=r"n_jobs must be None or an integer"):
        ParallelTempering().sample(model, 3, n_jobs=NotImplemented)


def test_a_failed_insertion_leaves_nothing():
    model = TreeGuidedNRMM(feature_params={"gaussian": {"mu": {}}}, random_state=0)
    with pytest.raises(ValueError, match=r"feature_params"):
        model.partial_fit(X)
    assert not hasattr(model, "n_features_in_")


def test_reasons_of_no_rows_and_of_polars():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    detector = CrossCatDetector(CrossCat(**SHORT)).fit(frame)
    assert detector.reasons(frame, rows=[]) == []
    assert detector.reasons(frame, rows=[3], n_reasons=1)[0].value in X[3]
    with pytest.raises(ValueError, match=r"rows must be indices from 0 to 11 of rows of X, .*got 12"):
        detector.reasons(frame, rows=12)


@pytest.mark.parametrize("far", [1e120, 1e244, 1e308])
@pytest.mark.parametrize("model", [CrossCat, lambda **params: SubsampleAnnealedDPMM(covariance_type="full", **params)])
def test_cells_far_out_as_evidence(model, far):
    """Squares of distances overflow from 1e154 standard units on: predictions given such cells were no numbers."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(30, 1)) + 0.1 * rng.normal(size=(30, 2))
    fitted = model(**SHORT).fit(table)
    rows = np.array([[far, np.nan], [-far, np.nan], [far, -far]])
    filled, uncertainty = fitted.impute(rows, return_uncertainty=True)
    assert np.isfinite(filled).all() and np.isfinite(uncertainty).all()
    # Cells that were there stay what they were.
    assert filled[:, 0].tolist() == [far, -far, far] and filled[2, 1] == -far
    assert np.isfinite(fitted.score_samples(rows)).all()
    tables = np.array(fitted.sample_imputations(rows, 2, random_state=0))
    assert np.isfinite(tables).all() and (tables[:, 0, 0] == far).all()


@pytest.mark.parametrize("unit", [5e-324, 1e-310])
def test_cells_beyond_the_units_of_a_tiny_column(unit):
    """In units of a denormal column an ordinary number is infinite."""
    table = np.column_stack([unit * (np.arange(20) % 4), np.random.default_rng(0).normal(size=20)])
    model = SubsampleAnnealedDPMM(covariance_type="full", **SHORT).fit(table)
    filled, uncertainty = model.impute([[7.0, np.nan], [-7.0, np.nan]], return_uncertainty=True)
    assert np.isfinite(filled).all() and np.isfinite(uncertainty).all()
    assert np.isfinite(model.score_samples([[7.0, 0.5], [-7.0, np.nan]])).all()


@pytest.mark.parametrize("factor", [1e38, 1e300])
def test_columns_of_large_numbers(factor):
    """Of single precision, and near the end of double precision: samples are finite."""
    small = np.random.default_rng(0).normal(size=(20, 2)).clip(-3, 3)
    table = (factor * small).astype(np.float32) if factor < 1e39 else factor * small
    model = CrossCat(**SHORT).fit(table)
    assert np.isfinite(model.sample(200, random_state=0)).all()
    assert np.isfinite(model.log_joint_).all() and np.isfinite(model.score_samples(table)).all()


def test_targets_at_the_end_of_floating_point():
    """Means, deviations and ends of intervals are at its end as well, instead of infinite."""
    y = np.where(np.arange(12) % 2, 1.7e308, -1.7e308)
    model = CrossCatRegressor(CrossCat(**SHORT), random_state=0).fit(X, y)
    new = [[30.0, -30.0], [np.nan, np.nan]]
    assert all(np.isfinite(answer).all() for answer in model.predict(new, return_std=True))
    assert np.isfinite(model.predict_interval(new, 0.999)).all()
    assert np.isfinite(CrossCat(**SHORT).fit(y[:, None]).sample(200, random_state=0)).all()


@pytest.mark.parametrize("model", [CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM])
def test_tables_of_one_row(model):
    fitted = model(**SHORT).fit([[0.3, 7.0]])
    assert fitted.labels_.tolist() == [0]
    assert np.isfinite(fitted.score_samples([[0.3, 7.0], [np.nan, 8.0]])).all()
    assert np.isfinite(fitted.sample(5, random_state=0)).all()


def test_narrow_floats_that_are_drawn():
    """What is drawn beyond the range of a dtype is at its end, not infinite."""
    halves = np.float16(np.random.default_rng(0).normal(50000.0, 6000.0, 40).clip(None, 65000.0))
    frame = pd.DataFrame({"a": halves})
    drawn = CrossCat(**SHORT).fit(frame).sample(5000, random_state=0)
    assert drawn.dtypes["a"] == np.float16 and drawn["a"].max() == np.finfo(np.float16).max
    single = pl.DataFrame({"a": np.float32(5e33 * halves.astype(float))})
    drawn = CrossCat(**SHORT).fit(single).sample(5000, random_state=0)
    assert drawn["a"].dtype == pl.Float32 and drawn["a"].max() == np.finfo(np.float32).max


def test_evidence_that_a_type_does_not_admit():
    model = CrossCat(**SHORT).fit(np.column_stack([COUNTS[:, 0], X[:, 0]]))
    with pytest.raises(ValueError, match=r"given has -1e\+300 for column 'x0', which is count: .*leave the column out"):
        model.sample(given={0: -1e300})


def test_drift_of_large_counts():
    """They were counted one by one up to the largest, in gigabytes."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 2**31 - 1, 20), rng.normal(size=20)]).astype(float)
    detector = CrossCatDetector(CrossCat(feature_types={0: "count"}, **SHORT)).fit(table)
    assert all(drift.p_value > 0.01 for drift in detector.drift(table))


def test_intervals_of_reasons_at_the_end_of_floating_point():
    table = np.column_stack([np.full(20, 1.7e308) * np.where(np.arange(20) % 2, 1, -1), np.arange(20.0)])
    reasons = CrossCatDetector(CrossCat(**SHORT)).fit(table).reasons(table, rows=[0], n_reasons=2)
    limits = [limit for reason in reasons for limit in (reason.low, reason.high) if limit is not None]
    assert len(limits) >= 2 and np.isfinite(limits).all()


def test_strata_of_no_table():
    with pytest.raises((TypeError, ValueError), match=r"\bX\b|array"):
        CrossCat(**SHORT).fit(CrossCat, strata=np.zeros(7))


def test_scales_out_of_reach_of_a_process():
    model = TemperedGaussianProcessRegressor(length_scale_prior=(1e308, 1.0), n_draws=2, n_warmup=2)
    with pytest.raises(ValueError, match=r"length_scale_prior must be the mean, from -300 to 300, and the standard"):
        model.fit(X, X[:, 0])
    model.set_params(length_scale_prior=(0.5, 1.0), noise_prior=(1e-300, 1.0), n_jobs=2)
    with pytest.raises(
        ValueError, match=r"noise_prior must be the shape and the rate of a gamma .* from 0.001 to 1e\+06"
    ):
        model.fit(X, X[:, 0])


def test_statistics_of_other_columns_than_the_table():
    """As in a model file that was changed: kernels would read beyond the rows."""
    model = SubsampleAnnealedDPMM(covariance_type="full", **SHORT).fit(X)
    wide = SubsampleAnnealedDPMM(covariance_type="full", **SHORT).fit(np.column_stack([X, X[:, 0] ** 2]))
    for draw, other in zip(model._flat_draws(), wide._flat_draws(), strict=True):
        draw.columns[:] = other.columns
    with pytest.raises(ValueError, match=r"statistics of 3 columns for a block of 2; fit it anew"):
        model.score_samples(X)


def test_strings_that_spell_numbers_beside_what_is_none():
    frame = pd.DataFrame({"a": [f"{value:.3f}" for value in np.linspace(-2.0, 5.0, 40) ** 2]})
    model = CrossCat(**SHORT).fit(frame)
    for wrong in (datetime(2020, 1, 1), 10**400):
        with pytest.raises((ValueError, TypeError), match=r"Column 'a' holds"):
            model.predict(pd.DataFrame({"a": ["1.5", wrong]}, dtype=object))
    with pytest.warns(UserWarning, match="Column 'a' was .* in fit, but holds 'a': these cells count as missing"):
        assert len(model.predict(pd.DataFrame({"a": ["1.5", "a"]}, dtype=object))) == 2
    assert len(model.predict(pd.DataFrame({"a": ["1.5", np.float32(2.5), 3]}, dtype=object))) == 3
