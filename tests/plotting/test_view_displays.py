"""Displays of views and of dependence: contents, axes, options and errors."""

import itertools
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgba  # noqa: E402

COLUMNS = {
    "a": np.array([0.0, 10.0, 0.5, 9.5, np.nan, 10.5]),
    "b": np.array([0, 1, 2, 0, -1, 1], np.int8),
    "c": np.array([1, 0, 1, 0, 1, -1], np.int8),
    "d": np.array([3, 3, 3, 3, 3, -1], np.int32),
}
KINDS = ["real", "categorical", "boolean", "count"]
VIEWS = np.array([1, 0, 1, 1])
ROWS = np.array([[0, 2], [0, 1], [1, 2], [0, 1], [1, 0], [0, 1]])


@pytest.fixture(autouse=True)
def without_windows():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 120))
    return pd.DataFrame(
        {
            "p": 9.0 * one + rng.normal(size=120),
            "q": 9.0 * other + rng.normal(size=120),
            "r": 5.0 - 9.0 * one + rng.normal(size=120),
            "s": np.array(["low", "middle", "high"])[other],
            "t": np.where(rng.random(120) < 0.1, np.nan, 9.0 * one + rng.normal(size=120)),
        }
    )


@pytest.fixture(scope="module")
def fitted(table):
    return CrossCat(n_chains=2, n_draws=3, random_state=0).fit(table)


def views(**kwargs):
    return ViewsDisplay.from_arrays(list(COLUMNS.values()), KINDS, list(COLUMNS), VIEWS, ROWS, **kwargs)


def displays(fitted, table, ax):
    return [
        ViewsDisplay.from_estimator(fitted, table, ax=ax),
        views(ax=ax),
        DependenceDisplay.from_estimator(fitted, ax=ax),
        DependenceDisplay.from_matrix(np.eye(2), ["a", "b"], ax=ax),
    ]


def test_displays_draw_on_the_given_axes(fitted, table):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    for display in displays(fitted, table, ax):
        assert display.ax_ is ax and display.figure_ is ax.figure
        assert display.plot(ax) is display
    for display in displays(fitted, table, None):
        assert display.ax_ is not ax and display.figure_ is display.ax_.figure
        display.figure_.draw_without_rendering()


def test_displays_say_what_they_need(fitted, table, monkeypatch):
    made = displays(fitted, table, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one in made:
        with pytest.raises(ImportError, match=f"{type(one).__name__}.plot requires matplotlib"):
            one.plot()


def test_views_display_puts_rows_and_columns_in_order():
    display = views()
    assert display.column_order_.tolist() == [1, 0, 2, 3]
    # Largest cluster first, the order of the table within it.
    assert [order.tolist() for order in display.row_orders_] == [[0, 1, 3, 5, 2, 4], [1, 3, 5, 0, 2, 4]]
    boundaries = [[segment[0, 1] for segment in lines.get_segments()] for lines in display.lines_]
    assert boundaries == [[3.5], [2.5, 4.5]]
    spans = [lines.get_segments()[0][:, 0].tolist() for lines in display.lines_]
    assert spans == [[-0.5, 0.5], [1.5, 4.5]]
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["b", "a", "c", "d"]
    assert display.ax_.get_xticks().tolist() == [0, 2, 3, 4]
    assert [text.get_text() for text in display.ax_.texts] == ["view 0", "view 1"]
    assert views(boundaries=False).lines_ == []


def test_views_display_colours():
    display = views(cmap="coolwarm")
    cells = display.image_.get_array()
    assert cells.shape == (6, 5, 4)
    assert (cells[:, 1, 3] == 0).all() and (cells[:, [0, 2, 3, 4], 3] == 1).all()  # empty space between the views
    grey = to_rgba("#B0B0B0")
    shown = {j: cells[:, place] for j, place in zip(display.column_order_, [0, 2, 3, 4], strict=True)}
    for j, array in enumerate(COLUMNS.values()):
        ordered = array[display.row_orders_[VIEWS[j]]]
        gaps = np.isnan(ordered) if array.dtype.kind == "f" else ordered < 0
        assert gaps.any() and (shown[j][gaps] == grey).all()
        assert (shown[j][~gaps] != grey).any(axis=1).all()
        colors = {tuple(color) for color in shown[j][~gaps]}
        assert len(colors) == len(np.unique(ordered[~gaps]))
    palette = matplotlib.colormaps["coolwarm"]
    z = (COLUMNS["a"] - np.nanmean(COLUMNS["a"])) / np.nanstd(COLUMNS["a"])
    expected = palette(0.5 + z[display.row_orders_[1]] / 5.0)
    np.testing.assert_allclose(shown[0][:5], expected[:5])
    np.testing.assert_allclose(shown[3][0], palette(0.5))  # a constant column is in the middle


def test_cyclic_columns_are_coloured_by_where_in_the_period_they_are():
    hours = np.array([23.5, 0.5, -0.5, 12.0, 36.0, np.nan] * 20)
    X = pd.DataFrame({"hour": hours, "size": np.tile([-4.0, -4.1, -3.9, 4.0, 4.1, 3.9], 20)})
    params = {"feature_types": {"hour": "cyclic"}, "feature_params": {"hour": {"period": 24.0}}}
    model = CrossCat(n_chains=1, n_draws=2, random_state=0, **params).fit(X)
    display = ViewsDisplay.from_estimator(model, X)
    # By the share of a day; 12.0 and 36.0 are one colour, and so are 23.5 and -0.5.
    order = display.row_orders_[model.column_labels_[0]]
    place = display.ax_.get_xticks()[display.column_order_.tolist().index(0)]
    seen = display.image_.get_array()[np.argsort(order), place]
    np.testing.assert_allclose(seen[5], to_rgba("#B0B0B0"))
    np.testing.assert_allclose(seen[:5], matplotlib.colormaps["twilight"](hours[:5] % 24.0 / 24.0))
    assert np.abs(seen[0] - seen[1]).max() < 0.1 < np.abs(seen[0] - seen[3]).max()
    # One bar for numbers, one for shares of a period.
    labels = [axes.get_ylabel() for axes in display.figure_.axes[1:]]
    assert [label.split(":")[0] for label in labels] == ["numbers", "cyclic columns"]
    arrays = dict(names=["hour"], column_labels=[0], row_labels=np.zeros((120, 1), int))
    assert len(ViewsDisplay.from_arrays([hours], ["cyclic"], **arrays).figure_.axes) == 2
    assert len(ViewsDisplay.from_arrays([hours], ["cyclic"], colorbar=False, **arrays).figure_.axes) == 1


@pytest.mark.parametrize("kind", ["skewed", "semicontinuous"])
def test_amounts_have_a_colorbar(kind):
    rows = np.zeros((6, 1), int)
    display = ViewsDisplay.from_arrays([np.arange(6.0)], [kind], ["amount"], np.zeros(1, int), rows)
    assert len(display.figure_.axes) == 2


def test_colorbar_only_for_numbers():
    import matplotlib.pyplot as plt

    def n_axes(**kwargs):
        display = ViewsDisplay.from_arrays(**kwargs)
        return len(display.figure_.axes)

    arrays = list(COLUMNS.values())
    assert n_axes(arrays=arrays, kinds=KINDS, names="abcd", column_labels=VIEWS, row_labels=ROWS) == 2
    assert n_axes(arrays=arrays, kinds=KINDS, names="abcd", column_labels=VIEWS, row_labels=ROWS, colorbar=False) == 1
    assert n_axes(arrays=arrays[1:3], kinds=KINDS[1:3], names="bc", column_labels=[0, 1], row_labels=ROWS) == 1
    plt.close("all")


def test_displays_read_public_attributes_only(table):
    """A fitted estimator is replaced by an object that has nothing but its public attributes and methods."""
    model = CrossCat(n_chains=1, n_draws=1, random_state=0).fit(table)

    class Public:
        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(model, name)

    public = Public()
    assert ViewsDisplay.from_estimator(public, table).names == list("pqrst")
    assert DependenceDisplay.from_estimator(public).names == list("pqrst")


def test_views_display_of_an_estimator(fitted, table):
    display = ViewsDisplay.from_estimator(fitted, table)
    np.testing.assert_array_equal(display.row_labels, fitted.view_labels_)
    np.testing.assert_array_equal(display.column_labels, fitted.column_labels_)
    assert display.names == list("pqrst")
    for view, order in enumerate(display.row_orders_):
        assert (np.diff(display.row_labels[order, view]) != 0).sum() == display.row_labels[:, view].max()


@pytest.mark.parametrize(
    "container", [lambda frame: frame, lambda frame: pl.DataFrame(frame.to_dict("list"), nan_to_null=True)]
)
def test_views_display_thins_rows_evenly(fitted, table, container):
    display = ViewsDisplay.from_estimator(fitted, container(table), max_rows=40)
    np.testing.assert_array_equal(display.row_labels, fitted.view_labels_[::3])
    np.testing.assert_array_equal(display.arrays[0], table["p"][::3])


def test_names_that_do_not_fit_are_left_out():
    n = 200
    arrays = [np.arange(3.0)] * n
    display = ViewsDisplay.from_arrays(arrays, ["real"] * n, ["name"] * n, np.arange(n) % 3, np.zeros((3, 3), int))
    assert len(display.ax_.get_xticks()) == 0
    assert len(display.ax_.texts) == 3
    many = ViewsDisplay.from_arrays(arrays, ["real"] * n, ["name"] * n, np.arange(n), np.zeros((3, n), int))
    assert len(many.ax_.texts) == 0
    matrix = DependenceDisplay.from_matrix(np.eye(n), ["name"] * n, np.arange(n) % 3)
    assert len(matrix.ax_.get_xticks()) == len(matrix.ax_.get_yticks()) == 0
    few = DependenceDisplay.from_matrix(np.eye(40), ["name"] * 40)
    assert len(few.ax_.get_xticks()) == len(few.ax_.get_yticks()) == 40
    few.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in few.ax_.get_yticklabels()]
    assert all(high.y0 >= low.y1 - 1.5 for high, low in itertools.pairwise(boxes))


def test_dependence_display(fitted):
    display = DependenceDisplay.from_estimator(fitted)
    np.testing.assert_array_equal(display.matrix, fitted.dependence_)
    np.testing.assert_array_equal(display.image_.get_array(), display.matrix[np.ix_(display.order_, display.order_)])
    ordered = fitted.column_labels_[display.order_]
    assert (np.diff(ordered) != 0).sum() == fitted.n_views_ - 1
    frames = [(frame.get_x(), frame.get_width()) for frame in display.ax_.patches]
    starts = np.flatnonzero(np.r_[True, np.diff(ordered) != 0])
    assert frames == [(s - 0.5, w) for s, w in zip(starts, np.diff(np.r_[starts, 5]), strict=True)]
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names == ["pqrst"[j] for j in display.order_]
    assert not DependenceDisplay.from_estimator(fitted, boundaries=False).ax_.patches


def test_dependence_display_by_hierarchical_clustering():
    group = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    matrix = np.where(group[:, None] == group, 0.9, 0.1)
    np.fill_diagonal(matrix, 1.0)
    display = DependenceDisplay.from_matrix(matrix, "abcdefgh")
    assert (np.diff(group[display.order_]) != 0).sum() == 2
    assert not display.ax_.patches
    assert DependenceDisplay.from_matrix(np.ones((1, 1)), ["a"]).order_.tolist() == [0]


def test_dependence_display_orders(fitted):
    display = DependenceDisplay.from_estimator(fitted, order="hierarchical")
    assert display.labels is None and sorted(display.order_) == list(range(5))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda f, X: ViewsDisplay.from_estimator(CrossCat(), X), "must have column_labels_.*fit it first"),
        (lambda f, X: ViewsDisplay.from_estimator(SubsampleAnnealedDPMM(), X), "use CrossCat"),
        (lambda f, X: DependenceDisplay.from_estimator(CrossCat()), "must have dependence_.*fit it first"),
        (lambda f, X: DependenceDisplay.from_estimator(f, order="names"), "order must be .*got 'names'"),
        (lambda f, X: ViewsDisplay.from_estimator(f, X[["p", "q"]]), "feature names"),
        (
            lambda f, X: ViewsDisplay.from_arrays([np.zeros(3)], ["real"], ["a"], [0, 1], np.zeros((3, 2))),
            r"column_labels must have shape \(1,\)",
        ),
        (
            lambda f, X: ViewsDisplay.from_arrays([np.zeros(3)], ["real"], ["a"], [0], np.zeros((3, 2))),
            r"row_labels must have shape \(3, 1\)",
        ),
        (lambda f, X: DependenceDisplay.from_matrix(np.eye(3), "ab"), r"matrix must have shape \(2, 2\)"),
        (lambda f, X: DependenceDisplay.from_matrix(np.eye(2), "ab", [0]), r"labels must have shape \(2,\)"),
    ],
)
def test_errors_name_the_parameter(call, message, fitted, table):
    with pytest.raises(ValueError, match=message):
        call(fitted, table)
