"""Columns that are modelled by several columns: the same model as with the parts by hand, and answers by one name."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_subanneal import CrossCat, CrossCatClassifier, CrossCatRegressor, SubsampleAnnealedDPMM, TreeGuidedNRMM

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 5, "random_state": 0}
CYCLES = ["time", "week", "year"]


def visits(n_rows=60, seed=0):
    """Visits at any time: at night or not by the time of day, at work or not by the day of the week, and noise."""
    rng = np.random.default_rng(seed)
    when = pd.Series(np.datetime64("2019-01-01T00:00", "us") + rng.integers(0, 3 * 365 * 24 * 60, n_rows) * 60_000_000)
    frame = pd.DataFrame(
        {
            "when": when,
            "night": (when.dt.hour < 6) | (when.dt.hour >= 20),
            "noise": rng.normal(size=n_rows),
            "day": np.where(when.dt.day_of_week >= 5, "free", "work"),
        }
    )
    frame.loc[[3, 7], "when"] = pd.NaT
    return frame


def by_hand(frame):
    """The table with the parts of the date as columns, and the settings of its model."""
    when = frame["when"].dt
    micros = (frame["when"] - pd.Timestamp(0)).to_numpy().astype("m8[us]").astype(float)
    micros[frame["when"].isna()] = np.nan
    leap = pd.to_datetime("2020-" + when.strftime("%m-%d")).dt.day_of_year
    parts = {
        "trend": micros / 86_400e6,
        "time": (when.hour * 60 + when.minute) * 60e6 / 86_400e6,
        "week": when.day_of_week / 7.0,
        "year": (leap - 1) / 366.0,
    }
    table = pd.concat([pd.DataFrame(parts), frame.drop(columns="when")], axis=1)
    settings = {
        "feature_types": dict.fromkeys(CYCLES, "cyclic"),
        "feature_params": {name: {"period": 1.0} for name in CYCLES},
    }
    return table, settings


@pytest.fixture(scope="module")
def fitted():
    frame = visits(250)
    return frame, CrossCat(n_chains=1, n_draws=4, random_state=0).fit(frame)


@pytest.fixture(scope="module")
def model_of_chains():
    """A single chain in four does not find both dependences on the date; of four chains, those that do count most."""
    return CrossCat(n_draws=4, random_state=0).fit(visits(250))


@pytest.fixture(scope="module")
def fitted_by_hand(fitted):
    table, settings = by_hand(fitted[0])
    return table, clone(fitted[1]).set_params(**settings).fit(table)


@pytest.mark.parametrize(
    "estimator",
    [
        CrossCat(**SHORT),
        pytest.param(SubsampleAnnealedDPMM(**SHORT), marks=pytest.mark.slow),
        SubsampleAnnealedDPMM(covariance_type="full", **SHORT),
    ],
    ids=["views", "mixture", "block"],
)
def test_a_date_is_its_parts_bit_for_bit(estimator):
    frame = visits()
    table, settings = by_hand(frame)
    one, other = clone(estimator).fit(frame), clone(estimator).set_params(**settings).fit(table)
    assert one.feature_types_ == {"when": "datetime", "night": "boolean", "noise": "real", "day": "categorical"}
    assert list(one.part_types_.values()) == list(other.feature_types_.values())
    assert_array_equal(one.part_columns_, [0, 0, 0, 0, 1, 2, 3])
    assert_array_equal(one.log_joint_, other.log_joint_)
    assert_array_equal(one.posterior_labels_, other.posterior_labels_)
    new, by_parts = visits(20, seed=1), by_hand(visits(20, seed=1))[0]
    assert_array_equal(one.score_samples(new), other.score_samples(by_parts))
    assert_array_equal(one.predict(new), other.predict(by_parts))
    others = ["night", "noise", "day"]
    pd.testing.assert_frame_equal(
        one.sample(20, random_state=0)[others], other.sample(20, random_state=0)[others], check_exact=True
    )
    holes = new.astype({"night": object})
    holes.loc[::2, "night"] = None
    filled, by_hand_too = one.impute(holes), other.impute(by_parts.assign(night=holes["night"]))
    pd.testing.assert_frame_equal(filled[others], by_hand_too[others], check_exact=True)


def test_queries_treat_the_parts_as_one_column(fitted, fitted_by_hand):
    (_, model), (_, other) = fitted, fitted_by_hand
    parts, n = ["trend", "time", "week", "year"], 30
    new, by_parts = visits(n, seed=1), by_hand(visits(n, seed=1))[0]
    assert_array_equal(model.novelty(new, columns="when"), other.novelty(by_parts, columns=parts))
    found, expected = (
        m.mutual_information(*pair, n_samples=400, random_state=0)
        for m, pair in ((model, ("when", "night")), (other, (parts, "night")))
    )
    assert found == expected
    given = pd.Timestamp("2021-03-04 22:10")
    known = by_hand(pd.DataFrame({"when": [given]}))[0].iloc[0].to_dict()
    found, expected = (
        m.mutual_information("night", "day", given=g, n_samples=400, random_state=0)
        for m, g in ((model, {"when": given}), (other, known))
    )
    assert found == expected
    night = {"night": True}
    found, expected = (m.score_samples(x.assign(night=None), night) for m, x in ((model, new), (other, by_parts)))
    assert_array_equal(found, expected)
    surprisal, others = model.surprisal(new), ["night", "noise", "day"]
    assert surprisal.shape == (n, 4)
    assert_array_equal(surprisal[:, 1:], other.surprisal(by_parts)[:, 4:])
    gaps = by_parts.assign(**dict.fromkeys(parts, np.nan))
    seen = new["when"].notna()
    assert_allclose(surprisal[seen, 0], (other.score_samples(gaps) - other.score_samples(by_parts))[seen])
    assert np.isnan(surprisal[~seen, 0]).all()
    views = other.posterior_column_labels_.reshape(-1, 7)
    expected = [[(v[:4] == v[4 + j]).any() for v in views] for j in range(len(others))]
    assert_allclose(model.dependence_[0, 1:], np.mean(expected, axis=1))
    assert_array_equal(model.dependence_[1:, 1:], other.dependence_[4:, 4:])
    assert_array_equal(model.row_similarity([0, 1], columns="when"), other.row_similarity([0, 1], columns=parts))


def test_surprisal_of_training_rows_leaves_each_out(fitted, fitted_by_hand):
    (frame, model), (table, other) = fitted, fitted_by_hand
    surprisal, seen = model.surprisal(frame, seen=True), frame["when"].notna()
    assert_array_equal(surprisal[:, 1:], other.surprisal(table, seen=True)[:, 4:])
    rest = other.novelty(table, columns=["night", "noise", "day"], seen=True)
    assert_allclose(surprisal[seen, 0], (other.novelty(table, seen=True) - rest)[seen])
    # A cell is more surprising without itself.
    assert np.nanmean(surprisal[:, 0] - model.surprisal(frame, seen=False)[:, 0]) > 0.0


def test_dependence_on_a_part_is_found(model_of_chains):
    model = model_of_chains
    related = model.relatedness_matrix(["when", "night", "noise", "day"], n_samples=1000, random_state=0)
    assert_array_equal(related, related.T)
    assert_array_equal(np.diag(related), 1.0)
    assert related[0, 1] > 0.6 and related[0, 3] > 0.6 and related[1, 3] < 0.2 and related[0, 2] < 0.3
    # A chain that misses a dependence has a weight of some hundredths; the one that counts most always finds both.
    assert model.dependence_[0, 1] > 0.95 and model.dependence_[0, 3] > 0.95
    for views in model.posterior_column_labels_[np.argmax(model.chain_weights_)]:
        own = [set(views[model.part_columns_ == column]) for column in (0, 1, 3)]
        assert own[0] & own[1] and own[0] & own[2]
    assert related[0, 1] == pytest.approx(model.relatedness("when", "night", random_state=1).value, abs=0.1)


def test_conditionals_across_parts(model_of_chains):
    model = model_of_chains
    new = pd.DataFrame(
        {
            "when": pd.to_datetime(["2021-03-04 23:00", "2021-03-06 12:00", "2025-03-08 02:00"]),
            "night": [None] * 3,
            "noise": np.nan,
            "day": [None] * 3,
        }
    )
    assert model.predict_column("night", new).tolist() == [True, False, True]
    assert model.predict_column("day", new).tolist() == ["work", "free", "free"]
    nights = model.sample(300, given={"night": True}, random_state=0)["when"]
    assert nights.dt.hour.isin([20, 21, 22, 23, 0, 1, 2, 3, 4, 5]).mean() > 0.8
    weekends = model.sample(300, given={"day": "free"}, random_state=0)["when"]
    assert (weekends.dt.day_of_week >= 5).mean() > 0.8
    fixed = model.sample(5, given={"when": "2020-02-29 03:04"}, random_state=0)
    assert (fixed["when"] == pd.Timestamp("2020-02-29 03:04")).all() and fixed["night"].mean() > 0.5


def test_dates_of_rows_are_sampled_imputed_and_predicted(fitted):
    frame, model = fitted
    filled, uncertainty = model.impute(frame, return_uncertainty=True)
    seen = frame["when"].notna()
    pd.testing.assert_frame_equal(filled[seen], frame[seen].astype({"day": filled["day"].dtype}))
    assert filled["when"].notna().all() and uncertainty.shape == frame.shape
    # Days: those of three years.
    assert (uncertainty[~seen, 0] > 100.0).all() and (uncertainty[~seen, 0] < 1000.0).all()
    assert not uncertainty[seen].any()
    predicted = model.predict_column("when", frame[:9])
    assert predicted.dtype == "datetime64[us]"
    # Rows that the draws know already have other weights of draws.
    as_new = model.impute(frame[:9], seen=False)
    assert_array_equal(predicted[[3, 7]], as_new["when"].to_numpy()[[3, 7]])
    sampled = model.sample(100, random_state=0)["when"]
    assert sampled.dtype == frame["when"].dtype and sampled.notna().all()
    assert (sampled.dt.second == 0).all() and (sampled.dt.microsecond == 0).all()
    assert sampled.dt.year.between(2015, 2025).mean() > 0.95
    with pytest.raises(ValueError, match="'when' is datetime and has no categories"):
        model.predict_column_proba("when", frame)
    with pytest.raises(ValueError, match="'when' must be datetime but holds 5"):
        model.sample(1, given={"when": 5})


def test_densities_of_dates_integrate_to_one_if_cycles_recur_often():
    """Per day: the cyclic parts are relative to the uniform distribution."""
    frame = visits(100)
    frame["when"] = pd.Timestamp("2019-01-01") + (frame["when"] - frame["when"].min()) / 3
    model = CrossCat(**SHORT).fit(frame[["when", "night"]])
    assert list(model.part_types_) == ["when (trend)", "when (time of day)", "when (day of the week)", "night"]
    when = pd.date_range("2000-01-01", "2040-01-01", freq="173min")
    rows = pd.DataFrame({"when": when, "night": np.full(len(when), None)})
    assert np.exp(model.score_samples(rows)).sum() * 173 / (24 * 60) == pytest.approx(1.0, abs=0.02)


def test_dates_of_new_kinds_are_scored(fitted):
    frame, model = fitted
    far = frame[:4].assign(when=np.array(["1700-01-01", "2100-02-28T23:59:59", "2024-02-29", "NaT"], "M8[us]"))
    assert np.isfinite(model.score_samples(far)).all()
    surprisal = model.surprisal(far)[:, 0]
    assert surprisal[0] > surprisal[2] and np.isfinite(surprisal[:3]).all() and np.isnan(surprisal[3])


def test_polars_and_pickles_and_clones(fitted):
    frame, model = fitted
    table = pl.DataFrame({name: frame[name].to_numpy() for name in ("when", "night", "noise")})
    table = table.with_columns(day=pl.Series(frame["day"].to_list()))
    again = clone(model).fit(table)
    assert_array_equal(again.log_joint_, model.log_joint_)
    assert again.impute(table)["when"].null_count() == 0
    assert again.sample(3, random_state=0)["when"].dtype == pl.Datetime("us")
    loaded = pickle.loads(pickle.dumps(model))
    assert_array_equal(loaded.surprisal(frame[:5]), model.surprisal(frame[:5]))


def test_supervised_estimators_take_dates():
    frame = visits(120)
    model = CrossCat(**SHORT)
    X, night = frame[["when", "noise"]], frame["night"].to_numpy()
    assert (
        CrossCatClassifier(model).fit(X, night).predict(X)[frame["when"].notna()] == night[frame["when"].notna()]
    ).mean() > 0.8
    y = 10.0 * frame["night"] + frame["noise"]
    mean = CrossCatRegressor(model).fit(X[["when"]], y).predict(X[["when"]])
    assert np.corrcoef(mean, y)[0, 1] > 0.7


def test_rows_with_weights_have_the_parts_of_repeated_rows():
    frame, weights = visits(40), np.arange(40) % 3
    one = CrossCat(**SHORT).fit(frame, sample_weight=weights)
    other = CrossCat(**SHORT).fit(frame.loc[np.repeat(np.arange(40), weights)].reset_index(drop=True))
    assert one.part_types_ == other.part_types_
    assert_array_equal(one.log_joint_, other.log_joint_)


def test_trees_continue_with_dates():
    model = TreeGuidedNRMM(random_state=0)
    frame = visits(60)
    for rows in (frame[:30], frame[30:]):
        model.partial_fit(rows)
    assert model.posterior_labels_.shape == (1, 1, 60) and "when (trend)" in model.part_types_
