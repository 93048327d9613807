"""Periods of cyclic columns that the command is told: cyclic:24."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import load
from sklearn_subanneal.report import read_source, write_types
from sklearn_subanneal.report.cli import main
from sklearn_subanneal.report.declared_type import DeclaredType


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(3)
    hour = rng.integers(0, 24, 80)
    table = pd.DataFrame({"hour": hour, "angle": (rng.vonmises(0.0, 1.0, 80) % 6.2).round(3)})
    table["clock"] = [f"{own:02d}:30" for own in hour]
    table["size"] = (hour > 11) + 0.1 * rng.normal(size=80).round(3)
    path = tmp_path_factory.mktemp("hours") / "hours.csv"
    table.to_csv(path, index=False)
    return path


def columns_of(source):
    return {column.name: (column.kind, column.period) for column in source.columns}


def test_periods_are_those_declared(path, tmp_path):
    source = read_source(path, {"hour": "cyclic:24", "angle": "cyclic"})
    found = columns_of(source)
    assert (found["hour"], found["angle"], found["clock"]) == (("cyclic", 24.0), ("cyclic", None), ("cyclic", 24.0))
    assert source.feature_params == {"hour": {"period": 24.0}, "clock": {"period": 24.0}}
    again = read_source(path, write_types(source, tmp_path / "types.toml"))
    assert columns_of(again) == found


def test_the_fit_has_them(path, tmp_path):
    fit = ["--chains", "1", "--jobs", "1", "--no-plots", "-q"]
    assert main(["report", str(path), "--types", "hour=cyclic:24", "-o", str(tmp_path / "report"), *fit]) == 0
    drawn = load(tmp_path / "report" / "model.npz").sample(100, random_state=0)["hour"].to_numpy(float)
    assert 12.0 < np.ptp(drawn) < 24.0


@pytest.mark.parametrize(
    "types, message",
    [
        ({"hour": "cyclic"}, r"'hour' is declared cyclic, and has values from 0 to 23.*hour=cyclic:24"),
        ({"hour": "cyclic:"}, "give the period as a number above 0"),
        ({"hour": "cyclic:x"}, "give the period as a number above 0"),
        ({"hour": "cyclic:-24"}, "give the period as a number above 0"),
        ({"hour": "cyclic:inf"}, "give the period as a number above 0"),
        ({"hour": "real:24"}, "--types has 'real:24'"),
        ({"clock": "cyclic:12"}, "whose period is 24"),
        ({"hours": "cyclic:24"}, "which the table does not have"),
    ],
)
@pytest.mark.parametrize("command", ["types", "report"])
def test_wrong_ones_are_refused(path, tmp_path, capsys, types, message, command):
    with pytest.raises(ValueError, match=message):
        read_source(path, types)
    ((name, text),) = types.items()
    where = [] if command == "types" else ["-o", str(tmp_path / "report")]
    assert main([command, str(path), "--types", f"{name}={text}", *where]) != 0
    assert message.split("'")[0].split(".*")[0] in capsys.readouterr().err


@pytest.mark.parametrize("text", ["real", "cyclic", "cyclic:24", "cyclic:0.1", "cyclic:6.283185307179586", "label"])
def test_declarations_are_written_as_read(text):
    assert str(DeclaredType.parse("x", text)) == text
