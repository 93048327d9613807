"""Files of Stata: columns of which all values have a label, some or none, and labels that two values share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.files import read_table_file
from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.report import read_source

SCALE = [1, 2, 3, 4, 5] * 6
AGE = [*range(20, 49), 99]


def table(tmp_path, cells, labels, **options):
    """A column and the notes of a file in which some of its values have labels."""
    path = tmp_path / "t.dta"
    pd.DataFrame({"x": cells, "size": np.linspace(1.5, 2.5, len(cells))}).to_stata(
        path, write_index=False, value_labels={"x": labels}
    )
    read = read_table_file(path, ReadingOptions(**options))
    return read.frame["x"], "; ".join(read.notes)


def test_labels_on_the_ends_of_a_scale(tmp_path):
    for labels in ({1: "low", 5: "top"}, {1: "low", 3: "neither", 5: "top"}):
        series, notes = table(tmp_path, SCALE, labels)
        assert series.tolist() == SCALE and "1 ('low')" in notes and "in 'x'" in notes and "--missing" in notes
    assert read_source(tmp_path / "t.dta").feature_types["x"] in ("ordinal", "categorical")


def test_two_values_of_one_label(tmp_path):
    labels = {1: "low", 2: "mid", 3: "mid", 4: "high", 5: "top"}
    series, notes = table(tmp_path, SCALE, labels)
    assert series.tolist() == [labels[code] for code in SCALE] and not notes
    assert list(series.cat.categories) == ["low", "mid", "high", "top"] and not series.cat.ordered


def test_labels_that_say_that_there_is_no_answer(tmp_path):
    series, notes = table(tmp_path, AGE, {99: "Refused"})
    assert series.tolist()[:-1] == AGE[:-1] and np.isnan(series.iloc[-1]) and "99 ('Refused') in 'x'" in notes
    for keep in ("99", "Refused"):
        assert table(tmp_path, AGE, {99: "Refused"}, keep=(keep,))[0].tolist() == AGE
    # Within the other values, or with another label, a code is a value, and told.
    for labels in ({30: "refused"}, {99: "99 and more"}):
        series, notes = table(tmp_path, AGE, labels)
        assert series.tolist() == AGE and "only some have a label stay numbers" in notes
    assert np.isnan(table(tmp_path, AGE, {99: "away"}, missing=("away",))[0].iloc[-1])
    # Where all values have labels, they are texts, whatever they say.
    assert table(tmp_path, [1, 2, 9] * 4, {1: "yes", 2: "no", 9: "refused"})[0].tolist() == ["yes", "no", "refused"] * 4


def test_labels_of_no_value_and_values_without_a_label(tmp_path):
    series, notes = table(tmp_path, SCALE, {9: "refused"})
    assert series.tolist() == SCALE and not notes
    towns = {1: "Bonn", 2: "Ulm", 3: "Rom"}
    series, notes = table(tmp_path, [1.0, 2.0, 3.0, np.nan] * 6 + [7.0], towns)
    assert series.dropna().tolist() == ["Bonn", "Ulm", "Rom"] * 6 + ["7"] and "7 in 'x'" in notes


@pytest.mark.parametrize("n_columns", [5, 8])
def test_notes_name_some_columns(tmp_path, n_columns):
    frame = pd.DataFrame({f"q{number}": SCALE for number in range(n_columns)})
    labels = {name: {1: "low", 5: "top"} for name in frame}
    frame.to_stata(tmp_path / "t.dta", write_index=False, value_labels=labels)
    (note,) = read_table_file(tmp_path / "t.dta").notes
    assert "in 'q4'" in note and "'q5'" not in note and ("and 3 more columns" in note) == (n_columns == 8)
