"""Separators, lines before the table, names of columns and encodings of text."""

from __future__ import annotations

import pandas as pd
import pytest

from sklearn_subanneal.files import ReadingOptions
from sklearn_subanneal.files.delimited import text_table
from sklearn_subanneal.files.dialect import find_dialect
from sklearn_subanneal.files.header import column_names, has_names
from sklearn_subanneal.files.text_encoding import decoded

BODY = "".join(f"{row},{row / 2},w{row}\n" for row in range(20))


@pytest.mark.parametrize(
    ("text", "separator", "n_before", "is_named"),
    [
        (f"a,b,c\n{BODY}", ",", 0, True),
        (f"{BODY}", ",", 0, False),
        (f"Title, of all\n\na,b,c\n{BODY}", ",", 2, True),
        (f"# x\n# y\na,b,c\n{BODY}", ",", 2, True),
        ("a;b\n" + "1,5;x, y\n" * 20, ";", 0, True),
        ("a\tb\n" + "1,5\tx, y; z\n" * 20, "\t", 0, True),
        ("a,b\n" + '"x; y; z",1\n' * 20, ",", 0, True),
        ("word\n" + "".join(f"said so {row}\n" for row in range(20)), ",", 0, True),
        ("Prices\nday;price\n" + "1;2,5\n" * 20, ";", 1, True),
        ("sep=|\na|b\n" + "1|2\n" * 20, "|", 1, True),
    ],
)
def test_dialects(text, separator, n_before, is_named):
    found = find_dialect(text)
    assert (found.separator, found.n_before, found.has_names) == (separator, n_before, is_named)
    assert find_dialect(text, header=not is_named).has_names != is_named


def test_cells_of_several_lines_before_the_table():
    """They are counted as the lines that they are."""
    notes: list[str] = []
    frame, _ = text_table(f'"a title\nof two lines",,\na,b,c\n{BODY}', ReadingOptions(), notes)
    assert list(frame.columns) == ["a", "b", "c"] and frame.iloc[0].tolist() == ["0", "0.0", "w0"]
    assert any("before the table" in note for note in notes)


STARS = "HIP  Vmag   B-V  Plx\n" + "".join(
    f"{row:4} {5 + row / 9:.2f} {row / 50:.3f} {9 - row / 7:.2f}\n" for row in range(40)
)


def test_a_blank_cell_between_spaces_is_refused():
    """The cells after it would move to the left."""
    assert text_table(STARS, ReadingOptions(), [])[0].shape == (40, 4)
    blank = f"{STARS}  40  9.50        7.71\n  41  9.60 0.820  7.60\n"
    with pytest.raises(
        ValueError, match=r"line with 3 cells in place of 4, '40 9.50 7.71'.*must be written, such as NA"
    ):
        text_table(blank, ReadingOptions(), [])
    notes: list[str] = []
    frame, _ = text_table(blank, ReadingOptions(skip_bad_lines=True), notes)
    assert frame["HIP"].tolist()[-2:] == ["39", "41"] and frame["Plx"].tolist()[-1] == "7.60"
    assert any("1 lines with too few cells were left out" in note for note in notes)


MILLS = [
    ("New York", "1.5", "12", "red"),
    ("Ulm", "", "7", ""),
    ("Bad Ems", "22.5", "", "pale blue"),
    ("", "3.0", "150", "red"),
    *((f"town {row}", f"{row}.5", f"{row}", "red") for row in range(4, 12)),
]


@pytest.mark.parametrize("places", ["<>><", ">>>>", "<<<<"])
@pytest.mark.parametrize("head", ["", "# of the mill\n"])
@pytest.mark.parametrize("rule", [False, True])
def test_blank_cells_of_aligned_columns_are_missing(places, head, rule):
    names = ("town", "talk time", "age", "colour")
    lines = [names, *([("---", "---", "---", "---")] if rule else []), *MILLS]
    text = head + "".join(
        " ".join(f"{cell:{place}10}" for cell, place in zip(row, places, strict=True)).rstrip() + "\n" for row in lines
    )
    notes: list[str] = []
    frame, _ = text_table(text, ReadingOptions(), notes)
    assert tuple(frame.columns) == names
    assert [tuple(row) for row in frame.to_numpy()] == MILLS
    assert any("aligned by spaces" in note for note in notes)


def test_pages_of_pandas_are_aligned():
    """Names of rows, which are numbers, have no name themselves."""
    frame = pd.DataFrame(MILLS, columns=["town", "talk time", "age", "colour"])
    found, _ = text_table(frame.to_string(), ReadingOptions(), [])
    assert list(found) == ["column 1", *frame] and found["column 1"].tolist() == [str(row) for row in range(len(frame))]
    assert found.drop(columns="column 1").equals(frame)


def test_names_beside_their_cells_are_not_aligned():
    """With which cells a name goes is not certain: the line with a blank cell is refused."""
    text = "name value x\n" + "".join(f"w{row:<4} {row + 0.5:4}    {row}\n" for row in range(9))
    assert text_table(text, ReadingOptions(), [])[0].shape == (9, 3)
    with pytest.raises(ValueError, match="a missing cell must be written"):
        text_table(f"{text}hij           3\n", ReadingOptions(), [])


def test_pages_of_r_are_aligned():
    """Names of rows are of several words, with numbers one space beside them, and quotes may be in them."""
    names = ["Fiat 128", '"Golf" S', 'Mini 2 "', "Panda", "Ami 6"]
    text = "          mpg cyl\n" + "".join(f"{name:8} {21.5 + row} {row:3}\n" for row, name in enumerate(names))
    notes: list[str] = []
    frame, _ = text_table(text, ReadingOptions(), notes)
    assert list(frame) == ["column 1", "mpg", "cyl"] and frame["column 1"].tolist() == names
    assert frame["mpg"].tolist() == [f"{21.5 + row}" for row in range(5)] and frame["cyl"].tolist() == list("01234")


@pytest.mark.parametrize(
    "text",
    [
        "word\n" + "".join(f"said  so {row}\n" for row in range(20)),
        "word\n" + "".join(f"said  {row}  times {row}\n" for row in range(8)),
        "12 apples red\n15 pears\n" * 10,
        "Some words  here are\nwritten by a person  who\nlikes to say 12 or 13\nthings but  not more\nthan that in 7\n",
        # No number in it: two columns of words, or one.
        "name\n" + "".join(f"{'ab'[row % 2]} {'so' * (row % 3)}  x\n" for row in range(20)),
    ],
)
def test_sentences_are_no_aligned_columns(text):
    assert text_table(text, ReadingOptions(), [])[0].shape[1] == 1


def test_single_quotes():
    text = "'a','b'\n" + "".join(f"'{row}.5','x, \"{row}\"'\n" for row in range(20))
    frame, _ = text_table(text, ReadingOptions(), [])
    assert frame["a"].tolist()[:2] == ["0.5", "1.5"] and frame["b"][1] == 'x, "1"'


def with_cells(cells: dict[int, str], separator: str) -> str:
    """Lines of which some have these texts."""
    rows = [f"{row}{separator}{cells.get(row, 'word')}{separator}{row / 4}\n" for row in range(40)]
    return "".join([separator.join(["id", "text", "size"]), "\n", *rows])


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize(
    "cells",
    [
        {3: '"Hello', 20: 'World"'},
        {3: '"Hello', 4: 'World"'},
        {3: '"Hello'},
        {3: '"a', 9: '"b', 20: 'c"', 30: '"d"'},
    ],
)
def test_a_stray_quote_swallows_no_lines(cells, separator):
    notes: list[str] = []
    frame, _ = text_table(with_cells(cells, separator), ReadingOptions(), notes)
    assert len(frame) == 40 and frame["size"].tolist() == [str(row / 4) for row in range(40)]
    assert [frame["text"][row] for row in cells] == [text.replace('"d"', "d") for text in cells.values()]
    assert any(
        "begin with a quote that is a part of them" in note and "the first is in line 5" in note for note in notes
    )


def test_a_stray_quote_beside_quoted_cells():
    """Those that need their quotes keep them."""
    text = with_cells({1: '"one, two"', 3: '"Hello', 20: '"ten, or so"', 30: '"x\ny"'}, ",")
    frame, _ = text_table(text, ReadingOptions(), [])
    assert len(frame) == 40 and [frame["text"][row] for row in (1, 3, 30)] == ["one, two", '"Hello', "x\ny"]


def test_cells_of_several_lines_stay_whole():
    """Their lines are no lines of the table; which they are is told, as one of them may begin with a stray quote."""
    notes: list[str] = []
    remark = "Dear all,\ncome, or do not"
    frame, _ = text_table(with_cells({3: f'"{remark}"'}, ","), ReadingOptions(), notes)
    assert len(frame) == 40 and frame["text"][3] == remark
    assert any("go over several lines" in note and "the first is in line 5" in note for note in notes)
    # Two cells a line, as the lines of the remark have, but no number where others have one.
    frame, _ = text_table("id,text\n" + "".join(f'{row},"Hi\nyou, there"\n' for row in range(9)), ReadingOptions(), [])
    assert frame["text"].tolist() == ["Hi\nyou, there"] * 9


def test_a_quote_that_is_not_closed_is_told():
    with pytest.raises(ValueError, match="the quote in line 5 is not closed before the end of the file: take it out"):
        text_table(with_cells({3: '"Hello, you'}, ","), ReadingOptions(), [])


def test_remarks_and_sums_after_the_table():
    notes: list[str] = []
    frame, _ = text_table(f"a,b,c\n{BODY}Source: the office of weather,,\n", ReadingOptions(), notes)
    assert len(frame) == 20 and "'Source: the office of weather'" in notes[-1]
    frame, _ = text_table(
        f"c,b\n{''.join(f'w{row},{row}.5' + chr(10) for row in range(20))}Total,200\n", ReadingOptions(), notes
    )
    assert len(frame) == 20 and "the last line, 'Total', was left out" in notes
    # A row of which only the key is known is a row.
    frame, _ = text_table(f"a,b,c\n{BODY}k7,,\n", ReadingOptions(), [])
    assert len(frame) == 21


@pytest.mark.parametrize("key", ["TOTAL", "Total:", "Grand total :", "Summe:"])
def test_names_of_sums_may_have_a_colon(key):
    notes: list[str] = []
    frame, _ = text_table(f"a,b,c\n{BODY}{key},3000,3100\n", ReadingOptions(), notes)
    assert len(frame) == 20 and f"the last line, {key!r}, was left out" in notes


def test_sums_without_a_name():
    """A line without a key whose numbers are all sums is no row; one with any other number is."""

    def read(last, rows=20, separator=","):
        notes: list[str] = []
        body = "".join(f"w{row}{separator}{row}{separator}{row % 7}.25\n" for row in range(rows))
        frame, _ = text_table(f"town{separator}a{separator}b\n{body}{last}\n", ReadingOptions(), notes)
        return len(frame), "the last line, of which each number is the sum of its column, was left out" in notes

    assert read(",190,62") == (20, True) and read(",190,62.00") == (20, True) and read(",190,") == (20, True)
    assert read(",191,62") == read(",190,62.25") == read(",,62.5") == (21, False)
    assert read("w20,190,62") == (21, False)
    # Of few rows, or ones and zeros, a sum is chance.
    assert read(",3,3.75", rows=3) == (4, False)
    sparse = "".join(f"w{row},{int(row == 3)},x\n" for row in range(20))
    assert len(text_table(f"town,a,b\n{sparse},1,\n", ReadingOptions(), [])[0]) == 21


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["a", "b"], ["1", "x"], ["2", "y"]], True),
        ([["1", "x"], ["2", "y"], ["3", "x"]], False),
        ([["x", "y"], ["y", "x"], ["x", "x"]], False),
        ([["kind", "town"], ["y", "x"], ["x", "x"]], True),
        ([["land", "2019", "2020"], ["x", "1.5", "2.5"], ["y", "3.5", "1.5"]], True),
        ([["1", "2"], ["3", "4"]], False),
        ([["0", "1", "2"], ["1.5", "4.5", "2.5"]], True),
        ([["", "1", "2", "3"], ["0", "1.5", "4.5", "2.5"]], True),
        ([["1", "3", "2"], ["1.5", "4.5", "2.5"]], False),
        ([["day", "size"], ["2020-01-01", "n/a"], ["2020-01-02", ""]], True),
        ([["2020-01-03", "1.5"], ["2020-01-01", "2.5"]], False),
    ],
)
def test_names_are_recognised(rows, expected):
    assert has_names(rows) is expected


def test_names_that_nothing_shows_are_told():
    notes: list[str] = []
    frame, _ = text_table("kind,town\n" + "x,Bonn\ny,Ulm\n" * 9, ReadingOptions(), notes)
    assert list(frame) == ["kind", "town"] and any("pass --header no" in note for note in notes)
    for text, header in (("kind,size\n" + "x,1.5\ny,2.5\n" * 9, None), ("kind,town\n" + "x,Bonn\ny,Ulm\n" * 9, True)):
        notes = []
        text_table(text, ReadingOptions(header=header), notes)
        assert not any("--header" in note for note in notes)


@pytest.mark.parametrize("header", [None, True])
def test_names_in_a_comment(header):
    """A line of names that begins with a mark of comments is one if the user says that there is one, too."""
    frame, _ = text_table(f"#id,half,word\n{BODY}", ReadingOptions(header=header), [])
    assert list(frame) == ["id", "half", "word"] and len(frame) == 20


def test_names_differ():
    notes: list[str] = []
    assert column_names(["a", "a", None, "a (2)", " b\nc "], notes) == ["a", "a (2)", "column 3", "a (2) (2)", "b c"]
    assert "'a (2)'" in notes[0] and "column 3" in notes[1]


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "mac_roman", "utf-16", "utf-8-sig", "utf-32", "utf-16-le"])
def test_encodings_are_recognised(encoding):
    text = "Größe;Straße;Köln;Überfluß;café\n" * 30
    found, name = decoded(text.encode(encoding), None, "t.csv")
    assert found == text and name.replace("-sig", "").replace("_", "-") in encoding.replace("_", "-")


def test_text_with_few_damaged_bytes_stays_utf_8():
    content = ("Größe;Straße\n" * 50).encode() + b"K\xf6ln"
    found, name = decoded(content, None, "t.csv")
    assert found.startswith("Größe") and name == "utf-8 with 1 bytes that are no text"


def test_bytes_that_are_no_text():
    with pytest.raises(ValueError, match=r"t.csv is no text, and no table of a known kind: save it as CSV in UTF-8"):
        decoded(bytes(range(256)), None, "t.csv")
