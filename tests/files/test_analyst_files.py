"""Files as analysts have them: every column has the type that a careful analyst would give it, and none is lost."""

from __future__ import annotations

import re
import sys
import zipfile

import pandas as pd
import pytest
from files.analyst_file import plain
from files.kinds_of_columns import FILES_OF_COLUMNS
from files.kinds_of_files import FILES_OF_KINDS, REFUSED

from sklearn_subanneal.report import read_source, write_types
from sklearn_subanneal.report.types_file import TypesFile

FILES = [*FILES_OF_KINDS, *FILES_OF_COLUMNS]


def test_there_are_many_files():
    assert len(FILES) >= 60 and len({file.name for file in FILES}) == len(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_types_of_an_analyst(file, tmp_path):
    if file.needs:
        pytest.importorskip(file.needs)
    path = tmp_path / file.name
    file.write(path)
    source = read_source(path, **file.options)
    kinds = {column.name: column.kind for column in source.columns}
    assert list(kinds) == list(file.kinds) == list(source.frame.columns)
    wrong = {name: (kind, file.kinds[name]) for name, kind in kinds.items() if kind not in file.kinds[name].split("|")}
    assert not wrong
    assert {column.name: column.marks for column in source.columns if column.marks} == file.marks
    for column in source.columns:
        assert column.n_missing >= sum(column.marks.values()) and column.reason
    assert file.noted in "; ".join(source.notes)


@pytest.mark.parametrize("name", [file.name for file in FILES if list(file.kinds) == list(plain())])
def test_cells_are_those_of_the_table(name, tmp_path):
    """Of files of one table in many kinds."""
    file = next(file for file in FILES if file.name == name)
    file.write(tmp_path / name)
    frame, table = read_source(tmp_path / name, **file.options).frame, plain()
    for column in table:
        own = frame[column].astype(table[column].dtype)
        pd.testing.assert_series_equal(own.reset_index(drop=True), table[column], check_names=False)


@pytest.mark.parametrize(("name", "write", "message", "remedy"), REFUSED, ids=[name for name, *_ in REFUSED])
def test_refused_with_a_remedy(name, write, message, remedy, tmp_path):
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    write(tmp_path / name)
    options = {"sheet": "Three"} if name.endswith(".xlsx") else {"encoding": "ascii"} if name == "wrong.csv" else {}
    with pytest.raises(ValueError, match=message) as caught:
        read_source(tmp_path / name, **options)
    assert not re.search(r"\n|Traceback", str(caught.value))
    if remedy is not None:
        source = read_source(tmp_path / name, **remedy)
        assert len(source.frame) == 3 and "1 lines with too many cells were left out" in "; ".join(source.notes)


def test_values_are_kept_if_the_user_says_so(tmp_path):
    for name, keep, column in (("minus-999.csv", "-999", "weight"), ("colours.csv", "N/A", "colour")):
        file = next(file for file in FILES if file.name == name)
        file.write(tmp_path / name)
        kept = next(own for own in read_source(tmp_path / name, keep=[keep]).columns if own.name == column)
        assert not kept.marks and not kept.n_missing


def sheet(path, rows, merged):
    """A spreadsheet with a title, and with merged cells."""
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [["Of the mill"], [], *rows]:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    book.save(path)


def test_merged_cells_have_the_value_of_the_first(tmp_path):
    """Down in the table, and along in its names; a title over all columns is none of the names."""
    rows = [["site", "before", None, "after"]]
    rows += [[None if row % 10 else f"site {row // 10}", row / 7, row * 3 + 0.5, None] for row in range(60)]
    places = [f"A{4 + 10 * site}:A{13 + 10 * site}" for site in range(6)]
    # A remark over several columns stays in the first.
    rows[5][1:3] = ["not measured", None]
    sheet(tmp_path / "t.xlsx", rows, ["A1:D1", "B3:C3", "B8:C8", *places])
    source = read_source(tmp_path / "t.xlsx")
    assert list(source.frame) == ["site", "before", "before (2)", "after"]
    assert source.frame["site"].tolist() == [f"site {row // 10}" for row in range(60)]
    assert source.frame["before (2)"].isna().sum() == 1
    notes = "; ".join(source.notes)
    assert "the value of merged cells, of which there are 6, is that of each of their rows" in notes
    assert "names in merged cells are those of each of their columns" in notes
    sheet(tmp_path / "u.xlsx", [["a", "b"], *([row / 7, row * 3 + 0.5] for row in range(60))], [])
    assert "merged" not in "; ".join(read_source(tmp_path / "u.xlsx").notes)


@pytest.mark.parametrize("block", [2**20, 37])
def test_formulas_without_a_value_are_told(tmp_path, block, monkeypatch):
    """Programs that compute nothing write them; the cells look empty."""
    monkeypatch.setattr("sklearn_subanneal.files.sheet_archive._BLOCK", block)
    rows = [["item", "net", "gross"], *([f"I{k % 7}", k / 7, f"=B{k + 4}*1.19" if k % 2 else k / 5] for k in range(60))]
    sheet(tmp_path / "t.xlsx", rows, [])
    source = read_source(tmp_path / "t.xlsx")
    assert source.frame["gross"].isna().sum() == 30
    assert "30 cells with a formula have no value in the file, the first is C5, and are" in "; ".join(source.notes)
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    # As spreadsheet programs write them: with a value, which may be an empty text.
    for value, kind in ((b"<v>7.5</v>", b""), (b"<v></v>", b' t="str"')):
        whole = re.sub(
            rb'<c r="(C[0-9]+)"><f>([^<]*)</f><v ?/?>(?:</v>)?</c>', rb'<c r="\1"KIND><f>\2</f>VALUE</c>', parts[name]
        )
        with zipfile.ZipFile(tmp_path / "u.xlsx", "w") as archive:
            for own, part in (parts | {name: whole.replace(b"VALUE", value).replace(b"KIND", kind)}).items():
                archive.writestr(own, part)
        source = read_source(tmp_path / "u.xlsx")
        assert "formula" not in "; ".join(source.notes) and (source.frame["gross"] == 7.5).sum() == 30 * (not kind)


def test_formulas_alone_are_no_table(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in range(9):
        book.active.append([f"={row}+1", f"={row}+2"])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        ValueError, match=r"no table, since 18 cells with a formula have no value .* and save it, or name"
    ):
        read_source(tmp_path / "t.xlsx")


def test_a_second_row_of_names_is_told(tmp_path):
    for units, is_told in ((["", "kg", "cm"], True), (["", "n/a", "n/a"], False), (["", "kg", 4.5], False)):
        sheet(tmp_path / "t.xlsx", [["name", "weight", "size"], units, *(["n", k / 7, k / 9] for k in range(40))], [])
        notes = "; ".join(read_source(tmp_path / "t.xlsx").notes)
        assert ("with 'kg', 'cm', has words above numbers" in notes) == is_told


@pytest.mark.parametrize("name", ["born.csv", "born.xlsx"])
def test_dates_that_are_declared_missing(name, tmp_path):
    """In all columns or in one, of texts and of dates; a types file that was written is read again."""
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    days = pd.Series(pd.date_range("1980-03-04", periods=60, freq="17D"))
    days[::7] = pd.Timestamp(2000, 1, 1)
    table = pd.DataFrame({"born": days, "size": [row / 7 for row in range(60)]})
    if name.endswith("csv"):
        table.assign(born=days.dt.strftime("%d.%m.%Y")).to_csv(tmp_path / name, index=False)
    else:
        table.to_excel(tmp_path / name, index=False)
    source = read_source(tmp_path / name, missing=["01.01.2000"])
    assert source.columns[0].n_missing == 9
    own = TypesFile(missing={"born": ("01.01.2000",)})
    for again in (read_source(tmp_path / name, own), read_source(tmp_path / name, write_types(source, tmp_path / "t"))):
        assert again.columns[0].n_missing == 9
    assert list(source.columns[0].marks.values()) == [9]


def test_order_of_dates_is_asked_for(tmp_path):
    """Where nobody can tell, the column is set aside with the option that decides."""
    path = tmp_path / "undecided.csv"
    cells = "".join(f"{1 + row % 11:02d}/{1 + row * 5 % 12:02d}/2020,{row}.5\n" for row in range(60))
    path.write_text(f"day,size\n{cells}")
    source = read_source(path)
    assert [column.kind for column in source.columns] == ["ignore", "real"]
    assert "--day-first or --month-first" in source.columns[0].reason
    for day_first in (True, False):
        days = read_source(path, day_first=day_first).frame["day"]
        assert days[1] == (pd.Timestamp(2020, 6, 2) if day_first else pd.Timestamp(2020, 2, 6))


@pytest.mark.parametrize(
    ("name", "module", "command"),
    [
        ("sheet.xlsx", "openpyxl", "pip install openpyxl"),
        ("sheet.ods", "odf", "pip install odfpy"),
        ("packed.csv.zst", "zstandard", "pip install zstandard"),
        ("table.parquet", "pyarrow", "pip install pyarrow"),
        ("table.feather", "pyarrow", "pip install pyarrow"),
    ],
)
def test_packages_that_are_not_installed_are_named(name, module, command, tmp_path, monkeypatch):
    pytest.importorskip(module)
    file = next(file for file in FILES if file.name == name)
    file.write(tmp_path / name)
    for loaded in [own for own in sys.modules if own == module or own.startswith(f"{module}.")]:
        monkeypatch.setitem(sys.modules, loaded, None)
    with pytest.raises(ImportError, match=command):
        read_source(tmp_path / name)


@pytest.mark.parametrize("name", ["semicolons.csv", "iso.csv", "flags.csv", "cp1252.csv", "errors.csv", "times.csv"])
def test_texts_without_pyarrow(name, tmp_path):
    """Pandas holds texts otherwise if pyarrow is not installed."""
    file = next(file for file in FILES if file.name == name)
    file.write(tmp_path / name)
    with pd.option_context("mode.string_storage", "python"):
        source = read_source(tmp_path / name, **file.options)
    same = read_source(tmp_path / name, **file.options)
    assert [(own.name, own.kind, own.marks) for own in source.columns] == [
        (own.name, own.kind, own.marks) for own in same.columns
    ]
    assert source.X.shape == same.X.shape


def test_the_other_columns_show_the_mark_before_decimals(tmp_path):
    """Points before three digits are between thousands where another column has decimal commas."""
    path = tmp_path / "towns.csv"
    for size, population in (("1,5", 2730.0), ("1.5", 2.73)):
        path.write_text("town;size;population\n" + f"Ulm;{size};2.730\nBonn;{size[:-1]}7;3.150\n" * 9)
        assert read_source(path, {"size": "real", "population": "real"}).X["population"][0] == population
    # The user decides.
    assert read_source(path, {"population": "real"}, decimal=",").X["population"][1] == 3150.0


def test_points_between_thousands_in_a_file_of_semicolons(tmp_path):
    """No program writes 4.800 and 980 unless the points stand between thousands; 1.085 had been read as such."""
    path, cells = tmp_path / "turnover.csv", ["980", "1.085", "4.800", "12.400", "137", "-2.310", "0"]
    path.write_text("Filiale;Umsatz\n" + "".join(f"F{row};{cell}\n" for row, cell in enumerate(cells * 3)))
    source = read_source(path, {"Umsatz": "real"})
    assert source.X["Umsatz"].tolist()[:7] == [980.0, 1085.0, 4800.0, 12400.0, 137.0, -2310.0, 0.0]
    assert source.decimal == "," and any("column 'Umsatz' shows" in note for note in source.notes)
    as_said = read_source(path, {"Umsatz": "real"}, decimal=".")
    assert as_said.X["Umsatz"][1] == 1.085 and not any("thousands" in note for note in as_said.notes)


@pytest.mark.parametrize(
    "cells",
    [
        ["1.085", "4.800", "12.400"],  # three decimals throughout
        ["980", "1.085", "4.8"],
        ["980", "1.085", "4.801"],  # decimals as needed
        ["0", "12", "4.800", "1.250"],  # none of small whole numbers
        ["980", "1.085", "4.800", "1250"],
    ],
)
@pytest.mark.parametrize("separator", [";", ","])
def test_points_that_may_stand_before_decimals_do(cells, separator, tmp_path):
    """The file says nothing else; where it is doubtful, the user is told."""
    path = tmp_path / "sizes.csv"
    path.write_text(f"a{separator}b\n" + "".join(f"u{separator}{cell}\n" for cell in cells * 4))
    source = read_source(path, {"b": "real"})
    assert source.X["b"].tolist()[: len(cells)] == [float(cell) for cell in cells]
    is_told = any("if points stand between thousands, pass --decimal ," in note for note in source.notes)
    assert is_told == (separator == ";" and "4.8" not in cells)
