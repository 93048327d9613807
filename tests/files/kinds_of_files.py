"""Files of all kinds: encodings, packing, spreadsheets, JSON, binary tables, lines that are no rows; refused files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pandas as pd
from files.analyst_file import (
    AGE,
    AMOUNT,
    CITY,
    CODE,
    COLOUR,
    DAYS,
    GROUP,
    HEIGHT,
    INCOME,
    N_ROWS,
    PLAIN,
    SMOKER,
    VISITS,
    WHOLE,
    AnalystFile,
    comma,
    grouped,
    in_json,
    in_xport,
    in_zip,
    in_zstd,
    lines,
    packed,
    plain,
    sheets,
    text,
)

GERMAN = {"Ort": CITY, "Größe": comma(HEIGHT, 1), "Einkommen": grouped(INCOME, ".", ",")}
GERMAN_KINDS = {"Ort": "categorical", "Größe": AMOUNT, "Einkommen": AMOUNT}
REGION = [("north", "don't know", "south", "east")[own % 4] for own in AGE]
LABELLED = pd.DataFrame({"region": pd.Categorical(REGION), "height": HEIGHT})
RECORDS = plain().to_dict("records")
FILES_OF_KINDS = [
    # Text: separators, decimals, encodings.
    AnalystFile("comma.csv", text(lines(dict(plain()))), PLAIN),
    AnalystFile("tabs.tsv", text(lines(dict(plain()), "\t")), PLAIN),
    AnalystFile("tabs.txt", text(lines(dict(plain()), "\t", end="\r\n")), PLAIN, noted="tabs"),
    AnalystFile("bars.dat", text(lines(dict(plain()), "|", end="\r")), PLAIN, noted="bars"),
    AnalystFile(
        "spaces.txt",
        text("".join(f"{h:8.1f} {a:6d} {v:4d}\n" for h, a, v in zip(HEIGHT, AGE, VISITS, strict=True))),
        {"column 1": AMOUNT, "column 2": WHOLE, "column 3": WHOLE},
        noted="no line of names",
    ),
    AnalystFile(
        "printed.txt",
        text(plain().assign(city=[None, *CITY[1:]], height=[np.nan, *HEIGHT[1:]]).to_string(na_rep="", index=False)),
        PLAIN | {"city": "categorical"},
        noted="aligned by spaces",
    ),
    AnalystFile("semicolons.csv", text(lines(GERMAN, ";")), GERMAN_KINDS, noted="commas before decimals"),
    AnalystFile("declared.csv", text("sep=;\n" + lines(GERMAN, ";")), GERMAN_KINDS),
    AnalystFile("cp1252.csv", text(lines(GERMAN, ";"), "cp1252"), GERMAN_KINDS, noted="cp1252"),
    AnalystFile(
        "latin-1.csv", text(lines({**GERMAN, "Prénom": CODE}, ";"), "latin-1"), GERMAN_KINDS | {"Prénom": "label"}
    ),
    AnalystFile("bom.csv", text(lines(GERMAN, ";"), "utf-8-sig"), GERMAN_KINDS),
    AnalystFile("excel.txt", text(lines(GERMAN, "\t"), "utf-16"), GERMAN_KINDS, noted="utf-16"),
    AnalystFile("unmarked.csv", text(lines(GERMAN, ";"), "utf-16-be"), GERMAN_KINDS, noted="utf-16-be"),
    AnalystFile("dos.csv", text(lines(GERMAN, ";"), "cp850"), GERMAN_KINDS, noted="cp850"),
    AnalystFile("mac.csv", text(lines(GERMAN, ";"), "mac_roman"), GERMAN_KINDS, noted="mac"),
    AnalystFile(
        "russian.csv",
        text(lines({"город": np.array(["Москва", "Казань", "Омск"])[GROUP], "рост": HEIGHT}), "cp1251"),
        {"город": "categorical", "рост": AMOUNT},
        options={"encoding": "cp1251"},
    ),
    AnalystFile(
        "japanese.csv",
        text(lines({"都市": np.array(["東京", "大阪", "京都"])[GROUP], "身長": HEIGHT}), "shift_jis"),
        {"都市": "categorical", "身長": AMOUNT},
        options={"encoding": "shift_jis"},
    ),
    AnalystFile(
        "russian-unsaid.csv",
        text(lines({"город": np.array(["Москва", "Казань", "Омск"])[GROUP], "рост": HEIGHT}), "cp1251"),
        {"город": "categorical", "рост": AMOUNT},
        noted="cp1251",
        needs="charset_normalizer",
    ),
    AnalystFile(
        "polish.csv",
        text(lines({"miasto": np.array(["Łódź", "Gdańsk", "Kraków"])[GROUP], "wzrost": HEIGHT}), "cp1250"),
        {"miasto": "categorical", "wzrost": AMOUNT},
        noted="cp1250",
    ),
    # Compression.
    AnalystFile("packed.csv.gz", packed(gzip.compress), PLAIN),
    AnalystFile("packed.csv.bz2", packed(bz2.compress), PLAIN),
    AnalystFile("packed.csv.xz", packed(lzma.compress), PLAIN),
    AnalystFile("packed.zip", packed(in_zip), PLAIN, noted="'table.csv' of the archive"),
    AnalystFile("packed.csv.zst", packed(in_zstd), PLAIN, needs="zstandard"),
    AnalystFile("gzip-without-a-suffix.csv", packed(gzip.compress), PLAIN),
    # Other kinds of files.
    AnalystFile(
        "sheet.xlsx", sheets({"Data": plain().assign(day=DAYS)}), PLAIN | {"day": "datetime"}, needs="openpyxl"
    ),
    AnalystFile(
        "titled.xlsx",
        sheets(
            {"Readme": pd.DataFrame({"about": ["Study of 2020"]}), "Data": plain()}, start=3, title="Heights of people"
        ),
        PLAIN,
        noted="the sheet 'Data', the largest of 2",
        needs="openpyxl",
    ),
    AnalystFile(
        "second.xlsx",
        sheets({"Wide": plain().assign(more=AGE + 1, yet=AGE - 1), "Narrow": plain()[["height", "colour"]]}),
        {"height": AMOUNT, "colour": "categorical"},
        options={"sheet": "2"},
        needs="openpyxl",
    ),
    AnalystFile(
        "typed-in.xlsx",
        sheets({"Data": pd.DataFrame({"weight": [*comma(HEIGHT[:-20] / 2), *["n/a"] * 20], "colour": COLOUR})}),
        {"weight": AMOUNT, "colour": "categorical"},
        marks={"weight": {"n/a": 20}},
        needs="openpyxl",
    ),
    AnalystFile("a-spreadsheet.csv", sheets({"Data": plain()}), PLAIN, needs="openpyxl"),
    AnalystFile("sheet.ods", sheets({"Data": plain()}, "odf"), PLAIN, needs="odf"),
    AnalystFile("records.json", in_json(RECORDS), PLAIN),
    AnalystFile(
        "lines.jsonl", text("".join(f"{json.dumps(own)}\n" for own in RECORDS)), PLAIN, noted="record of JSON a line"
    ),
    AnalystFile("columns.json", in_json({name: list(plain()[name].tolist()) for name in plain()}), PLAIN),
    AnalystFile("answer.json", in_json({"status": "ok", "data": RECORDS}), PLAIN, noted="the records in 'data'"),
    AnalystFile(
        "nested.json",
        in_json(
            [{"person": {"height": h, "age": int(a)}, "tags": ["x", "y"]} for h, a in zip(HEIGHT, AGE, strict=True)]
        ),
        {"tags": "ignore", "person.height": AMOUNT, "person.age": WHOLE},
        noted="lists in column 'tags'",
    ),
    AnalystFile("table.parquet", lambda path: plain().to_parquet(path), PLAIN, needs="pyarrow"),
    AnalystFile("table.feather", lambda path: plain().to_feather(path), PLAIN, needs="pyarrow"),
    AnalystFile("table.dta", lambda path: plain().to_stata(path, write_index=False), PLAIN),
    # Labels of values, which have no order; one of them means that there is no answer.
    *(
        AnalystFile(
            f"labels{suffix}",
            write,
            {"region": "categorical", "height": AMOUNT},
            options={"missing": ["don't know"]},
            marks={"region": {"don't know": REGION.count("don't know")}},
            needs=needs,
        )
        for suffix, write, needs in (
            (".dta", lambda path: LABELLED.to_stata(path, write_index=False), ""),
            (".parquet", lambda path: LABELLED.to_parquet(path), "pyarrow"),
        )
    ),
    AnalystFile(
        "table.xpt",
        lambda path: path.write_bytes(in_xport(plain())),
        {name.upper(): kind for name, kind in PLAIN.items()},
    ),
    # Lines that are no rows, and names.
    AnalystFile(
        "headerless.csv",
        text(lines(dict(plain()), names=False)),
        dict(zip([f"column {j}" for j in range(1, 6)], PLAIN.values(), strict=True)),
        noted="no line of names was found",
    ),
    AnalystFile(
        "words-without-names.csv",
        text(lines({"a": COLOUR, "b": SMOKER}, names=False)),
        {"column 1": "categorical", "column 2": "categorical"},
    ),
    AnalystFile(
        "comments.csv",
        text("# made by the device\n# on Monday\n" + lines(dict(plain())) + "# end\n"),
        PLAIN,
        noted="2 lines before",
    ),
    AnalystFile(
        "named-by-a-comment.txt",
        text("# height age\n" + lines({"height": HEIGHT, "age": AGE}, " ", names=False)),
        {"height": AMOUNT, "age": WHOLE},
        noted="those of the last comment",
    ),
    AnalystFile(
        "remarks.csv",
        text(
            "Heights of people;;;;\nStand: 2020;;;;\n\n"
            + lines(dict(plain()), ";")
            + "\nSource: the office of people;;;;\n"
        ),
        PLAIN,
        noted="1 lines after the table",
    ),
    AnalystFile(
        "twice.csv",
        text(lines(dict(plain())).replace("height,age", "size,size")),
        {"code": "label", "size": AMOUNT, "size (2)": WHOLE, "colour": "categorical", "smoker": "categorical"},
        noted="'size (2)'",
    ),
    AnalystFile("index.csv", lambda path: plain().to_csv(path), {"column 1": "label"} | PLAIN | {"code": "ignore"}),
    AnalystFile("trailing.csv", text(lines(dict(plain()), ";", end=";\n")), PLAIN, noted="separators at the ends"),
    AnalystFile(
        "rows-named-by-R.txt",
        text("height age\n" + lines({"": [f'"{i}"' for i in range(1, 151)], "h": HEIGHT, "a": AGE}, " ", names=False)),
        {"row": "label", "height": AMOUNT, "age": WHOLE},
    ),
    AnalystFile(
        "quoted.csv",
        text(lines(dict(plain().assign(note=[f"said, on\nday {i}: it hurts" for i in range(N_ROWS)])))),
        PLAIN | {"note": "ignore"},
    ),
    AnalystFile(
        "years.csv",
        text(lines({"region": CODE, "2018": HEIGHT, "2019": HEIGHT + 1.5, "2020": HEIGHT - 2.5})),
        {"region": "label", "2018": AMOUNT, "2019": AMOUNT, "2020": AMOUNT},
    ),
]

# Files that are refused, words of the message, and options by which they are read.
REFUSED = [
    (
        "ragged.csv",
        text("a,b\n1.5,x\n2.5,y,z\n3.5,x\n4.5,y\n"),
        "line 3 has 3 cells.*--skip-bad-lines",
        {"skip_bad_lines": True},
    ),
    ("wrong.csv", text(lines(GERMAN, ";"), "cp1252"), "pass another --encoding, such as utf-8 or cp1252", None),
    ("page.xls", text("<html><table><tr><td>1</td></tr></table></html>"), "a web page.*save that as CSV", None),
    ("spss.sav", text("$FL2@(#) SPSS DATA FILE"), "pip install pyreadstat", None),
    ("archive.zip", lambda path: path.write_bytes(two_members()), "2 files.*unpack it", None),
    (
        "sheet.xlsx",
        sheets({"One": plain(), "Two": plain()}),
        "no sheet 'Three': pass --sheet with one of 'One', 'Two'",
        None,
    ),
]


def two_members() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    return stream.getvalue()
