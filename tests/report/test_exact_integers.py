"""Whole numbers of more than 2^53, such as identifiers of 18 digits, keep their digits beside missing cells."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.files import read_table_file
from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.column_values import AS_TEXTS
from sklearn_subanneal.report.imputation import completed_table
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.new_table import read_new_table
from sklearn_subanneal.report.table_writer import write_table

RNG = np.random.default_rng(3)
IDS = [1049726791274147373 + 2 * int(own) for own in RNG.integers(10**17, size=40)]
GAPS = [None if row % 4 == 0 else own for row, own in enumerate(IDS)]
AMOUNTS = RNG.normal(size=40).round(3).tolist()
FIT = ["--chains", "1", "--jobs", "1", "-q"]


def write(path, cells):
    if path.suffix == ".json":
        path.write_text(json.dumps([{"amount": own, "of": cell} for own, cell in zip(AMOUNTS, cells, strict=True)]))
    elif path.suffix == ".jsonl":
        rows = zip(AMOUNTS, cells, strict=True)
        path.write_text("".join(json.dumps({"amount": own, "of": cell}) + "\n" for own, cell in rows))
    elif path.suffix == ".csv":
        rows = zip(AMOUNTS, cells, strict=True)
        path.write_text("amount,of\n" + "".join(f"{own},{'' if cell is None else cell}\n" for own, cell in rows))
    else:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"amount": AMOUNTS, "of": arrow.array(cells, arrow.int64())})
        module = pytest.importorskip(f"pyarrow.{path.suffix[1:]}")
        (module.write_table if path.suffix == ".parquet" else module.write_feather)(table, path)
    return path


def digits(series):
    return ["" if pd.isna(own) or own == "" else str(own) for own in series.tolist()]


EXPECTED = ["" if own is None else str(own) for own in GAPS]


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet", "feather"])
def test_identifiers_with_gaps_keep_their_digits(suffix, tmp_path):
    """All of them had been rounded to floating-point numbers, and written so."""
    path = write(tmp_path / f"of.{suffix}", GAPS)
    source = read_source(path)
    of = source.columns[1]
    assert of.kind == "ignore" and of.reason.startswith(AS_TEXTS) and digits(source.frame["of"]) == EXPECTED
    # Repeated ones are categories.
    few = [None if own is None else IDS[row % 5] for row, own in enumerate(GAPS)]
    source = read_source(write(path, few))
    assert source.columns[1].kind == "categorical" and sorted(set(source.X["of"].dropna())) == sorted(map(str, IDS[:5]))
    # Numbers if the user says so; those that are imputed leave the others as they are.
    X = read_source(write(path, GAPS), {"of": "real"}).X
    assert str(X["of"].dtype) == "Int64" and digits(X["of"]) == EXPECTED
    values = X.assign(of=X["of"].astype("Float64").fillna(1.5e18))
    filled = completed_table(X, X, values)
    assert [own or "1500000000000000000" for own in EXPECTED] == digits(filled["of"])
    written = read_table_file(write_table(filled, tmp_path / f"out.{suffix}"))
    assert digits(written.frame["of"]) == digits(filled["of"])


def test_the_command_changes_no_observed_cell(tmp_path):
    path = write(tmp_path / "of.csv", GAPS)
    for types in ([], ["--types", "of=real"]):
        assert main(["impute", str(path), str(tmp_path / "out.csv"), "--force", *types, *FIT]) == 0
        out = pd.read_csv(tmp_path / "out.csv", dtype=str)["of"]
        assert [own for own, expected in zip(out, EXPECTED, strict=True) if expected] == list(filter(None, EXPECTED))
        assert out.notna().all() == bool(types)


def test_new_tables_with_gaps_and_unreadable_cells(tmp_path):
    """Without gaps such numbers are exact, and a column of numbers."""
    assert main(["report", str(write(tmp_path / "t.csv", IDS)), "-o", str(tmp_path / "rep"), "--no-plots", *FIT,
                 "--types", "of=real"]) == 0  # fmt: skip
    new = read_new_table(write(tmp_path / "new.csv", ["soon", *GAPS[1:]]), open_model(tmp_path / "rep"))
    assert digits(new.X["of"]) == EXPECTED and new.unreadable == {"of": {"soon": 1}}


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([2**64 - 1, None, 3], "UInt64"),
        ([2**70 + 1, None, 3], "object"),
        ([2**53, None, 10**18], "float64"),
        ([1, None, 3], "float64"),
        ([2**60, None, 0.5], "float64"),
        ([2**60 + 1, 3], "int64"),
    ],
)
def test_json_has_the_dtype_that_is_needed(cells, dtype, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps([{"a": cell, "b": 1} for cell in cells]))
    column = read_table_file(tmp_path / "t.json").frame["a"]
    assert str(column.dtype) == dtype and [None if pd.isna(own) else own for own in column.tolist()] == cells


@pytest.mark.parametrize(("suffix", "module"), [("xlsx", "openpyxl"), ("ods", "odf"), ("dta", "pandas")])
def test_texts_where_files_have_no_such_numbers(suffix, module, tmp_path):
    pytest.importorskip(module)
    table = pd.DataFrame({"of": pd.array(GAPS, "Int64"), "full": IDS, "huge": [2**70 + own for own in IDS], "few": 1})
    read = read_table_file(write_table(table, tmp_path / f"t.{suffix}")).frame
    assert digits(read["of"]) == EXPECTED and digits(read["full"]) == list(map(str, IDS))
    assert digits(read["huge"]) == [str(2**70 + own) for own in IDS] and (read["few"].astype(float) == 1).all()


def test_lists_of_large_numbers_in_json_stay_texts_of_them(tmp_path):
    records = [{"a": [2**60 + 1, 2], "b": {"c": [{"d": 2**60 + 1}]}, "e": 1}] * 2
    (tmp_path / "t.json").write_text(json.dumps(records))
    frame = read_table_file(tmp_path / "t.json").frame
    assert frame["a"][0] == f"{2**60 + 1}; 2" and frame["b.c"][0] == f'[{{"d": {2**60 + 1}}}]'


def test_identifiers_beside_a_word_and_beyond_all_integers(tmp_path):
    cells = ["unknown" if own is None else own for own in GAPS]
    source = read_source(write(tmp_path / "t.csv", cells))
    assert digits(source.frame["of"]) == [str(own) for own in cells]
    assert source.columns[1].reason.startswith(AS_TEXTS) and source.columns[1].n_missing == 10
    source = read_source(write(tmp_path / "t.csv", [own * 10**9 for own in IDS]))
    assert digits(source.frame["of"]) == [str(own * 10**9) for own in IDS]
