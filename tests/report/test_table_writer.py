"""Tables in files of each kind have the cells that they had before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.files import read_table_file
from sklearn_subanneal.report.imputation import completed_table
from sklearn_subanneal.report.table_writer import write_table


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("suffix", ["json", "jsonl", "json.gz", "json.bz2", "json.xz", "json.zip", "jsonl.zst"])
def test_json_has_all_digits(tmp_path, suffix):
    if suffix.endswith("zst"):
        pytest.importorskip("zstandard")
    numbers = [1.5e-12, 1.0 / 3.0, 123456.123456789012, -7.000000000001e-5]
    path = write_table(pd.DataFrame({"a": numbers, "b": ["x", "ü", "\u2028", '"']}), tmp_path / f"t.{suffix}")
    read = read_table_file(path).frame
    assert read["a"].astype(float).tolist() == numbers and read["b"].tolist() == ["x", "ü", "\u2028", '"']


def test_json_of_cells_of_all_types(tmp_path):
    day, moment = pd.Timestamp("2021-03-04"), pd.Timestamp("2021-03-04 05:06:07.5", tz="Europe/Berlin")
    table = pd.DataFrame(
        {
            "whole": pd.Series([2**60 + 1, None], dtype="Int64"),
            "mixed": pd.Series([2**60 + 1, 0.1 + 0.2], dtype=object),
            "flag": pd.Series([True, None], dtype="boolean"),
            "kind": pd.Categorical(["a", None]),
            "day": [day, None],
            "moment": pd.Series([moment, None], dtype=object),
            "scalar": pd.Series([np.float64(0.1), np.int8(3)], dtype=object),
            "number": [np.inf, np.nan],
            7: [[1, 2], {"x": 1}],
        }
    )
    first = {
        "whole": 2**60 + 1, "mixed": 2**60 + 1, "flag": True, "kind": "a", "day": "2021-03-04T00:00:00",
        "moment": "2021-03-04T05:06:07.500000+01:00", "scalar": 0.1, "number": None, "7": [1, 2],
    }  # fmt: skip
    other = dict.fromkeys(first) | {"mixed": 0.1 + 0.2, "scalar": 3, "7": {"x": 1}}
    path = write_table(table, tmp_path / "t.json")
    assert json.loads(path.read_text(encoding="utf-8")) == [first, other]
    assert lines_of(write_table(table, tmp_path / "t.jsonl")) == [first, other]
    assert write_table(table.head(0), tmp_path / "empty.json").read_text() == "[]\n"


def test_json_of_columns_of_lists(tmp_path):
    """Parquet has such columns, and gives them as arrays, which may be nested."""
    pytest.importorskip("pyarrow")
    lists = [[1.5, None, 3.0], [], None, [2.5]]
    table = pd.DataFrame({"tags": [["x", "y"], [], None, ["z"]], "levels": lists, "pairs": [[[1, 2], [3]]] * 4})
    table["days"] = [np.array(["2021-03-04T05:06"], "M8[us]")] * 4
    table.to_parquet(tmp_path / "t.parquet")
    read = read_table_file(tmp_path / "t.parquet").frame
    path = write_table(read, tmp_path / "t.json")
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written == table.assign(days=[["2021-03-04T05:06:00.000000"]] * 4).to_dict("records")


@pytest.mark.parametrize("raw", [False, True], ids=["marked", "raw"])
@pytest.mark.parametrize(("suffix", "module"), [("xlsx", "openpyxl"), ("ods", "odf"), ("dta", "pandas")])
@pytest.mark.parametrize("are_objects", [False, True], ids=["dtype", "objects"])
def test_dates_with_a_zone_where_there_are_none(tmp_path, suffix, module, raw, are_objects):
    """They are those of the clocks of the zone."""
    pytest.importorskip(module)
    seen = pd.Series(pd.to_datetime(["2021-01-01 10:00", None, "2021-07-03 11:30"])).dt.tz_localize("Europe/Berlin")
    X = pd.DataFrame({"start": seen, "a": [1.0, 2.0, 3.0]})
    filled = X.fillna({"start": pd.Timestamp("2021-02-01 12:00", tz="Europe/Berlin")})
    table = completed_table(X, X, filled)
    assert table["start"].dtype == seen.dtype
    table = table.astype({"start": object}) if are_objects else table
    path = write_table(table, tmp_path / f"t.{suffix}", raw)
    read = pd.read_stata(path) if suffix == "dta" else pd.read_excel(path)
    assert read["start"].tolist() == [
        pd.Timestamp(own) for own in ("2021-01-01 10", "2021-02-01 12", "2021-07-03 11:30")
    ]
    assert read["a"].tolist() == [1.0, 2.0, 3.0]
