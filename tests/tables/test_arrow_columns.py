"""Columns of pandas with dtypes of Arrow, as read_parquet(dtype_backend="pyarrow") makes them: as those of NumPy."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from sklearn_subanneal import BayesianImputer, CrossCat, CrossCatClassifier
from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.tables.schema import read_table

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 2, "random_state": 0}
DAYS = [datetime.date(2020, 1, 1), datetime.date(2021, 5, 3), datetime.date(1969, 7, 20)]
TIMES = pd.Series(pd.to_datetime(["2020-01-01 10:00:00", "2021-05-03 23:59:59", "1969-07-20 20:17:40"]))
BERLIN = TIMES.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
NUMBERS, WORDS = [1.0, 2.0, 5.0], ["u", "v", "u"]
# The type of Arrow, the cells, and a column that is read as they are.
COLUMNS = {str(kind): (kind, NUMBERS, NUMBERS) for kind in (pa.float16(), pa.float32(), pa.float64())}
COLUMNS |= {
    str(kind): (kind, [1, 2, 5], NUMBERS)
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
}
COLUMNS |= {
    "bool": (pa.bool_(), [True, False, True], pd.array([True, False, True], "boolean")),
    "decimal": (pa.decimal128(30, 2), [1, 2, 5], NUMBERS),
    "wide decimal": (pa.decimal256(50, 2), [1, 2, 5], NUMBERS),
    "string": (pa.string(), WORDS, WORDS),
    "large_string": (pa.large_string(), WORDS, WORDS),
    "string_view": (pa.string_view(), WORDS, WORDS),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), WORDS, pd.Categorical(WORDS)),
    "dictionary of numbers": (pa.dictionary(pa.int32(), pa.int64()), [5, 1, 5], pd.Categorical([5, 1, 5], [5, 1])),
    "date32": (pa.date32(), DAYS, pd.to_datetime(DAYS)),
    "date64": (pa.date64(), DAYS, pd.to_datetime(DAYS)),
}
for unit in ("s", "ms", "us", "ns"):
    COLUMNS[f"timestamp {unit}"] = (pa.timestamp(unit), TIMES.tolist(), TIMES)
    COLUMNS[f"zoned {unit}"] = (pa.timestamp(unit, "Europe/Berlin"), BERLIN.tolist(), BERLIN)


def of_arrow(kind, cells):
    if pa.types.is_dictionary(kind):
        array = pa.array(cells, kind.value_type).dictionary_encode()
        kind = array.type
    else:
        array = pa.array(cells).cast(kind)
    return pd.Series(pd.array(array, dtype=pd.ArrowDtype(kind)))


def read(column, types="from_dtype"):
    X = pd.DataFrame({"a": column})
    return X, *read_table(BaseEstimator(), X, types, types=TYPES, keep_empty=True)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("with_gap", [False, True])
def test_they_are_read_as_their_counterparts_and_written_back(name, with_gap):
    kind, cells, other = COLUMNS[name]
    column, other = of_arrow(kind, cells), pd.Series(other)
    if with_gap:
        column, other = of_arrow(kind, [cells[0], None, cells[2]]), other.mask([False, True, False])
    if "dictionary" in name:
        other = other.cat.remove_unused_categories()
    X, table, arrays = read(column)
    _, wanted, own = read(other)
    assert table.kinds == wanted.kinds
    for array, like in zip(arrays, own, strict=True):
        np.testing.assert_array_equal(array, like)
    back = table.decode(arrays, like=X)["a"]
    assert back.isna().tolist() == column.isna().tolist()
    known = [cell for row, cell in enumerate(cells) if row != 1 or not with_gap]
    assert back.dropna().tolist() == known
    others = ("decimal", "wide decimal", "string_view", "dictionary", "dictionary of numbers")
    if name not in others:
        assert back.dtype == column.dtype


def test_an_order_of_a_dictionary_is_kept():
    codes, levels = pa.array([1, 0, None, 2], pa.int32()), ["low", "middle", "high"]
    array = pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    table = read(pd.Series(pd.array(array, dtype=pd.ArrowDtype(array.type))), {"a": "ordinal"})[1]
    assert table.columns[0].categories.tolist() == levels and table.columns[0].ordered


def test_chunks_with_dictionaries_of_their_own():
    chunks = pa.chunked_array([pa.array(["v", "u"]).dictionary_encode(), pa.array(["w", "v"]).dictionary_encode()])
    _, table, (codes,) = read(pd.Series(pd.array(chunks, dtype=pd.ArrowDtype(chunks.type))))
    assert table.columns[0].categories[codes].tolist() == ["v", "u", "w", "v"]


def test_a_column_of_nulls_is_empty():
    X = pd.DataFrame({"x": [1.0, 2.0, 4.0] * 4, "nothing": pd.Series([None] * 12, dtype=pd.ArrowDtype(pa.null()))})
    with pytest.warns(UserWarning, match="Columns without a value: 'nothing'"):
        model = CrossCat(**SHORT).fit(X)
    assert model.impute(X)["nothing"].isna().all() and model.sample(2)["nothing"].isna().all()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([datetime.time(1), None]),
        pa.array([datetime.timedelta(1), None]),
        pa.array([b"a", None]),
        pa.array([[1], None]),
        pa.array([{"a": 1}, None]),
        pa.array([pa.MonthDayNano([1, 2, 3]), None]),
    ],
    ids=lambda array: str(array.type),
)
def test_others_are_refused_by_name(array):
    with pytest.raises(ValueError, match=r"Column 'a' (has dtype .* convert it to|holds objects of type .* make them)"):
        read(pd.Series(pd.array(array, dtype=pd.ArrowDtype(array.type))))


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [([1.0, np.nan], "int8[pyarrow]"), ([1.0, 2.5], "double[pyarrow]"), ([np.nan, 300.0], "double[pyarrow]")],
)
def test_whole_reals_keep_their_integers(cells, dtype):
    _, table, _ = read(of_arrow(pa.int8(), [1, 100]), {"a": "real"})
    back = table.decode([np.array(cells)])["a"]
    assert str(back.dtype) == dtype
    assert back.isna().tolist() == np.isnan(cells).tolist() and back.dropna().tolist() == [x for x in cells if x == x]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8()], ids=str)
def test_counts_beyond_the_dtype_are_not_wrapped(kind):
    _, table, _ = read(of_arrow(kind, [1, 100]), {"a": "count"})
    back = table.decode([np.array([300, 1, -1], dtype=np.int32)])["a"]
    assert str(back.dtype) == "int32[pyarrow]" and back.tolist()[:2] == [300, 1] and back.isna()[2]


def mixed(n_rows=60):
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n_rows)
    frame = pd.DataFrame(
        {
            "size": of_arrow(pa.float32(), group + rng.normal(size=n_rows)),
            "sold": of_arrow(pa.bool_(), group > 0),
            "day": of_arrow(pa.date32(), [datetime.date(2020, 1, 1) + datetime.timedelta(int(d)) for d in 90 * group]),
            "town": of_arrow(pa.string(), np.array(["Bern", "Chur", "Genf"])[group]),
            "kind": of_arrow(pa.dictionary(pa.int8(), pa.string()), rng.choice(["flat", "house"], n_rows)),
            "rent": of_arrow(pa.decimal128(30, 2), rng.integers(500, 900, n_rows)),
        }
    )
    frame.iloc[:3] = None
    return frame, group


def test_a_table_of_them_is_imputed_and_drawn():
    frame, _ = mixed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        imputer = BayesianImputer(CrossCat(**SHORT)).fit(frame)
    same = ["size", "sold", "day", "town"]
    for filled in (imputer.transform(frame), imputer.estimator_.sample(60, random_state=0)):
        assert filled.notna().all(axis=None)
        assert filled[same].dtypes.equals(frame[same].dtypes)
    assert imputer.transform(frame)[same].iloc[3:].equals(frame[same].iloc[3:])


def test_a_classifier_takes_them():
    frame, group = mixed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = CrossCatClassifier(CrossCat(**SHORT)).fit(frame, group)
    assert model.predict_proba(frame).shape == (60, 3) and np.isfinite(model.predict_proba(frame)).all()
