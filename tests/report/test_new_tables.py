"""New tables are read as the table of the report was: cell by cell, however few the cells are."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.new_table import read_new_table
from sklearn_subanneal.report.types_file import read_types

N_ROWS = 200
FIT = ["--chains", "1", "--jobs", "1", "--no-plots", "-q"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report on a table with decimal commas, words of booleans, ticks and days of eight digits."""
    rng = np.random.default_rng(0)
    group, folder = rng.integers(2, size=N_ROWS), tmp_path_factory.mktemp("new")
    days = pd.Timestamp("2021-01-05") + pd.to_timedelta(rng.integers(0, 300, N_ROWS), "D")
    sizes = [f"{own:.2f}" for own in 5.0 * group + rng.gamma(9.0, size=N_ROWS)]
    table = {
        "member": np.array(["false", "true"])[(group + (rng.random(N_ROWS) < 0.2)) % 2],
        "ticked": np.array(["", "x"])[rng.integers(2, size=N_ROWS)],
        "price": [own.replace(".", ",") for own in sizes],
        "weight": [f"{70.0 + own:.1f} kg".replace(".", ",") for own in rng.normal(size=N_ROWS)],
        "latitude": [f"{51.0 + own:.4f}" for own in rng.random(N_ROWS)],
        "seen": days.strftime("%d/%m/%Y"),
        "day": days[::-1].strftime("%Y%m%d"),
        "date of sale": 44_000 + rng.integers(300, size=N_ROWS),
    }
    pd.DataFrame(table).to_csv(folder / "table.csv", sep=";", index=False)
    assert main(["report", str(folder / "table.csv"), "-o", str(folder / "report"), *FIT]) == 0
    return folder


def read(folder, tmp_path, **cells):
    """A new table with these columns, and with the others empty."""
    names = ["member", "ticked", "price", "weight", "latitude", "seen", "day", "date of sale"]
    n_rows = max(map(len, cells.values()))
    table = pd.DataFrame({name: cells.get(name, [""] * n_rows) for name in names})
    table.to_csv(tmp_path / "new.csv", sep=";", index=False)
    return read_new_table(tmp_path / "new.csv", open_model(folder / "report"))


def test_empty_columns_of_booleans_stay_missing(folder, tmp_path):
    """Of columns that were added as the command advises, nothing is observed."""
    new = read(folder, tmp_path, price=["7,5", "8,5"])
    assert new.X["member"].isna().all() and new.X["ticked"].isna().all() and not new.unreadable
    main(["impute", str(tmp_path / "new.csv"), str(tmp_path / "out.csv"), "--model", str(folder / "report"), "-q"])
    assert not pd.read_csv(tmp_path / "out.csv").isna().any(axis=None)


@pytest.mark.parametrize(("word", "value"), [("true", True), ("FALSE", False), ("1", True), ("0", False)])
def test_one_of_two_words_is_enough(folder, tmp_path, word, value):
    new = read(folder, tmp_path, member=[word, ""])
    assert new.X["member"][0] == value and pd.isna(new.X["member"][1]) and not new.unreadable


def test_ticks_beside_empty_cells(folder, tmp_path):
    """Empty means no in the column that had ticks, and there alone."""
    assert read(folder, tmp_path, ticked=["x", "", "X"]).X["ticked"].tolist() == [True, False, True]
    assert read(folder, tmp_path, ticked=["x", "x"]).X["ticked"].tolist() == [True, True]
    new = read(folder, tmp_path, member=["x", ""], ticked=["x", "perhaps"])
    assert new.unreadable == {"member": {"x": 1}, "ticked": {"perhaps": 1}}
    assert new.X["member"].isna().all() and pd.isna(new.X["ticked"][1])


def test_the_mark_before_decimals_is_known(folder, tmp_path):
    assert 'decimal = ","' in (folder / "report" / "types.toml").read_text(encoding="utf-8")
    new = read(folder, tmp_path, price=["1,250", "2,125"], weight=["71,250 kg", ""], latitude=["51.234", "51.5"])
    assert new.X["price"].tolist() == [1.25, 2.125] and new.X["weight"][0] == 71.25
    # Columns without commas in a table that has such elsewhere.
    assert new.X["latitude"].tolist() == [51.234, 51.5] and not new.unreadable
    assert read(folder, tmp_path, latitude=["51.234"]).X["latitude"].tolist() == [51.234]
    # A cell in the other spelling does not change how the others are read.
    new = read(folder, tmp_path, price=["1,250", "0.5"])
    assert new.X["price"][0] == 1.25 and new.unreadable == {"price": {"0.5": 1}}
    # Of a table of another program, the user can say it.
    path = tmp_path / "points.csv"
    pd.read_csv(tmp_path / "new.csv", sep=";").assign(price=["1.250", "0.5"]).to_csv(path, sep=";", index=False)
    assert read_new_table(path, open_model(folder / "report"), {"decimal": "."}).X["price"].tolist() == [1.25, 0.5]


def test_a_bad_cell_leaves_the_others_as_they_are(folder, tmp_path):
    new = read(
        folder,
        tmp_path,
        price=["1,5", "tall", "n/a"],
        weight=["71 kg", "heavy", "72,5 kg"],
        seen=["03/02/2021", "soon", "04/02/2021"],
        day=["20210304", "2021034", "20210306"],
        member=["true", "maybe", "false"],
        **{"date of sale": ["44010", "later", "44012"]},
    )
    wrong = {"price": "tall", "weight": "heavy", "seen": "soon", "day": "2021034", "member": "maybe"}
    wrong["date of sale"] = "later"
    assert new.unreadable == {name: {text: 1} for name, text in wrong.items()}
    assert new.X["price"].isna().tolist() == [False, True, True] and new.X["weight"].tolist()[::2] == [71.0, 72.5]
    assert new.X["seen"].dt.month.tolist()[::2] == [2, 2] and new.X["day"].dt.day.tolist()[::2] == [4, 6]
    assert new.X["member"].tolist()[::2] == [True, False]
    assert new.X["date of sale"].dt.day.tolist()[::2] == [28, 30]


def test_one_row(folder, tmp_path):
    new = read(folder, tmp_path, price=["<1,5"], weight=["71 kg"], seen=["03/02/2021"], day=["20210304"])
    assert new.X["price"][0] == 1.5 and new.X["day"][0] == pd.Timestamp(2021, 3, 4) and not new.unreadable
    (tmp_path / "one.json").write_text(json.dumps([{name: None for name in new.X} | {"price": 1.5, "member": True}]))
    new = read_new_table(tmp_path / "one.json", open_model(folder / "report"))
    assert new.X["price"].tolist() == [1.5] and new.X["member"].tolist() == [True] and not new.unreadable
    assert new.X["ticked"].isna().all()


def test_the_unit_of_the_report_is_known(folder, tmp_path):
    """Grams had been read as so many kilograms, and of several units one at random."""
    assert '"weight" = {unit = "kg"}' in (folder / "report" / "types.toml").read_text(encoding="utf-8")
    new = read(folder, tmp_path, weight=["82 kg", "160 lb", "13 st", "81", "<70,5 KG", "82 k"])
    assert new.unreadable == {"weight": {"160 lb": 1, "13 st": 1, "82 k": 1}} and not new.remarks
    assert new.X["weight"].tolist()[:1] + new.X["weight"].tolist()[3:5] == [82.0, 81.0, 70.5]
    new = read(folder, tmp_path, weight=["82000 g", "60500 g", ""])
    assert new.X["weight"].isna().all() and new.unreadable == {"weight": {"82000 g": 1, "60500 g": 1}}


def test_units_and_scales_that_the_report_did_not_have_are_told(folder, tmp_path, capsys):
    new = read(folder, tmp_path, price=["7,5 EUR", "8,5"])
    assert new.X["price"].tolist() == [7.5, 8.5] and not new.remarks
    new = read(folder, tmp_path, price=["7,5 Euro", "8,5 Cent"])
    assert new.X["price"][0] == 7.5 and new.unreadable == {"price": {"8,5 Cent": 1}}
    assert len(new.remarks) == 1 and "'7,5 Euro' was read as 7.5, though" in new.remarks[0]
    read(folder, tmp_path, price=["1,5 k", "8,5"])
    main(["impute", str(tmp_path / "new.csv"), str(tmp_path / "out.csv"), "--model", str(folder / "report")])
    assert "Column price: '1,5 k' was read as 1500, though" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{unit = 3}", "give entries such as"),
        ('{mass = "kg"}', "give entries such as"),
        ('"kg"', "give entries such as"),
        ('{decimal = ";"}', "a point or a comma, and not ';'"),
    ],
)
def test_numbers_of_a_types_file_that_are_none(tmp_path, entry, message):
    path = tmp_path / "own.toml"
    path.write_text(f'[numbers]\n"weight" = {entry}\n')
    with pytest.raises(ValueError, match=rf"for column 'weight' in \[numbers\]: .*{message}"):
        read_types(path)


def test_a_types_file_counts_more_than_that_of_the_report(folder, tmp_path, capsys):
    """What means a missing cell in one column; the types in the report's own file are none that differ."""
    read(folder, tmp_path, price=["99,5", "7,5"])
    types, report = tmp_path / "own.toml", folder / "report"
    types.write_text('[missing]\n"price" = ["99,5"]\n')
    arguments = ["check", str(tmp_path / "new.csv"), "--model", str(report), "--types", str(report / "types.toml")]
    main(
        ["impute", str(tmp_path / "new.csv"), str(tmp_path / "out.csv"), "--model", str(report), "--types", str(types)]
    )
    assert pd.read_csv(tmp_path / "out.csv")["price"][0] < 40.0
    main([*arguments, "--types", str(types)])
    assert "price is 99.5" not in capsys.readouterr().out
    main(arguments)
    assert "price is 99.5" in capsys.readouterr().out
