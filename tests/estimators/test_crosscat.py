"""The cross-categorization as its users meet it: what its attributes say, and that chains are reproducible."""

from __future__ import annotations

import inspect
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from support.clocks import tick_at_each_look
from support.moves import VIEW_MOVES
from support.tables import NAN, blobs, with_gaps
from support.tiers import quick_only

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import (
    Accelerating,
    PriorGibbs,
    SequentialGibbs,
    StratifiedSubsampling,
    SubsampleAnneal,
    TemperedAccelerating,
)
from sklearn_subanneal.annealing.schedules import resolve_schedule
from sklearn_subanneal.mixtures import Gibbs, SplitMerge
from sklearn_subanneal.partitions import CRP, PitmanYor
from sklearn_subanneal.posterior import expected_loss, relabel
from sklearn_subanneal.views import ColumnGibbs, ColumnGroups, ColumnPacing, ViewSplitMerge

pandas = pytest.importorskip("pandas")

SHORT = SubsampleAnneal(passes=6)
#: Columns of the planted table, and the partitions of its rows that they follow.
VIEWS = np.array([0, 1, 0, 1, 2, 0, 1, 0, 2])


def short(**params):
    return CrossCat(**{"n_chains": 2, "n_draws": 3, "max_sweeps": 5, "schedule": SHORT, "random_state": 0} | params)


def planted(n_rows=240, seed=0):
    """A table of three views, of four, three and two columns, and the partitions of its rows."""
    rng = np.random.default_rng(seed)
    groups = np.array([np.arange(n_rows) % 4, rng.integers(3, size=n_rows), rng.integers(2, size=n_rows)])
    letters = np.array(["a", "b", "c", "d"])
    wrong = rng.random((2, n_rows)) < 0.05
    table = {
        "one": 9.0 * groups[0] + rng.normal(size=n_rows),
        "two": 5.0 * groups[1] + 0.5 * rng.normal(size=n_rows),
        "three": np.where(wrong[0], "d", letters[groups[0]]),
        "four": rng.poisson(np.array([1.0, 12.0, 60.0])[groups[1]]),
        "five": 30.0 * groups[2] + rng.normal(size=n_rows),
        "six": np.where(wrong[1], groups[0] == 3, groups[0] < 2),
        "seven": -4.0 * groups[1] + 0.5 * rng.normal(size=n_rows),
        "eight": rng.normal(size=n_rows) - 7.0 * (groups[0] - 2.0) ** 2,
        "nine": 9.0 * groups[2] + rng.normal(size=n_rows),
    }
    frame = pandas.DataFrame(table)
    frame.loc[rng.random(n_rows) < 0.1, "two"] = NAN
    frame.loc[rng.random(n_rows) < 0.1, "three"] = None
    return frame, groups


TABLE, GROUPS = planted()


@pytest.fixture(scope="module")
def fitted():
    # Draws are every second of the last sweeps, also in chains whose log joint density still rises.
    settings = {"n_chains": 2, "n_draws": 4, "thin": 2, "max_sweeps": 0, "random_state": 0}
    return CrossCat(feature_types={"four": "count"}, **settings).fit(TABLE)


# --- Attributes -----------------------------------------------------------------------------------------------------


def test_planted_views_are_found(fitted):
    assert fitted.column_labels_.tolist() == VIEWS.tolist()
    assert fitted.n_views_ == 3
    for view, groups in enumerate(GROUPS):
        assert adjusted_rand_score(fitted.view_labels_[:, view], groups) > 0.95
    together = VIEWS[:, None] == VIEWS
    assert fitted.dependence_[together].min() > 0.7
    assert fitted.dependence_[~together].max() < 0.3


def test_shapes(fitted):
    n_rows, n_columns = TABLE.shape
    shapes = {
        "column_labels_": (np.int64, (n_columns,)),
        "view_labels_": (np.int64, (n_rows, 3)),
        "view_confidence_": (np.float64, (n_rows, 3)),
        "labels_": (np.int64, (n_rows,)),
        "posterior_column_labels_": (np.int32, (2, 4, n_columns)),
        "posterior_labels_": (np.int32, (2, 4, n_rows)),
        "dependence_": (np.float64, (n_columns, n_columns)),
        "log_joint_": (np.float64, (2, 4)),
    }
    for name, (dtype, shape) in shapes.items():
        assert (getattr(fitted, name).dtype, getattr(fitted, name).shape) == (dtype, shape), name
    assert type(fitted.n_views_) is type(fitted.n_clusters_) is type(fitted.n_features_in_) is int
    assert fitted.n_features_in_ == n_columns
    assert fitted.feature_names_in_.tolist() == list(TABLE)
    # From Python 3.13 on docstrings come without their indentation.
    lines = re.findall(r"^(\w+_(?:, \w+_)*) :", inspect.getdoc(CrossCat), flags=re.MULTILINE)
    documented = [name for line in lines for name in line.split(", ")]
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(documented) | {"feature_names_in_"}
    assert all(hasattr(fitted, name) for name in documented if name not in ("log_evidence_", "n_samples_seen_"))


def test_view_zero_has_most_columns(fitted):
    sizes = np.bincount(fitted.column_labels_)
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_array_equal(fitted.column_labels_, relabel(fitted.column_labels_))
    # Ties go to the view of the first column.
    X = np.random.default_rng(3).normal(size=(20, 4))
    seen = set()
    for seed in range(8):
        model = short(column_partition=PitmanYor(3.0), random_state=seed).fit(X)
        np.testing.assert_array_equal(model.column_labels_, relabel(model.column_labels_))
        np.testing.assert_array_equal(model.labels_, model.predict(X))
        seen.add(tuple(np.bincount(model.column_labels_)))
    assert seen - {(4,), (3, 1)}


def test_labels_are_predictions(fitted):
    np.testing.assert_array_equal(fitted.labels_, fitted.predict(TABLE))
    np.testing.assert_array_equal(fitted.view_labels_, fitted.predict_views(TABLE))
    np.testing.assert_array_equal(fitted.labels_, fitted.view_labels_[:, 0])
    probabilities = fitted.predict_proba(TABLE)
    assert probabilities.shape == (len(TABLE), fitted.n_clusters_)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), fitted.labels_)
    for labels in fitted.view_labels_.T:
        assert set(labels) == set(range(labels.max() + 1))
    assert fitted.n_clusters_ == fitted.labels_.max() + 1
    # Row by row, whoever else is there; a row without cells goes to a cluster as well.
    np.testing.assert_array_equal(fitted.predict_views(TABLE[7:9]), fitted.view_labels_[7:9])
    nothing = fitted.predict_views(TABLE[:2].assign(**dict.fromkeys(TABLE, None)))
    np.testing.assert_array_equal(nothing[0], nothing[1])


def test_views_are_judged_by_their_own_columns(fitted):
    """Cells of other views do not move a row."""
    other = TABLE.copy()
    for name in np.array(list(TABLE))[VIEWS == 1]:
        other[name] = TABLE[name].to_numpy()[::-1]
    labels = fitted.predict_views(other)
    np.testing.assert_array_equal(labels[:, [0, 2]], fitted.view_labels_[:, [0, 2]])
    np.testing.assert_array_equal(labels[:, 1], fitted.predict_views(other[::-1])[::-1, 1])
    assert (labels[:, 1] != fitted.view_labels_[:, 1]).any()


def test_posterior_labels_follow_the_main_view(fitted):
    main = np.argmin(fitted.column_labels_)
    for chain, draw in np.ndindex(2, 4):
        columns = fitted.posterior_column_labels_[chain, draw]
        state = fitted._draws[chain][draw]
        rows = fitted._row_labels[chain][draw]
        assert rows.shape == (columns.max() + 1, len(TABLE))
        np.testing.assert_array_equal(fitted.posterior_labels_[chain, draw], rows[columns[main]])
        np.testing.assert_array_equal(state.column_labels, columns)
        for labels, view in zip(rows, state.views, strict=True):
            np.testing.assert_array_equal(np.bincount(labels), view.sizes)
        assert set(columns) == set(range(len(state.views)))


def test_the_draw_that_represents_the_posterior(fitted):
    representative = fitted._representative
    np.testing.assert_array_equal(representative.column_labels, fitted.column_labels_)
    place = np.argwhere(fitted.log_joint_ == representative.log_joint)
    assert len(place) == 1
    chain, draw = place[0]
    # The columns are those of least expected loss, and so are the rows of the main view among draws with these columns.
    flat = fitted.posterior_column_labels_.reshape(-1, len(VIEWS))
    losses = expected_loss(flat, flat)
    assert losses[4 * chain + draw] == losses.min()
    same = [np.array_equal(relabel(labels), fitted.column_labels_) for labels in flat]
    rows = fitted.posterior_labels_.reshape(-1, len(TABLE))[same]
    losses = expected_loss(rows, rows)
    assert losses[np.cumsum(same)[4 * chain + draw] - 1] == losses.min()
    # Its views are named as the labels say: each holds the statistics of its own columns and rows.
    columns = fitted.posterior_column_labels_[chain, draw]
    for view, state in enumerate(representative.views):
        first = np.flatnonzero(fitted.column_labels_ == view)[0]
        labels = fitted._row_labels[chain][draw][columns[first]]
        np.testing.assert_array_equal(state.sizes, np.bincount(labels))
        kinds = np.array(list(fitted.feature_types_.values()))[fitted.column_labels_ == view]
        # The reals of a view are one block.
        assert len(state.columns) == (kinds != "real").sum() + ("real" in kinds)
        assert adjusted_rand_score(labels, fitted.view_labels_[:, view]) > 0.9


def test_hyperparameters(fitted):
    values = fitted.hyperparameters_
    assert set(values) == {"column_concentration", "column_discount", "concentration", "discount", "columns"}
    for name in ("column_concentration", "column_discount"):
        assert values[name].shape == (2, 4)
    for name in ("concentration", "discount"):
        assert values[name].shape == (2, 4, len(VIEWS))
        for chain, draw in np.ndindex(2, 4):
            columns = fitted.posterior_column_labels_[chain, draw]
            for j, view in enumerate(columns):
                # Columns of one view have one prior.
                assert values[name][chain, draw, j] == fitted._draws[chain][draw].views[view].prior[name]
    assert list(values["columns"]) == list(TABLE)
    keys = {
        "one": {"mu", "kappa", "sigma2", "nu"},
        "three": {"alpha", "unseen"},
        "four": {"shape", "rate", "dispersion"},
    }
    for name, expected in (keys | {"six": {"alpha", "beta"}}).items():
        assert set(values["columns"][name]) == expected
        assert all(array.shape[:2] == (2, 4) for array in values["columns"][name].values())
    # Learned, in the units of the data: their means are where the column is.
    assert abs(np.mean(values["columns"]["five"]["mu"]) - 15) < 15
    assert len(np.unique(values["concentration"])) > 1


def test_trace(fitted):
    trace = fitted.trace_
    for chain in range(2):
        own = trace[trace["chain"] == chain]
        # The sweeps of starts that were left are counted, but not there.
        assert (np.diff(own["sweep"]) > 0).all() and (np.diff(own["sweep"]) > 1).sum() <= 1
        assert own["sweep"][-1] + 1 == fitted.n_sweeps_[chain]
        # The second chain has none.
        assert (fitted.n_sweeps_[chain] > len(own)) == (chain == 0)
        assert (np.diff(own["seconds"]) > 0).all()
        assert (np.diff(own["progress"]) >= 0).all()
        assert own["n_assigned"][-1] == len(TABLE)
        # A draw is the state after every second sweep.
        np.testing.assert_array_equal(own["log_joint"][-7::2], fitted.log_joint_[chain])
        np.testing.assert_array_equal(own["n_views"][-7::2], fitted.posterior_column_labels_[chain].max(axis=1) + 1)
        n_clusters = [sum(len(view.sizes) for view in draw.views) for draw in fitted._draws[chain]]
        np.testing.assert_array_equal(own["n_clusters"][-7::2], n_clusters)
        parts = own["seconds_rows"] + own["seconds_views"] + own["seconds_hyperparameters"]
        assert (parts <= np.diff(own["seconds"], prepend=0.0) + 1e-9).all()
        assert own["n_columns_moved"].sum() > 0
        assert own["n_moved"].sum() > len(TABLE)


def test_fixed_processes():
    fixed = {"concentration": 2.0, "discount": 0.25, "column_concentration": 0.5, "column_discount": 0.125}
    model = short(row_partition=PitmanYor(2.0, 0.25), column_partition=PitmanYor(0.5, 0.125))
    values = model.fit(TABLE).hyperparameters_
    for name, value in fixed.items():
        assert (values[name] == value).all()
    values = short(learn_hyperparameters=False).fit(TABLE).hyperparameters_
    for name in fixed:
        assert len(np.unique(values[name])) == 1
    for column in values["columns"].values():
        for array in column.values():
            assert np.ptp(array, axis=(0, 1)).max() == 0


def test_the_prior_of_columns_counts():
    """A prior that wants one view, or a view a column, has its way with a table that says nothing."""
    X = np.random.default_rng(0).normal(size=(6, 5))
    one = short(column_partition=CRP(1e-9), n_draws=10).fit(X)
    many = short(column_partition=CRP(1e9), n_draws=10).fit(X)
    assert "column_discount" not in one.hyperparameters_
    assert one.posterior_column_labels_.max() == 0
    assert (many.posterior_column_labels_.max(axis=2) == 4).mean() > 0.9


@pytest.mark.parametrize("moves", VIEW_MOVES)
def test_columns_move_by_every_move(moves):
    X = np.random.default_rng(0).normal(size=(20, 4))
    model = short(moves=VIEW_MOVES[moves], column_partition=PitmanYor(2.0), n_draws=10).fit(X)
    assert model.trace_["n_columns_moved"].sum() > 0


def test_moves_by_name():
    X = np.random.default_rng(0).normal(size=(20, 4))
    objects = [Gibbs(), SplitMerge(), ColumnGibbs(), ColumnGroups(), ViewSplitMerge()]
    names = ["gibbs", "split-merge", "column-gibbs", "column-groups", "view-split-merge"]
    one, other = short(moves=objects).fit(X), short(moves=names).fit(X)
    np.testing.assert_array_equal(one.log_joint_, other.log_joint_)


def test_the_default_moves_are_those_documented():
    X = np.random.default_rng(0).normal(size=(20, 4))
    moves = [Gibbs(), SplitMerge(), ColumnGibbs(), ColumnGroups(), ViewSplitMerge()]
    np.testing.assert_array_equal(short(moves=moves).fit(X).log_joint_, short().fit(X).log_joint_)
    assert f"{moves}".replace(" ", "") in CrossCat.__doc__.replace(" ", "").replace("\n", "")


def test_chains_start_where_they_are_told():
    """Columns that never move stay in the views in which a chain starts."""
    X = np.random.default_rng(0).normal(size=(20, 4))
    still = {"moves": [Gibbs()], "n_draws": 1}
    assert short(column_start="separate", **still).fit(X).posterior_column_labels_.max() == 3
    assert short(column_start="together", **still).fit(X).posterior_column_labels_.max() == 0
    many = short(column_start="prior", column_partition=CRP(1e9), **still).fit(X)
    few = short(column_start="prior", column_partition=CRP(1e-9), **still).fit(X)
    assert (many.posterior_column_labels_.max(), few.posterior_column_labels_.max()) == (3, 0)


@pytest.mark.parametrize("learn_from", [5, 15, 100])
def test_learning_begins_where_it_is_told(learn_from):
    X = np.random.default_rng(0).normal(size=(20, 4))
    trace = short(learn_from=learn_from, schedule=SubsampleAnneal(30), n_chains=1).fit(X).trace_
    learning = trace["n_assigned"] >= min(learn_from, 20)
    assert not trace["n_columns_moved"][~learning].any()
    assert (trace["concentration"][~learning] == 1.0).all()
    assert (trace["concentration"][learning] != 1.0).any()


# --- Reproducibility and continued chains ---------------------------------------------------------------------------


def fitted_state(model, X):
    fields = [name for name in model.trace_.dtype.names if not name.startswith("seconds")]
    values = model.hyperparameters_
    columns = values["columns"].values()
    return [
        *(getattr(model, name) for name in ("posterior_labels_", "posterior_column_labels_", "log_joint_")),
        *(getattr(model, name) for name in ("labels_", "view_labels_", "column_labels_", "view_confidence_")),
        *(model.trace_[name] for name in fields),
        *(values[name] for name in values if name != "columns"),
        *(array for column in columns for array in column.values()),
        model.score_samples(X),
        model.impute(X),
        model.sample(5, random_state=1),
    ]


def assert_same(one, two):
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def discrete(X):
    return np.where(np.isnan(X), NAN, np.floor(np.abs(X)) % 4)


REALS = np.hstack([with_gaps(blobs(50, 2)), blobs(50, 2, seed=2)[::-1]])
KINDS = {
    "real": ({}, REALS),
    "discrete": ({"feature_types": ["categorical", "count", "categorical", "count"]}, discrete(REALS)),
    "mixed": (
        {"feature_types": ["real", "count", "boolean", "categorical"]},
        np.column_stack([REALS[:, 0], discrete(REALS[:, 1]), REALS[:, 2] > 4, discrete(REALS[:, 3])]),
    ),
    "fixed": ({"learn_hyperparameters": False, "column_partition": PitmanYor(3.0)}, REALS),
}


@pytest.mark.parametrize(
    "subsampling", quick_only(["cyclic", "random", StratifiedSubsampling(column=0, n_bins=3)], "random")
)
@pytest.mark.parametrize("kind", quick_only(KINDS, "mixed", "fixed"))
def test_continued_chains_are_the_chains(kind, subsampling):
    params, X = KINDS[kind]
    model = short(subsampling=subsampling, n_draws=9, **params)
    parts = clone(model).set_params(n_draws=4, warm_start=True).fit(X)
    first = parts.posterior_column_labels_
    parts.set_params(n_draws=9).fit(X)
    np.testing.assert_array_equal(parts.posterior_column_labels_[:, :4], first)
    assert_same(fitted_state(parts, X), fitted_state(model.fit(X), X))


@pytest.mark.parametrize("moves", quick_only(VIEW_MOVES, "block", "group"))
def test_continued_chains_with_every_move(moves):
    X = REALS + np.random.default_rng(0).normal(scale=4, size=REALS.shape)
    model = short(n_draws=12, moves=VIEW_MOVES[moves], column_partition=PitmanYor(2.0))
    parts = clone(model).set_params(warm_start=True)
    for n_draws in (1, 5, 6, 12):
        parts.set_params(n_draws=n_draws).fit(X)
    assert_same(fitted_state(parts, X), fitted_state(model.fit(X), X))


def test_chains_continue_with_another_rhythm():
    model = short(n_draws=2, thin=1, warm_start=True).fit(REALS)
    before = model.posterior_labels_, model.posterior_column_labels_
    model.set_params(n_draws=4, thin=5, n_jobs=2).fit(REALS)
    one = short(n_draws=12, thin=1).fit(REALS)
    np.testing.assert_array_equal(model.log_joint_, one.log_joint_[:, [0, 1, 6, 11]])
    np.testing.assert_array_equal(model.posterior_column_labels_[:, :2], before[1])
    # Without warm_start a fit starts anew.
    model.set_params(warm_start=False, n_draws=2, thin=1).fit(REALS)
    np.testing.assert_array_equal(model.posterior_labels_, before[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.set_params(warm_start=True).fit(REALS)
    assert ["without raising n_draws" in str(warning.message) for warning in caught] == [True]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", quick_only(KINDS, "mixed"))
def test_jobs_do_not_matter(kind):
    params, X = KINDS[kind]
    model = short(n_chains=3, **params)
    assert_same(fitted_state(clone(model).fit(X), X), fitted_state(model.set_params(n_jobs=2).fit(X), X))


def test_random_states():
    states = (0, 0, np.random.RandomState(0), 1, None, None)
    fits = [short(random_state=state).fit(REALS) for state in states]
    np.testing.assert_array_equal(fits[0].log_joint_, fits[1].log_joint_)
    np.testing.assert_array_equal(fits[0].log_joint_, fits[2].log_joint_)
    assert len({fit.log_joint_[0, 0] for fit in fits}) == 4
    assert fits[0].log_joint_[0, 0] != fits[0].log_joint_[1, 0]
    more = short(n_chains=3).fit(REALS)
    np.testing.assert_array_equal(more.log_joint_[:2], fits[0].log_joint_)


def test_a_second_fit_forgets_the_first():
    model = short().fit(blobs(33, 5))
    model.fit(REALS)
    assert_same(fitted_state(model, REALS), fitted_state(clone(model).fit(REALS), REALS))
    assert model.n_features_in_ == 4


# --- Time -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["anneal", "accelerating", "sequential", "prior", "energy"])
def test_a_time_limit_shorter_than_one_pass(schedule):
    X = with_gaps(blobs(1000, 4))
    model = short(schedule=schedule, time_limit=1e-6).fit(X)
    assert model.posterior_labels_.shape == (2, 1, 1000)
    assert model.posterior_labels_.min() == 0
    for chain in range(2):
        assert model.trace_["n_assigned"][model.trace_["chain"] == chain][-1] == 1000
    assert np.isfinite(model.score(X))


def test_a_time_limit_ends_the_chains(monkeypatch):
    tick_at_each_look(monkeypatch, 2e-3)
    X = blobs(300, 4)
    model = short(schedule="anneal", time_limit=0.4, n_chains=1, n_draws=10**6).fit(X)
    seconds = model.trace_["seconds"]
    assert seconds[-2] < 0.4 <= seconds[-1]
    assert seconds[model.trace_["progress"] < 1].max() == pytest.approx(0.32, abs=0.02)
    assert model.posterior_labels_.shape[1] > 1
    # Draws that are enough end a chain before its time.
    assert model.set_params(n_draws=3).fit(X).posterior_labels_.shape[1] == 3
    # What time has cut goes on.
    model.set_params(time_limit=1e-6, n_draws=5).fit(X)
    first = model.posterior_column_labels_
    model.set_params(time_limit=None, warm_start=True).fit(X)
    assert model.posterior_labels_.shape == (1, 5, 300)
    np.testing.assert_array_equal(model.posterior_column_labels_[:, :1], first)


@pytest.mark.parametrize("schedule", [SubsampleAnneal(12), TemperedAccelerating(40, n_small=200)])
def test_columns_rest_where_their_pacing_says(schedule):
    """Columns that rest above so many rows move before, and again when all rows are in."""
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = short(
        column_pacing=ColumnPacing(rest_above=100),
        column_partition=PitmanYor(3.0),
        schedule=schedule,
        n_draws=20,
    ).fit(X)
    n_assigned, of_schedule = model.trace_["n_assigned"], model.trace_["progress"] < 1
    moved = {
        name: model.trace_["n_columns_moved"][where].sum()
        for name, where in (
            ("small", n_assigned <= 100),
            ("rest", (n_assigned > 100) & (n_assigned < 200)),
            ("full", ~of_schedule),
            ("full, of the schedule", (n_assigned == 200) & of_schedule),
        )
    }
    assert moved["small"] > 0
    assert moved["rest"] == 0
    assert moved["full"] > 0
    assert moved["full, of the schedule"] > 0 or isinstance(schedule, SubsampleAnneal)


def test_columns_stay_until_a_share_of_the_rows_is_assigned():
    X = np.random.default_rng(0).normal(size=(200, 4))
    pacing = ColumnPacing(from_share=0.5)
    model = short(column_pacing=pacing, column_partition=PitmanYor(3.0), schedule=SubsampleAnneal(12), n_draws=20)
    trace = model.fit(X).trace_
    assert trace["n_columns_moved"][trace["n_assigned"] < 100].sum() == 0
    assert trace["n_columns_moved"][trace["n_assigned"] >= 100].sum() > 0


def test_full_covariance_is_for_tables_of_moderate_size():
    X = np.random.default_rng(0).normal(size=(12, 130))
    options = {"schedule": SubsampleAnneal(passes=2), "n_chains": 1, "n_draws": 1, "random_state": 0}
    wide, moderate = CrossCat(**options).fit(X), CrossCat(**options).fit(X[:, :4])
    assert (wide.covariance_type_, moderate.covariance_type_) == ("diag", "full")
    assert CrossCat(covariance_type="diag", **options).fit(X[:, :4]).covariance_type_ == "diag"


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, TemperedAccelerating()),
        ({"covariance_type": "diag"}, Accelerating()),
        ({"feature_types": ["categorical"] * 3}, Accelerating()),
        ({"feature_types": ["categorical"] * 3, "n_values": 16}, TemperedAccelerating()),
        ({"feature_types": ["ordinal"] * 3, "n_values": 16}, TemperedAccelerating()),
        ({"feature_types": ["ordinal"] * 3, "n_values": 15}, Accelerating()),
        ({"feature_types": ["count"] * 3, "n_values": 16}, Accelerating()),
        ({"schedule": "sequential"}, SequentialGibbs()),
        ({"schedule": SubsampleAnneal(passes=2)}, SubsampleAnneal(passes=2)),
    ],
)
def test_the_schedule_suits_the_columns(parameters, expected):
    """Low powers join columns that depend on one another by correlations, or by clusters that few rows do not show."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    n_values = parameters.get("n_values", 3)
    parameters = {name: value for name, value in parameters.items() if name != "n_values"}
    if "feature_types" in parameters:
        X = np.arange(120.0).reshape(40, 3) // 3 % n_values
    model = CrossCat(n_chains=1, n_draws=1, random_state=0, **parameters).fit(X)
    assert repr(model.schedule_) == repr(expected)
    # The best start of a tempered chain may be one with power 1.
    power = model.trace_["inverse_temperature"]
    assert power[-1] == 1.0 and (isinstance(expected, TemperedAccelerating) or power.min() == 1.0)


@pytest.mark.parametrize(
    ("options", "n_rows", "expected"),
    [
        ({}, 60, ["several", "one", "none", "none"]),
        ({"feature_types": ["real", "real", "categorical", "categorical"]}, 60, ["several", "one", "none", "none"]),
        ({"feature_types": ["real", "categorical", "categorical", "categorical"]}, 60, ["several"] * 4),
        (
            {"feature_types": ["real", "categorical", "categorical", "categorical"], "time_limit": 0.001},
            60,
            ["one"] * 4,
        ),
        ({"feature_types": ["categorical"] * 4}, 60, ["one", "one", "none", "none"]),
        ({"feature_types": ["categorical"] * 4}, 3000, ["one"] * 4),
        ({"feature_types": ["categorical"] * 4, "time_limit": 0.004}, 60, ["one"] * 4),
        ({"schedule": TemperedAccelerating()}, 60, ["several"] * 4),
        ({"column_start": "separate"}, 60, ["several"] * 4),
    ],
    ids=[
        "reals",
        "half",
        "few reals",
        "in haste",
        "none",
        "many rows",
        "no time",
        "a schedule is given",
        "a start is given",
    ],
)
def test_chains_have_several_annealings_or_one_or_none(options, n_rows, expected, monkeypatch):
    if "time_limit" in options:
        tick_at_each_look(monkeypatch, 1e-5)
    X = np.random.default_rng(0).normal(size=(n_rows, 4)).round(1)
    if options.get("feature_types") == ["categorical"] * 4:
        X = X > 0.0
    model = CrossCat(n_chains=4, n_draws=1, max_sweeps=0, random_state=0, **options).fit(X)
    trace = model.trace_
    # The schedule that the fit names is that of its first chain.
    assert isinstance(model.schedule_, TemperedAccelerating) == (expected[0] == "several")
    for number, ways in enumerate(expected):
        own = trace[trace["chain"] == number]
        # A single annealing grows all the way; each of several has a small part of the work, and sweeps follow.
        grows = (own["n_assigned"] < n_rows).mean()
        found = "none" if grows == 0.0 else "one" if grows > 0.5 else "several"
        assert found == ways, (number, grows)
        assert ways == "several" or (own["inverse_temperature"] == 1.0).all()


def test_chains_without_annealing_start_in_two_ways():
    """The third and the fourth are those of fits with the two schedules, which take as many passes as the first one."""
    X = np.random.default_rng(0).normal(size=(60, 4)).round(1)
    settings = {"n_chains": 4, "n_draws": 1, "random_state": 0}
    model = CrossCat(**settings).fit(X)
    own = model.trace_[model.trace_["chain"] == 0]
    assert own["inverse_temperature"][0] < 1.0
    for number, schedule in ((2, PriorGibbs), (3, SequentialGibbs)):
        other = CrossCat(schedule=schedule(60.0), max_sweeps=300, **settings).fit(X)
        start = [m.trace_["log_joint"][m.trace_["chain"] == number][:20] for m in (model, other)]
        np.testing.assert_array_equal(*start)


@pytest.mark.parametrize(("n_reals", "are_complete"), [(64, [False, False, True, True]), (65, [False] * 4)])
def test_all_chains_of_wide_blocks_anneal(n_reals, are_complete):
    X = np.random.default_rng(0).normal(size=(30, n_reals))
    model = CrossCat(n_chains=4, n_draws=1, effort=0.1, max_sweeps=1, random_state=0).fit(X)
    assert model.covariance_type_ == "full"
    first = [model.trace_[model.trace_["chain"] == number]["n_assigned"][0] for number in range(4)]
    assert [n == 30 for n in first] == are_complete


@pytest.mark.parametrize(
    ("n_rows", "n_reals", "options", "share"),
    [
        (900, 1, {}, 0.3),
        (1001, 1, {}, 0.2),
        (900, 2, {}, 0.2),
        (900, 1, {"time_limit": 60.0}, 0.2),
    ],
)
def test_short_annealings_are_longer_in_small_tables_of_few_reals(n_rows, n_reals, options, share):
    model = CrossCat(feature_types=["real"] * n_reals + ["categorical"] * (4 - n_reals), **options)
    models = [SimpleNamespace(joint=j < n_reals, n_values=2) for j in range(4)]
    schedule = resolve_schedule(model._chosen_schedule(models, n_rows))
    assert isinstance(schedule, TemperedAccelerating)
    assert schedule.start_share == share


def test_effort_stretches_every_chain():
    X = np.random.default_rng(0).normal(size=(60, 3))
    sweeps = [
        CrossCat(n_chains=2, n_draws=1, max_sweeps=0, effort=effort, random_state=0).fit(X).n_sweeps_
        for effort in (1.0, 4.0)
    ]
    assert (sweeps[1] > 2 * sweeps[0]).all()


def test_columns_of_a_view_share_kappa_and_nu():
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=r"nu = \[3.0, 5.0\] to real columns.*covariance_type='diag'"):
        CrossCat(feature_params={"x0": {"nu": 3.0}}).fit(X)
