"""New tables are read as the table of the report was: cell by cell, however few the cells are."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.model_folder import open_model
from sklearn_subanneal.report.new_table import read_new_table
from sklearn_subanneal.report.source import read_source
from sklearn_subanneal.report.types_file import TypesFile, read_types

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
    # As a program writes them, where empty means missing.
    assert read(folder, tmp_path, ticked=["True", "False", ""]).X["ticked"].map(str).tolist() == [
        "True",
        "False",
        "<NA>",
    ]
    assert read(folder, tmp_path, ticked=["1", "0"]).X["ticked"].tolist() == [True, False]
    assert read(folder, tmp_path, ticked=["x", "no", "false", ""]).X["ticked"].map(str).tolist() == [
        "True",
        "<NA>",
        "False",
        "False",
    ]
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


def test_tables_of_results_are_read_as_they_were_written(folder, tmp_path):
    """With points before decimals, and true and false in place of ticks: numbers had been a thousand times as large."""
    report, out = folder / "report", tmp_path / "out.csv"
    assert main(["impute", str(folder / "table.csv"), str(out), "--model", str(report), "-q"]) == 0
    new = read_new_table(out, open_model(report))
    assert not new.unreadable and not new.X.isna().any(axis=None)
    table = pd.read_csv(folder / "table.csv", sep=";", keep_default_na=False, dtype=str)
    assert new.X["price"].tolist() == [float(own.replace(",", ".")) for own in table["price"]]
    assert new.X["ticked"].tolist() == (table["ticked"] == "x").tolist()
    assert new.X["latitude"].tolist() == table["latitude"].astype(float).tolist()
    assert len(new.remarks) == 1 and new.remarks[0].startswith("Points stand before decimals, as ")
    assert main(["check", str(out), "--model", str(report), "-q"]) == 0


def test_cells_show_that_points_stand_before_decimals(folder, tmp_path, capsys):
    new = read(folder, tmp_path, price=["2.314"], weight=["71.5 kg"])
    assert new.X["price"][0] == 2.314 and new.X["weight"][0] == 71.5 and not new.unreadable
    assert new.remarks == [
        "Points stand before decimals, as '71.5' in column 'weight' shows, where the table of the report has commas: "
        "if that is wrong, pass --decimal ,"
    ]
    # Nothing else shows that, neither a column that had points in the table of the report: it is told.
    new = read(folder, tmp_path, price=["2.314"], weight=["71 kg"], latitude=["51.5"])
    assert new.X["price"][0] == 2314.0 and new.X["latitude"][0] == 51.5
    assert len(new.remarks) == 1 and "'2.314' in column 'price' was read as 2314, and not as 2.314" in new.remarks[0]
    # One comma says that the known mark is that of the table, and so does the user.
    new = read(folder, tmp_path, price=["2.314", "7,5"], weight=["71.5 kg", ""])
    assert new.X["price"].tolist() == [2314.0, 7.5] and new.X["weight"][0] == 71.5 and not new.remarks
    read(folder, tmp_path, price=["2.314"], weight=["71.5 kg"])
    new = read_new_table(tmp_path / "new.csv", open_model(folder / "report"), {"decimal": ","})
    assert new.X["price"][0] == 2314.0 and not new.remarks
    arguments = ["impute", str(tmp_path / "new.csv"), str(tmp_path / "out.csv"), "--model", str(folder / "report")]
    main(arguments)
    assert "if that is wrong, pass --decimal ," in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "out.csv")["price"][0] == 2.314
    main([*arguments, "--decimal", ",", "--force"])
    assert "--decimal" not in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "out.csv")["price"][0] == 2314.0
    # A types file of the user, but for the report's own.
    (tmp_path / "own.toml").write_text('[reading]\ndecimal = "."\n')
    main([*arguments, "--types", str(tmp_path / "own.toml"), "--force"])
    assert pd.read_csv(tmp_path / "out.csv")["price"][0] == 2.314
    main([*arguments, "--types", str(folder / "report" / "types.toml"), "--force"])
    assert pd.read_csv(tmp_path / "out.csv")["price"][0] == 2.314


def test_cells_show_that_commas_stand_before_decimals(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"a": rng.gamma(9.0, size=60).round(3), "b": [f"{own:.1f} kg" for own in rng.gamma(9.0, size=60)]}
    )
    table["d"] = rng.normal(size=60).round(2)
    table["c"] = [f"{own:.2f}".replace(".", ",") for own in rng.gamma(9.0, size=60)]
    table.to_csv(tmp_path / "table.csv", index=False)
    assert main(["report", str(tmp_path / "table.csv"), "-o", str(tmp_path / "report"), *FIT]) == 0
    written = (tmp_path / "report" / "types.toml").read_text(encoding="utf-8")
    assert 'decimal = "."' in written and '"c" = {decimal = ","}' in written

    def read_cells(text):
        (tmp_path / "new.csv").write_text("a;b;c;d\n" + text.replace("\n", ";1\n"))
        return read_new_table(tmp_path / "new.csv", open_model(tmp_path / "report"))

    def cells(new):
        return new.X[["a", "b", "c"]].to_numpy().tolist()

    new = read_cells("2,314;7,125 kg;1,250\n2,5;8 kg;2\n")
    assert cells(new) == [[2.314, 7.125, 1.25], [2.5, 8.0, 2.0]] and len(new.remarks) == 1
    # A column that had commas beside points elsewhere says nothing of the others, and has its own mark.
    new = read_cells("2314;7,125 kg;1,250\n2;8 kg;2,5\n")
    assert cells(new) == [[2314.0, 7125.0, 1.25], [2.0, 8.0, 2.5]] and not new.remarks
    assert cells(read_cells("2.5;7 kg;1.250\n")) == [[2.5, 7.0, 1.25]]


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


def test_words_for_true_and_false_among_ticks_of_a_types_file(tmp_path):
    """A table of results may be the table of another report."""
    path = tmp_path / "ticks.csv"
    path.write_text("a,b\n" + "True,1.5\nFalse,2.5\n" * 9 + ",3.5\n")
    ticked = read_source(path, TypesFile(spelling={"a": "tick"})).frame["a"]
    assert ticked.map(str).tolist() == ["True", "False"] * 9 + ["<NA>"]
    path.write_text("a,b\n" + "x,1.5\n,2.5\n" * 9 + "perhaps,3.5\n")
    with pytest.raises(ValueError, match="holds 'perhaps'"):
        read_source(path, TypesFile(spelling={"a": "tick"}))


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
