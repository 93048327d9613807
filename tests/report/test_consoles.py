"""Consoles that lack letters: no command ends since a name cannot be written, and a table is written as in a file."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, save
from sklearn_subanneal.report.cli import main

NAME = "温度"


def run(*arguments) -> tuple[int, bytes, bytes]:
    """What a command writes to redirected standard output and errors, in western Windows."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="cp1252", errors="strict") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        status = main([str(argument) for argument in arguments])
    for stream in streams:
        stream.flush()
    return status, *(stream.buffer.getvalue() for stream in streams)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20)
    return pd.DataFrame({NAME: (9.0 * group + rng.normal(size=40)).round(2), "kind": np.array(["日", "夜"])[group]})


def test_names_are_written_with_backslashes(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    status, out, error = run("types", tmp_path / "t.csv")
    assert status == 0 and rb"\u6e29\u5ea6" in out
    status, out, error = run("types", tmp_path / "t.csv", "--types", f"{NAME}=weight")
    assert status == 2 and rb"\u6e29\u5ea6" in error and b"error of the program" not in error


def test_sampled_rows_are_utf8(table, tmp_path):
    model = CrossCat(n_chains=1, n_draws=1, max_sweeps=1, effort=0.1, random_state=0).fit(table)
    save(model, tmp_path / "model.npz")
    status, out, _ = run("sample", tmp_path / "model.npz", "-n", 20)
    assert status == 0 and b"\r\r" not in out
    rows = pd.read_csv(io.BytesIO(out), encoding="utf-8")
    assert list(rows) == [NAME, "kind"] and set(rows["kind"]) <= {"日", "夜"} and len(rows) == 20
