"""CrossCatDetector: outliers, p-values, reasons, drift; rows of the training table are judged by the others."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, rankdata
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from sklearn_subanneal import BayesianImputer, CrossCat, CrossCatDetector
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.shards import ShardedTable

BRIEF = CrossCat(schedule=SubsampleAnneal(passes=10), n_chains=2, n_draws=5, max_sweeps=5)


def rows(n, seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    return pd.DataFrame(
        {
            "height": 6.0 * group + rng.normal(size=n),
            "weight": -6.0 * group + rng.normal(size=n),
            "colour": np.where(rng.random(n) < 0.98, np.where(group == 1, "red", "blue"), "green"),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(100 * group + rng.integers(10, size=n), "D"),
        }
    )


@pytest.fixture(scope="module")
def fitted():
    table = rows(300, 0)
    table.loc[3, "height"], table.loc[4, "weight"], table.loc[7, "height"] = 30.0, np.nan, np.nan
    table.loc[5, "colour"] = {"red": "blue", "blue": "red"}[table.loc[6, "colour"]]
    table.loc[5, ["height", "weight", "since"]] = table.loc[6, ["height", "weight", "since"]]
    return CrossCatDetector(BRIEF, random_state=0).fit(table), table


def test_outliers_are_the_share_that_is_asked_for(fitted):
    detector, table = fitted
    labels = detector.predict(table)
    assert (labels == -1).sum() == 30
    assert labels[3] == labels[5] == -1
    np.testing.assert_array_equal(labels == -1, detector.decision_function(table) < 0.0)
    np.testing.assert_allclose(detector.decision_function(table), detector.score_samples(table) - detector.offset_)
    np.testing.assert_array_equal(CrossCatDetector(BRIEF, random_state=0).fit_predict(table), labels)


def test_training_rows_are_judged_by_the_others_wherever_they_come(fitted):
    detector, table = fitted
    scores = detector.score_samples(table)
    order = np.random.default_rng(0).permutation(300)[:40]
    mixed = pd.concat([rows(20, 1), table.iloc[order]], ignore_index=True)
    np.testing.assert_allclose(detector.score_samples(mixed)[20:], scores[order])
    np.testing.assert_allclose(detector.score_samples(mixed)[:20], detector.score_samples(rows(20, 1)))
    # In the measure of rows as wholes an outlier is not explained by a cluster of its own.
    assert scores.argmin() == 3


def test_a_fitted_model_is_taken_as_it_is(fitted):
    detector, table = fitted
    frozen = CrossCatDetector(FrozenEstimator(detector.crosscat_), random_state=0).fit(table)
    assert frozen.crosscat_ is detector.crosscat_
    np.testing.assert_array_equal(frozen.training_scores_, detector.training_scores_)
    new = rows(20, 1)
    np.testing.assert_array_equal(frozen.score_samples(new), detector.score_samples(new))
    assert frozen.drift(new) == detector.drift(new)
    with pytest.raises(ValueError, match="X must be the very table that fit was given"):
        CrossCatDetector(FrozenEstimator(detector.crosscat_)).fit(table.iloc[::-1].reset_index(drop=True))
    with pytest.raises(ValueError, match="estimator is frozen, and is not fitted again"):
        CrossCatDetector(FrozenEstimator(detector.crosscat_)).fit(table, sample_weight=np.full(300, 2))
    imputer = BayesianImputer(FrozenEstimator(detector.crosscat_)).fit(table)
    pd.testing.assert_frame_equal(imputer.transform(table), detector.crosscat_.impute(table))


@pytest.mark.parametrize("estimator", [CrossCatDetector, BayesianImputer])
def test_a_fitted_model_must_know_its_rows(fitted, estimator):
    """The draws of a stream have rows of earlier calls, those of shards some rows of the table."""
    _, table = fitted
    model = clone(BRIEF).set_params(covariance_type="diag")
    streamed = clone(model).partial_fit(table[:100]).partial_fit(table[100:200])
    sharded = clone(model).fit(ShardedTable(table, n_start_rows=len(table)))
    for own, seen in ((sharded, table), (streamed, table[100:200])):
        with pytest.raises(ValueError, match=r"fitted by partial_fit or in shards: .* give estimator the unfitted"):
            estimator(FrozenEstimator(own)).fit(seen)


def test_scores_are_the_larger_of_two_measures():
    """With all clusters, the log density given the other rows, and the odds of the cell that is likeliest an error."""
    table = rows(150, 4)
    detector = CrossCatDetector(BRIEF, contamination=1e-9, random_state=0).fit(table)
    first = {reason.row: reason.excess for reason in detector.reasons(table, rows=np.arange(150), n_reasons=1)}
    measures = np.column_stack([detector.crosscat_.novelty(table), [first[row] for row in range(150)]])
    usual, large = np.quantile(measures, [0.5, 0.8], axis=0)
    np.testing.assert_allclose(detector.score_samples(table), -((measures - usual) / (large - usual)).max(axis=1))


def test_a_rare_group_is_an_outlier():
    table = rows(300, 2)
    group = rows(6, 3).assign(height=60.0 + np.arange(6.0), weight=60.0 + np.arange(6.0))
    table = pd.concat([table, group], ignore_index=True)
    detector = CrossCatDetector(n_calibration=0, random_state=0).fit(table)
    is_odd = np.arange(306) >= 300
    auroc = roc_auc_score(is_odd, -detector.score_samples(table))
    assert auroc > 0.99
    # The density of a row given the others is lower for some common rows than in a cluster of six.
    assert roc_auc_score(is_odd, detector.crosscat_.novelty(table)) < auroc


def test_a_rare_group_may_be_in_several_clusters():
    """Each of two rare groups has nearly the share of outliers; clusters that hold twice this share do not count."""
    table = rows(300, 2)
    groups = [rows(24, 3 + sign).assign(height=sign * 60.0, weight=60.0 + np.arange(24.0) / 9) for sign in (-1, 1)]
    table = pd.concat([table, *groups], ignore_index=True)
    detector = CrossCatDetector(BRIEF, contamination=0.07, n_calibration=0, random_state=0).fit(table)
    assert roc_auc_score(np.arange(348) >= 300, -detector.score_samples(table)) > 0.9


def test_cells_that_suit_their_rows_are_no_errors(fitted):
    """Excess is the log of odds: below 0 for most cells, high for the errors that were planted."""
    detector, table = fitted
    excess = pd.DataFrame(detector.reasons(table, rows=np.arange(300), n_reasons=4)).pivot_table(
        index="row", columns="column", values="excess"
    )
    assert (excess.median() < 0.0).all()
    assert min(excess.loc[3, "height"], excess.loc[5, "colour"]) > 3.0


@pytest.mark.slow
def test_p_values_of_new_rows_are_uniform():
    """Over fits: of one fit, they share the error of its training rows."""
    found, longer = [], clone(BRIEF).set_params(max_sweeps=None)
    for seed in range(40):
        detector = CrossCatDetector(longer, random_state=seed).fit(rows(150, 10 + seed))
        found.append(detector.p_values(rows(20, 1000 + seed)))
    assert kstest(np.concatenate(found), "uniform").pvalue > 0.01
    assert np.mean([(own <= 0.1).mean() for own in found]) == pytest.approx(0.1, abs=0.05)


def test_p_values_are_ranks_among_training_rows(fitted):
    detector, table = fitted
    p_values = detector.p_values(table)
    assert p_values.argmin() == detector.score_samples(table).argmin()
    n_as_odd = rankdata(detector.training_scores_, method="max")
    np.testing.assert_allclose(p_values, n_as_odd / len(table), rtol=1e-12)
    assert p_values.min() == 1.0 / len(table) and p_values.max() == 1.0
    # About the share of the outliers has such values.
    assert abs((p_values <= detector.contamination).sum() - (detector.predict(table) == -1).sum()) <= 1
    # A new row counts as one more.
    new = table.iloc[:1].assign(height=1e6)
    assert detector.p_values(new).tolist() == [1.0 / (len(table) + 1)]


def test_reasons_name_the_odd_cell_and_what_was_expected(fitted):
    detector, table = fitted
    first = {reason.row: reason for reason in detector.reasons(table, rows=[3, 5], n_reasons=1)}
    height = first[3]
    assert (height.column, height.value) == ("height", 30.0)
    group = table.loc[3, "weight"] < -3.0
    assert height.expected == pytest.approx(6.0 * group, abs=1.5)
    assert height.low < 6.0 * group < height.high < 30.0
    colours = table.loc[[5, 6], "colour"].tolist()
    assert (first[5].column, first[5].value, first[5].expected) == ("colour", *colours)
    assert first[5].low is None
    assert min(height.excess, first[5].excess) > 1.0
    # A missing cell is no reason.
    assert {reason.column for reason in detector.reasons(table, rows=[4], n_reasons=9)} == {"height", "colour", "since"}


def test_reasons_of_new_rows(fitted):
    detector, _ = fitted
    new = rows(3, 7)
    new.loc[0, "colour"] = "violet"
    new.loc[1, "since"] = pd.Timestamp("2031-01-01")
    reasons = detector.reasons(new, rows=[True, True, False], n_reasons=1)
    assert [(reason.row, reason.column) for reason in reasons] == [(0, "colour"), (1, "since")]
    assert reasons[0].value == "violet"
    low, expected, high = (pd.Timestamp(day) for day in (reasons[1].low, reasons[1].expected, reasons[1].high))
    assert pd.Timestamp("2023-06-01") < low < expected < high < pd.Timestamp("2025-06-01")
    table = pd.DataFrame(detector.reasons(new))
    assert table.columns.tolist() == ["row", "column", "value", "expected", "low", "high", "surprisal", "excess"]
    assert set(table["row"]) == set(np.flatnonzero(detector.predict(new) == -1))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_expected_dates_are_in_the_zone_of_their_column(container):
    """They are the same instants as without a zone, in UTC."""
    plain = rows(80, 3)[["height", "since"]]
    zoned = plain.assign(since=plain["since"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"))
    if container == "polars":
        plain, zoned = (pytest.importorskip("polars").from_pandas(own) for own in (plain, zoned))
    answers = []
    for table in (plain, zoned):
        detector = CrossCatDetector(BRIEF, n_calibration=0, random_state=0).fit(table)
        reasons = detector.reasons(table, rows=[0, 1], n_reasons=2)
        own = [day for reason in reasons if reason.column == "since" for day in reason[3:6]]
        answers.append([*detector.crosscat_.predict_column("since", table)[:5], *own])
    naive, local = answers
    assert len(naive) == len(local) > 5
    for instant, day in zip(naive, local, strict=True):
        assert isinstance(day, pd.Timestamp) == (container == "pandas") and "Europe/Berlin" in str(day.tzinfo)
        assert pd.Timestamp(day).tz_convert("UTC").tz_localize(None) == pd.Timestamp(instant)


def test_drift_is_found_in_the_column_that_drifts(fitted):
    detector, _ = fitted
    same = detector.drift(rows(200, 20))
    assert min(drift.p_value for drift in same) > 1e-3
    moved = rows(200, 21)
    moved["height"] += 1.0
    assert detector.drift(moved)[0].column == "height"
    assert detector.drift(moved)[0].p_cells < 1e-4
    holes = rows(200, 22)
    holes.loc[::5, "weight"] = np.nan
    worst = detector.drift(holes)[0]
    assert worst.column == "weight"
    assert worst.p_missing == pytest.approx(worst.p_value / 3.0)
    assert worst.p_missing < 1e-6
    # Every column as before, but colours without regard to the group.
    shuffled = rows(200, 23)
    shuffled["colour"] = np.random.default_rng(0).permutation(shuffled["colour"])
    drifts = {drift.column: drift for drift in detector.drift(shuffled)}
    assert drifts["colour"].p_cells > 1e-3
    assert drifts["colour"].p_given_others < 1e-6


def test_arrays_pickles_and_pipelines():
    X = np.random.default_rng(0).normal(size=(80, 3))
    X[0, 0], X[1, 1] = 9.0, np.nan
    detector = CrossCatDetector(BRIEF, contamination=0.1, random_state=0).fit(X)
    assert (detector.predict(X) == -1).sum() == 8
    copy = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(copy.score_samples(X), detector.score_samples(X))
    assert detector.reasons(X, rows=[0])[0].column == "x0"
    pipeline = make_pipeline(BayesianImputer(BRIEF, random_state=0), CrossCatDetector(BRIEF, random_state=0)).fit(X)
    assert pipeline.predict(X)[0] == -1


def test_tables_of_arrow(fitted):
    table = fitted[1][:60].reset_index(drop=True)
    own, other = (
        _reasons_or_error(CrossCatDetector(BRIEF, n_calibration=20, random_state=0), X)
        for X in (pytest.importorskip("pyarrow").Table.from_pandas(table), table)
    )
    assert own == other and len(own) == 180


def _reasons_or_error(detector, X):
    """The oddest cells of all rows with their surprisals, or what is wrong."""
    try:
        reasons = detector.fit(X).reasons(X, rows=np.arange(60))
    except TypeError as error:
        return str(error)
    return [(reason.column, str(pd.Series([reason.value])[0]), reason.surprisal) for reason in reasons]


def test_arguments_are_checked(fitted):
    detector, table = fitted
    with pytest.raises(ValueError, match="contamination"):
        CrossCatDetector(contamination=0.6).fit(table)
    with pytest.raises(ValueError, match="n_reasons must be an integer"):
        detector.reasons(table, n_reasons=0)
    with pytest.raises(ValueError, match="rows must be indices"):
        detector.reasons(table, rows=[300])


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_reasons_give_boolean_cells_as_the_table_has_them(dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "flag": (x > 0.0).astype(dtype)})
    detector = CrossCatDetector(CrossCat(n_chains=1, n_draws=2, random_state=0), n_calibration=0).fit(frame)
    odd = pd.DataFrame({"x": [2.0], "flag": np.array([0]).astype(dtype)})
    reason = next(own for own in detector.reasons(odd, rows=[0], n_reasons=2) if own.column == "flag")
    assert type(reason.expected) is type(reason.value)
    assert (reason.expected, reason.value) == (1, 0)


@pytest.mark.slow
def test_chains_that_differ_are_no_drift():
    """Where chains do not mix, draws were weighted otherwise for training rows than for new ones: p-values of 1e-13."""
    rng = np.random.default_rng(11)
    values = rng.choice([1.0, 2.0, 2.1, 5.0, 5.3, 9.0, 14.0, 30.0], size=(8, 6))
    table = values[rng.integers(8, size=1000)]
    is_odd = rng.random(table.shape) < 0.15
    table[is_odd] = rng.choice(values.ravel(), is_odd.sum())
    table += 0.3 * rng.normal(size=table.shape)
    inner = CrossCat(n_chains=4, n_draws=5, feature_types=["real"] * 6)
    drifts = CrossCatDetector(inner, random_state=0).fit(table[:500]).drift(table[500:])
    assert min(drift.p_value for drift in drifts) > 1e-4


def test_rows_without_a_cell_are_equally_usual():
    nothing = np.full((10, 2), np.nan)
    detector = CrossCatDetector(CrossCat(n_chains=1), random_state=0).fit(nothing)
    np.testing.assert_array_equal(detector.score_samples(nothing[:3]), np.zeros(3))
