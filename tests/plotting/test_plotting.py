"""Displays of traces, clusters and schedules: contents, axes, options and errors."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_subanneal.annealing import schedules
from sklearn_subanneal.plotting import (
    ClusterSizesDisplay,
    CoClusteringDisplay,
    DendrogramDisplay,
    ScheduleDisplay,
    TraceDisplay,
)
from sklearn_subanneal.posterior import co_clustering

matplotlib = pytest.importorskip("matplotlib")
N_CHAINS, N_SWEEPS = 3, 20


@pytest.fixture(autouse=True)
def without_windows():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def trace(rng):
    fields = [("chain", "i4"), ("sweep", "i4"), ("seconds", "f8"), ("progress", "f8"), ("log_joint", "f8")]
    trace = np.zeros(N_CHAINS * N_SWEEPS, dtype=[*fields, ("n_clusters", "i4")])
    trace["chain"], trace["sweep"] = np.divmod(np.arange(len(trace)), N_SWEEPS)
    trace["seconds"] = 0.1 * trace["sweep"]
    trace["progress"] = np.minimum(trace["sweep"] / 10, 1)
    trace["log_joint"] = rng.normal(size=len(trace))
    trace["n_clusters"] = rng.integers(9, size=len(trace))
    return trace


@pytest.fixture
def fitted(rng, trace):
    truth = np.repeat([0, 1, 2], [20, 12, 8])
    draws = np.where(rng.random((2, 9, 40)) < 0.1, rng.integers(3, size=(2, 9, 40)), truth)
    return SimpleNamespace(trace_=trace, labels_=truth, posterior_labels_=draws)


class Anneal:
    def subsample_size(self, progress, n_rows):
        return np.rint(n_rows * progress).astype(int)

    def inverse_temperature(self, progress, n_rows):
        return 0.5 + 0.5 * progress


class Cold(Anneal):
    def inverse_temperature(self, progress, n_rows):
        return np.ones_like(progress)


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []


def displays(fitted, ax):
    """One display of every kind, on the axes given."""
    return [
        TraceDisplay.from_estimator(fitted, ax=ax),
        TraceDisplay.from_draws(np.zeros((2, 5)), "zero", ax=ax),
        ClusterSizesDisplay.from_estimator(fitted, ax=ax),
        CoClusteringDisplay.from_estimator(fitted, ax=ax),
        ScheduleDisplay.from_schedule(Anneal(), 100, ax=ax),
    ]


def test_all_displays_draw_on_the_given_axes(fitted):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    for display in displays(fitted, ax):
        assert display.ax_ is ax and display.figure_ is ax.figure
        assert display.plot(ax) is display
    for display in displays(fitted, None):
        assert display.ax_ is not ax and display.figure_ is display.ax_.figure
        display.figure_.draw_without_rendering()


def test_displays_say_what_they_need(fitted, monkeypatch):
    display = displays(fitted, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one in display:
        with pytest.raises(ImportError, match=f"{type(one).__name__}.plot requires matplotlib"):
            one.plot()


@pytest.mark.parametrize("against", ["sweep", "seconds"])
@pytest.mark.parametrize("field", ["log_joint", "n_clusters"])
def test_trace_display(fitted, trace, field, against):
    display = TraceDisplay.from_estimator(fitted, field, against, linewidth=3.0)
    assert len(display.lines_) == N_CHAINS
    for chain, line in enumerate(display.lines_):
        records = trace[trace["chain"] == chain]
        np.testing.assert_array_equal(line.get_xdata(), records[against])
        np.testing.assert_array_equal(line.get_ydata(), records[field])
        assert line.get_linewidth() == 3.0
    assert display.annealed == trace[trace["progress"] < 1][against].max()
    assert texts(display.ax_) == ["annealing", "chain 0", "chain 1", "chain 2"]
    assert display.ax_.get_xlabel() == against


def test_legends_have_the_numbers_of_the_chains(trace):
    display = TraceDisplay.from_trace(trace[trace["chain"] >= 1])
    assert [line.get_label() for line in display.lines_] == ["chain 1", "chain 2"]


def test_trace_display_leaves_out_what_was_not_scored(trace):
    trace["log_joint"][::2] = np.nan
    display = TraceDisplay.from_trace(trace)
    for line in display.lines_:
        assert len(line.get_xdata()) == N_SWEEPS // 2 and np.isfinite(line.get_ydata()).all()


def test_trace_display_of_draws(rng):
    draws = rng.normal(size=(20, 7))
    display = TraceDisplay.from_draws(draws, "age.mu")
    np.testing.assert_array_equal([line.get_ydata() for line in display.lines_], draws)
    assert display.ax_.get_ylabel() == "age.mu"
    assert texts(display.ax_) == []  # too many to tell apart


def test_cluster_sizes_display(fitted):
    display = ClusterSizesDisplay.from_estimator(fitted)
    assert [bar.get_height() for bar in display.bars_] == [20, 12, 8]
    ranked = np.sort([np.bincount(draw, minlength=3) for draw in fitted.posterior_labels_.reshape(-1, 40)], axis=1)
    np.testing.assert_allclose(display.quantiles, np.quantile(ranked[:, ::-1], [0.05, 0.5, 0.95], axis=0))
    np.testing.assert_allclose(display.errors_.lines[0].get_ydata(), display.quantiles[1])


def test_cluster_sizes_count_chains_by_their_weights(fitted):
    """A chain of no weight, which has each row alone, says nothing of the sizes."""
    fitted.posterior_labels_[1] = np.arange(40)
    fitted.chain_weights_ = np.array([1.0, 0.0])
    alone = ClusterSizesDisplay.from_labels(fitted.labels_, fitted.posterior_labels_[:1])
    np.testing.assert_allclose(ClusterSizesDisplay.from_estimator(fitted).quantiles, alone.quantiles)
    fitted.chain_weights_ = np.array([0.9, 0.1])
    low, middle, high = ClusterSizesDisplay.from_estimator(fitted).quantiles[:, 0]
    assert low < 5.0 and alone.quantiles[0, 0] <= middle <= high <= alone.quantiles[2, 0] + 1.0
    # Weights that are equal are none.
    draws, labels = fitted.posterior_labels_, fitted.labels_
    equal = ClusterSizesDisplay.from_labels(labels, draws, chain_weights=[0.5, 0.5]).quantiles
    np.testing.assert_allclose(equal, ClusterSizesDisplay.from_labels(labels, draws).quantiles)
    for weights in ([1.0], [0.0, 0.0], [-1.0, 2.0]):
        with pytest.raises(ValueError, match="chain_weights must be 2 numbers of at least 0"):
            ClusterSizesDisplay.from_labels(labels, draws, chain_weights=weights)


def test_cluster_sizes_display_of_a_partition_alone():
    display = ClusterSizesDisplay(np.arange(60, 0, -1)).plot(max_clusters=10)
    assert len(display.bars_) == 10 and display.errors_ is None
    assert "50 smaller ones not shown" in display.ax_.get_xlabel()


def test_co_clustering_display(fitted):
    display = CoClusteringDisplay.from_estimator(fitted)
    matrix = co_clustering(fitted.posterior_labels_)
    np.testing.assert_array_equal(display.matrix, matrix)
    np.testing.assert_array_equal(display.image_.get_array(), matrix[np.ix_(display.order_, display.order_)])
    ordered = fitted.labels_[display.order_]
    assert (np.diff(ordered) != 0).sum() == 2  # every cluster in one stretch
    frames = [line.get_xdata() for line in display.ax_.lines]
    sizes = np.bincount(fitted.labels_)[ordered[np.r_[True, np.diff(ordered) != 0]]]
    assert [frame[1] - frame[0] for frame in frames] == sizes.tolist()


def test_co_clustering_display_puts_similar_clusters_side_by_side(rng):
    labels = np.repeat([0, 1, 2, 3], 10)
    draws = np.tile(labels, (1, 10, 1))
    draws[:, ::2] = np.array([0, 1, 0, 1])[labels]  # in half of the draws 0 joins 2, and 1 joins 3
    order = CoClusteringDisplay.from_labels(draws, labels).order_
    assert labels[order][::10].tolist() in ([0, 2, 1, 3], [0, 2, 3, 1], [2, 0, 1, 3], [2, 0, 3, 1])


def test_co_clustering_display_takes_some_rows(rng):
    draws = rng.integers(3, size=(1, 4, 500))
    thinned = CoClusteringDisplay.from_labels(draws, max_rows=50)
    np.testing.assert_array_equal(thinned.matrix, co_clustering(draws, rows=np.arange(0, 500, 10)))
    rows = rng.random(500) < 0.1
    np.testing.assert_array_equal(CoClusteringDisplay.from_labels(draws, rows=rows).matrix, co_clustering(draws, rows))


def test_schedule_display():
    display = ScheduleDisplay.from_schedule(Anneal(), 200, n_points=11)
    np.testing.assert_array_equal(display.line_.get_ydata(), np.arange(0, 201, 20))
    np.testing.assert_allclose(display.temperature_line_.get_ydata(), np.linspace(0.5, 1, 11))
    assert texts(display.ax_) == ["Anneal"]
    other = ScheduleDisplay.from_schedule(Cold(), 200, ax=display.ax_, name="cold")
    assert other.temperature_line_ is None
    assert texts(other.ax_) == ["Anneal", "cold"]
    assert other.line_.get_color() != display.line_.get_color()


@pytest.mark.parametrize("name", schedules.NAMED)
def test_schedule_display_of_every_schedule(name):
    schedule = schedules.NAMED[name]()
    display = ScheduleDisplay.from_schedule(schedule, 250)
    progress, legs = np.linspace(0.0, 1.0, 501), [*schedule.starts(250), schedule]
    np.testing.assert_array_equal(
        display.line_.get_ydata(), np.concatenate([leg.subsample_size(progress, 250) for leg in legs])
    )
    assert display.line_.get_ydata()[-1] == 250 and texts(display.ax_) == [type(schedule).__name__]
    assert (display.temperature_line_ is None) == all(leg.inverse_temperature(0.0, 40) == 1.0 for leg in legs)
    # Every start takes as much of the axis as of the work.
    ends = display.line_.get_xdata()[500::501]
    work = np.array([leg.n_assignments(250) for leg in legs[:-1]]) / schedule.n_assignments(250)
    np.testing.assert_allclose(ends, [*np.cumsum(work), 1.0])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda trace: TraceDisplay.from_trace(trace, "energy"), r"field must be one of .*got 'energy'"),
        (lambda trace: TraceDisplay.from_trace(trace, against="time"), r"against must be one of .*got 'time'"),
        (lambda trace: TraceDisplay.from_draws(np.zeros(5), "zero"), r"pass one chain as draws\[None\]"),
        (lambda trace: TraceDisplay.from_estimator(SimpleNamespace()), "must have trace_.*fit it first"),
        (lambda trace: ClusterSizesDisplay.from_estimator(SimpleNamespace()), "must have labels_.*fit it first"),
        (lambda trace: DendrogramDisplay.from_estimator(SimpleNamespace()), "hierarchy_.*incremental-hierarchy"),
        (lambda trace: CoClusteringDisplay.from_estimator(SimpleNamespace()), "posterior_labels_.*fit it first"),
        (lambda trace: CoClusteringDisplay.from_labels(np.zeros((1, 2, 5)), np.zeros(4)), r"shape \(5,\)"),
        (lambda trace: ScheduleDisplay.from_schedule(Anneal(), 0), "n_samples must be at least 1"),
    ],
)
def test_errors_name_the_parameter(call, message, trace):
    with pytest.raises(ValueError, match=message):
        call(trace)
