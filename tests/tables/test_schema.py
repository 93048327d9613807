"""Tables: what becomes of arrays and DataFrames on the way to typed columns and back."""

import datetime
import decimal
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from support.checks import parametrize_with_checks

from sklearn_subanneal.columns import choose_type
from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.tables.schema import read_table

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


class Reader(BaseEstimator):
    """The least estimator that reads tables: as complete a stand-in as scikit-learn's checks want."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y=None):
        self.table_, _ = read_table(self, X, types=TYPES)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return np.nan_to_num(self.table_.encode(self, X)[0])


@parametrize_with_checks([Reader()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def read(X, feature_types="from_dtype"):
    return read_table(Reader(), X, feature_types, types=TYPES)


def read_column(values, kind=None, dtype=None):
    X = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    table, (array,) = read(X, "from_dtype" if kind is None else {"a": kind})
    return table.columns[0], array


def fitted(X, feature_types="from_dtype"):
    estimator = Reader()
    table, arrays = read_table(estimator, X, feature_types, types=TYPES)
    return estimator, table, arrays


# --- what the dtype says -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values, dtype, kind, expected, typed",
    [
        ([1.5, np.nan], "float64", "real", [1.5, np.nan], "float64"),
        ([1.5, np.nan], "float32", "real", [1.5, np.nan], "float64"),
        ([3, -1], "int8", "real", [3, -1], "float64"),
        ([3, None], "Int64", "real", [3, np.nan], "float64"),
        ([3, None], "UInt8", "real", [3, np.nan], "float64"),
        ([0.5, None], "Float32", "real", [0.5, np.nan], "float64"),
        ([0.5, 0.0], pd.SparseDtype("float64", 0.0), "real", [0.5, 0], "float64"),
        ([2, None, 0.5], "object", "real", [2, np.nan, 0.5], "float64"),
        ([decimal.Decimal("0.25"), pd.NA], "object", "real", [0.25, np.nan], "float64"),
        ([True, 2], "object", "real", [1, 2], "float64"),
        ([True, False], "bool", "boolean", [1, 0], "int8"),
        ([True, None], "boolean", "boolean", [1, -1], "int8"),
        ([True, None, False, np.nan, pd.NA], "object", "boolean", [1, -1, 0, -1, -1], "int8"),
        (["b", None, "a", "b"], "object", "categorical", [1, -1, 0, 1], "int8"),
        (["b", np.nan, "a"], "str", "categorical", [1, -1, 0], "int8"),
        (["b", pd.NA, "a"], "string", "categorical", [1, -1, 0], "int8"),
        (["b", None, "a"], pd.CategoricalDtype(["z", "b", "a"]), "categorical", [1, -1, 0], "int8"),
        ([7, None, 5], pd.CategoricalDtype([7, 6, 5]), "categorical", [2, -1, 0], "int8"),
    ],
)
def test_pandas_columns(values, dtype, kind, expected, typed):
    column, array = read_column(values, dtype=dtype)
    assert column.kind == kind
    assert array.dtype == typed
    np.testing.assert_array_equal(array, expected)
    if kind == "categorical":
        declared = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else values
        assert column.categories.tolist() == sorted({value for value in declared if not pd.isna(value)})
    if kind == "boolean":
        assert column.categories.tolist() == [False, True]


@pytest.mark.parametrize(
    "series, kind, expected",
    [
        (pl.Series("a", [1.5, None, float("nan")]), "real", [1.5, np.nan, np.nan]),
        (pl.Series("a", [1, None, 3], dtype=pl.UInt8), "real", [1, np.nan, 3]),
        (pl.Series("a", [decimal.Decimal("1.5"), None]), "real", [1.5, np.nan]),
        (pl.Series("a", [True, None, False]), "boolean", [1, -1, 0]),
        (pl.Series("a", ["b", None, "a", "b"]), "categorical", [1, -1, 0, 1]),
        (pl.Series("a", ["b", None, "a"], dtype=pl.Categorical), "categorical", [1, -1, 0]),
        (pl.Series("a", ["b", None, "a"], dtype=pl.Enum(["z", "b", "a"])), "categorical", [1, -1, 0]),
        (pl.Series("a", ["b", None, "a"], dtype=pl.Object), "categorical", [1, -1, 0]),
    ],
)
def test_polars_columns(series, kind, expected):
    table, (array,) = read(series.to_frame())
    assert table.kinds == [kind]
    assert table.container == "polars"
    np.testing.assert_array_equal(array, expected)
    if kind == "categorical":
        assert table.columns[0].categories.tolist() == ["a", "b", "z"][: 2 + (series.dtype == pl.Enum)]


def test_arrays_are_real_unless_boolean():
    assert read(np.ones((3, 2)))[0].kinds == ["real", "real"]
    assert read(np.ones((3, 2), dtype=np.int8))[0].kinds == ["real", "real"]
    assert read(np.ones((3, 2), dtype=bool))[0].kinds == ["boolean", "boolean"]
    assert read([[1, None], [2, 3]])[0].kinds == ["real", "real"]
    assert read(np.array([[1, 2.5], [None, 3]], dtype=object))[0].kinds == ["real", "real"]


@pytest.mark.parametrize("n_categories, dtype", [(127, np.int8), (128, np.int16), (32767, np.int16), (32768, np.int32)])
def test_codes_are_of_the_smallest_type(n_categories, dtype):
    # That has a code for an unseen category, too.
    for X in (np.arange(n_categories)[:, np.newaxis], np.arange(n_categories)[:, np.newaxis] + 0.5):
        table, (codes,) = read(X, ["categorical"])
        assert codes.dtype == dtype
        np.testing.assert_array_equal(codes, np.arange(n_categories))
        np.testing.assert_array_equal(table.columns[0].categories, X.ravel())


@pytest.mark.parametrize(
    "values",
    [
        np.array([5, -128, 127, 5], dtype=np.int8),
        np.array([2**64 - 1, 3, 2**64 - 1], dtype=np.uint64),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=np.uint64),
        np.array([0, 2**45]),
        np.array([-(2**62), 2**62, 0]),
        np.array([0.5, np.nan, -1.0, 0.5]),
        np.array([True, False, True]),
        np.array([3.25, 1], dtype=np.float16),
    ],
)
def test_numbers_as_categories(values):
    table, (codes,) = read(values[:, np.newaxis], ["categorical"])
    present = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    assert table.columns[0].categories.tolist() == sorted(set(present.tolist()))
    assert (codes == -1).sum() == len(values) - len(present)
    np.testing.assert_array_equal(table.columns[0].categories[codes[codes >= 0]], present)


def test_the_filler_under_a_missing_integer_is_no_category():
    column, codes = read_column([7, None, 9], kind="categorical", dtype="Int64")
    assert column.categories.tolist() == [7, 9]
    np.testing.assert_array_equal(codes, [0, -1, 1])


def test_intervals_of_a_cut_are_categories_in_their_order():
    column, codes = read_column(pd.cut(pd.Series([15.0, 2, 12, np.nan]), [0, 10, 20, 30]))
    assert column.kind == "categorical"
    assert len(column.categories) == 3
    np.testing.assert_array_equal(codes, [1, 0, 1, -1])


# --- declared types ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "bool", "object", "Int16", "UInt16", "category"])
def test_declared_boolean_and_count(dtype):
    values = [1, 0, 1] if dtype != "bool" else [True, False, True]
    for kind, typed in (("boolean", np.int8), ("count", np.int32)):
        column, array = read_column(values, kind, dtype)
        assert column.kind == kind
        assert array.dtype == typed
        np.testing.assert_array_equal(array, [1, 0, 1])


@pytest.mark.parametrize("dtype", ["float64", "UInt8", "Int64", "object"])
def test_declared_with_missing(dtype):
    for kind in ("boolean", "count"):
        np.testing.assert_array_equal(read_column([1, None, 0], kind, dtype)[1], [1, -1, 0])


@pytest.mark.parametrize(
    "values, kind, match",
    [
        ([0.0, 2.0], "boolean", r"'a' must be boolean but holds 2\.0: .*declare it 'categorical'"),
        ([0, -1], "boolean", "'a' must be boolean but holds -1"),
        ([0.5, np.nan], "boolean", "'a' must be boolean but holds 0.5"),
        (["yes", "no"], "boolean", "'a' must be boolean but holds 'yes'.*declare it 'categorical'"),
        ([0, -3], "count", "'a' must be count but holds -3: .*declare it 'real'"),
        ([1.0, 2.5], "count", "'a' must be count but holds 2.5"),
        ([2**31], "count", f"'a' must be count but holds {2**31}"),
        (["1", "2"], "count", "'a' must be count but holds '1'"),
        (["x", "y"], "real", "'a' must be real but holds 'x'.*declare it 'categorical'"),
        ([1, "y"], "real", "'a' must be real but holds 'y'"),
        ([1, "y"], "categorical", "'a' mixes values of type int, str.*all to strings"),
        ([1, "y"], None, "'a' holds objects of type int, str: make them"),
        ([(1, 2), (3, 4)], None, r"'a' holds objects of type tuple.*declare the column categorical"),
        ([None, None], None, "'a' has no value.*drop it"),
        ([np.nan, np.nan], None, "'a' has no value"),
        ([np.nan, np.nan], "categorical", "'a' has no value"),
        (pd.Series([None, None], dtype="Int64"), "count", "'a' has no value"),
        (pd.Series([None, None], dtype="boolean"), None, "'a' has no value"),
        (pd.Series([None, None], dtype="str"), None, "'a' has no value"),
        (pd.to_datetime(["2020-01-01", None]), "real", r"'a' must be real but holds dates.*'datetime'"),
        (pd.to_datetime(["2020-01-01"]).tz_localize("UTC"), "count", r"'a' must be count but holds dates"),
        (pd.to_timedelta([1, 2]), "real", r"'a' has dtype timedelta64"),
        (pd.period_range("2020", periods=2, freq="Y"), None, r"'a' has dtype period"),
        ([datetime.time(1)], None, "'a' holds objects of type time"),
        ([1 + 2j], None, "Complex data not supported: column 'a'"),
        ([1.0, np.inf], None, "Input X contains infinity"),
        (pd.Series([1.0, -np.inf], dtype=object), None, "Input X contains infinity"),
        ([1.0, np.inf], "categorical", "Input X contains infinity"),
        ([1.0, np.inf], "count", "Input X contains infinity"),
    ],
)
def test_values_that_do_not_fit(values, kind, match):
    with pytest.raises(ValueError, match=match):
        read_column(values, kind)


def test_an_integer_just_small_enough_is_a_count():
    assert read_column([2**31 - 1], "count")[1][0] == 2**31 - 1


@pytest.mark.parametrize("kind", [None, "categorical"])
@pytest.mark.parametrize("value", [["b"], {"b": 1}, ("b", [])])
def test_unhashable_values(kind, value):
    with pytest.raises(TypeError, match=r"Column 'a' holds .* which is not hashable.*convert"):
        read_column(["a", value], kind, dtype=object)


@pytest.mark.parametrize(
    "values",
    [[datetime.timedelta(1)], [[1, 2]], [{"x": 1}], [b"bytes"], [datetime.time()]],
)
def test_polars_dtypes_that_do_not_fit(values):
    with pytest.raises(ValueError, match=r"Column 'a' has dtype .* convert it"):
        read(pl.DataFrame({"a": values}))


def test_polars_without_a_value():
    for series in (
        pl.Series("a", [None]),
        pl.Series("a", [None], dtype=pl.String),
        pl.Series("a", [None], dtype=pl.Int8),
    ):
        with pytest.raises(ValueError, match="Column 'a' has no value"):
            read(series.to_frame())


def test_constant_columns_and_single_categories_are_fine():
    table, arrays = read(pd.DataFrame({"a": [1.0, 1.0], "b": ["x", "x"], "c": [True, True]}))
    assert table.kinds == ["real", "categorical", "boolean"]
    np.testing.assert_array_equal(arrays, [[1, 1], [0, 0], [1, 1]])


def test_feature_types_by_sequence_name_and_index():
    X = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [0, 1]})
    assert read(X, ["categorical", "count", "boolean"])[0].kinds == ["categorical", "count", "boolean"]
    assert read(X, np.array(["real", "count", "real"]))[0].kinds == ["real", "count", "real"]
    assert read(X, {"b": "count", 2: "boolean"})[0].kinds == ["real", "count", "boolean"]
    assert read(X, {1: "count", "b": "categorical"})[0].kinds == ["real", "categorical", "real"]
    assert read(X.to_numpy(), {np.int64(0): "count", "x1": "categorical"})[0].kinds == ["count", "categorical", "real"]


@pytest.mark.parametrize(
    "feature_types, match",
    [
        ("real", "feature_types must be 'from_dtype', a sequence .* got 'real'"),
        (3, "feature_types must be 'from_dtype'"),
        (["real"], "feature_types has 1 types, but X has 2 features"),
        (["real", "text"], "unknown type 'text'. Types are 'real', 'categorical', 'boolean', 'count'"),
        (["real", None], "unknown type None"),
        ({"a": "text"}, "unknown type 'text'"),
        ({"c": "real"}, "unknown feature 'c'. Features are 'a', 'b', or the indices 0 to 1"),
        ({2: "real"}, "unknown feature 2"),
        ({-1: "real"}, "unknown feature -1"),
    ],
)
def test_feature_types_that_do_not_fit(feature_types, match):
    with pytest.raises(ValueError, match=match):
        read(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), feature_types)


# --- scikit-learn's words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_and_widths(frame):
    X = frame({"a": [1.0, 2], "b": ["x", "y"]})
    estimator, table, _ = fitted(X)
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == table.names == ["a", "b"]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        table.encode(estimator, X[["b", "a"]])
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        table.encode(estimator, frame({"a": [1.0], "c": ["x"]}))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        table.encode(estimator, X[["a"]])
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 2\)\) .* required by Reader"):
        table.encode(estimator, X[:0])
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        read(X[:0])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        table.encode(estimator, frame({"a": [np.inf], "b": ["x"]}))


def test_a_frame_without_columns():
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required"):
        read(pd.DataFrame(index=[0, 1]))


def test_an_array_after_a_frame():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "c": pd.Series([7, 8], dtype="category")})
    estimator, table, _ = fitted(X)
    for array in (X.to_numpy(dtype=object), X.to_numpy(dtype=object).tolist(), tuple(X.to_numpy(dtype=object))):
        with pytest.warns(UserWarning, match="X does not have valid feature names, but Reader was fitted"):
            arrays = table.encode(estimator, array)
        np.testing.assert_array_equal(np.array(arrays), [[1, 2], [0, 1], [0, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        arrays = table.encode(estimator, np.array([[1.0, 5, 8.0], [np.nan, np.nan, 9]]))
        np.testing.assert_array_equal(np.array(arrays), [[1, np.nan], [-1, -1], [1, -1]])
        with pytest.raises(ValueError, match="X has 1 features, but Reader is expecting 3"):
            table.encode(estimator, np.array([["x"]], dtype=object))
        with pytest.raises(ValueError, match="Column 'a' must be real but holds 'x'"):
            table.encode(estimator, np.array([["x", "x", 7]], dtype=object))
        with pytest.raises(ValueError, match="contains infinity"):
            table.encode(estimator, np.array([[np.inf, "x", 7]], dtype=object))


def test_a_frame_after_an_array():
    estimator, table, _ = fitted(np.array([[1.0, 2.0]]))
    with pytest.warns(UserWarning, match="X has feature names, but Reader was fitted without"):
        arrays = table.encode(estimator, pd.DataFrame({"a": [1.0], "b": [3]}))
    np.testing.assert_array_equal(np.array(arrays), [[1], [3]])


def test_labels_that_are_not_strings():
    X = pd.DataFrame({0: [1.0, 2.0], 1: ["u", "v"]})
    estimator, table, arrays = fitted(X)
    assert not hasattr(estimator, "feature_names_in_")
    assert table.names == ["x0", "x1"]
    pd.testing.assert_frame_equal(table.decode(arrays), X)
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        read(pd.DataFrame({0: [1.0], "a": [2.0]}))


@pytest.mark.parametrize(
    "X, error, match",
    [
        (scipy.sparse.csr_array(np.eye(2)), TypeError, "Sparse data was passed"),
        (np.ones(3), ValueError, "Expected 2D array, got 1D array instead"),
        ([], ValueError, "Expected 2D array"),
        (np.ones((0, 2)), ValueError, r"0 sample\(s\)"),
        (np.ones((2, 2, 2)), ValueError, "dim 3"),
        (np.ones((2, 2), dtype=complex), ValueError, "Complex data not supported"),
        (np.array([[np.inf]]), ValueError, "Input X contains infinity"),
        (np.array([["a"]]), ValueError, "strings"),
        (np.array([["a"]], dtype=object), ValueError, "could not convert string to float"),
        (np.array([[{}]], dtype=object), TypeError, "argument must be .* string.* number"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), ValueError, "Column 'x0' has dtype datetime64"),
        (pd.Series([1.0, 2.0]), ValueError, "Expected a 2-dimensional container"),
    ],
)
def test_arrays_that_are_no_tables(X, error, match):
    with pytest.raises(error, match=match):
        read(X)


# --- new data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_unseen_categories(frame):
    estimator, table, _ = fitted(frame({"colour": ["red", "blue"], "size": ["S", "M"]}))
    X = frame({"colour": ["blue", "green", None], "size": ["L", "S", "S"]})
    np.testing.assert_array_equal(table.encode(estimator, X), [[0, -1, -1], [-1, 1, 1]])
    np.testing.assert_array_equal(table.encode(estimator, X, unseen="novel"), [[0, 2, -1], [2, 1, 1]])
    with pytest.raises(ValueError, match="'green' in column 'colour'; 'L' in column 'size'"):
        table.encode(estimator, X, unseen="error")
    np.testing.assert_array_equal(table.encode(estimator, X[2:], unseen="error"), [[-1], [1]])
    with pytest.raises(ValueError, match='unseen must be "missing", "novel" or "error"'):
        table.encode(estimator, X, unseen="ignore")


def test_unused_levels_of_new_data_are_not_unseen():
    estimator, table, _ = fitted(pd.DataFrame({"a": ["u", "v"]}))
    X = pd.DataFrame({"a": pd.Categorical(["v"], categories=["t", "v"])})
    np.testing.assert_array_equal(table.encode(estimator, X, unseen="error"), [[1]])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["z", "b", "a"])),
        pl.Series(["b", None, "a"], dtype=pl.Enum(["z", "b", "a"])),
    ],
    ids=["pandas", "polars"],
)
def test_declared_levels_are_categories(column):
    frame = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
    estimator, table, arrays = fitted(frame({"a": column}))
    assert table.columns[0].categories.tolist() == ["a", "b", "z"]
    np.testing.assert_array_equal(arrays, [[1, -1, 0]])
    new = frame({"a": ["z", "y", "a"]})
    np.testing.assert_array_equal(table.encode(estimator, new, unseen="novel"), [[2, 3, 0]])
    assert list(table.decode([np.array([2, 0])])["a"]) == ["z", "a"]


def test_new_data_keep_to_the_declared_types():
    estimator, table, _ = fitted(pd.DataFrame({"a": [True, False], "b": [1.0, 2.0], "c": [1, 2]}), {"c": "count"})
    good = pd.DataFrame({"a": [1.0, np.nan], "b": pd.Series([None, 3], dtype=object), "c": [np.nan, 5]})
    np.testing.assert_array_equal(np.array(table.encode(estimator, good)), [[1, -1], [np.nan, 3], [-1, 5]])
    for name, value in (("a", 2), ("b", "x"), ("c", -1)):
        with pytest.raises(ValueError, match=f"Column '{name}' must be "):
            table.encode(estimator, good.assign(**{name: [value, value]}))


@pytest.mark.parametrize(
    ("seen", "kind", "new", "kept", "listed"),
    [
        ([0, 1, 0, 1], "boolean", [1.0, 2.0, np.nan, 0.5], [1, -1, -1, -1], "0.5, 2.0"),
        (np.random.default_rng(0).poisson(9.0, 200), "count", [3.0, -1.0, np.nan, 40.0], [3, -1, -1, 40], "-1.0"),
    ],
)
def test_new_data_may_not_suit_a_type_that_was_inferred(seen, kind, new, kept, listed):
    estimator = BaseEstimator()
    X = pd.DataFrame({"a": seen})
    table, _ = read_table(estimator, X, "auto", types=TYPES, choose=choose_type)
    assert table.kinds == [kind]
    for unseen in ("missing", "novel"):
        with pytest.warns(
            UserWarning, match=rf"Column 'a' was {kind} in fit, but holds {listed}: these cells count as"
        ):
            (cells,) = table.encode(estimator, pd.DataFrame({"a": new}), unseen=unseen)
        np.testing.assert_array_equal(cells, kept)
    with pytest.raises(ValueError, match=f"values that fit did not see: {listed} in column 'a'"):
        table.encode(estimator, pd.DataFrame({"a": new}), unseen="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table.encode(estimator, pd.DataFrame({"a": new[::2]}))
    with pytest.raises(ValueError, match="Column 'a' must be"):
        table.encode(estimator, pd.DataFrame({"a": ["x", "y"]}))


def test_new_categories_do_not_change_the_type_of_codes():
    estimator, table, _ = fitted(np.arange(10)[:, np.newaxis], ["categorical"])
    (codes,) = table.encode(estimator, np.arange(1000)[:, np.newaxis])
    assert codes.dtype == np.int8
    np.testing.assert_array_equal(codes, np.where(np.arange(1000) < 10, np.arange(1000), -1))


# --- memory --------------------------------------------------------------------------------------------------------


def test_real_columns_are_views_where_they_can_be(tmp_path):
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(20, 3)))
    assert all(np.shares_memory(array, X) for array in read(X)[1])
    path = tmp_path / "X.npy"
    np.save(path, X)
    mapped = np.load(path, mmap_mode="r")
    _, arrays = read(mapped)
    assert all(np.shares_memory(array, mapped) and type(array) is np.ndarray for array in arrays)
    np.testing.assert_array_equal(np.array(arrays), X.T)
    _, arrays = read(np.load(path, mmap_mode="r"), ["categorical", "real", "categorical"])
    assert all(array.flags.c_contiguous for array in arrays)


def test_the_input_is_never_written_to():
    X = pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2], "c": [True, False], "d": pd.Series([1, None], dtype="Float64")})
    before = X.copy(deep=True)
    table, arrays = read(X, {"b": "count"})
    table.decode(arrays)
    pd.testing.assert_frame_equal(X, before)


def test_small_integers_are_not_blown_up():
    X = np.random.default_rng(0).integers(0, 10, (20_000, 68)).astype(np.int8)
    tracemalloc.start()
    _, arrays = read(X, ["categorical"] * 68)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(array.nbytes for array in arrays) == X.nbytes
    # One column at a time may take 64-bit codes; the whole table in float64 would be 8 times X.
    assert peak < 2 * X.nbytes


# --- and back ------------------------------------------------------------------------------------------------------

PANDAS = pd.DataFrame(
    {
        "float": [1.5, np.nan, 3.0],
        "single": np.array([1, 2, 3], dtype=np.float32),
        "nullable": pd.Series([1.5, None, 3.0], dtype="Float64"),
        "bool": [True, False, True],
        "boolean": pd.Series([True, None, False], dtype="boolean"),
        "str": pd.Series(["b", "a", None], dtype="str"),
        "string": pd.Series(["b", "a", None], dtype="string"),
        "category": pd.Categorical(["mid", None, "low"], categories=["low", "mid", "high"], ordered=True),
        "numbers": pd.Categorical([3, None, 1], categories=[3, 2, 1]),
        "code": np.array([3, 1, 3], dtype=np.int16),
        "count": np.array([3, 0, 9], dtype=np.uint8),
        "counts": pd.Series([3, None, 9], dtype="Int32"),
        "flag": [0, 1, 1],
    }
)
DECLARED = {"code": "categorical", "count": "count", "flag": "boolean"}
POLARS = pl.DataFrame(
    {
        "float": [1.5, None, 3.0],
        "single": pl.Series([1, None, 3], dtype=pl.Float32),
        "bool": [True, None, False],
        "string": ["b", None, "a"],
        "category": pl.Series(["b", None, "a"], dtype=pl.Categorical),
        "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "c", "a"])),
        "code": pl.Series([3, None, 1], dtype=pl.UInt16),
        "count": pl.Series([3, None, 9], dtype=pl.UInt8),
        "flag": [0, None, 1],
    }
)


def test_round_trip_of_pandas():
    estimator, table, arrays = fitted(PANDAS, DECLARED | {"counts": "count"})
    pd.testing.assert_frame_equal(table.decode(arrays), PANDAS)
    labelled = PANDAS.set_axis(["u", "v", "w"])
    pd.testing.assert_frame_equal(table.decode(table.encode(estimator, labelled), like=labelled), labelled)
    pd.testing.assert_frame_equal(table.decode(arrays, like=PANDAS.to_numpy()), PANDAS)


def test_round_trip_of_polars():
    estimator, table, arrays = fitted(POLARS, DECLARED)
    assert table.decode(arrays).equals(POLARS)
    assert table.decode(arrays).schema == POLARS.schema
    assert table.decode(table.encode(estimator, POLARS[1:])).equals(POLARS[1:])


def test_integers_come_back_as_floats_where_they_must():
    X = pd.DataFrame(
        {"real": [1, 2], "code": [5, 6], "flag": [True, False], "nullable": pd.Series([1, 2], dtype="Int8")}
    )
    _, table, arrays = fitted(X, {"code": "categorical"})
    arrays[0] = np.array([1.5, np.nan])
    arrays[1] = np.array([-1, 0], dtype=np.int8)
    arrays[2] = np.array([-1, 0], dtype=np.int8)
    X = table.decode(arrays)
    assert X.dtypes.astype(str).tolist() == ["float64", "float64", "boolean", "Int8"]
    np.testing.assert_array_equal(
        X.to_numpy(dtype=float, na_value=np.nan), [[1.5, np.nan, np.nan, 1], [np.nan, 5, 0, 2]]
    )
    for cells, dtypes in (([1.0, 2.5], ["float64", "Float64"]), ([1.0, 300.0], ["int64", "Float64"])):
        arrays[0] = arrays[3] = np.array(cells)
        assert table.decode(arrays).dtypes.astype(str).tolist()[::3] == dtypes


def test_integers_of_128_bits_come_back_as_floats():
    _, table, _ = fitted(pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128)}), {})
    assert table.decode([np.array([1.0, 2.0])])["a"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("cells", "dtype"), [([1.0, np.nan], pl.Int8), ([1.0, 2.5], pl.Float64), ([1.0, 300.0], pl.Float64)]
)
def test_whole_numbers_of_polars_keep_their_integers(cells, dtype):
    _, table, _ = fitted(pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int8)}), {})
    X = table.decode([np.array(cells)])
    assert X["a"].dtype == dtype
    assert X["a"].to_list() == [None if np.isnan(x) else x for x in cells]


@pytest.mark.parametrize("frame, wider", [(pd.DataFrame, "int32"), (pl.DataFrame, "Int32")])
def test_counts_beyond_the_dtype_are_not_wrapped(frame, wider):
    _, table, _ = fitted(frame({"a": np.array([1, 200], dtype=np.uint8)}), {"a": "count"})
    X = table.decode([np.array([300, 1], dtype=np.int32)])
    assert str(X["a"].dtype) == wider
    assert X["a"].to_list() == [300, 1]


def test_arrays_come_back_as_floats():
    X = np.array([[1.5, 7, 0, 3], [np.nan, np.nan, np.nan, np.nan], [2.5, 5, 1, 4]], dtype=np.float32)
    _, table, arrays = fitted(X, ["real", "categorical", "boolean", "count"])
    decoded = table.decode(arrays)
    assert decoded.dtype == np.float64
    np.testing.assert_array_equal(decoded, X)


@pytest.mark.parametrize("X", [PANDAS, POLARS, np.eye(3)], ids=["pandas", "polars", "array"])
def test_tables_are_plain_and_picklable(X):
    estimator, table, arrays = fitted(X)
    copy = pickle.loads(pickle.dumps(table))
    assert len(pickle.dumps(fitted(np.zeros((100_000, 1)))[1])) < 1000
    for before, after in zip(arrays, copy.encode(estimator, X), strict=True):
        np.testing.assert_array_equal(before, after)
    assert str(copy.decode(arrays)) == str(table.decode(arrays))


def test_tables_wrapped_by_narwhals():
    import narwhals

    table, _ = read(narwhals.from_native(PANDAS))
    assert table.container == "pandas"
    assert table.kinds == read(PANDAS)[0].kinds


def test_tables_of_arrow_are_read_as_those_of_pandas():
    pyarrow = pytest.importorskip("pyarrow")
    days = [datetime.date(2020, 1, 1), None, datetime.date(2020, 5, 1), datetime.date(2021, 1, 1)]
    X = pyarrow.table(
        {
            "number": [1.5, None, 2.5, 4.0],
            "word": ["a", "b", None, "a"],
            "whole": pyarrow.array([1, None, 3, 5], pyarrow.int64()),
            "flag": [True, None, False, True],
            "code": pyarrow.array(["x", "y", "x", None]).dictionary_encode(),
            "day": days,
            "nothing": pyarrow.nulls(4, pyarrow.float64()),
        }
    )

    def outcome(X):
        estimator = Reader()
        try:
            table, arrays = read_table(estimator, X, types=TYPES, keep_empty=True)
        except TypeError as error:
            return str(error)
        filled = table.decode(table.encode(estimator, X), like=X)
        return table.container, table.kinds, [array.tolist() for array in arrays], filled.astype(str).values.tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert str(outcome(X)) == str(outcome(X.to_pandas()))
    with pytest.raises(ValueError, match="X has two columns of the name 'a'"):
        read(X.select(["number", "word"]).rename_columns(["a", "a"]))
