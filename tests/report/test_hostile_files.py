"""Tables that would do harm: formulas for spreadsheets, control characters, files that unfold; and folders in use."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report import read_source
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.spreadsheet_cells import marked_table

FORMULA = "=cmd|' /C calc'!A0"
QUICK = ["--chains", "1", "--jobs", "1", "--quiet", "--no-plots"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Names of rows and columns and categories are formulas, and there are control characters."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=60)
    frame = pd.DataFrame(
        {
            "id": [f"@row {i}" for i in range(60)],
            FORMULA: 5.0 * group + rng.normal(size=60),
            "kind": np.array([FORMULA, "-1\x01<b>"])[group],
            "minus": np.array(["-3", "+4"])[group],
        }
    ).mask(rng.random((60, 4)) < 0.1)
    frame["id"] = [f"@row {i}" for i in range(60)]
    path = tmp_path_factory.mktemp("table") / "cells.csv"
    frame.to_csv(path, index=False)
    return path


def formulas(folder: Path) -> list[str]:
    found = []
    for file in folder.glob("*.csv"):
        table = pd.read_csv(file, header=None, dtype=str, keep_default_na=False)
        texts = [text for text in table.to_numpy().ravel() if not re.fullmatch(r"[-+]?[0-9.e+-]+", text)]
        found += [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r"))]
    return found


def test_no_cell_is_a_formula_unless_raw(path, tmp_path):
    assert main(["report", str(path), "-o", str(tmp_path / "marked"), *QUICK]) == 0
    assert formulas(tmp_path / "marked") == []
    marked = pd.read_csv(tmp_path / "marked" / "imputed.csv")
    assert "'" + FORMULA in marked.columns
    assert set(marked["kind"]) == {"'" + FORMULA, "'-1\x01<b>"}
    # Numbers that are written as text stay.
    assert set(marked["minus"].astype(str)) <= {"-3", "4", "+4"}
    assert main(["report", str(path), "-o", str(tmp_path / "raw"), "--raw", *QUICK]) == 0
    raw = pd.read_csv(tmp_path / "raw" / "imputed.csv")
    assert FORMULA in raw.columns and set(raw["kind"]) == {FORMULA, "-1\x01<b>"}
    page = (tmp_path / "raw" / "report.html").read_text(encoding="utf-8")
    assert "\x01" not in page and "<b>" not in page and "\ufffd" in page


def test_marked_tables_keep_their_other_cells():
    table = pd.DataFrame(
        {
            "=a": pd.Categorical(["=x", "y", None]),
            "n": [-1, 2, 3],
            "b": pd.array([True, None, False], dtype="boolean"),
            "t": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            "s": pd.array(["+a\0b", None, "c"], dtype="string"),
        }
    )
    found = marked_table(table)
    assert list(found.columns) == ["'=a", "n", "b", "t", "s"]
    assert found["'=a"].tolist()[:2] == ["'=x", "y"] and pd.isna(found["'=a"][2])
    assert found["s"].tolist()[::2] == ["'+ab", "c"]
    pd.testing.assert_frame_equal(found[["n", "b", "t"]], table[["n", "b", "t"]])
    assert table.columns[0] == "=a" and table["s"][0] == "+a\0b"


def test_folders_with_files_are_kept(path, tmp_path, capsys):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "report.html").write_text("mine")
    assert main(["report", str(path), "-o", str(tmp_path / "own"), *QUICK]) == 2
    assert "pass --force to write over them" in capsys.readouterr().err
    assert (tmp_path / "own" / "report.html").read_text() == "mine"
    assert main(["report", str(path), "-o", str(tmp_path / "own"), "--force", *QUICK]) == 0
    assert (tmp_path / "own" / "report.html").read_text(encoding="utf-8") != "mine"
    (tmp_path / "file").write_text("")
    assert main(["report", str(path), "-o", str(tmp_path / "file"), *QUICK]) == 2
    assert "is a file" in capsys.readouterr().err


def test_nothing_is_left_of_an_earlier_report(path, tmp_path, capsys):
    """Its detector would compare new tables with another table than the model."""
    folder = tmp_path / "report"
    assert main(["report", str(path), "-o", str(folder), *QUICK]) == 0
    (folder / "notes.txt").write_text("mine")
    assert (folder / "detector.npz").exists() and (folder / "imputed.csv").exists()
    pd.DataFrame({"size": np.arange(40) / 7, "kind": ["x", "y"] * 20}).to_csv(tmp_path / "full.csv", index=False)
    arguments = ["report", str(tmp_path / "full.csv"), "-o", str(folder), "--force", "--no-detector", *QUICK]
    assert main(arguments) == 0
    found = sorted(own.name for own in folder.iterdir())
    assert found == ["clusters.csv", "model.npz", "notes.txt", "report.html", "types.toml"]
    assert main(["check", str(tmp_path / "full.csv"), "--model", str(folder)]) == 2
    assert "make the report again with --detector" in capsys.readouterr().err


def test_a_column_of_any_name(tmp_path, capsys):
    """Such as that of an argument of a function of pandas."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"self": rng.normal(size=60), "start": [f"{row % 24:02d}:15" for row in range(60)]})
    table.rename(columns={"start": "table"}).mask(rng.random((60, 2)) < 0.1).to_csv(tmp_path / "t.csv", index=False)
    report, new = str(tmp_path / "report"), str(tmp_path / "t.csv")
    assert main(["report", new, "-o", report, *QUICK]) == 0
    assert main(["impute", new, str(tmp_path / "out.tsv"), "--model", report, "-q"]) == 0
    assert main(["check", new, "--model", report, "-q"]) in (0, 1)
    assert main(["sample", report, "-o", str(tmp_path / "rows.csv"), "-q"]) == 0
    assert capsys.readouterr().err == "" and list(pd.read_csv(tmp_path / "rows.csv")) == ["self", "table"]


def zipped(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", content)


def by_zstd(path, content):
    path.write_bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(content))


PACKED = {
    "t.csv": lambda path, content: path.write_bytes(content),
    "t.csv.gz": lambda path, content: path.write_bytes(gzip.compress(content)),
    "t.csv.bz2": lambda path, content: path.write_bytes(bz2.compress(content)),
    "t.csv.xz": lambda path, content: path.write_bytes(lzma.compress(content)),
    "t.csv.zip": zipped,
    "t.csv.zst": by_zstd,
}


@pytest.mark.parametrize("name", PACKED)
def test_files_that_unfold_too_far(tmp_path, name, capsys):
    PACKED[name](tmp_path / name, b"a,b\n" + b"1.5,x\n2.5,y\n" * 400_000)
    with pytest.raises(ValueError, match=r"unfolds to more than 0.000977 GiB, the limit.*raise --max-gib"):
        read_source(tmp_path / name, max_bytes=2**20)
    assert main(["report", str(tmp_path / name), "-o", str(tmp_path / "out"), "--max-gib", "0.001", *QUICK]) == 2
    assert "unfolds to more than 0.001 GiB" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [name for name in PACKED if name != "t.csv"])
def test_damaged_archives(tmp_path, name):
    PACKED[name](tmp_path / name, b"a,b\n" + b"1.5,x\n2.5,y\n" * 4000)
    content = (tmp_path / name).read_bytes()
    for damaged in (content[: len(content) // 2], b"\x00" * 100, content[:20] + b"\xff" * 8 + content[28:]):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read as a table"):
            read_source(tmp_path / name)


@pytest.mark.parametrize(("at", "value"), [(8, 99), (6, 1), (4, 84)], ids=["method", "encrypted", "version"])
def test_archives_that_cannot_be_unpacked(tmp_path, at, value):
    """Packed by an unknown method, encrypted, or of a later version: both in the header and in the directory."""
    zipped(tmp_path / "t.csv.zip", b"a,b\n" + b"1.5,x\n2.5,y\n" * 40)
    content = bytearray((tmp_path / "t.csv.zip").read_bytes())
    content[at] = content[content.index(b"PK\x01\x02") + at + 2] = value
    (tmp_path / "t.csv.zip").write_bytes(content)
    with pytest.raises(ValueError, match=r"t\.csv\.zip cannot be read as a table.*save it anew"):
        read_source(tmp_path / "t.csv.zip")


def test_parquet_of_one_value(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": np.ones(300_000), "b": np.zeros(300_000)}).to_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 2**20
    with pytest.raises(ValueError, match="unfolds to more than"):
        read_source(tmp_path / "t.parquet", max_bytes=2**20)


def test_spreadsheets_that_unfold_too_far(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame({"a": ["x" * 900] * 3000, "b": np.arange(3000)}).to_excel(tmp_path / "t.xlsx", index=False)
    with zipfile.ZipFile(tmp_path / "t.xlsx", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image.bin", bytes(2**21))
    assert (tmp_path / "t.xlsx").stat().st_size < 2**20
    with pytest.raises(ValueError, match="unfolds to more than"):
        read_source(tmp_path / "t.xlsx", max_bytes=2**20)
    (tmp_path / "t.xlsx").write_bytes((tmp_path / "t.xlsx").read_bytes()[:-200])
    with pytest.raises(ValueError, match="cannot be read as a table"):
        read_source(tmp_path / "t.xlsx")


def test_compressed_twice(tmp_path):
    """A small file in a small file may be large; beyond two layers it is no table."""
    content = b"a,b\n" + b"1.5,x\n2.5,y\n" * 400
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(gzip.compress(content)))
    assert read_source(tmp_path / "t.csv.gz").frame.shape == (800, 2)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(gzip.compress(content * 2000)))
    with pytest.raises(ValueError, match="unfolds to more than"):
        read_source(tmp_path / "t.csv.gz", max_bytes=2**20)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(gzip.compress(gzip.compress(content))))
    with pytest.raises(ValueError, match="cannot be read as a table"):
        read_source(tmp_path / "t.csv.gz")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, '[{"a": 1e400}]', "[1, 2]", '{"a": 1}', "nul"])
def test_hostile_json(tmp_path, content):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(ValueError, match=r"cannot be read as a table|at least two rows"):
        read_source(tmp_path / "t.json")


def test_json_with_names_that_occur_twice(tmp_path):
    (tmp_path / "t.json").write_text('[["a","a"],[0.1,[1,2]],[0.2,[3]],[0.3,[1,2]]]')
    source = read_source(tmp_path / "t.json")
    assert list(source.frame) == ["a", "a (2)"] and source.frame["a (2)"][0] == "1; 2"
    assert any("names that occur twice" in note for note in source.notes)


def test_lines_of_json_end_where_lines_of_files_do(tmp_path):
    """And not at a separator of lines within a text, which JSON may have as it is."""
    (tmp_path / "t.jsonl").write_text(
        '{"a": 1, "b": "x\u2028y"}\n{"a": 2, "b": "z"}\r\n' * 3, encoding="utf-8", newline=""
    )
    source = read_source(tmp_path / "t.jsonl")
    assert source.frame["a"].tolist() == [1, 2] * 3 and source.frame["b"][0] == "x\u2028y"


def test_damaged_parquet(tmp_path, monkeypatch):
    """Bytes that are no text, and whatever pandas says of wrong metadata."""
    pytest.importorskip("pyarrow")
    path, message = tmp_path / "t.parquet", r"t.parquet cannot be read as a table \(.*\): save it anew"
    pd.DataFrame({"a": [1.0, 2.0] * 9, "b": ["x", "yes"] * 9}).to_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"yes", b"y\xffs"))
    with pytest.raises(ValueError, match=message):
        read_source(path)
    path.write_bytes(content)
    assert read_source(path).frame.shape == (18, 2)
    for error in (KeyError("numpy_type"), TypeError("data type 'floqt64' not understood")):

        def read(path, error=error):
            raise error

        monkeypatch.setattr(pd, "read_parquet", read)
        with pytest.raises(ValueError, match=message):
            read_source(path)
